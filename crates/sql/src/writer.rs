//! Writing DataFrames into tables, with Spark's write options.

use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use tarn_format::{Error, Result, ResultExt};

use crate::ast::{InsertTarget, PropertyList};
use crate::commands::{WriteKind, WritePlan, arrange, plan_context_with, write_branch, write_options, write_target};
use crate::loaded_tables::LoadedTables;
use crate::names::find_table;
use crate::output::{Output, WriteReport};
use crate::parser::parse_name;
use crate::relations::full_name;
use crate::session::Session;

/// Writes the rows of a DataFrame into a table; [`Session::write`] makes it.
///
/// Options are those of Spark's `DataFrameWriterV2` on Iceberg: `target-file-size-bytes`, `write-format`,
/// `fanout-enabled`, `distribution-mode`, `compression-codec`, `compression-level` and `snapshot-property.*`. They come
/// before the session's settings, which come before the table's properties. Names are compared without regard to case; a
/// later value of one replaces an earlier one.
#[derive(Debug, Clone)]
pub struct Writer {
    session: Session,
    rows: DataFrame,
    options: PropertyList,
}

impl Writer {
    pub(crate) fn new(session: Session, rows: DataFrame) -> Self {
        Writer {
            session,
            rows,
            options: Vec::new(),
        }
    }

    /// Sets an option.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.options.push((key.into(), value.to_string()));
        self
    }

    /// Appends the rows to a table or branch (`t`, `lake.db.t`, `t.branch_b`), in one commit. Columns go where their names
    /// say; those that are missing get their defaults.
    ///
    /// # Errors
    /// `NotFound` when there is no such table; `InvalidInput` for columns that do not fit and options that are unknown or make no
    /// sense; `Unsupported` for values of options that are not obeyed;
    /// those of running the DataFrame and of the commit. The table is as it was then, unless the error's kind is
    /// `CommitStateUnknown`.
    pub async fn append(self, table: &str) -> Result<WriteReport> {
        let options = write_options(&self.options, WriteKind::Adds)?;
        let session = &self.session;
        let tables = LoadedTables::default();
        let name = parse_name(table, &session.dialect())?;
        let found = find_table(&session.locate_table(&name).await?, &tables).await?;
        let table = full_name(&found).to_string();
        let branch = write_branch(&found).context("table", table.as_str())?;
        let case = session.settings().case_sensitivity();
        let metadata = Arc::clone(&found.table.metadata);
        let schema = metadata.current_schema();
        let constants = vec![None; schema.fields().len()];
        // The DataFrame may be another session's, and is run as that one's.
        let mut context = plan_context_with(session, &tables);
        let (state, plan) = self.rows.into_parts();
        context.state = state;
        let rows = arrange(plan, &InsertTarget::ByName, &constants, schema, case).context("table", table.as_str())?;
        let target = write_target(session, &found.entry, found.table, &options);
        let mut target = target.context("table", table.as_str())?;
        target.branch = branch;
        let plan = WritePlan::new(session, context, rows, target, table.clone()).await?;
        match plan.run("APPEND").await? {
            Output::Written(report) => Ok(report),
            _ => Err(Error::corrupt("the append did not say what it wrote").with_context("table", table)),
        }
    }
}
