//! Writing DataFrames into tables, with Spark's write options.

use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result, ResultExt};

use crate::ast::InsertTarget;
use crate::commands::{WritePlan, arrange, plan_context_with, write_branch, write_target};
use crate::loaded_tables::LoadedTables;
use crate::names::{find_table, nearest};
use crate::output::{Output, WriteReport};
use crate::parser::parse_name;
use crate::relations::full_name;
use crate::session::Session;

/// Keys with a meaning here, and those of Spark that change nothing.
const KNOWN: [&str; 11] = [
    "write-format",
    "target-file-size-bytes",
    "fanout-enabled",
    "distribution-mode",
    "compression-codec",
    "compression-level",
    "check-nullability",
    "check-ordering",
    "compression-strategy",
    "delete-granularity",
    "isolation-level",
];

/// Keys that begin so go into the snapshot's summary.
const SNAPSHOT_PROPERTY: &str = "snapshot-property.";

/// Writes the rows of a DataFrame into a table; [`Session::write`] makes it.
///
/// Options are those of Spark's `DataFrameWriterV2` on Iceberg: `target-file-size-bytes`, `write-format`,
/// `fanout-enabled`, `distribution-mode`, `compression-codec`, `compression-level` and `snapshot-property.*`. They come
/// before the session's settings, which come before the table's properties.
#[derive(Debug, Clone)]
pub struct Writer {
    session: Session,
    rows: DataFrame,
    options: Properties,
}

impl Writer {
    pub(crate) fn new(session: Session, rows: DataFrame) -> Self {
        Writer {
            session,
            rows,
            options: Properties::new(),
        }
    }

    /// Sets an option.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.options.insert(key.into(), value.to_string());
        self
    }

    /// Appends the rows to a table or branch (`t`, `lake.db.t`, `t.branch_b`), in one commit. Columns go where their names
    /// say; those that are missing get their defaults.
    ///
    /// # Errors
    /// `NotFound` when there is no such table; `InvalidInput` for columns that do not fit and options that make no sense;
    /// those of running the DataFrame and of the commit. The table is as it was then, unless the error's kind is
    /// `CommitStateUnknown`.
    pub async fn append(self, table: &str) -> Result<WriteReport> {
        self.check_options();
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
        let target = write_target(session, &found.entry, found.table, &self.options);
        let mut target = target.context("table", table.as_str())?;
        target.branch = branch;
        let plan = WritePlan::new(session, context, rows, target, table.clone()).await?;
        match plan.run("APPEND").await? {
            Output::Written(report) => Ok(report),
            _ => Err(Error::corrupt("the append did not say what it wrote").with_context("table", table)),
        }
    }

    /// Unknown options are told and let pass, as Spark lets them pass.
    fn check_options(&self) {
        for key in self.options.keys() {
            let lower = key.to_ascii_lowercase();
            if !KNOWN.contains(&lower.as_str()) && !lower.starts_with(SNAPSHOT_PROPERTY) {
                let near = nearest(&lower, KNOWN);
                let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
                tracing::warn!("write option '{key}' is unknown and has no effect{hint}");
            }
        }
    }
}
