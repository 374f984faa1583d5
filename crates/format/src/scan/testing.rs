//! Small tables for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::manifest_entries::ManifestEntries;
use super::table_scan::ScanSetup;
use crate::io::FileIo;
use crate::manifest::avro::codec::Codec;
use crate::manifest::cache::ManifestCache;
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, ManifestEntry, ManifestStatus, PartitionTuple};
use crate::manifest::list::{self, ManifestListWriterOptions};
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::snapshot::{Operation, RefKind, Snapshot, SnapshotManifests, SnapshotRef, SnapshotRetention};
use crate::spec::sort::SortOrder;
use crate::spec::table_metadata::{FormatVersion, SnapshotLogEntry, TableMetadata};
use crate::spec::types::{NestedField, PrimitiveType, StructType, Type};
use crate::spec::value::Value;
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
            extra: Default::default(),
        }],
        extra: Default::default(),
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
        extra: Default::default(),
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
        extra: Default::default(),
    }
}

/// A ref.
pub(crate) fn reference(snapshot_id: i64, kind: RefKind) -> SnapshotRef {
    SnapshotRef {
        snapshot_id,
        kind,
        retention: SnapshotRetention::default(),
        extra: Default::default(),
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

/// A table in memory that tests commit to, manifest by manifest.
pub(crate) struct MemoryTable {
    pub(crate) io: FileIo,
    pub(crate) cache: ManifestCache,
    pub(crate) metadata: TableMetadata,
    manifests: Vec<ManifestFile>,
    written: usize,
}

/// An entry to write: status, file, and for entries that are not new their data sequence number.
pub(crate) type NewEntry = (ManifestStatus, DataFile, Option<i64>);

impl MemoryTable {
    /// An empty table, see [`table`].
    pub(crate) fn new() -> Self {
        MemoryTable {
            io: FileIo::memory(),
            cache: ManifestCache::default(),
            metadata: table(),
            manifests: vec![],
            written: 0,
        }
    }

    /// Writes a manifest that the next commit will list.
    pub(crate) async fn manifest(&mut self, content: ManifestContent, spec_id: i32, entries: Vec<NewEntry>) {
        let next = self.metadata.last_sequence_number + 1;
        let options = ManifestWriterOptions::for_table(&self.metadata, spec_id).unwrap();
        let mut writer = ManifestWriter::new(options.with_content(content).with_snapshot_id(next)).unwrap();
        for (status, file, sequence_number) in entries {
            let entry = ManifestEntry {
                status,
                snapshot_id: Some(sequence_number.unwrap_or(next)),
                sequence_number,
                file_sequence_number: sequence_number,
                data_file: Arc::new(file),
            };
            match status {
                ManifestStatus::Added => writer.added(&entry.data_file, sequence_number).unwrap(),
                ManifestStatus::Existing => writer.existing(&entry).unwrap(),
                ManifestStatus::Deleted => writer.deleted(&entry).unwrap(),
            }
        }
        let location = format!("memory:///t/metadata/m{}.avro", self.written);
        self.written += 1;
        let (bytes, manifest) = writer.finish(location).unwrap();
        self.io.write(&manifest.manifest_path, bytes).await.unwrap();
        self.manifests.push(manifest);
    }

    /// Writes a manifest of new files.
    pub(crate) async fn added(&mut self, content: ManifestContent, spec_id: i32, files: Vec<DataFile>) {
        let entries = files.into_iter().map(|f| (ManifestStatus::Added, f, None)).collect();
        self.manifest(content, spec_id, entries).await;
    }

    /// Forgets a manifest of an earlier commit: the next one does not list it.
    pub(crate) fn drop_manifest(&mut self, index: usize) -> ManifestFile {
        self.manifests.remove(index)
    }

    /// Changes a manifest's entry in the next list.
    pub(crate) fn edit_manifest(&mut self, index: usize, edit: impl FnOnce(&mut ManifestFile)) {
        edit(&mut self.manifests[index]);
    }

    /// Commits all manifests as the next snapshot of `main`: its id is its sequence number.
    pub(crate) async fn commit(&mut self, operation: Operation) {
        let id = self.metadata.last_sequence_number + 1;
        let list = format!("memory:///t/metadata/snap-{id}.avro");
        let written = list::encode(
            ManifestListWriterOptions {
                format_version: self.metadata.format_version,
                snapshot_id: id,
                parent_snapshot_id: self.metadata.current_snapshot_id,
                sequence_number: id,
                first_row_id: self.metadata.next_row_id,
                codec: Codec::default(),
            },
            &self.manifests,
        )
        .unwrap();
        self.io.write(&list, written.bytes).await.unwrap();
        self.manifests = written.manifests;
        let mut snapshot = snapshot(id, self.metadata.current_snapshot_id, &list);
        snapshot.operation = Some(operation);
        let metadata = &mut self.metadata;
        metadata.next_row_id = written.next_row_id;
        metadata.snapshot_log.push(SnapshotLogEntry {
            timestamp_ms: snapshot.timestamp_ms,
            snapshot_id: id,
            extra: Default::default(),
        });
        metadata.snapshots.push(Arc::new(snapshot));
        metadata.current_snapshot_id = Some(id);
        metadata.last_sequence_number = id;
        metadata.refs.insert("main".into(), reference(id, RefKind::Branch));
    }

    /// What a scan of it starts with.
    pub(crate) fn setup(&self) -> ScanSetup {
        ScanSetup::new(Arc::new(self.metadata.clone()), self.io.clone(), self.cache.clone())
    }
}

/// A data file of 10 rows and 1000 bytes.
pub(crate) fn data(path: &str) -> DataFile {
    let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
    file.record_count = 10;
    file.file_size_in_bytes = 1000;
    file
}

/// The file in a partition of spec 1, whose only field is `part`.
pub(crate) fn in_part(mut file: DataFile, part: i32) -> DataFile {
    file.spec_id = 1;
    file.partition = PartitionTuple(vec![Some(Value::Int(part))]);
    file
}

/// The file with counts and bounds of `id` (field 1), which holds no null.
pub(crate) fn with_ids(mut file: DataFile, lower: i32, upper: i32) -> DataFile {
    file.value_counts.insert(1, file.record_count);
    file.null_value_counts.insert(1, 0);
    file.lower_bounds.insert(1, lower.to_le_bytes().to_vec());
    file.upper_bounds.insert(1, upper.to_le_bytes().to_vec());
    file
}
