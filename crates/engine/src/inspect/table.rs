//! [`MetadataTable`]: a metadata table as a DataFusion table.

use std::sync::Arc;

use arrow::datatypes::{Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use tarn_format::Error;
use tarn_format::catalog::Table;
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::types::NestedFieldRef;

use super::exec::{MetadataTableExec, RowSource};
use super::kind::MetadataTableKind;
use super::state::TableState;
use super::{entries, files, history, manifests, metadata_log_entries, partitions, position_deletes, refs, snapshots};
use crate::arrow::parent_nulls::with_parents_nulls;
use crate::arrow::schema::field_to_arrow;
use crate::caches::Caches;

/// A metadata table of a table at one state; read-only.
#[derive(Debug, Clone)]
pub struct MetadataTable {
    kind: MetadataTableKind,
    state: Arc<TableState>,
    fields: Vec<NestedFieldRef>,
    arrow_schema: ArrowSchemaRef,
}

/// What a query wants of a metadata table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    /// Filters of which all must hold: what they skip need not be shown, what they don't is filtered by the engine.
    pub(super) filters: &'a [Expr],
    /// Streams that may run at once.
    pub(super) target_partitions: usize,
}

impl MetadataTable {
    /// A metadata table of `table` at the state that `selector` names. Its columns are those of the table's current
    /// schema and of all its partition specs, whatever the state, as in Java.
    ///
    /// # Errors
    /// `NotFound` when there is no such snapshot or ref; `InvalidInput` when a state is chosen of a metadata table that
    /// is not of one snapshot.
    pub fn new(
        table: Table,
        kind: MetadataTableKind,
        selector: &SnapshotSelector,
        caches: Caches,
    ) -> tarn_format::Result<Self> {
        if *selector != SnapshotSelector::Current && !kind.is_of_one_snapshot() {
            let message = format!("{kind} is not of one snapshot and has no versions: leave the {selector} out");
            return Err(Error::invalid(message));
        }
        let snapshot = selector.select(&table.metadata)?.snapshot;
        let state = TableState::new(table, snapshot, caches);
        let fields = fields_of(kind, &state);
        let arrow: Fields = fields.iter().map(|f| field_to_arrow(f)).collect();
        Ok(MetadataTable {
            kind,
            state: Arc::new(state),
            fields,
            arrow_schema: with_parents_nulls(&Arc::new(ArrowSchema::new(arrow))),
        })
    }

    /// Which one it is.
    pub fn kind(&self) -> MetadataTableKind {
        self.kind
    }

    /// Its columns with their Iceberg types and comments.
    pub fn fields(&self) -> &[NestedFieldRef] {
        &self.fields
    }

    async fn source(&self, request: Request<'_>) -> tarn_format::Result<Arc<dyn RowSource>> {
        use MetadataTableKind as K;
        let state = Arc::clone(&self.state);
        Ok(match self.kind {
            K::History => history::source(&state),
            K::Snapshots => snapshots::source(&state),
            K::Refs => refs::source(&state),
            K::MetadataLogEntries => metadata_log_entries::source(&state),
            K::Manifests => manifests::of_snapshot(state),
            K::AllManifests => manifests::of_all_snapshots(state, request.filters),
            K::Files | K::DataFiles | K::DeleteFiles | K::AllFiles | K::AllDataFiles | K::AllDeleteFiles => {
                files::source(state, self.kind, request).await?
            }
            K::Entries | K::AllEntries => entries::source(state, self.kind, request).await?,
            K::Partitions => partitions::source(state, request).await?,
            K::PositionDeletes => position_deletes::source(state, request).await?,
        })
    }
}

fn fields_of(kind: MetadataTableKind, state: &TableState) -> Vec<NestedFieldRef> {
    use MetadataTableKind as K;
    let fields = match kind {
        K::History => history::fields(),
        K::Snapshots => snapshots::fields(),
        K::Refs => refs::fields(),
        K::MetadataLogEntries => metadata_log_entries::fields(),
        K::Manifests => manifests::fields(),
        K::AllManifests => manifests::fields_with_reference(),
        K::Files | K::DataFiles | K::DeleteFiles | K::AllFiles | K::AllDataFiles | K::AllDeleteFiles => {
            files::fields(state)
        }
        K::Entries | K::AllEntries => entries::fields(state),
        K::Partitions => partitions::fields(state),
        K::PositionDeletes => position_deletes::fields(state),
    };
    fields.into_iter().map(Arc::new).collect()
}

#[async_trait]
impl TableProvider for MetadataTable {
    fn schema(&self) -> ArrowSchemaRef {
        Arc::clone(&self.arrow_schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all: Vec<usize> = (0..self.fields.len()).collect();
        let projection = projection.unwrap_or(&all);
        let request = Request {
            filters,
            target_partitions: state.config().target_partitions(),
        };
        let source = self.source(request).await.map_err(|e| self.state.external(e))?;
        let schema = Arc::new(self.arrow_schema.project(projection)?);
        let name = format!("{}.{}", self.state.table.ident, self.kind);
        Ok(Arc::new(MetadataTableExec::new(name, source, schema)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // They skip manifests and partitions; rows are filtered by the engine.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}
