//! Partition values whose type the table tells in another way than the writer did, or not at all.

use std::sync::Arc;

use crate::error::ErrorKind;
use crate::manifest::avro::codec::Codec;
use crate::manifest::avro::container::ContainerWriter;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use crate::manifest::reader::{self, written_partition_types};
use crate::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::table_metadata::FormatVersion;
use crate::spec::types::{NestedField, PrimitiveType as T, StructType};
use crate::spec::value::Value;
use crate::spec::value_binary::to_bytes;
use crate::transform::Transform;

fn partition_type(field: T) -> StructType {
    StructType::new(vec![NestedField::optional(1000, "p", field)])
}

fn writer(field: T) -> ManifestWriter {
    let spec = PartitionSpec {
        spec_id: 0,
        fields: vec![PartitionField {
            source_ids: vec![99],
            field_id: 1000,
            name: "p".to_string(),
            transform: Transform::Identity,
            extra: Default::default(),
        }],
        extra: Default::default(),
    };
    let mut options = ManifestWriterOptions::new(FormatVersion::V2, Arc::new(spec), super::tables::schema());
    options.partition_type = partition_type(field);
    ManifestWriter::new(options.with_snapshot_id(1)).unwrap()
}

fn file(value: Option<Value>) -> DataFile {
    DataFile {
        partition: PartitionTuple(vec![value]),
        ..DataFile::new(DataContent::Data, "f", FileFormat::Parquet)
    }
}

fn read(bytes: &[u8], field: T) -> Option<Value> {
    let columns = reader::decode(bytes, Some(&partition_type(field)), &MetricsProjection::None).unwrap();
    columns.partition(0).0[0].clone()
}

#[test]
fn a_value_of_unknown_type_is_refused_rather_than_lost() {
    let mut writer = writer(T::Unknown);
    writer.added(&file(None), None).unwrap();
    let error = writer.added(&file(Some(Value::Int(1))), None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(writer.entry_count(), 1);
}

#[test]
fn values_from_before_a_promotion_are_written_and_summarised_as_promoted() {
    for (value, field, wide) in [
        (Value::Int(-7), T::Long, Value::Long(-7)),
        (Value::Float(1.5), T::Double, Value::Double(1.5)),
    ] {
        let mut writer = writer(field.clone());
        writer.added(&file(Some(value)), None).unwrap();
        let (bytes, manifest) = writer.finish("m").unwrap();
        let bound = Some(to_bytes(&wide, &field).unwrap());
        assert_eq!(manifest.partitions[0].lower_bound, bound);
        assert_eq!(manifest.partitions[0].upper_bound, bound);
        assert_eq!(read(&bytes, field), Some(wide));
    }
    let mut writer = writer(T::Int);
    assert!(writer.added(&file(Some(Value::Long(1))), None).is_err());
}

#[test]
fn dates_beyond_the_range_of_timestamps_stay_dates() {
    for days in [i32::MIN, i32::MAX, 106_751_992, 106_752] {
        let mut writer = writer(T::Date);
        writer.added(&file(Some(Value::Int(days))), None).unwrap();
        let (bytes, _) = writer.finish("m").unwrap();
        let micros = i64::from(days).checked_mul(86_400_000_000);
        let nanos = micros.and_then(|m| m.checked_mul(1000));
        let expected = |time: Option<i64>| Some(time.map_or(Value::Int(days), Value::Long));
        assert_eq!(read(&bytes, T::Timestamp), expected(micros));
        assert_eq!(read(&bytes, T::TimestamptzNs), expected(nanos));
    }
}

#[test]
fn the_files_own_schema_tells_the_types() {
    for field in [
        T::Boolean,
        T::Int,
        T::Long,
        T::Float,
        T::Double,
        T::Date,
        T::Time,
        T::Timestamp,
        T::Timestamptz,
        T::TimestampNs,
        T::TimestamptzNs,
        T::String,
        T::Uuid,
        T::Binary,
        T::Fixed(16),
        T::Decimal { precision: 9, scale: 2 },
    ] {
        let (bytes, _) = writer(field.clone()).finish("m").unwrap();
        assert_eq!(
            written_partition_types(&bytes, &partition_type(T::Unknown)).unwrap(),
            [Some(field)]
        );
    }
    let (bytes, _) = writer(T::Unknown).finish("m").unwrap();
    assert_eq!(
        written_partition_types(&bytes, &partition_type(T::Unknown)).unwrap(),
        [None]
    );
    let no_manifest = ContainerWriter::new("\"int\"", &[], Codec::Null).finish().unwrap();
    assert_eq!(
        written_partition_types(&no_manifest, &partition_type(T::Unknown)).unwrap(),
        [None]
    );
}
