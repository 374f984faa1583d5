//! `files`, `data_files`, `delete_files` and the same over all snapshots (Java `BaseFilesTable`).

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{Field, SchemaRef as ArrowSchemaRef};
use datafusion::error::Result;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::manifest_file::ManifestContent;
use tarn_format::spec::types::NestedField;

use super::entry_filter::{DataFilePlace, EntryFilter};
use super::entry_scan::{EntryColumns, EntryScan, EntryScope, EntrySelection, ManifestPart, SnapshotScope};
use super::exec::RowSource;
use super::kind::MetadataTableKind;
use super::readable_metrics::READABLE_METRICS;
use super::state::TableState;
use super::table::Request;
use super::{data_file, readable_metrics};

pub(super) fn fields(state: &TableState) -> Vec<NestedField> {
    let mut fields = data_file::fields(&state.partition);
    let highest = state.partition.fields.iter().map(|f| f.id).max();
    let highest = highest.unwrap_or(0).max(data_file::HIGHEST_FIELD_ID);
    fields.push(readable_metrics::field(state.metadata().current_schema(), highest));
    fields
}

pub(super) async fn source(
    state: Arc<TableState>,
    kind: MetadataTableKind,
    request: Request<'_>,
) -> tarn_format::Result<Arc<dyn RowSource>> {
    use MetadataTableKind as K;
    let scope = EntryScope {
        snapshots: match kind {
            K::AllFiles | K::AllDataFiles | K::AllDeleteFiles => SnapshotScope::All,
            _ => SnapshotScope::One,
        },
        content: match kind {
            K::DataFiles | K::AllDataFiles => Some(ManifestContent::Data),
            K::DeleteFiles | K::AllDeleteFiles => Some(ManifestContent::Deletes),
            _ => None,
        },
        entries: EntrySelection::Live,
    };
    let filter = EntryFilter::new(request.filters, state.metadata(), &state.partition, DataFilePlace::Top);
    let scan = EntryScan::plan(state, FileColumns, scope, filter, request.target_partitions).await?;
    Ok(Arc::new(scan))
}

/// A row per file.
#[derive(Debug)]
struct FileColumns;

impl EntryColumns for FileColumns {
    fn metrics(&self, state: &TableState, schema: &ArrowSchemaRef) -> MetricsProjection {
        let needed = schema.fields().iter().map(|field| match field.name().as_str() {
            READABLE_METRICS => {
                let ids = readable_metrics::field_ids(state.metadata().current_schema(), field.data_type());
                MetricsProjection::fields(ids)
            }
            name if data_file::needs_all_metrics(name) => MetricsProjection::All,
            _ => MetricsProjection::None,
        });
        needed.fold(MetricsProjection::None, |all, more| all.union(&more))
    }

    fn partition_field<'a>(&self, schema: &'a ArrowSchemaRef) -> Option<&'a Field> {
        schema.field_with_name("partition").ok()
    }

    fn column(&self, field: &Field, part: &ManifestPart, rows: &[u32]) -> Result<ArrayRef> {
        match field.name().as_str() {
            READABLE_METRICS => {
                let schema = part.state.metadata().current_schema();
                readable_metrics::array(schema, field, &part.entries.columns, rows)
            }
            _ => data_file::column(field, &part.entries, rows, part.partitions.as_ref()),
        }
    }
}
