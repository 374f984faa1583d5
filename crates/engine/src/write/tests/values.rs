//! Values of every type come back as they went in, in every format version that has the type.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int32Array, Int64Array, NullArray, StringViewArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType};

use super::{Making, Site};

/// A type, the first format version that has it, and values of it that are easily lost: extremes, signs of zero, NaN,
/// the empty, what is longer than a bound, and NULL. Always five.
pub(crate) fn samples() -> Vec<(PrimitiveType, FormatVersion, ArrayRef)> {
    use PrimitiveType as P;
    let v1 = |p: P, array: ArrayRef| (p, FormatVersion::V1, array);
    let v3 = |p: P, array: ArrayRef| (p, FormatVersion::V3, array);
    let longs = [Some(i64::MIN), Some(-1), Some(0), Some(i64::MAX), None];
    let micros = || TimestampMicrosecondArray::from(longs.to_vec());
    let nanos = || TimestampNanosecondArray::from(longs.to_vec());
    let decimal = |precision: u8, scale: u8| -> (P, FormatVersion, ArrayRef) {
        let largest = 10_i128.pow(precision.into()) - 1;
        let values = vec![Some(-largest), Some(-1), Some(0), Some(largest), None];
        let array = Decimal128Array::from(values)
            .with_precision_and_scale(precision, scale as i8)
            .unwrap();
        v1(P::Decimal { precision, scale }, Arc::new(array))
    };
    let fixed = |length: i32| -> ArrayRef {
        let value = |byte: u8| Some(vec![byte; length as usize]);
        let values = [value(0), value(0xff), value(0x7f), value(0x80), None];
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), length).unwrap())
    };
    let text = [
        "",
        "a",
        "\u{10FFFF}\u{E000}é",
        "longer than the sixteen code points of a bound",
    ];
    vec![
        v1(
            P::Boolean,
            Arc::new(BooleanArray::from(vec![
                Some(true),
                Some(false),
                Some(true),
                None,
                None,
            ])),
        ),
        v1(
            P::Int,
            Arc::new(Int32Array::from(vec![
                Some(i32::MIN),
                Some(-1),
                Some(0),
                Some(i32::MAX),
                None,
            ])),
        ),
        v1(P::Long, Arc::new(Int64Array::from(longs.to_vec()))),
        v1(
            P::Float,
            Arc::new(Float32Array::from(vec![
                Some(f32::NEG_INFINITY),
                Some(-0.0),
                Some(f32::NAN),
                Some(f32::MIN_POSITIVE),
                None,
            ])),
        ),
        v1(
            P::Double,
            Arc::new(Float64Array::from(vec![
                Some(f64::INFINITY),
                Some(-0.0),
                Some(f64::NAN),
                Some(f64::MIN_POSITIVE),
                None,
            ])),
        ),
        decimal(1, 0),
        decimal(9, 2),
        decimal(10, 10),
        decimal(18, 3),
        decimal(19, 0),
        decimal(38, 10),
        v1(
            P::Date,
            Arc::new(Date32Array::from(vec![
                Some(-719_528),
                Some(-1),
                Some(0),
                Some(2_932_896),
                None,
            ])),
        ),
        v1(
            P::Time,
            Arc::new(Time64MicrosecondArray::from(vec![
                Some(0),
                Some(1),
                Some(43_200_000_000),
                Some(86_399_999_999),
                None,
            ])),
        ),
        v1(P::Timestamp, Arc::new(micros())),
        v1(P::Timestamptz, Arc::new(micros().with_timezone("UTC"))),
        v3(P::TimestampNs, Arc::new(nanos())),
        v3(P::TimestamptzNs, Arc::new(nanos().with_timezone("UTC"))),
        v1(
            P::String,
            Arc::new(StringViewArray::from(vec![
                Some(text[0]),
                Some(text[1]),
                Some(text[2]),
                Some(text[3]),
                None,
            ])),
        ),
        v1(P::Uuid, fixed(16)),
        v1(P::Fixed(1), fixed(1)),
        v1(P::Fixed(20), fixed(20)),
        v1(
            P::Binary,
            Arc::new(BinaryViewArray::from(vec![
                Some(&b""[..]),
                Some(b"\0"),
                Some(b"\xff\xff"),
                Some(&[0xff; 40]),
                None,
            ])),
        ),
        v3(P::Unknown, Arc::new(NullArray::new(5))),
    ]
}

/// The positions 0 to 4, by which rows are ordered again.
pub(super) fn positions() -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(0..5))
}

#[tokio::test]
async fn every_type_comes_back_in_every_version() {
    let versions = [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3];
    for (version, format) in versions.into_iter().flat_map(|v| [(v, "parquet"), (v, "avro")]) {
        let samples: Vec<_> = samples()
            .into_iter()
            .filter(|(_, since, _)| *since <= version)
            .collect();
        let mut columns = vec![NestedField::required(1, "position", PrimitiveType::Int)];
        let mut arrays = vec![positions()];
        for (i, (p, _, array)) in samples.into_iter().enumerate() {
            columns.push(NestedField::optional(i as i32 + 2, format!("c{i}"), p));
            arrays.push(array);
        }
        let making = Making::new().version(version).property("write.format.default", format);
        let site = Site::new(columns, making).await;
        let batch = site.batch(arrays).await;
        let report = site.append(batch.clone()).await.unwrap();
        assert_eq!((report.rows, report.files), (5, 1));
        assert_eq!(site.rows("position").await, batch, "{version:?} {format}");
        assert_eq!(site.file().await.record_count, 5);
    }
}

#[tokio::test]
async fn types_that_a_version_lacks_are_refused_when_the_table_is_made() {
    for (p, since, _) in samples() {
        for version in [FormatVersion::V1, FormatVersion::V2] {
            let columns = vec![NestedField::optional(1, "c", p.clone())];
            let made = Site::try_new(columns, Making::new().version(version)).await;
            assert_eq!(made.is_ok(), since <= version, "{p} in {version:?}");
        }
    }
}
