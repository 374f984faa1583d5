//! Tables that the tests of updates start from.

use std::sync::Arc;

use uuid::Uuid;

use super::MetadataBuilder;
use super::requirements::TableChange;
use crate::catalog::TableCreation;
use crate::error::Result;
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::snapshot::{Operation, Snapshot, SnapshotManifests};
use crate::spec::table_metadata::{FormatVersion, TableMetadataRef};
use crate::spec::types::{NestedField, PrimitiveType, StructType};

/// When the tables were made.
pub(crate) const NOW: i64 = 1_700_000_000_000;

/// A table with these columns, whose ids must be those that fresh assignment gives.
pub(crate) fn table(
    version: FormatVersion,
    columns: Vec<NestedField>,
    spec: Option<PartitionSpec>,
) -> TableMetadataRef {
    let schema = Schema::new(0, StructType::new(columns), vec![]).unwrap();
    let creation = TableCreation {
        schema: schema.clone(),
        partition_spec: spec,
        sort_order: None,
        location: None,
        properties: Default::default(),
        format_version: version,
    };
    let builder = MetadataBuilder::new_table(&creation, "s3://b/t", Uuid::from_u128(1)).unwrap();
    let table = builder.build(NOW).unwrap();
    assert!(
        table.current_schema().same_fields(&schema),
        "ids of test columns are not fresh"
    );
    Arc::new(table)
}

/// `id long, ts timestamp`, format version 2.
pub(crate) fn two_columns() -> TableMetadataRef {
    let columns = vec![
        NestedField::required(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "ts", PrimitiveType::Timestamp),
    ];
    table(FormatVersion::V2, columns, None)
}

/// An append dated when the tables were made.
pub(crate) fn snapshot(id: i64, parent: Option<i64>, sequence_number: i64) -> Snapshot {
    Snapshot {
        snapshot_id: id,
        parent_snapshot_id: parent,
        sequence_number,
        timestamp_ms: NOW,
        manifests: SnapshotManifests::List(format!("s3://b/t/metadata/snap-{id}.avro")),
        operation: Some(Operation::Append),
        summary: Default::default(),
        schema_id: Some(0),
        first_row_id: None,
        added_rows: None,
        key_id: None,
        extra: Default::default(),
    }
}

/// The table after a change, whose requirements must hold.
pub(crate) fn changed(base: &TableMetadataRef, change: &TableChange) -> TableMetadataRef {
    try_changed(base, change).unwrap()
}

/// Like [`changed`], for changes that are refused.
pub(crate) fn try_changed(base: &TableMetadataRef, (updates, requirements): &TableChange) -> Result<TableMetadataRef> {
    requirements.iter().try_for_each(|r| r.check(Some(base)))?;
    let mut builder = MetadataBuilder::from_metadata(Arc::clone(base), Some("s3://b/t/metadata/v1.metadata.json"));
    builder.apply_all(updates)?;
    builder.build(NOW + 1).map(Arc::new)
}
