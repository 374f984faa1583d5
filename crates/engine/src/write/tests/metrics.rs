//! What manifests say of a file's columns: counts, bounds and sizes, by the metrics modes of the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, ListBuilder, StringViewArray, StructArray, TimestampMicrosecondArray,
};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use tarn_format::ErrorKind;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::sort::{NullOrder, SortDirection, SortField, SortOrder};
use tarn_format::spec::types::{ListType, NestedField, PrimitiveType, StructType, Type};
use tarn_format::transform::Transform;

use super::{Making, Site};
use crate::arrow::schema::schema_to_arrow;

async fn written(columns: Vec<NestedField>, arrays: Vec<ArrayRef>, making: Making) -> DataFile {
    let site = Site::new(columns, making).await;
    let batch = site.batch(arrays).await;
    site.append(batch).await.unwrap();
    site.file().await
}

/// The file of a table with one column, `c` with id 1.
async fn one_column(p: PrimitiveType, array: ArrayRef, making: Making) -> DataFile {
    written(vec![NestedField::optional(1, "c", p)], vec![array], making).await
}

fn bounds(file: &DataFile) -> (Option<&[u8]>, Option<&[u8]>) {
    let of = |bounds: &BTreeMap<i32, Vec<u8>>| bounds.get(&1).map(|b| b.to_vec().leak() as &[u8]);
    (of(&file.lower_bounds), of(&file.upper_bounds))
}

#[tokio::test]
async fn values_nulls_and_nans_are_counted() {
    let values = vec![Some(f64::NAN), Some(2.0), None, Some(f64::NAN), Some(-1.0), None, None];
    let file = one_column(
        PrimitiveType::Double,
        Arc::new(Float64Array::from(values)),
        Making::new(),
    )
    .await;
    assert_eq!(file.value_counts, BTreeMap::from([(1, 7)]));
    assert_eq!(file.null_value_counts, BTreeMap::from([(1, 3)]));
    assert_eq!(file.nan_value_counts, BTreeMap::from([(1, 2)]));
    // NaN is in no bound.
    assert_eq!(
        bounds(&file),
        (Some(&(-1.0_f64).to_le_bytes()[..]), Some(&2.0_f64.to_le_bytes()[..]))
    );
}

#[tokio::test]
async fn only_floats_have_a_nan_count() {
    let file = one_column(PrimitiveType::Int, Arc::new(Int32Array::from(vec![1])), Making::new()).await;
    assert_eq!(file.nan_value_counts, BTreeMap::new());
    let file = one_column(
        PrimitiveType::Float,
        Arc::new(Float32Array::from(vec![1.0])),
        Making::new(),
    )
    .await;
    assert_eq!(file.nan_value_counts, BTreeMap::from([(1, 0)]));
}

/// Spec, "Manifests": -0.0 precedes +0.0.
#[tokio::test]
async fn bounds_keep_the_sign_of_zero() {
    for values in [vec![0.0, -0.0], vec![-0.0, 0.0]] {
        let file = one_column(
            PrimitiveType::Double,
            Arc::new(Float64Array::from(values)),
            Making::new(),
        )
        .await;
        assert_eq!(
            bounds(&file),
            (Some(&(-0.0_f64).to_le_bytes()[..]), Some(&0.0_f64.to_le_bytes()[..]))
        );
    }
    for zero in [0.0_f32, -0.0] {
        let file = one_column(
            PrimitiveType::Float,
            Arc::new(Float32Array::from(vec![zero])),
            Making::new(),
        )
        .await;
        assert_eq!(
            bounds(&file),
            (Some(&zero.to_le_bytes()[..]), Some(&zero.to_le_bytes()[..]))
        );
    }
}

#[tokio::test]
async fn without_values_there_are_no_bounds() {
    let nulls = Arc::new(Int64Array::from(vec![None, None]));
    let file = one_column(PrimitiveType::Long, nulls, Making::new()).await;
    assert_eq!((file.value_counts[&1], file.null_value_counts[&1]), (2, 2));
    assert_eq!(bounds(&file), (None, None));
    let nans = Arc::new(Float32Array::from(vec![f32::NAN, f32::NAN]));
    let file = one_column(PrimitiveType::Float, nans, Making::new()).await;
    assert_eq!((file.value_counts[&1], file.nan_value_counts[&1]), (2, 2));
    assert_eq!(bounds(&file), (None, None));
}

/// Spec, Appendix D, "Binary single-value serialization".
#[tokio::test]
async fn bounds_are_single_values_in_binary() {
    use PrimitiveType as P;
    let fixed =
        |values: [&[u8]; 2]| -> ArrayRef { Arc::new(FixedSizeBinaryArray::try_from_iter(values.into_iter()).unwrap()) };
    let decimal = |precision: u8, values: Vec<i128>| -> (P, ArrayRef) {
        let array = Decimal128Array::from(values)
            .with_precision_and_scale(precision, 2)
            .unwrap();
        (P::Decimal { precision, scale: 2 }, Arc::new(array))
    };
    let cases: Vec<(P, ArrayRef, &[u8], &[u8])> = vec![
        (P::Boolean, Arc::new(BooleanArray::from(vec![true, false])), &[0], &[1]),
        (
            P::Int,
            Arc::new(Int32Array::from(vec![-2, 1])),
            &[0xfe, 0xff, 0xff, 0xff],
            &[1, 0, 0, 0],
        ),
        (
            P::Timestamp,
            Arc::new(TimestampMicrosecondArray::from(vec![256, -1])),
            &[0xff; 8],
            &[0, 1, 0, 0, 0, 0, 0, 0],
        ),
        // Unsigned order: 0x80… is above 0x7f….
        (P::Uuid, fixed([&[0x80; 16], &[0x7f; 16]]), &[0x7f; 16], &[0x80; 16]),
        (P::Fixed(2), fixed([&[0xff, 0], &[0, 0xff]]), &[0, 0xff], &[0xff, 0]),
        (
            P::Binary,
            Arc::new(BinaryViewArray::from(vec![&b"\xff"[..], b""])),
            b"",
            b"\xff",
        ),
        (
            P::String,
            Arc::new(StringViewArray::from(vec!["b", "", "é"])),
            b"",
            "é".as_bytes(),
        ),
    ];
    for (p, array, lower, upper) in cases {
        let file = one_column(p.clone(), array, Making::new()).await;
        assert_eq!(bounds(&file), (Some(lower), Some(upper)), "{p}");
    }
    // Two's complement, big endian, as few bytes as the value needs, whatever Parquet stores.
    for precision in [4, 12, 30] {
        let (p, array) = decimal(precision, vec![-1, 1420]);
        let file = one_column(p, array, Making::new()).await;
        assert_eq!(
            bounds(&file),
            (Some(&[0xff][..]), Some(&[0x05, 0x8c][..])),
            "{precision} digits"
        );
    }
}

#[tokio::test]
async fn bounds_are_cut_to_sixteen_by_default() {
    let long = |end: char| format!("{}{end}", "x".repeat(20));
    let array = Arc::new(StringViewArray::from(vec![long('a'), long('b')]));
    let file = one_column(PrimitiveType::String, array, Making::new()).await;
    let raised = format!("{}y", "x".repeat(15));
    assert_eq!(
        bounds(&file),
        (Some("x".repeat(16).as_bytes()), Some(raised.as_bytes()))
    );
    let bytes = Arc::new(BinaryViewArray::from(vec![&[0xff_u8; 17][..]]));
    let file = one_column(PrimitiveType::Binary, bytes, Making::new()).await;
    // No prefix of 0xff can be raised.
    assert_eq!(bounds(&file), (Some(&[0xff; 16][..]), None));
}

#[tokio::test]
async fn modes_decide_what_is_kept() {
    let columns: Vec<NestedField> = ["none", "counts", "cut", "full", "other"]
        .iter()
        .enumerate()
        .map(|(i, name)| NestedField::optional(i as i32 + 1, *name, PrimitiveType::String))
        .collect();
    let making = Making::new()
        .property("write.metadata.metrics.default", "truncate(2)")
        .property("write.metadata.metrics.column.none", "none")
        .property("write.metadata.metrics.column.counts", "counts")
        .property("write.metadata.metrics.column.cut", "Truncate(5)")
        .property("write.metadata.metrics.column.full", "full");
    let text = "abcdefghijklmnopqrstuvwxyz".repeat(4);
    let array: ArrayRef = Arc::new(StringViewArray::from(vec![text.as_str()]));
    let file = written(columns, vec![array; 5], making).await;
    let counted: Vec<i32> = file.value_counts.keys().copied().collect();
    assert_eq!(counted, [2, 3, 4, 5]);
    assert_eq!(file.null_value_counts.keys().copied().collect::<Vec<_>>(), [2, 3, 4, 5]);
    assert_eq!(file.column_sizes.keys().copied().collect::<Vec<_>>(), [2, 3, 4, 5]);
    let lower = BTreeMap::from([(3, "abcde"), (4, text.as_str()), (5, "ab")]);
    let upper = BTreeMap::from([(3, "abcdf"), (4, text.as_str()), (5, "ac")]);
    let bytes = |expected: BTreeMap<i32, &str>| -> BTreeMap<i32, Vec<u8>> {
        expected
            .into_iter()
            .map(|(id, b)| (id, b.as_bytes().to_vec()))
            .collect()
    };
    assert_eq!(file.lower_bounds, bytes(lower));
    assert_eq!(file.upper_bounds, bytes(upper));
}

#[tokio::test]
async fn unknown_modes_are_refused() {
    for mode in ["some", "truncate(0)", "truncate(-1)", "truncate"] {
        let making = Making::new().property("write.metadata.metrics.default", mode);
        let site = Site::new(vec![NestedField::optional(1, "c", PrimitiveType::Int)], making).await;
        let batch = site.batch(vec![Arc::new(Int32Array::from(vec![1]))]).await;
        let error = site.append(batch).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("write.metadata.metrics.default"), "{error}");
    }
}

fn wide(columns: i32) -> (Vec<NestedField>, Vec<ArrayRef>) {
    let fields = (1..=columns).map(|id| NestedField::optional(id, format!("c{id}"), PrimitiveType::Int));
    let array: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    (fields.collect(), vec![array; columns as usize])
}

#[tokio::test]
async fn the_first_hundred_columns_of_a_wide_table_have_metrics() {
    let (fields, arrays) = wide(100);
    let file = written(fields, arrays, Making::new()).await;
    assert_eq!(file.lower_bounds.len(), 100);
    let (fields, arrays) = wide(102);
    let file = written(fields, arrays, Making::new()).await;
    let first: Vec<i32> = (1..=100).collect();
    assert_eq!(file.lower_bounds.keys().copied().collect::<Vec<_>>(), first);
    assert_eq!(file.value_counts.keys().copied().collect::<Vec<_>>(), first);
    // What is said of a column or of all columns holds however wide the table is.
    let (fields, arrays) = wide(102);
    let making = Making::new().property("write.metadata.metrics.column.c102", "counts");
    let file = written(fields, arrays, making).await;
    assert_eq!(
        (file.value_counts.get(&102), file.value_counts.get(&101)),
        (Some(&1), None)
    );
    let (fields, arrays) = wide(102);
    let file = written(
        fields,
        arrays,
        Making::new().property("write.metadata.metrics.default", "counts"),
    )
    .await;
    assert_eq!((file.value_counts.len(), file.lower_bounds.len()), (102, 0));
    let (fields, arrays) = wide(5);
    let making = Making::new().property("write.metadata.metrics.max-inferred-column-defaults", 2);
    let file = written(fields, arrays, making).await;
    assert_eq!(file.value_counts.keys().copied().collect::<Vec<_>>(), [1, 2]);
}

/// Java `MetricsConfig`: columns that the table is sorted by always have bounds.
#[tokio::test]
async fn sorted_columns_have_bounds_where_others_have_none() {
    let (fields, arrays) = wide(3);
    let mut making = Making::new().property("write.metadata.metrics.default", "none");
    making.order = SortOrder {
        order_id: 1,
        fields: vec![SortField {
            source_ids: vec![2],
            transform: Transform::Identity,
            direction: SortDirection::Asc,
            null_order: NullOrder::First,
            extra: Default::default(),
        }],
        extra: Default::default(),
    };
    let file = written(fields, arrays, making).await;
    assert_eq!(file.lower_bounds.keys().copied().collect::<Vec<_>>(), [2]);
}

/// Java `ParquetMetrics`: fields of structs have all metrics, what is repeated has its size only.
#[tokio::test]
async fn structs_are_entered_and_lists_are_not() {
    let element = Arc::new(NestedField::optional(4, "element", PrimitiveType::Int));
    let inside = StructType::new(vec![NestedField::optional(3, "x", PrimitiveType::Double)]);
    let columns = vec![
        NestedField::optional(1, "s", Type::Struct(inside)),
        NestedField::optional(2, "l", Type::List(ListType { element })),
    ];
    let site = Site::new(columns, Making::new()).await;
    let schema = schema_to_arrow(site.table().await.metadata.current_schema());
    let arrow::datatypes::DataType::Struct(fields) = schema.field(0).data_type().clone() else {
        panic!("no struct");
    };
    let x: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.5), Some(9.0), Some(f64::NAN), None]));
    // The second struct is NULL: its 9.0 is no value of the table.
    let structs = StructArray::new(fields, vec![x], Some(NullBuffer::from(vec![true, false, true, true])));
    let mut lists = ListBuilder::new(arrow::array::Int32Builder::new());
    for values in [vec![Some(1), None], vec![], vec![Some(2)], vec![Some(3)]] {
        lists.append_value(values);
    }
    let lists = cast(&(Arc::new(lists.finish()) as ArrayRef), schema.field(1).data_type()).unwrap();
    site.append(site.batch(vec![Arc::new(structs), lists]).await)
        .await
        .unwrap();
    let file = site.file().await;
    let x = 3;
    assert_eq!(file.value_counts, BTreeMap::from([(x, 4)]));
    assert_eq!(file.null_value_counts, BTreeMap::from([(x, 2)]));
    assert_eq!(file.nan_value_counts, BTreeMap::from([(x, 1)]));
    assert_eq!(file.lower_bounds, BTreeMap::from([(x, 1.5_f64.to_le_bytes().to_vec())]));
    assert_eq!(file.upper_bounds, BTreeMap::from([(x, 1.5_f64.to_le_bytes().to_vec())]));
    assert_eq!(file.column_sizes.keys().copied().collect::<Vec<_>>(), [3, 4]);
    assert!(file.column_sizes.values().all(|size| *size > 0));
}
