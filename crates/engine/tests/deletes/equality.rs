//! Equality deletes.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringViewArray, StructArray,
};
use arrow::datatypes::{DataType, Field};
use tarn_engine::scan::ReadOptions;
use tarn_format::ErrorKind;
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::table_metadata::FormatVersion::{self, V2, V3};
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};

use crate::site::{Site, by, id_and_data, identified, partition, shown};

const VERSIONS: [FormatVersion; 2] = [V2, V3];

fn longs(values: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(Int64Array::from_iter(values))
}

pub(crate) fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringViewArray::from_iter(values.iter().copied()))
}

/// Deletes of rows by `id`.
async fn by_id(site: &Site, name: &str, ids: &[Option<i64>]) -> DataFile {
    site.keys(name, vec![("id", 1, longs(ids.iter().copied()))]).await
}

#[tokio::test]
async fn rows_with_a_deleted_key_are_left_out() {
    for version in VERSIONS {
        let site = Site::new(version).await;
        let (a, b) = (site.numbered("a", 0, 20).await, site.numbered("b", 20, 10).await);
        site.append(&[&a, &b]).await;
        let keys: Vec<Option<i64>> = [3, 4, 5, 6, 7, 22, 99].map(Some).into();
        site.delete([by_id(&site, "d", &keys).await]).await;
        let expected: Vec<i64> = (0..30).filter(|id| !keys.contains(&Some(*id))).collect();
        assert_eq!(site.ids().await, shown(expected));
        assert_eq!(site.query("SELECT count(*) FROM t").await, ["24"]);
        assert_eq!(site.query("SELECT count(data) FROM t WHERE id < 10").await, ["5"]);
        // The key is not among the columns asked for.
        assert_eq!(site.query("SELECT DISTINCT data FROM t").await, ["x"]);
        assert_eq!(
            site.query("SELECT count(*) FROM (SELECT data FROM t LIMIT 23)").await,
            ["23"]
        );
        assert_eq!(
            site.query("SELECT id FROM t WHERE id > 2 ORDER BY id LIMIT 2").await,
            ["8", "9"]
        );
        assert_eq!(
            site.query("SELECT id + 1 FROM t WHERE id BETWEEN 21 AND 23 ORDER BY 1")
                .await,
            ["22", "24"]
        );
    }
}

/// Spec, "Scan Planning": equality deletes apply to data files of a lower sequence number.
#[tokio::test]
async fn keys_delete_from_older_files_only() {
    let site = Site::new(V2).await;
    site.append(&[&site.numbered("a", 0, 3).await]).await;
    let upsert = RowDelta::new()
        .add_deletes(Arc::new(by_id(&site, "d1", &[Some(1), Some(2)]).await))
        .add_rows(site.rows("b", &[(Some(1), Some("new"))]).await);
    site.commit(upsert.build()).await;
    let all = "SELECT id, data FROM t ORDER BY id";
    assert_eq!(site.query(all).await, ["0 x", "1 new"]);
    let upsert = RowDelta::new()
        .add_deletes(Arc::new(by_id(&site, "d2", &[Some(1)]).await))
        .add_rows(
            site.rows("c", &[(Some(1), Some("newer")), (Some(2), Some("back"))])
                .await,
        );
    site.commit(upsert.build()).await;
    // One table of keys holds those of both deletes: 2 was deleted before it came back.
    assert_eq!(site.query(all).await, ["0 x", "1 newer", "2 back"]);
}

#[tokio::test]
async fn null_equals_null_and_nan_equals_nan() {
    let columns = vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "f", PrimitiveType::Double),
    ];
    let site = Site::with(V2, columns, PartitionSpec::unpartitioned()).await;
    let other_nan = f64::from_bits(f64::NAN.to_bits() ^ 1);
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![
        Some(1.5),
        None,
        Some(other_nan),
        Some(0.0),
        Some(-0.0),
    ]));
    site.append(&[&site.data("a", vec![longs((0..5).map(Some)), floats]).await])
        .await;
    let keys: ArrayRef = Arc::new(Float64Array::from(vec![None, Some(f64::NAN), Some(-0.0)]));
    site.delete([site.keys("d", vec![("f", 2, keys)]).await]).await;
    assert_eq!(site.ids().await, ["0", "3"]);
}

#[tokio::test]
async fn lists_of_key_columns_count_each_for_itself() {
    let site = Site::new(V2).await;
    let rows = [
        (Some(1), Some("a")),
        (Some(1), None),
        (Some(2), Some("a")),
        (None, Some("b")),
        (None, None),
        (Some(3), Some("c")),
    ];
    site.append(&[&site.rows("f", &rows).await]).await;
    let both = site.keys(
        "both",
        vec![
            ("id", 1, longs([Some(1), None, Some(2)])),
            ("data", 2, texts(&[None, None, Some("z")])),
        ],
    );
    let text = site.keys("text", vec![("data", 2, texts(&[Some("c")]))]);
    site.delete([both.await, text.await]).await;
    let all = "SELECT id, data FROM t ORDER BY id, data";
    assert_eq!(site.query(all).await, ["1 a", "2 a", "NULL b"]);
}

#[tokio::test]
async fn keys_hold_in_their_partition_or_everywhere() {
    let site = Site::with(V2, id_and_data(), by(2)).await;
    let in_partition = |file: Arc<DataFile>, value: &str| {
        let mut file = Arc::unwrap_or_clone(file);
        file.partition = partition(value);
        Arc::new(file)
    };
    let a = in_partition(site.rows("a", &[(Some(1), Some("x")), (Some(2), Some("x"))]).await, "x");
    let b = in_partition(site.rows("b", &[(Some(1), Some("y")), (Some(2), Some("y"))]).await, "y");
    site.append(&[&a, &b]).await;
    let mut scoped = by_id(&site, "scoped", &[Some(1)]).await;
    scoped.partition = partition("x");
    site.delete([scoped]).await;
    let all = "SELECT id, data FROM t ORDER BY id, data";
    assert_eq!(site.query(all).await, ["1 y", "2 x", "2 y"]);
    // An unpartitioned spec added later: its deletes hold for files of all specs.
    let spec_id = site.unpartition().await;
    let mut global = by_id(&site, "global", &[Some(2)]).await;
    global.spec_id = spec_id;
    site.delete([global]).await;
    assert_eq!(site.query(all).await, ["1 y"]);
}

#[tokio::test]
async fn keys_are_compared_in_the_newest_type() {
    let columns = vec![
        NestedField::optional(1, "id", PrimitiveType::Int),
        NestedField::optional(2, "d", PrimitiveType::Decimal { precision: 5, scale: 2 }),
    ];
    let site = Site::with(V2, columns, PartitionSpec::unpartitioned()).await;
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..4));
    let decimals = |values: &[i128], precision: u8| -> ArrayRef {
        let values = Decimal128Array::from_iter_values(values.iter().copied());
        Arc::new(values.with_precision_and_scale(precision, 2).unwrap())
    };
    site.append(&[&site.data("a", vec![ids, decimals(&[100, 200, 300, 400], 5)]).await])
        .await;
    let old: ArrayRef = Arc::new(Int32Array::from(vec![0]));
    site.delete([site.keys("old", vec![("id", 1, old)]).await]).await;
    site.evolve(vec![
        NestedField::optional(1, "key", PrimitiveType::Long),
        NestedField::optional(
            2,
            "d",
            PrimitiveType::Decimal {
                precision: 12,
                scale: 2,
            },
        ),
    ])
    .await;
    site.delete([
        site.keys("new", vec![("key", 1, longs([Some(2)]))]).await,
        site.keys("wide", vec![("d", 2, decimals(&[400], 12))]).await,
    ])
    .await;
    assert_eq!(site.query("SELECT key, d FROM t").await, ["1 2.00"]);
}

#[tokio::test]
async fn dropped_key_columns_still_delete() {
    let site = Site::new(V2).await;
    site.append(&[&site.rows("a", &[(Some(1), Some("x")), (Some(2), Some("y"))]).await])
        .await;
    site.delete([site.keys("d", vec![("data", 2, texts(&[Some("x")]))]).await])
        .await;
    // Another column takes the name.
    site.evolve(vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(3, "data", PrimitiveType::Long),
    ])
    .await;
    assert_eq!(site.query("SELECT * FROM t").await, ["2 NULL"]);
    assert_eq!(site.query("SELECT id FROM t WHERE data IS NULL").await, ["2"]);
}

/// Spec, "Equality Delete Files": a column that older data files lack is read by the rules of projection.
#[tokio::test]
async fn key_columns_added_later_are_null_or_their_default() {
    let site = Site::new(V3).await;
    site.append(&[&site.numbered("a", 0, 2).await]).await;
    let mut with_default = NestedField::optional(4, "n", PrimitiveType::Long);
    with_default.initial_default = Some(tarn_format::spec::value::Value::Long(7));
    let mut columns = id_and_data();
    columns.push(NestedField::optional(3, "m", PrimitiveType::Long));
    columns.push(with_default);
    site.evolve(columns).await;
    let new = vec![
        longs([Some(5), Some(6)]),
        texts(&[None, None]),
        longs([Some(1), Some(2)]),
        longs([Some(7), Some(8)]),
    ];
    site.append(&[&site.data("b", new).await]).await;
    assert_eq!(site.ids().await, ["0", "1", "5", "6"]);
    let null = [None].map(|n: Option<i64>| n);
    site.delete([site
        .keys("d", vec![("n", 4, longs([Some(8)])), ("m", 3, longs([Some(2)]))])
        .await])
        .await;
    assert_eq!(site.ids().await, ["0", "1", "5"]);
    site.delete([site
        .keys("e", vec![("m", 3, longs(null)), ("n", 4, longs([Some(9)]))])
        .await])
        .await;
    assert_eq!(site.ids().await, ["0", "1", "5"]);
    site.delete([site
        .keys("f", vec![("m", 3, longs(null)), ("n", 4, longs([Some(7)]))])
        .await])
        .await;
    assert_eq!(site.ids().await, ["5"]);
}

#[tokio::test]
async fn keys_may_be_fields_of_structs() {
    let inner = StructType::new(vec![
        NestedField::optional(3, "a", PrimitiveType::Long),
        NestedField::optional(4, "b", PrimitiveType::Long),
    ]);
    let columns = vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "s", inner),
    ];
    let site = Site::with(V2, columns, PartitionSpec::unpartitioned()).await;
    let of = |fields: Vec<Field>, columns: Vec<ArrayRef>, valid: Vec<bool>| -> ArrayRef {
        Arc::new(StructArray::new(fields.into(), columns, Some(valid.into())))
    };
    let long = |name: &str, id: i32| identified(name, id, DataType::Int64);
    let values = of(
        vec![long("a", 3), long("b", 4)],
        vec![longs([Some(1), Some(2), None, Some(4)]), longs([None; 4])],
        // Below the null is a value.
        vec![true, true, true, false],
    );
    site.append(&[&site.data("f", vec![longs((0..4).map(Some)), values]).await])
        .await;
    let keys = of(vec![long("a", 3)], vec![longs([Some(2), None])], vec![true, true]);
    let field = identified("s", 2, keys.data_type().clone());
    let schema = Arc::new(arrow::datatypes::Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema, vec![keys]).unwrap();
    site.delete([site.keys_of("d", &batch, &[3]).await]).await;
    assert_eq!(site.ids().await, ["0"]);
}

#[tokio::test]
async fn all_kinds_of_deletes_together() {
    for version in VERSIONS {
        let site = Site::new(version).await;
        let (a, b) = (site.numbered("a", 0, 20).await, site.numbered("b", 20, 10).await);
        site.append(&[&a, &b]).await;
        let of_a = match version {
            V2 => site.positions_of("p", &a, &[0, 1, 2, 3, 10]).await,
            _ => site.vector_of("p", &a, &[0, 1, 2, 3, 10]).await,
        };
        site.delete([of_a, by_id(&site, "d", &[Some(1), Some(11), Some(21)]).await])
            .await;
        let gone = [0, 1, 2, 3, 10, 11, 21];
        let expected: Vec<i64> = (0..30).filter(|id| !gone.contains(id)).collect();
        assert_eq!(site.ids().await, shown(expected.clone()));
        let read = ReadOptions {
            split_size_bytes: Some(1),
            ..ReadOptions::default()
        };
        let rows = site.try_query("SELECT id FROM t ORDER BY id", &[], read).await;
        assert_eq!(rows.unwrap(), shown(expected));
        assert_eq!(site.query("SELECT count(*) FROM t").await, ["23"]);
    }
}

#[tokio::test]
async fn keys_are_read_once_and_not_beyond_their_budget() {
    let mut site = Site::new(V2).await;
    site.append(&[&site.numbered("a", 0, 20).await]).await;
    let deletes = by_id(&site, "d", &[Some(1)]).await;
    let location = deletes.file_path.to_string();
    site.delete([deletes]).await;
    assert_eq!(site.query("SELECT count(*) FROM t").await, ["19"]);
    let bytes = site.io().await.read(&location).await.unwrap();
    site.io().await.delete(&location).await.unwrap();
    assert_eq!(site.query("SELECT count(*) FROM t").await, ["19"]);
    site.io().await.write(&location, bytes).await.unwrap();
    site.budget(50);
    assert_eq!(
        site.error("SELECT * FROM t").await.kind(),
        ErrorKind::ResourcesExhausted
    );
}

#[tokio::test]
async fn deletes_without_their_key_column_are_refused() {
    let site = Site::new(V2).await;
    site.append(&[&site.numbered("a", 0, 2).await]).await;
    let mut deletes = by_id(&site, "d", &[Some(1)]).await;
    deletes.equality_ids = vec![1, 2];
    site.delete([deletes]).await;
    assert_eq!(site.error("SELECT * FROM t").await.kind(), ErrorKind::Corrupt);
}
