//! Raw and readable metrics.

use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{ListType, NestedField, PrimitiveType, StructType};
use tarn_format::spec::value::Value;
use tarn_format::spec::value_binary::to_bytes;
use tarn_format::update::schema::SchemaUpdate;

use super::{MetadataTableKind as K, Site, columns, data_file};

/// Sets all metrics of a field.
fn measure(file: &mut tarn_format::manifest::data_file::DataFile, id: i32, bounds: [(Value, PrimitiveType); 2]) {
    file.column_sizes.insert(id, 40);
    file.value_counts.insert(id, 2);
    file.null_value_counts.insert(id, 1);
    file.nan_value_counts.insert(id, 0);
    let [(lower, lower_type), (upper, upper_type)] = bounds;
    file.lower_bounds.insert(id, to_bytes(&lower, &lower_type).unwrap());
    file.upper_bounds.insert(id, to_bytes(&upper, &upper_type).unwrap());
}

#[tokio::test]
async fn maps_and_readable_metrics_tell_the_same() {
    let site = Site::by_p(FormatVersion::V2).await;
    let mut file = data_file("s3://bucket/a", Some("a"), 2);
    let long = PrimitiveType::Long;
    measure(&mut file, 1, [(Value::Long(-1), long.clone()), (Value::Long(7), long)]);
    file.value_counts.insert(2, 2);
    site.append([file]).await;
    let maps =
        "select column_sizes, value_counts, null_value_counts, nan_value_counts, lower_bounds, upper_bounds from m";
    let expected = "{1: 40}|{1: 2, 2: 2}|{1: 1}|{1: 0}|{1: ffffffffffffffff}|{1: 0700000000000000}";
    assert_eq!(site.rows(K::Files, maps).await, [expected]);
    let readable = "select readable_metrics from m";
    let id = "id: {column_size: 40, value_count: 2, null_value_count: 1, nan_value_count: 0, lower_bound: -1, upper_bound: 7}";
    let p = "p: {column_size: NULL, value_count: 2, null_value_count: NULL, nan_value_count: NULL, lower_bound: NULL, upper_bound: NULL}";
    let expected = format!("{{{id}, {p}}}");
    for kind in [K::Files, K::DataFiles, K::AllFiles, K::Entries, K::AllEntries] {
        assert_eq!(site.rows(kind, readable).await, [expected.as_str()], "{kind}");
    }
}

/// Expected texts are those of the values themselves; binary single-value forms are checked in the format's own tests.
#[tokio::test]
async fn bounds_have_the_types_of_their_columns() {
    use PrimitiveType as P;
    let decimal = P::Decimal { precision: 9, scale: 2 };
    let uuid = [0x11; 16];
    let values: Vec<(P, Value, &str)> = vec![
        (P::Boolean, Value::Boolean(true), "true"),
        (P::Int, Value::Int(-5), "-5"),
        (P::Long, Value::Long(5_000_000_000), "5000000000"),
        (P::Float, Value::Float(1.5), "1.5"),
        (P::Double, Value::Double(-2.5), "-2.5"),
        (decimal, Value::Decimal(1234), "12.34"),
        (P::Date, Value::Int(-1), "1969-12-31"),
        (P::Time, Value::Long(3_600_000_000), "01:00:00"),
        (P::Timestamp, Value::Long(-1_000_000), "1969-12-31T23:59:59"),
        (P::Timestamptz, Value::Long(0), "1970-01-01T00:00:00Z"),
        (
            P::TimestampNs,
            Value::Long(1_000_000_001),
            "1970-01-01T00:00:01.000000001",
        ),
        (P::String, Value::string("é"), "é"),
        (P::Uuid, Value::Uuid(uuid), "11111111111111111111111111111111"),
        (P::Fixed(3), Value::binary([1, 2]), "0102"),
        (P::Binary, Value::binary([0, 255]), "00ff"),
    ];
    let fields = values.iter().zip(1..);
    let fields = fields.map(|((p, ..), id)| NestedField::optional(id, format!("c{id:02}"), p.clone()));
    let site = Site::new(FormatVersion::V3, fields.collect(), PartitionSpec::unpartitioned()).await;
    let mut file = data_file("s3://bucket/a", None, 2);
    file.partition = Default::default();
    for ((p, value, _), id) in values.iter().zip(1..) {
        measure(&mut file, id, [(value.clone(), p.clone()), (value.clone(), p.clone())]);
    }
    site.append([file]).await;
    for ((p, _, text), id) in values.iter().zip(1..) {
        let sql = format!(
            "select readable_metrics['c{id:02}']['lower_bound'], readable_metrics['c{id:02}']['upper_bound'] from m"
        );
        assert_eq!(site.rows(K::Files, &sql).await, [format!("{text}|{text}")], "{p}");
    }
}

#[tokio::test]
async fn bounds_follow_promotions_and_bad_ones_are_null() {
    let columns = vec![
        NestedField::optional(1, "i", PrimitiveType::Int),
        NestedField::optional(2, "s", PrimitiveType::String),
    ];
    let site = Site::new(FormatVersion::V2, columns, PartitionSpec::unpartitioned()).await;
    let mut file = data_file("s3://bucket/a", None, 2);
    file.partition = Default::default();
    file.lower_bounds.insert(1, 7_i32.to_le_bytes().to_vec());
    file.upper_bounds.insert(1, vec![1]);
    file.lower_bounds.insert(2, vec![0xff]);
    site.append([file]).await;
    site.update(|metadata| {
        let mut update = SchemaUpdate::new(metadata);
        update.update_column_type("i", PrimitiveType::Long).unwrap();
        update.finish().unwrap().0
    })
    .await;
    let sql = "select readable_metrics['i']['lower_bound'], readable_metrics['i']['upper_bound'],
               readable_metrics['s']['lower_bound'], arrow_typeof(readable_metrics['i']['lower_bound']) from m";
    assert_eq!(site.rows(K::Files, sql).await, ["7|NULL|NULL|Int64"]);
}

/// Java names them by `Schema.findColumnName`, and leaves structs, lists and maps themselves out.
#[tokio::test]
async fn nested_columns_are_named_by_path() {
    let point = StructType::new(vec![NestedField::optional(5, "x", PrimitiveType::Int)]);
    let list = ListType {
        element: NestedField::optional(3, "element", PrimitiveType::Int).into(),
    };
    let columns = vec![
        NestedField::optional(4, "st", point),
        NestedField::optional(2, "arr", list),
        NestedField::optional(1, "Z", PrimitiveType::Int),
    ];
    let site = Site::new(FormatVersion::V2, columns, PartitionSpec::unpartitioned()).await;
    let table = site.metadata_table(K::Files, &Default::default()).await.unwrap();
    let readable = table.fields().last().unwrap().field_type.as_struct().unwrap().clone();
    let names: Vec<&str> = readable.fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["Z", "arr.element", "st.x"]);
}

/// What a query does not show is not decoded.
#[tokio::test]
async fn the_projection_decides_which_metrics_are_decoded() {
    let cases: [(K, &str, MetricsProjection); 7] = [
        (K::Files, "select file_path, partition from m", MetricsProjection::None),
        (K::Files, "select count(*) from m", MetricsProjection::None),
        (
            K::Files,
            "select readable_metrics from m",
            MetricsProjection::fields([1, 2]),
        ),
        (
            K::Files,
            "select readable_metrics['id']['lower_bound'] from m where readable_metrics['id']['upper_bound'] > 0",
            MetricsProjection::fields([1]),
        ),
        (
            K::Entries,
            "select data_file['record_count'] from m",
            MetricsProjection::None,
        ),
        (
            K::Entries,
            "select data_file['lower_bounds'] from m",
            MetricsProjection::All,
        ),
        (K::Files, "select split_offsets from m", MetricsProjection::All),
    ];
    for (kind, sql, expected) in cases {
        let site = Site::new(FormatVersion::V2, columns(), super::by_p()).await;
        site.append([data_file("s3://bucket/a", Some("a"), 2)]).await;
        site.rows(kind, sql).await;
        let table = site.table().await;
        let snapshot = table.metadata.current_snapshot().unwrap();
        let cache = &site.caches.manifests;
        let manifests = cache.manifests(&table.io, &table.metadata, snapshot).await.unwrap();
        let partition = table.metadata.partition_type_of(0).unwrap();
        let none = MetricsProjection::None;
        let decoded = cache
            .get(&table.io, &manifests[0], Some(&partition), &none)
            .await
            .unwrap();
        assert_eq!(decoded.projection, expected, "{sql}");
    }
}
