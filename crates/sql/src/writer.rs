//! Writing DataFrames into tables, with Spark's write options.

use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::Expr;
use tarn_engine::scan::pushdown::to_exact_predicate;
use tarn_engine::write::ExistingRows;
use tarn_format::{Error, Result, ResultExt};

use crate::ast::{CreateMode, InsertTarget, PropertyList, Statement};
use crate::commands::{
    SchemaMerge, WriteKind, WritePlan, arrange, create_table_from, grow, plan_context_with, replaced_where,
    write_branch, write_options, write_target,
};
use crate::loaded_tables::LoadedTables;
use crate::merge_writer::MergeWriter;
use crate::names::find_table;
use crate::output::{Output, WriteReport};
use crate::parser::parse_name;
use crate::relations::full_name;
use crate::session::Session;

/// Writes the rows of a DataFrame into a table; [`Session::write`] makes it.
///
/// Options are those of Spark's `DataFrameWriterV2` on Iceberg: `target-file-size-bytes`, `write-format`,
/// `fanout-enabled`, `distribution-mode`, `use-table-distribution-and-ordering`, `output-spec-id`, `compression-codec`,
/// `compression-level`, `mergeSchema` (for tables with `write.spark.accept-any-schema`) and `snapshot-property.*`; for
/// overwrites also `isolation-level` and `validate-from-snapshot-id`, for merges `delete-granularity`. `check-nullability` and
/// `check-ordering` are taken and not needed: columns go by name in any order, and values are checked for NULL, whatever the
/// DataFrame declares. They come before the session's settings, which come before the table's properties. Names are
/// compared without regard to case; a later value of one replaces an earlier one.
///
/// ```no_run
/// # async fn run(session: tarn_sql::Session, rows: datafusion::dataframe::DataFrame) -> tarn_format::Result<()> {
/// use datafusion::prelude::{col, lit};
///
/// let new = session.write(rows.clone());
/// new.partitioned_by(["level", "days(ts)"]).create("logs").await?;
/// session.write(rows.clone()).append("logs").await?;
/// session.write(rows.clone()).overwrite("logs", col("level").eq(lit("INFO"))).await?;
/// session.write(rows.clone()).overwrite_partitions("logs").await?;
/// let merge = session.write(rows).merge_into("logs", "logs.id = source.id");
/// let merge = merge.when_matched().update_all();
/// merge.when_not_matched().insert_all().merge().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Writer {
    pub(crate) session: Session,
    pub(crate) rows: DataFrame,
    pub(crate) options: PropertyList,
    partitioning: Vec<String>,
    properties: PropertyList,
}

/// What becomes of the rows that a table has.
enum Existing {
    Kept,
    ReplacedWhere(Expr),
    ReplacedByPartition,
}

impl Writer {
    pub(crate) fn new(session: Session, rows: DataFrame) -> Self {
        Writer {
            session,
            rows,
            options: Vec::new(),
            partitioning: Vec::new(),
            properties: Vec::new(),
        }
    }

    /// Sets an option.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.options.push((key.into(), value.to_string()));
        self
    }

    /// Partitions a table that is made by these terms, as in PARTITIONED BY: `level`, `days(ts)`, `bucket(16, id)`.
    #[must_use]
    pub fn partitioned_by<T: Into<String>>(mut self, terms: impl IntoIterator<Item = T>) -> Self {
        self.partitioning = terms.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a property of a table that is made; `location` is where it lies.
    #[must_use]
    pub fn table_property(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.properties.push((key.into(), value.to_string()));
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
        self.into_table(table, Existing::Kept, "APPEND").await
    }

    /// Puts the rows in the place of those that match a filter over the table's columns, in one commit.
    ///
    /// # Errors
    /// As [`Self::append`]; `Unsupported` for filters that files cannot be told by, and `Validation` when only a part of
    /// some file matches.
    pub async fn overwrite(self, table: &str, filter: Expr) -> Result<WriteReport> {
        self.into_table(table, Existing::ReplacedWhere(filter), "OVERWRITE")
            .await
    }

    /// Puts the rows in the place of all in the partitions that they belong to, in one commit.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub async fn overwrite_partitions(self, table: &str) -> Result<WriteReport> {
        self.into_table(table, Existing::ReplacedByPartition, "OVERWRITE").await
    }

    /// Makes a table with the rows, in one commit.
    ///
    /// # Errors
    /// `AlreadyExists` when there is one; as [`Self::append`] otherwise.
    pub async fn create(self, table: &str) -> Result<WriteReport> {
        Box::pin(self.make(table, CreateMode::Create)).await
    }

    /// Makes a table with the rows, or puts it in the place of one that is there, whose history is kept.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub async fn create_or_replace(self, table: &str) -> Result<WriteReport> {
        Box::pin(self.make(table, CreateMode::CreateOrReplace)).await
    }

    /// Puts a table with the rows in the place of one that is there, whose history is kept.
    ///
    /// # Errors
    /// `NotFound` when there is none; as [`Self::append`] otherwise.
    pub async fn replace(self, table: &str) -> Result<WriteReport> {
        Box::pin(self.make(table, CreateMode::Replace)).await
    }

    /// Merges the rows into a table or branch, by a condition in SQL that tells which rows match.
    pub fn merge_into(self, table: impl Into<String>, on: impl Into<String>) -> MergeWriter {
        MergeWriter::new(self, table.into(), on.into())
    }

    async fn into_table(self, table: &str, existing: Existing, statement: &'static str) -> Result<WriteReport> {
        let kind = match existing {
            Existing::Kept => WriteKind::Adds,
            _ => WriteKind::Overwrites,
        };
        let options = write_options(&self.options, kind)?;
        let session = &self.session;
        let tables = LoadedTables::default();
        let name = parse_name(table, &session.dialect())?;
        let mut found = find_table(&session.locate_table(&name).await?, &tables).await?;
        let table = full_name(&found).to_string();
        let branch = write_branch(&found).context("table", table.as_str())?;
        let case = session.settings().case_sensitivity();
        // The DataFrame may be another session's, and is run as that one's.
        let mut context = plan_context_with(session, &tables);
        let (state, plan) = self.rows.into_parts();
        context.state = state;
        let settings = session.settings();
        let merging = SchemaMerge::of(&options, &settings, &found.table.metadata.properties);
        let growth = match merging.context("table", table.as_str())? {
            SchemaMerge::Refused => Ok(None),
            SchemaMerge::Wanted => grow(&mut found.table, &plan, &InsertTarget::ByName, case),
        };
        let growth = growth.context("table", table.as_str())?;
        let metadata = Arc::clone(&found.table.metadata);
        let schema = metadata.current_schema();
        let constants = vec![None; schema.fields().len()];
        let rows = arrange(plan, &InsertTarget::ByName, &constants, schema, case).context("table", table.as_str())?;
        let target = write_target(session, &found.entry, found.table, &options);
        let mut target = target.context("table", table.as_str())?;
        (target.branch, target.growth) = (branch, growth);
        target.existing = match existing {
            Existing::Kept => ExistingRows::Kept,
            Existing::ReplacedByPartition => ExistingRows::ReplacedByPartition,
            Existing::ReplacedWhere(filter) => {
                let exact = to_exact_predicate(std::slice::from_ref(&filter), schema);
                let exact = exact.ok_or_else(|| {
                    Error::unsupported(format!(
                        "files cannot be told by {filter}: overwrite by comparisons of columns with constants"
                    ))
                    .with_context("table", table.as_str())
                })?;
                replaced_where(exact, &options)?
            }
        };
        let plan = WritePlan::new(session, context, rows, target, table.clone()).await?;
        report(plan.run(statement).await?, &table)
    }

    async fn make(self, table: &str, mode: CreateMode) -> Result<WriteReport> {
        let options = write_options(&self.options, WriteKind::Adds)?;
        let partitioning = match self.partitioning.is_empty() {
            true => String::new(),
            false => format!(" PARTITIONED BY ({})", self.partitioning.join(", ")),
        };
        let text = format!("CREATE TABLE {table}{partitioning} AS SELECT 1");
        let Ok([Statement::CreateTable(create)]) = <[Statement; 1]>::try_from(self.session.parse(&text)?) else {
            return Err(Error::invalid(format!("'{table}' with{partitioning} is no table")));
        };
        let mut create = *create;
        (create.mode, create.query) = (mode, None);
        for (key, value) in self.properties {
            match key.eq_ignore_ascii_case("location") {
                true => create.location = Some(value),
                false => create.properties.push((key, value)),
            }
        }
        report(
            create_table_from(&self.session, &create, self.rows, &options).await?,
            table,
        )
    }
}

fn report(output: Output, table: &str) -> Result<WriteReport> {
    match output {
        Output::Written(report) => Ok(report),
        _ => Err(Error::corrupt("the write did not say what it wrote").with_context("table", table)),
    }
}
