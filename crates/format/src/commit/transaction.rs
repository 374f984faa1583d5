//! Several changes of one table, its files and its metadata, committed as one (Java: `BaseTransaction`).

use std::fmt;

use uuid::Uuid;

use super::change::Change;
use super::commit_loop;
use super::options::CommitOptions;
use super::outcome::CommitOutcome;
use crate::catalog::{Catalog, Table, TableIdent};
use crate::error::Result;
use crate::spec::table_metadata::TableMetadata;
use crate::update::TableUpdate;

/// Computes metadata updates from the state they will be applied to. Called once per attempt.
pub type UpdateFn = Box<dyn Fn(&TableMetadata) -> Result<Vec<TableUpdate>> + Send + Sync>;

/// What a transaction starts from.
#[derive(Debug)]
pub(crate) enum Origin {
    /// A table of the catalog: the one of this uuid, when one is given.
    Existing(TableIdent, Option<Uuid>),
    /// A table that is created.
    Create(Box<Table>),
    /// A table that is replaced by what the updates make of it. Computed once: files may refer to the new ids.
    Replace {
        /// The table before.
        table: Box<Table>,
        /// What replaces it.
        updates: Vec<TableUpdate>,
    },
}

/// A step of a transaction.
pub(crate) enum Step {
    /// A change of files.
    Change(Box<Change>),
    /// A change of metadata.
    Update(UpdateFn),
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Change(change) => f.debug_tuple("Change").field(change).finish(),
            Step::Update(_) => f.write_str("Update"),
        }
    }
}

/// Changes that become visible together or not at all. Each step sees those before it.
///
/// When another writer was first, all steps are applied again to the newer state. Dropping the future of
/// [`Transaction::commit`] leaves files behind that nothing refers to, and never deletes any that might be committed.
#[derive(Debug)]
pub struct Transaction {
    pub(crate) origin: Origin,
    pub(crate) steps: Vec<Step>,
}

impl Transaction {
    /// Changes the table that has this name when the commit begins.
    pub fn on(ident: TableIdent) -> Self {
        Self::from_origin(Origin::Existing(ident, None))
    }

    /// Changes this table, and no other that took its name: for changes made of what was read from it.
    pub fn of(table: &Table) -> Self {
        Self::from_origin(Origin::Existing(table.ident.clone(), table.metadata.table_uuid))
    }

    /// Creates a table, staged by [`Catalog::stage_table`], with the changes. Not tried again when it exists.
    pub fn create(staged: Table) -> Self {
        Self::from_origin(Origin::Create(Box::new(staged)))
    }

    /// Replaces a table: `updates`, computed from `table`, set schema, spec, order and properties and take `main` away;
    /// snapshots stay in the history. Not tried again when others gave out field ids meanwhile.
    pub fn replace(table: Table, updates: Vec<TableUpdate>) -> Self {
        Self::from_origin(Origin::Replace {
            table: Box::new(table),
            updates,
        })
    }

    fn from_origin(origin: Origin) -> Self {
        Transaction {
            origin,
            steps: Vec::new(),
        }
    }

    /// Adds a change of files.
    #[must_use]
    pub fn change(mut self, change: Change) -> Self {
        self.steps.push(Step::Change(Box::new(change)));
        self
    }

    /// Adds a change of metadata, computed anew for every attempt.
    #[must_use]
    pub fn update(
        mut self,
        update: impl Fn(&TableMetadata) -> Result<Vec<TableUpdate>> + Send + Sync + 'static,
    ) -> Self {
        self.steps.push(Step::Update(Box::new(update)));
        self
    }

    /// Commits.
    ///
    /// # Errors
    /// `Validation` when a validation of a change fails; `Conflict` when all retries lost; `CommitStateUnknown` when the
    /// outcome cannot be found out, and then nothing is deleted. After any other error the table is as it was and all
    /// metadata files this commit wrote are gone; data and delete files are the caller's, see
    /// [`super::outcome::surely_failed`].
    pub async fn commit(self, catalog: &dyn Catalog, options: &CommitOptions) -> Result<CommitOutcome> {
        Box::pin(commit_loop::run(self, catalog, options)).await
    }
}

/// Commits one change of a table's files to the newest state of `table`, see [`Transaction::commit`].
pub async fn commit(
    catalog: &dyn Catalog,
    table: &Table,
    change: Change,
    options: &CommitOptions,
) -> Result<CommitOutcome> {
    Transaction::of(table).change(change).commit(catalog, options).await
}
