//! A small table's manifests, as seeds.

use std::sync::Arc;

use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::data_file::{
    DataContent, DataFile, FileFormat, ManifestEntry, ManifestStatus, PartitionTuple,
};
use tarn_format::manifest::manifest_file::ManifestFile;
use tarn_format::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType, Type};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;

pub const VERSIONS: [FormatVersion; 3] = [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3];

fn partition_field(source: i32, field_id: i32, name: &str, transform: Transform) -> PartitionField {
    PartitionField {
        source_ids: vec![source],
        field_id,
        name: name.to_string(),
        transform,
        extra: Default::default(),
    }
}

pub fn options(version: FormatVersion, codec: Codec) -> ManifestWriterOptions {
    let fields = vec![
        NestedField::required(1, "id", Type::Primitive(PrimitiveType::Long)),
        NestedField::optional(2, "name", Type::Primitive(PrimitiveType::String)),
    ];
    let schema = Schema::new(0, StructType::new(fields), Vec::new()).expect("a seed");
    let spec = PartitionSpec {
        spec_id: 0,
        fields: vec![
            partition_field(1, 1000, "id_bucket", Transform::Bucket(4)),
            partition_field(2, 1001, "name", Transform::Identity),
        ],
        extra: Default::default(),
    };
    ManifestWriterOptions::new(version, Arc::new(spec), Arc::new(schema))
        .with_codec(codec)
        .with_snapshot_id(7)
}

fn data_file(i: i32) -> DataFile {
    let mut file = DataFile::new(DataContent::Data, format!("/t/data/{i}.parquet"), FileFormat::Parquet);
    file.partition = PartitionTuple(vec![Some(Value::Int(i)), (i > 0).then(|| Value::String("n".into()))]);
    file.record_count = 10;
    file.file_size_in_bytes = 1000;
    for field in [1, 2] {
        file.column_sizes.insert(field, 50);
        file.value_counts.insert(field, 10);
        file.null_value_counts.insert(field, 1);
        file.lower_bounds.insert(field, vec![field as u8; 8]);
        file.upper_bounds.insert(field, vec![0x7f; 8]);
    }
    file.split_offsets = vec![4, 500];
    file.sort_order_id = Some(0);
    file
}

/// A manifest with an added, an existing and a deleted file.
pub fn manifest(options: ManifestWriterOptions) -> (Vec<u8>, ManifestFile) {
    let mut writer = ManifestWriter::new(options).expect("a seed");
    let entry = |i, status| ManifestEntry {
        status,
        snapshot_id: Some(3),
        sequence_number: Some(1),
        file_sequence_number: Some(1),
        data_file: Arc::new(data_file(i)),
    };
    writer.added(&data_file(0), None).expect("a seed");
    writer.existing(&entry(1, ManifestStatus::Existing)).expect("a seed");
    writer.deleted(&entry(2, ManifestStatus::Deleted)).expect("a seed");
    let (bytes, manifest) = writer.finish("/t/metadata/m0.avro").expect("a seed");
    (bytes.to_vec(), manifest)
}
