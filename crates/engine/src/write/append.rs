//! Appends rows to a table: the entry point for `insert_into`, the SQL layer and the library.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::Schema as ArrowSchema;
use datafusion::error::Result;
use datafusion::physical_expr::Distribution;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};
use tarn_format::catalog::{Catalog, Table, TableIdent};
use tarn_format::commit::{CommitOptions, Publication};
use tarn_format::expr::Predicate;
use tarn_format::spec::snapshot::{MAIN_BRANCH, RefKind};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::update::TableUpdate;
use tarn_format::{Error, ResultExt};

use super::append_exec::AppendExec;
use super::conform::Conform;
use super::layout::Layout;
use super::options::WriteOptions;
use super::schema_growth::SchemaGrowth;
use crate::external;

/// What a write to a branch that does not exist does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingBranch {
    /// It fails.
    Refuse,
    /// It makes the branch from the current snapshot, as `spark.wap.branch` asks.
    Create,
}

/// What a write does with the rows that are there.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ExistingRows {
    /// They stay.
    #[default]
    Kept,
    /// Those that match go, which must be whole files (Java: `OverwriteFiles.overwriteByRowFilter`).
    ReplacedWhere(Predicate),
    /// Those of the partitions that get rows go (Java: `ReplacePartitions`).
    ReplacedByPartition,
}

impl fmt::Display for ExistingRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExistingRows::Kept => Ok(()),
            ExistingRows::ReplacedWhere(filter) => write!(f, ", overwrite={filter}"),
            ExistingRows::ReplacedByPartition => f.write_str(", overwrite=partitions"),
        }
    }
}

/// What is written to, and how.
#[derive(Debug, Clone)]
pub struct WriteTarget {
    /// The catalog that commits.
    pub catalog: Arc<dyn Catalog>,
    /// The table as loaded; its current schema, spec and order are written with. A table that
    /// [`Catalog::stage_table`] made is created with the rows, as one commit.
    pub table: Table,
    /// The table that this one takes the place of, in the commit that adds the rows; `None` where nothing is replaced.
    pub replaces: Option<Replaced>,
    /// Columns that come into the table with the rows; `table` has them already.
    pub growth: Option<SchemaGrowth>,
    /// The branch that is written to; `None` is `main`.
    pub branch: Option<String>,
    /// What a branch that is not there means.
    pub missing_branch: MissingBranch,
    /// What becomes of the rows that are there.
    pub existing: ExistingRows,
    /// Whether the branch moves to the new snapshot.
    pub publication: Publication,
    /// How files are written.
    pub options: WriteOptions,
    /// How the commit is made.
    pub commit: CommitOptions,
}

/// A table that is replaced by what is written (REPLACE TABLE … AS SELECT).
#[derive(Debug, Clone)]
pub struct Replaced {
    /// The table as it was.
    pub table: Table,
    /// What makes it the new one, as `tarn_format::update::replace::replacement` gives it.
    pub updates: Vec<TableUpdate>,
}

impl WriteTarget {
    /// The table's main branch, written as its properties say.
    ///
    /// # Errors
    /// As [`WriteOptions::of_table`].
    pub fn new(catalog: Arc<dyn Catalog>, table: Table) -> tarn_format::Result<Self> {
        let name = full_name(catalog.as_ref(), &table.ident);
        let options = WriteOptions::of_table(&table.metadata).context("table", name)?;
        Ok(WriteTarget::with_options(catalog, table, options))
    }

    /// The table's main branch, written as options say.
    pub fn with_options(catalog: Arc<dyn Catalog>, table: Table, options: WriteOptions) -> Self {
        WriteTarget {
            catalog,
            table,
            replaces: None,
            growth: None,
            branch: None,
            missing_branch: MissingBranch::Refuse,
            existing: ExistingRows::Kept,
            publication: Publication::Branch,
            options,
            commit: CommitOptions::default(),
        }
    }

    /// The table as errors name it, its catalog included.
    pub(crate) fn table_name(&self) -> String {
        full_name(self.catalog.as_ref(), &self.table.ident)
    }
}

/// A table's name with its catalog's.
pub(crate) fn full_name(catalog: &dyn Catalog, ident: &TableIdent) -> String {
    format!("{}.{ident}", catalog.name())
}

/// A plan that appends the rows of `plan`, whose columns are the table's in order, and commits once per execution. Its
/// result is one row with the number of rows, `count`. Nothing happens before it is executed.
///
/// Rows are checked: a NULL in a required column, at any depth, fails the write. After a failure the data files that were
/// written are deleted, unless the commit's outcome is unknown.
///
/// # Errors
/// `InvalidInput` when columns do not match; `NotFound` for a branch that does not exist; `Unsupported` for transforms or
/// types that cannot be written.
pub fn append(plan: Arc<dyn ExecutionPlan>, target: WriteTarget) -> Result<Arc<dyn ExecutionPlan>> {
    let layout = prepare(&plan, &target).context("table", target.table_name());
    let layout = layout.map_err(external)?;
    let input = arrange(plan, &layout)?;
    Ok(Arc::new(AppendExec::new(input, Arc::new(target), layout)))
}

fn prepare(plan: &Arc<dyn ExecutionPlan>, target: &WriteTarget) -> tarn_format::Result<Layout> {
    let metadata = &target.table.metadata;
    check_branch(target)?;
    check_rows(metadata, &plan.schema())?;
    Layout::new(metadata, &target.options, &plan.schema())
}

/// Checks, before anything runs, that rows of this schema can be stored.
pub(crate) fn check_rows(metadata: &TableMetadata, rows: &ArrowSchema) -> tarn_format::Result<()> {
    Conform::new(Arc::clone(metadata.current_schema())).check(rows)
}

/// Checks that the branch can be written to.
pub(crate) fn check_branch(target: &WriteTarget) -> tarn_format::Result<()> {
    let metadata = &target.table.metadata;
    if let Some(branch) = target.branch.as_deref().filter(|b| *b != MAIN_BRANCH) {
        match metadata.refs.get(branch) {
            None if target.missing_branch == MissingBranch::Create => {}
            None => return Err(Error::not_found(format!("branch '{branch}' does not exist"))),
            Some(r) if r.kind == RefKind::Tag => {
                return Err(Error::invalid(format!(
                    "'{branch}' is a tag, which cannot be written to"
                )));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Brings rows into the layout. DataFusion's optimizer does the same where it still runs.
pub(crate) fn arrange(plan: Arc<dyn ExecutionPlan>, layout: &Layout) -> Result<Arc<dyn ExecutionPlan>> {
    let mut plan = plan;
    let partitions = plan.output_partitioning().partition_count();
    if let Distribution::KeyPartitioned(keys) = &layout.distribution
        && partitions > 1
    {
        let hash = Partitioning::Hash(keys.clone(), partitions);
        plan = Arc::new(RepartitionExec::try_new(plan, hash)?);
    }
    let single = matches!(layout.distribution, Distribution::SinglePartition);
    if let Some(order) = &layout.ordering {
        if !plan.equivalence_properties().ordering_satisfy(order.clone())? {
            plan = Arc::new(SortExec::new(order.clone(), plan).with_preserve_partitioning(true));
        }
        if single && partitions > 1 {
            plan = Arc::new(SortPreservingMergeExec::new(order.clone(), plan));
        }
    }
    Ok(plan)
}
