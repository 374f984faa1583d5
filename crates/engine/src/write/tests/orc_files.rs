//! ORC data files as another library reads them.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringViewArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, TimeUnit};
use arrow::util::display::array_value_to_string;
use orc_rust::ArrowReaderBuilder;
use orc_rust::schema::TimestampPrecision;
use tarn_format::ErrorKind;
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{ListType, NestedField, PrimitiveType, Type};

use super::values::positions;
use super::{Making, Site, nested};
use crate::arrow::schema::{field_id, schema_to_arrow};
use crate::scan::orc::OrcFile;

const ROWS: i64 = 3000;

fn orc() -> Making {
    Making::new().property("write.format.default", "orc")
}

fn columns() -> Vec<NestedField> {
    let types = [
        PrimitiveType::Boolean,
        PrimitiveType::Int,
        PrimitiveType::Float,
        PrimitiveType::Double,
        PrimitiveType::String,
        PrimitiveType::Binary,
        PrimitiveType::Fixed(3),
        PrimitiveType::Uuid,
        PrimitiveType::Date,
        PrimitiveType::Time,
        PrimitiveType::Timestamp,
        PrimitiveType::Timestamptz,
    ];
    let columns = types
        .into_iter()
        .zip(2..)
        .map(|(p, id)| NestedField::optional(id, format!("c{id}"), p));
    let id = NestedField::required(1, "id", PrimitiveType::Long);
    std::iter::once(id).chain(columns).collect()
}

/// Every third value is null, but for the id.
async fn rows(site: &Site) -> RecordBatch {
    fn every<T>(value: impl Fn(i64) -> T) -> impl Iterator<Item = Option<T>> {
        (0..ROWS).map(move |i| (i % 3 > 0).then(|| value(i)))
    }
    let fixed = |len: usize| {
        let values = every(move |i| i.to_le_bytes().repeat(2)[..len].to_vec());
        FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, len as i32).unwrap()
    };
    let micros = |i: i64| i * 1_000_000_007;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(0..ROWS)),
        Arc::new(BooleanArray::from_iter(every(|i| i % 2 == 0))),
        Arc::new(Int32Array::from_iter(every(|i| 7 - i as i32))),
        Arc::new(Float32Array::from_iter(every(
            |i| if i == 4 { f32::NAN } else { i as f32 },
        ))),
        Arc::new(Float64Array::from_iter(every(|i| i as f64 / 3.0))),
        Arc::new(StringViewArray::from_iter(every(|i| {
            format!("a text of more than sixteen characters, {i}")
        }))),
        Arc::new(BinaryViewArray::from_iter(every(|i| i.to_be_bytes()))),
        Arc::new(fixed(3)),
        Arc::new(fixed(16)),
        Arc::new(Date32Array::from_iter(every(|i| i as i32 - 1000))),
        Arc::new(Time64MicrosecondArray::from_iter(every(|i| i * 1_000_001))),
        Arc::new(TimestampMicrosecondArray::from_iter(every(micros))),
        Arc::new(TimestampMicrosecondArray::from_iter(every(|i| -micros(i) - 1_000_000)).with_timezone("UTC")),
    ];
    site.batch(columns).await
}

fn shown(column: &ArrayRef) -> Vec<String> {
    (0..column.len())
        .map(|row| array_value_to_string(column, row).unwrap())
        .collect()
}

#[tokio::test]
async fn files_are_read_by_another_library() {
    for codec in ["zlib", "snappy", "lz4", "zstd", "none"] {
        let site = Site::new(columns(), orc().property("write.orc.compression-codec", codec)).await;
        let batch = rows(&site).await;
        site.append(batch.clone()).await.unwrap();
        let file = site.file().await;
        assert_eq!((file.file_format, file.record_count), (FileFormat::Orc, ROWS));
        assert!(file.file_path.ends_with(".orc"));
        let bytes = site.table().await.io.read(&file.file_path).await.unwrap();
        assert_eq!(bytes.len() as i64, file.file_size_in_bytes);
        let reader = ArrowReaderBuilder::try_new(bytes)
            .unwrap()
            .with_timestamp_precision(TimestampPrecision::Microsecond);
        let metadata = reader.file_metadata();
        let offsets: Vec<i64> = metadata.stripe_metadatas().iter().map(|s| s.offset() as i64).collect();
        assert_eq!((&offsets, offsets.len()), (&file.split_offsets, 1));
        assert_eq!(metadata.number_of_rows(), ROWS as u64);
        let schema = reader.schema();
        let batches: Result<Vec<_>, _> = reader.build().collect();
        let read = concat_batches(&schema, &batches.unwrap()).unwrap();
        for (column, given) in read.columns().iter().zip(batch.columns()) {
            // Times are numbers, and bytes of a fixed length are bytes, where ids are not looked at.
            let given = match given.data_type() {
                DataType::Time64(_) => arrow::compute::cast(given, &DataType::Int64).unwrap(),
                _ => Arc::clone(given),
            };
            assert_eq!(shown(column), shown(&given), "{codec}");
        }
        assert_eq!(site.rows("id").await, batch, "{codec}");
    }
}

#[tokio::test]
async fn types_have_the_ids_of_the_schema() {
    let site = Site::new(columns(), orc()).await;
    site.append(rows(&site).await).await.unwrap();
    let file = OrcFile::open(&site.table().await.io, &site.file().await.file_path)
        .await
        .unwrap();
    let found: Vec<_> = file
        .schema()
        .fields()
        .iter()
        .map(|f| (field_id(f).unwrap(), f.is_nullable()))
        .collect();
    assert_eq!(found, (1..=13).map(|id| (id, id > 1)).collect::<Vec<_>>());
    let types: Vec<_> = file
        .schema()
        .fields()
        .iter()
        .skip(7)
        .map(|f| f.data_type().clone())
        .collect();
    let zone = Some(Arc::from("UTC"));
    let expected = [
        DataType::FixedSizeBinary(3),
        DataType::FixedSizeBinary(16),
        DataType::Date32,
        DataType::Time64(TimeUnit::Microsecond),
        DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(TimeUnit::Microsecond, zone),
    ];
    assert_eq!(types, expected);
}

/// What Java's `OrcMetrics` tells: no bounds of bytes, and those of text cut to sixteen characters.
#[tokio::test]
async fn metrics_are_those_of_the_rows() {
    let site = Site::new(columns(), orc()).await;
    site.append(rows(&site).await).await.unwrap();
    let file = site.file().await;
    let nulls = ROWS / 3;
    for id in 1..=13 {
        assert_eq!(file.value_counts[&id], ROWS);
        assert_eq!(file.null_value_counts[&id], if id == 1 { 0 } else { nulls });
        assert!(
            file.column_sizes[&id] > 0 && file.column_sizes[&id] < file.file_size_in_bytes,
            "{id}"
        );
    }
    assert_eq!(
        file.nan_value_counts.iter().map(|(k, v)| (*k, *v)).collect::<Vec<_>>(),
        [(4, 1), (5, 0)]
    );
    let bounds = |id: i32| (file.lower_bounds.get(&id).cloned(), file.upper_bounds.get(&id).cloned());
    let both = |low: &[u8], high: &[u8]| (Some(low.to_vec()), Some(high.to_vec()));
    assert_eq!(bounds(1), both(&0_i64.to_le_bytes(), &2999_i64.to_le_bytes()));
    assert_eq!(bounds(2), both(&[0], &[1]));
    assert_eq!(bounds(3), both(&(7 - 2999_i32).to_le_bytes(), &6_i32.to_le_bytes()));
    assert_eq!(bounds(4), both(&1_f32.to_le_bytes(), &2999_f32.to_le_bytes()));
    assert_eq!(bounds(6), both(b"a text of more t", b"a text of more u"));
    for id in [7, 8, 9] {
        assert_eq!(bounds(id), (None, None));
    }
    assert_eq!(bounds(10), both(&(-999_i32).to_le_bytes(), &1999_i32.to_le_bytes()));
    assert_eq!(
        bounds(12),
        both(
            &1_000_000_007_i64.to_le_bytes(),
            &(2999 * 1_000_000_007_i64).to_le_bytes()
        )
    );
}

#[tokio::test]
async fn stripes_end_at_their_size() {
    let columns = vec![NestedField::required(1, "id", PrimitiveType::Long)];
    let site = Site::new(columns, orc().property("write.orc.stripe-size-bytes", 8000)).await;
    let batch = |start: i64| Arc::new(Int64Array::from_iter_values(start..start + 1000)) as ArrayRef;
    let batches = vec![site.batch(vec![batch(0)]).await, site.batch(vec![batch(1000)]).await];
    site.append_partitions(&[batches]).await.unwrap();
    let file = site.file().await;
    assert_eq!((file.split_offsets.len(), file.split_offsets[0]), (2, 3));
    let read = site.rows("id").await;
    assert_eq!(
        read.column(0).as_primitive::<arrow::datatypes::Int64Type>().values(),
        &(0..2000).collect::<Vec<i64>>()[..]
    );
}

/// Structs, lists and maps of decimals, numbers, texts and times, in stripes of a few rows each.
#[tokio::test]
async fn nested_columns_are_read_by_another_library() {
    let decimals = |precision, scale| {
        let most = 10_i128.pow(u32::from(precision)) - 1;
        let values = [Some(-most), Some(-1), Some(0), Some(most), None];
        let values = Decimal128Array::from(values.to_vec()).with_precision_and_scale(precision, scale as i8);
        (
            PrimitiveType::Decimal { precision, scale },
            Arc::new(values.unwrap()) as ArrayRef,
        )
    };
    let texts = StringViewArray::from(vec![
        Some(""),
        Some("a"),
        None,
        Some("longer than twelve bytes"),
        Some("é"),
    ]);
    let micros = [
        Some(-1_500_000),
        Some(-1_000_000),
        None,
        Some(0),
        Some(1_700_000_000_123_456),
    ];
    let samples = [
        decimals(9, 2),
        decimals(38, 10),
        (PrimitiveType::String, Arc::new(texts)),
        (
            PrimitiveType::Timestamp,
            Arc::new(TimestampMicrosecondArray::from(micros.to_vec())),
        ),
        (
            PrimitiveType::Double,
            Arc::new(Float64Array::from(vec![-0.0, 1.5, f64::NAN, f64::MAX, 0.0])),
        ),
    ];
    for (p, leaf) in samples {
        let site = Site::new(nested::columns(&p), orc().property("write.orc.stripe-size-bytes", 100)).await;
        let schema = schema_to_arrow(site.table().await.metadata.current_schema());
        let mut arrays = vec![positions()];
        arrays.extend(schema.fields()[1..].iter().map(|f| nested::build(f.data_type(), &leaf)));
        let batch = site.batch(arrays).await;
        let parts = vec![batch.slice(0, 3), batch.slice(3, 2)];
        site.append_partitions(&[parts]).await.unwrap();
        let rows = site.rows("position").await;
        let file = site.file().await;
        assert_eq!(file.split_offsets.len(), 2, "{p}");
        let bytes = site.table().await.io.read(&file.file_path).await.unwrap();
        let reader = ArrowReaderBuilder::try_new(bytes).unwrap();
        let reader = reader.with_timestamp_precision(TimestampPrecision::Microsecond);
        let schema = reader.schema();
        let batches: Result<Vec<_>, _> = reader.build().collect();
        let read = concat_batches(&schema, &batches.unwrap()).unwrap();
        for (i, written) in batch.columns().iter().enumerate() {
            assert_eq!(nested::shown(rows.column(i)), nested::shown(written), "{p}");
            assert_eq!(nested::shown(read.column(i)), nested::shown(written), "{p}");
        }
        // As Java's `OrcMetrics`: structs are looked into, lists and maps are not.
        let table = site.table().await;
        let id = |name: &str| table.metadata.current_schema().field_by_name(name).unwrap().id;
        let counted: Vec<i32> = file.value_counts.keys().copied().collect();
        assert_eq!(counted, [id("position"), id("s.v"), id("s.deep.w")], "{p}");
        assert_eq!(file.null_value_counts[&id("s.v")], nested::nulls_of_v(&leaf), "{p}");
    }
}

/// Old writers round them to milliseconds.
#[tokio::test]
async fn bounds_of_timestamps_answer_nothing() {
    let columns = vec![
        NestedField::required(1, "at", PrimitiveType::Timestamp),
        NestedField::required(2, "n", PrimitiveType::Long),
    ];
    let site = Site::new(columns, orc()).await;
    let at: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1, 5]));
    let n: ArrayRef = Arc::new(Int64Array::from(vec![1, 5]));
    site.append(site.batch(vec![at, n]).await).await.unwrap();
    for (column, is_read) in [("at", true), ("n", false)] {
        let plan = site.plan(&format!("SELECT max({column}) FROM t")).await;
        assert_eq!(plan.contains("DataSourceExec"), is_read, "{plan}");
    }
}

/// Its readers take the last second before 1970 for the first one after (ORC-763).
#[tokio::test]
async fn the_second_before_1970_is_refused() {
    let columns = vec![NestedField::required(1, "at", PrimitiveType::Timestamp)];
    let site = Site::new(columns, orc()).await;
    let at = |micros: i64| Arc::new(TimestampMicrosecondArray::from(vec![micros])) as ArrayRef;
    let error = site.append(site.batch(vec![at(-1)]).await).await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::InvalidInput && error.message().contains("1970"),
        "{error}"
    );
    site.append(site.batch(vec![at(-1_000_000)]).await).await.unwrap();
    assert_eq!(shown(site.rows("at").await.column(0)), ["1969-12-31T23:59:59"]);
}

#[tokio::test]
async fn what_cannot_be_written_is_refused() {
    let list = ListType {
        element: Arc::new(NestedField::required(3, "element", Type::Variant)),
    };
    let geometry = Type::Primitive(PrimitiveType::Geometry { crs: None });
    for (field_type, said) in [(Type::List(list), "'element' of type variant"), (geometry, "'odd'")] {
        let columns = vec![NestedField::optional(1, "odd", field_type)];
        let site = Site::new(columns, orc().version(FormatVersion::V3)).await;
        let schema = schema_to_arrow(site.table().await.metadata.current_schema());
        let error = site.append(RecordBatch::new_empty(schema)).await.unwrap_err();
        let text = error.to_string();
        assert!(error.kind() == ErrorKind::Unsupported && text.contains(said), "{text}");
        assert!(site.stored_files().await.iter().all(|file| !file.ends_with(".orc")));
    }
    for (key, value) in [
        ("write.orc.compression-codec", "lzo"),
        ("write.orc.stripe-size-bytes", "0"),
    ] {
        let site = Site::new(columns(), orc().property(key, value)).await;
        let error = site.append(rows(&site).await).await.unwrap_err();
        assert!(
            error.kind() == ErrorKind::InvalidInput && error.message().contains(key),
            "{error}"
        );
    }
}
