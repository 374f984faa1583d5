//! A small table whose metadata says that it lies in `s3://lake/db/events`, written into some other directory.

use std::path::Path;

use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::manifest::list::{self, ManifestListWriterOptions};
use tarn_format::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadata};
use tarn_format::spec::value::Value;

const LOCATION: &str = "s3://lake/db/events";

const METADATA: &str = r#"{
  "format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "s3://lake/db/events",
  "last-sequence-number": 1, "last-updated-ms": 1704164645678, "last-column-id": 3,
  "current-schema-id": 0, "schemas": [{"type": "struct", "schema-id": 0, "identifier-field-ids": [1], "fields": [
    {"id": 1, "name": "id", "required": true, "type": "long", "doc": "the key"},
    {"id": 2, "name": "day", "required": false, "type": "date"},
    {"id": 3, "name": "payload", "required": false, "type": "string"}]}],
  "default-spec-id": 0, "last-partition-id": 1000, "partition-specs": [{"spec-id": 0, "fields": [
    {"name": "day", "transform": "identity", "source-id": 2, "field-id": 1000}]}],
  "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
  "properties": {"owner": "tarn"}, "current-snapshot-id": 7,
  "refs": {"main": {"snapshot-id": 7, "type": "branch"}},
  "snapshots": [{"snapshot-id": 7, "sequence-number": 1, "timestamp-ms": 1704164645678, "schema-id": 0,
    "manifest-list": "s3://lake/db/events/metadata/snap-7.avro", "summary": {"operation": "append"}}],
  "snapshot-log": [{"snapshot-id": 7, "timestamp-ms": 1704164645678}], "metadata-log": []
}"#;

/// Days from 1970-01-01 to 2024-01-02.
const DAY: i32 = 19_724;

/// Writes the table's metadata file, manifest list and manifest below `directory`.
pub async fn write_table(directory: &Path) {
    let metadata = TableMetadata::from_json(METADATA.as_bytes()).unwrap();
    let mut options = ManifestWriterOptions::for_table(&metadata, 0).unwrap();
    options.snapshot_id = Some(7);
    let mut writer = ManifestWriter::new(options).unwrap();
    for (name, records, bytes) in [("a", 10, 1024), ("b", 20, 2048)] {
        let path = format!("{LOCATION}/data/{name}.parquet");
        let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
        file.partition = PartitionTuple(vec![Some(Value::Int(DAY))]);
        file.record_count = records;
        file.file_size_in_bytes = bytes;
        writer.added(&file, None).unwrap();
    }
    let (manifest, mut listed) = writer.finish(format!("{LOCATION}/metadata/m0.avro")).unwrap();
    // A stated length that no change of the encoder moves.
    listed.manifest_length = 1024;
    let options = ManifestListWriterOptions {
        format_version: FormatVersion::V2,
        snapshot_id: 7,
        parent_snapshot_id: None,
        sequence_number: 1,
        first_row_id: 0,
        codec: Default::default(),
    };
    let list = list::encode(options, &[listed]).unwrap();
    let folder = directory.join("metadata");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("m0.avro"), manifest).unwrap();
    std::fs::write(folder.join("snap-7.avro"), list.bytes).unwrap();
    std::fs::write(folder.join("v1.metadata.json"), "replaced long ago").unwrap();
    std::fs::write(folder.join("v2.metadata.json"), METADATA).unwrap();
    std::fs::write(folder.join("version-hint.text"), "1").unwrap();
}
