//! The table that a call is about, and changes of its `main` branch.

use std::sync::{Arc, Mutex, PoisonError};

use tarn_format::commit::{CommitOptions, Transaction};
use tarn_format::spec::table_metadata::{TableMetadata, TableMetadataRef};
use tarn_format::update::TableChange;
use tarn_format::{Error, Result, ResultExt};

use super::{Call, Parameter, ParameterType};
use crate::ast::Name;
use crate::commands::plain_table;
use crate::names::{FoundTable, Located};
use crate::parser::parse_name;
use crate::relations::full_name;

/// The table that a procedure changes.
pub(super) const TABLE: Parameter = Parameter::required("table", ParameterType::String, "The table");

/// The current snapshot before and after.
pub(super) struct Moved {
    /// `None`: the table was empty.
    pub(super) previous: Option<i64>,
    pub(super) current: i64,
}

impl Call<'_> {
    /// The table that the argument `table` names, in the catalog of the procedure.
    ///
    /// # Errors
    /// `InvalidInput` when the argument is no name, or names a table of another catalog; `NotFound` when there is no such
    /// table.
    pub(super) async fn table(&self) -> Result<FoundTable> {
        let name = self.table_name().await?;
        plain_table(self.session, &name).await
    }

    /// Where a table will be that the argument `table` names.
    ///
    /// # Errors
    /// As [`Call::table`], but that it need not be there.
    pub(super) async fn new_table(&self) -> Result<Located> {
        let name = self.table_name().await?;
        self.session.locate_table(&name).await
    }

    async fn table_name(&self) -> Result<Name> {
        let text = self.arguments.string(&TABLE)?;
        if text.trim().is_empty() {
            return Err(Error::invalid("argument table is empty: it must name a table"));
        }
        let name = parse_name(text, &self.session.dialect()).context("argument", TABLE.name)?;
        let ours = self.catalog.catalog.name();
        if let [first, _, ..] = name.0.as_slice()
            && let Some(named) = self.session.catalog(first).await?
        {
            let theirs = named.catalog.name();
            if theirs.eq_ignore_ascii_case(ours) {
                return Ok(name);
            }
            return Err(Error::invalid(format!(
                "procedures of catalog {ours} cannot change table {name} of catalog {theirs}: CALL {theirs}.system.… can"
            )));
        }
        if self.session.current().catalog.eq_ignore_ascii_case(ours) {
            return Ok(name);
        }
        Ok(Name([vec![ours.to_string()], name.0].concat()))
    }

    /// How commits of this call reach manifests.
    pub(super) fn commit_options(&self) -> CommitOptions {
        self.session.commit_options(&self.catalog)
    }

    /// Moves `main` to the snapshot that `choose` chooses, from the state that it is committed to.
    ///
    /// # Errors
    /// Those of the choice and of the commit.
    pub(super) async fn move_main(
        &self,
        found: &FoundTable,
        choose: impl Fn(&TableMetadataRef) -> Result<TableChange> + Send + Sync + 'static,
    ) -> Result<Moved> {
        let previous = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&previous);
        let transaction = Transaction::of(&found.table).update(move |base: &TableMetadata| {
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = base.current_snapshot_id;
            Ok(choose(&Arc::new(base.clone()))?.0)
        });
        let outcome = transaction
            .commit(found.entry.catalog.as_ref(), &self.commit_options())
            .await
            .context("table", full_name(found).to_string())?;
        let previous = *previous.lock().unwrap_or_else(PoisonError::into_inner);
        let current = outcome.table.metadata.current_snapshot_id;
        let current = current.ok_or_else(|| Error::corrupt("the table has no current snapshot after it was set"))?;
        Ok(Moved { previous, current })
    }
}
