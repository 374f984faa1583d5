//! Schemas, specs and files that the tests are made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use crate::manifest::manifest_file::ManifestContent;
use crate::manifest::writer::ManifestWriterOptions;
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::{Schema, SchemaRef};
use crate::spec::table_metadata::FormatVersion;
use crate::spec::types::{NestedField, PrimitiveType, StructType};
use crate::spec::value::Value;
use crate::transform::Transform;

/// One column of every primitive type, with names that Avro does not take as they are.
pub(super) fn schema() -> SchemaRef {
    let types = [
        ("flag", PrimitiveType::Boolean),
        ("int", PrimitiveType::Int),
        ("long col", PrimitiveType::Long),
        ("float", PrimitiveType::Float),
        ("double", PrimitiveType::Double),
        ("9digits", PrimitiveType::Decimal { precision: 9, scale: 2 }),
        ("same digits", PrimitiveType::Decimal { precision: 9, scale: 2 }),
        (
            "wide",
            PrimitiveType::Decimal {
                precision: 38,
                scale: 10,
            },
        ),
        ("date", PrimitiveType::Date),
        ("time", PrimitiveType::Time),
        ("ts", PrimitiveType::Timestamp),
        ("tstz", PrimitiveType::Timestamptz),
        ("ts_ns", PrimitiveType::TimestampNs),
        ("tstz_ns", PrimitiveType::TimestamptzNs),
        ("straße.ö", PrimitiveType::String),
        ("uuid", PrimitiveType::Uuid),
        ("fixed", PrimitiveType::Fixed(5)),
        ("bin", PrimitiveType::Binary),
    ];
    let fields = types
        .into_iter()
        .zip(1..)
        .map(|((name, primitive), id)| NestedField::optional(id, name, primitive));
    Arc::new(Schema::new(7, StructType::new(fields.collect()), Vec::new()).unwrap())
}

/// Partitioned by every column.
pub(super) fn spec() -> Arc<PartitionSpec> {
    let schema = schema();
    let fields = schema.fields().iter().map(|f| PartitionField {
        source_ids: vec![f.id],
        field_id: 1000 + f.id,
        name: f.name.clone(),
        transform: Transform::Identity,
        extra: Default::default(),
    });
    Arc::new(PartitionSpec {
        spec_id: 4,
        fields: fields.collect(),
        extra: Default::default(),
    })
}

pub(super) fn options(version: FormatVersion, content: ManifestContent) -> ManifestWriterOptions {
    ManifestWriterOptions::new(version, spec(), schema())
        .with_content(content)
        .with_snapshot_id(77)
}

pub(super) fn partition() -> impl Strategy<Value = PartitionTuple> {
    let fixed = prop::collection::vec(any::<u8>(), 5);
    let values: Vec<BoxedStrategy<Value>> = vec![
        any::<bool>().prop_map(Value::Boolean).boxed(),
        any::<i32>().prop_map(Value::Int).boxed(),
        any::<i64>().prop_map(Value::Long).boxed(),
        any::<f32>().prop_map(Value::Float).boxed(),
        any::<f64>().prop_map(Value::Double).boxed(),
        (-999_999_999..=999_999_999_i128).prop_map(Value::Decimal).boxed(),
        (-999_999_999..=999_999_999_i128).prop_map(Value::Decimal).boxed(),
        any::<i128>().prop_map(|v| Value::Decimal(v % 10_i128.pow(38))).boxed(),
        any::<i32>().prop_map(Value::Int).boxed(),
        any::<i64>().prop_map(Value::Long).boxed(),
        any::<i64>().prop_map(Value::Long).boxed(),
        any::<i64>().prop_map(Value::Long).boxed(),
        any::<i64>().prop_map(Value::Long).boxed(),
        any::<i64>().prop_map(Value::Long).boxed(),
        ".{0,12}".prop_map(Value::string).boxed(),
        any::<[u8; 16]>().prop_map(Value::Uuid).boxed(),
        fixed.prop_map(Value::binary).boxed(),
        prop::collection::vec(any::<u8>(), 0..20)
            .prop_map(Value::binary)
            .boxed(),
    ];
    let optional: Vec<_> = values
        .into_iter()
        .map(|v| prop::option::weighted(0.8, v).boxed())
        .collect();
    optional.prop_map(PartitionTuple)
}

fn counts() -> impl Strategy<Value = BTreeMap<i32, i64>> {
    prop::collection::btree_map(prop_oneof![1..40_i32, any::<i32>()], any::<i64>(), 0..6)
}

fn bounds() -> impl Strategy<Value = BTreeMap<i32, Vec<u8>>> {
    let bound = prop::collection::vec(any::<u8>(), 0..80);
    prop::collection::btree_map(prop_oneof![1..40_i32, any::<i32>()], bound, 0..6)
}

/// A file as it may lie in a manifest of this version and content.
pub(super) fn file(version: FormatVersion, content: ManifestContent) -> impl Strategy<Value = DataFile> {
    let kind = match (content, version) {
        (ManifestContent::Data, _) => prop_oneof![
            Just((DataContent::Data, FileFormat::Parquet)),
            Just((DataContent::Data, FileFormat::Avro)),
            Just((DataContent::Data, FileFormat::Orc)),
        ]
        .boxed(),
        (_, FormatVersion::V3) => prop_oneof![
            Just((DataContent::PositionDeletes, FileFormat::Puffin)),
            Just((DataContent::EqualityDeletes, FileFormat::Parquet)),
        ]
        .boxed(),
        _ => prop_oneof![
            Just((DataContent::PositionDeletes, FileFormat::Parquet)),
            Just((DataContent::EqualityDeletes, FileFormat::Parquet)),
        ]
        .boxed(),
    };
    let metrics = (counts(), counts(), counts(), counts(), bounds(), bounds());
    let lists = (
        prop::collection::vec(any::<i64>(), 0..4),
        prop::collection::vec(any::<i32>(), 1..4),
    );
    let options = (
        any::<Option<Vec<u8>>>(),
        any::<Option<i32>>(),
        any::<Option<i64>>(),
        any::<Option<i64>>(),
    );
    (
        kind,
        "[a-z/]{1,30}|.{1,9}",
        partition(),
        any::<(i64, i64)>(),
        metrics,
        lists,
        options,
    )
        .prop_map(
            move |((content, format), path, partition, (rows, size), metrics, (offsets, ids), options)| {
                let mut file = DataFile::new(content, path, format);
                file.spec_id = 4;
                file.partition = partition;
                (file.record_count, file.file_size_in_bytes) = (rows, size);
                (file.column_sizes, file.value_counts, file.null_value_counts) = (metrics.0, metrics.1, metrics.2);
                (file.nan_value_counts, file.lower_bounds, file.upper_bounds) = (metrics.3, metrics.4, metrics.5);
                file.split_offsets = offsets;
                (file.key_metadata, file.sort_order_id) = (options.0, options.1);
                let is_v3 = version == FormatVersion::V3;
                match content {
                    DataContent::Data => file.first_row_id = options.2.filter(|_| is_v3),
                    DataContent::EqualityDeletes => file.equality_ids = ids,
                    DataContent::PositionDeletes => {
                        file.referenced_data_file = options.2.map(|n| Arc::from(format!("data/{n}")));
                        file.content_offset = options.2.filter(|_| is_v3);
                        file.content_size_in_bytes = options.3.filter(|_| is_v3);
                    }
                }
                file
            },
        )
}
