//! Rows changed through the engine in both modes and all versions, and looked at again with their manifests.

mod changes;
mod faults;
mod patches;
mod patches_at_random;
mod refusals;
mod updates;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringViewArray};
use arrow::datatypes::Field;
use datafusion::logical_expr::{Expr, cast, col, lit};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use tarn_format::Error;
use tarn_format::expr::Predicate;
use tarn_format::manifest::data_file::{DataContent, DataFile};
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType};

use super::LEADING_COLUMNS;
use super::{
    DeleteGranularity, IsolationLevel, Patching, RowAction, RowChangeReport, RowLevelMode, RowLevelOptions,
    RowStatement, RowTarget, row_change, row_change_report,
};
use crate::arrow::schema::field_id;
use crate::scan::MetadataColumn;
use crate::write::WriteTarget;
use crate::write::row_lineage::RowLineage;
use crate::write::tests::{Making, Site, ours};
use crate::{Caches, IcebergTable};

/// How tables are changed: every mode that a version has.
const WAYS: [(FormatVersion, RowLevelMode); 5] = [
    (FormatVersion::V1, RowLevelMode::CopyOnWrite),
    (FormatVersion::V2, RowLevelMode::CopyOnWrite),
    (FormatVersion::V2, RowLevelMode::MergeOnRead),
    (FormatVersion::V3, RowLevelMode::CopyOnWrite),
    (FormatVersion::V3, RowLevelMode::MergeOnRead),
];

/// Columns `id` (required) and `s`.
fn columns() -> Vec<NestedField> {
    vec![
        NestedField::required(1, "id", PrimitiveType::Int),
        NestedField::optional(2, "s", PrimitiveType::String),
    ]
}

/// Two files: ids 0 to 9, and 10 to 19; `s` is the id as text.
async fn site(version: FormatVersion) -> Site {
    let site = Site::new(columns(), Making::new().version(version)).await;
    for ids in [0..10, 10..20] {
        site.append(rows(&site, ids.map(|id| (id, id.to_string()))).await)
            .await
            .unwrap();
    }
    site
}

async fn rows(site: &Site, rows: impl IntoIterator<Item = (i32, String)>) -> RecordBatch {
    let (ids, texts): (Vec<i32>, Vec<String>) = rows.into_iter().unzip();
    let columns: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(ids)), Arc::new(StringViewArray::from(texts))];
    site.batch(columns).await
}

/// Whether new values are planned without the columns that stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alone {
    Planned,
    NotPlanned,
}

/// A statement over the table's own rows.
struct Change {
    statement: RowStatement,
    mode: RowLevelMode,
    granularity: DeleteGranularity,
    isolation: IsolationLevel,
    patching: Patching,
    updated_columns: Option<BTreeSet<i32>>,
    /// Whether an UPDATE brings its new values alone, too.
    alone: Alone,
    /// Rows that are changed.
    filter: Expr,
    /// The number of a [`RowAction`].
    action: Expr,
    /// The new values of the table's columns, `id` and `s` as a rule.
    values: Vec<Expr>,
    keys: Vec<String>,
}

fn delete(mode: RowLevelMode, filter: Expr) -> Change {
    Change {
        statement: RowStatement::Delete,
        mode,
        granularity: DeleteGranularity::File,
        isolation: IsolationLevel::Serializable,
        patching: Patching::Always,
        updated_columns: None,
        alone: Alone::Planned,
        filter,
        action: lit(RowAction::Delete as i32),
        values: Vec::new(),
        keys: Vec::new(),
    }
}

/// Sets `s` to `new` followed by its id.
fn update(mode: RowLevelMode, filter: Expr) -> Change {
    use arrow::datatypes::DataType;
    use datafusion::functions::expr_fn::concat;
    let text = concat(vec![lit("new "), cast(col("id"), DataType::Utf8)]);
    Change {
        statement: RowStatement::Update,
        action: lit(RowAction::Update as i32),
        values: vec![col("id"), cast(text, DataType::Utf8View)],
        updated_columns: Some(BTreeSet::from([2])),
        ..delete(mode, filter)
    }
}

impl Change {
    /// The plan of the change, made from the table as it is now.
    async fn plan(self, site: &Site) -> (Arc<dyn ExecutionPlan>, SessionContext) {
        let table = IcebergTable::new(site.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
        let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
        let lineage = RowLineage::of_changes(&table.table().metadata);
        let row_id = (lineage == RowLineage::Stored && self.statement != RowStatement::Delete).then(|| col("_row_id"));
        let places = [MetadataColumn::File, MetadataColumn::Pos, MetadataColumn::RowId];
        let provider = table.clone().with_metadata_columns(&places);
        let leading = vec![col("_file"), col("_pos"), self.action.alias("_action")];
        let own = Arc::clone(table.arrow_schema());
        let named = own.fields().iter().zip(self.values);
        let named = named.map(|(field, value)| value.alias(field.name().as_str()));
        let keys = self
            .keys
            .iter()
            .map(|key| col(key.as_str()).alias(format!("key {key}")));
        let columns: Vec<Expr> = leading.into_iter().chain(named).chain(row_id).chain(keys).collect();
        let frame = context.read_table(Arc::new(provider)).unwrap();
        let changed = frame.filter(self.filter).unwrap();
        let updates = match (&self.updated_columns, self.statement) {
            (Some(updated), RowStatement::Update) if self.alone == Alone::Planned => {
                let is_updated = |field: &Field| field_id(field).is_some_and(|id| updated.contains(&id));
                let own = (LEADING_COLUMNS..).zip(own.fields());
                let own = own.filter(|(_, f)| is_updated(f)).map(|(at, _)| columns[at].clone());
                let updates = columns[..LEADING_COLUMNS].iter().cloned().chain(own);
                let updates = changed.clone().select(updates.collect::<Vec<Expr>>()).unwrap();
                Some(updates.create_physical_plan().await.unwrap())
            }
            _ => None,
        };
        let input = changed.select(columns).unwrap();
        let input = input.create_physical_plan().await.unwrap();
        let target = RowTarget {
            write: WriteTarget::new(Arc::clone(&site.catalog), site.table().await).unwrap(),
            read: table,
            statement: self.statement,
            options: RowLevelOptions {
                mode: self.mode,
                isolation: self.isolation,
                granularity: self.granularity,
                patching: self.patching,
            },
            conflict_filter: Predicate::AlwaysTrue,
            updated_columns: self.updated_columns,
            updates,
            keys: self.keys,
        };
        (row_change(input, target, context.state()).unwrap(), context)
    }

    async fn run(self, site: &Site) -> Result<RowChangeReport, Error> {
        let (plan, context) = self.plan(site).await;
        execute(&plan, &context).await
    }
}

async fn execute(plan: &Arc<dyn ExecutionPlan>, context: &SessionContext) -> Result<RowChangeReport, Error> {
    let run = datafusion::physical_plan::collect(Arc::clone(plan), context.task_ctx()).await;
    run.map_err(ours)?;
    Ok(row_change_report(plan).unwrap())
}

/// Files of the current snapshot: data files and delete files.
async fn files(site: &Site) -> (Vec<DataFile>, Vec<DataFile>) {
    let files = site.files().await.into_iter();
    files.partition(|f| f.content == DataContent::Data)
}
