//! Small tables for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::manifest_entries::ManifestEntries;
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::{DataFile, ManifestEntry, ManifestStatus};
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::snapshot::{Operation, RefKind, Snapshot, SnapshotManifests, SnapshotRef, SnapshotRetention};
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::spec::types::{NestedField, PrimitiveType, StructType, Type};
use crate::transform::Transform;

/// `id int, data string, part int, score double, nested {required int}`.
pub(crate) fn schema() -> Schema {
    let nested = StructType::new(vec![NestedField::required(
        6,
        "inner",
        Type::Primitive(PrimitiveType::Int),
    )]);
    let fields = vec![
        NestedField::optional(1, "id", Type::Primitive(PrimitiveType::Int)),
        NestedField::optional(2, "data", Type::Primitive(PrimitiveType::String)),
        NestedField::optional(3, "part", Type::Primitive(PrimitiveType::Int)),
        NestedField::optional(4, "score", Type::Primitive(PrimitiveType::Double)),
        NestedField::optional(5, "nested", Type::Struct(nested)),
        NestedField::required(7, "key", Type::Primitive(PrimitiveType::Long)),
    ];
    Schema::new(0, StructType::new(fields), vec![]).unwrap()
}

fn spec(spec_id: i32, source_id: i32, name: &str) -> PartitionSpec {
    PartitionSpec {
        spec_id,
        fields: vec![PartitionField {
            source_ids: vec![source_id],
            field_id: 999 + spec_id,
            name: name.to_string(),
            transform: Transform::Identity,
        }],
    }
}

/// An empty table with [`schema`] and specs 0 (none), 1 (`part`) and 2 (`score`).
pub(crate) fn table() -> TableMetadata {
    TableMetadata {
        format_version: FormatVersion::V3,
        table_uuid: Some(uuid::Uuid::from_u128(1)),
        location: "memory:///t".to_string(),
        last_sequence_number: 0,
        last_updated_ms: 0,
        last_column_id: 7,
        schemas: vec![Arc::new(schema())],
        current_schema_id: 0,
        partition_specs: vec![
            Arc::new(PartitionSpec::unpartitioned()),
            Arc::new(spec(1, 3, "part")),
            Arc::new(spec(2, 4, "score")),
        ],
        default_spec_id: 0,
        last_partition_id: 1001,
        sort_orders: vec![Arc::new(SortOrder::unsorted())],
        default_sort_order_id: 0,
        properties: BTreeMap::new(),
        current_snapshot_id: None,
        snapshots: vec![],
        snapshot_log: vec![],
        metadata_log: vec![],
        refs: BTreeMap::new(),
        statistics: vec![],
        partition_statistics: vec![],
        next_row_id: 0,
        encryption_keys: vec![],
        extra: serde_json::Map::new(),
    }
}

/// An `append` snapshot committed at `id * 100` ms whose manifest list is `list`.
pub(crate) fn snapshot(id: i64, parent: Option<i64>, list: &str) -> Snapshot {
    Snapshot {
        snapshot_id: id,
        parent_snapshot_id: parent,
        sequence_number: id,
        timestamp_ms: id * 100,
        manifests: SnapshotManifests::List(list.to_string()),
        operation: Some(Operation::Append),
        summary: BTreeMap::new(),
        schema_id: Some(0),
        first_row_id: None,
        added_rows: None,
        key_id: None,
        extra: serde_json::Map::new(),
    }
}

/// A ref.
pub(crate) fn reference(snapshot_id: i64, kind: RefKind) -> SnapshotRef {
    SnapshotRef {
        snapshot_id,
        kind,
        retention: SnapshotRetention::default(),
        extra: serde_json::Map::new(),
    }
}

/// A manifest list's entry with unknown counts and summaries.
pub(crate) fn manifest_file(content: ManifestContent, spec_id: i32) -> ManifestFile {
    ManifestFile {
        manifest_path: "memory:///t/metadata/m0.avro".to_string(),
        manifest_length: 0,
        partition_spec_id: spec_id,
        content,
        sequence_number: 0,
        min_sequence_number: 0,
        added_snapshot_id: Some(1),
        added_files_count: None,
        existing_files_count: None,
        deleted_files_count: None,
        added_rows_count: None,
        existing_rows_count: None,
        deleted_rows_count: None,
        partitions: vec![],
        key_metadata: None,
        first_row_id: None,
    }
}

/// Delete files with their data sequence numbers, all of one spec, as a scan would see their manifest.
pub(crate) fn delete_entries(spec_id: i32, files: Vec<(DataFile, i64)>) -> Arc<ManifestEntries> {
    let entries: Vec<ManifestEntry> = files
        .into_iter()
        .map(|(file, sequence_number)| ManifestEntry {
            status: ManifestStatus::Existing,
            snapshot_id: Some(1),
            sequence_number: Some(sequence_number),
            file_sequence_number: Some(sequence_number),
            data_file: Arc::new(file),
        })
        .collect();
    let columns = ManifestColumns::from_entries(&entries).unwrap();
    let manifest = manifest_file(ManifestContent::Deletes, spec_id);
    Arc::new(ManifestEntries::new(Arc::new(manifest), Arc::new(columns)))
}
