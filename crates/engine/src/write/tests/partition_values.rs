//! Partition tuples for every type and every transform that takes it, against the specification's own examples.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int32Array, Int64Array, StringViewArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    TimestampNanosecondArray, new_null_array,
};
use arrow::compute::concat;
use tarn_format::manifest::data_file::PartitionTuple;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;

use super::{Making, Site};

/// 2017-11-16 in days, and 22:31:08 of it in microseconds since 1970: the specification's example.
const DAY: i32 = 17_486;
const TIME: i64 = ((22 * 60 + 31) * 60 + 8) * 1_000_000;
const MICROS: i64 = DAY as i64 * 86_400_000_000 + TIME;
/// Its year, month and hour since 1970.
const YEAR: i32 = 47;
const MONTH: i32 = 47 * 12 + 10;
const HOUR: i32 = DAY * 24 + 22;
/// f79c3e09-677c-4bbd-a479-3f349cb785e7
const UUID: u128 = 0xf79c3e09_677c_4bbd_a479_3f349cb785e7;

/// A column of one value, and what each transform makes of it: `hash` is the specification's (Appendix B).
struct Case {
    source: PrimitiveType,
    value: ArrayRef,
    identity: Value,
    hash: Option<i32>,
    truncated: Option<(u32, Value)>,
    calendar: Vec<(Transform, i32)>,
}

fn cases() -> Vec<Case> {
    use PrimitiveType as P;
    let case = |source: P, value: ArrayRef, identity: Value, hash: Option<i32>| Case {
        source,
        value,
        identity,
        hash,
        truncated: None,
        calendar: Vec::new(),
    };
    let truncated = |case: Case, width: u32, value: Value| Case {
        truncated: Some((width, value)),
        ..case
    };
    let dated = |case: Case| Case {
        calendar: vec![
            (Transform::Year, YEAR),
            (Transform::Month, MONTH),
            (Transform::Day, DAY),
        ],
        ..case
    };
    let timed = |case: Case| {
        let mut case = dated(case);
        case.calendar.push((Transform::Hour, HOUR));
        case
    };
    let micros = || TimestampMicrosecondArray::from(vec![MICROS]);
    let nanos = || TimestampNanosecondArray::from(vec![MICROS * 1000]);
    let fixed =
        |bytes: &[u8]| -> ArrayRef { Arc::new(FixedSizeBinaryArray::try_from_iter([bytes].into_iter()).unwrap()) };
    let decimal = Decimal128Array::from(vec![1420])
        .with_precision_and_scale(9, 2)
        .unwrap();
    let bytes = [0, 1, 2, 3];
    let (moment, moment_hash) = (Value::Long(MICROS), Some(-2_047_944_441));
    vec![
        case(
            P::Boolean,
            Arc::new(BooleanArray::from(vec![true])),
            Value::Boolean(true),
            None,
        ),
        truncated(
            case(
                P::Int,
                Arc::new(Int32Array::from(vec![34])),
                Value::Int(34),
                Some(2_017_239_379),
            ),
            10,
            Value::Int(30),
        ),
        // The remainder is never negative: -1 falls to -10.
        truncated(
            case(
                P::Long,
                Arc::new(Int64Array::from(vec![-1])),
                Value::Long(-1),
                Some(1_651_860_712),
            ),
            10,
            Value::Long(-10),
        ),
        truncated(
            case(
                P::Long,
                Arc::new(Int64Array::from(vec![34])),
                Value::Long(34),
                Some(2_017_239_379),
            ),
            10,
            Value::Long(30),
        ),
        case(
            P::Float,
            Arc::new(Float32Array::from(vec![1.5])),
            Value::Float(1.5),
            None,
        ),
        case(
            P::Double,
            Arc::new(Float64Array::from(vec![-2.5])),
            Value::Double(-2.5),
            None,
        ),
        truncated(
            case(
                P::Decimal { precision: 9, scale: 2 },
                Arc::new(decimal),
                Value::Decimal(1420),
                Some(-500_754_589),
            ),
            50,
            Value::Decimal(1400),
        ),
        dated(case(
            P::Date,
            Arc::new(Date32Array::from(vec![DAY])),
            Value::Int(DAY),
            Some(-653_330_422),
        )),
        case(
            P::Time,
            Arc::new(Time64MicrosecondArray::from(vec![TIME])),
            Value::Long(TIME),
            Some(-662_762_989),
        ),
        timed(case(P::Timestamp, Arc::new(micros()), moment.clone(), moment_hash)),
        timed(case(
            P::Timestamptz,
            Arc::new(micros().with_timezone("UTC")),
            moment,
            moment_hash,
        )),
        timed(case(
            P::TimestampNs,
            Arc::new(nanos()),
            Value::Long(MICROS * 1000),
            moment_hash,
        )),
        timed(case(
            P::TimestamptzNs,
            Arc::new(nanos().with_timezone("UTC")),
            Value::Long(MICROS * 1000),
            moment_hash,
        )),
        truncated(
            case(
                P::String,
                Arc::new(StringViewArray::from(vec!["iceberg"])),
                Value::string("iceberg"),
                Some(1_210_000_089),
            ),
            3,
            Value::string("ice"),
        ),
        case(
            P::Uuid,
            fixed(&UUID.to_be_bytes()),
            Value::Uuid(UUID.to_be_bytes()),
            Some(1_488_055_340),
        ),
        case(P::Fixed(4), fixed(&bytes), Value::binary(bytes), Some(-188_683_207)),
        truncated(
            case(
                P::Binary,
                Arc::new(BinaryViewArray::from(vec![&bytes[..]])),
                Value::binary(bytes),
                Some(-188_683_207),
            ),
            3,
            Value::binary([0, 1, 2]),
        ),
    ]
}

/// Appends the value and NULL to a table partitioned by the transform, and gives the two partition values.
async fn partitions(case: &Case, transform: Transform, version: FormatVersion) -> Vec<Option<Value>> {
    let columns = vec![
        NestedField::optional(1, "c", case.source.clone()),
        NestedField::required(2, "position", PrimitiveType::Int),
    ];
    let site = Site::new(columns, Making::new().version(version).partitioned_by(1, transform)).await;
    let null = new_null_array(case.value.data_type(), 1);
    let values = concat(&[case.value.as_ref(), null.as_ref()]).unwrap();
    let batch = site.batch(vec![values, Arc::new(Int32Array::from(vec![0, 1]))]).await;
    site.append(batch.clone()).await.unwrap();
    assert_eq!(site.rows("position").await, batch, "{}", case.source);
    let files = site.files().await;
    let value_of = |PartitionTuple(values): &PartitionTuple| {
        assert_eq!(values.len(), 1);
        values[0].clone()
    };
    let mut found: Vec<Option<Value>> = files.iter().map(|f| value_of(&f.partition)).collect();
    found.sort_by_key(Option::is_none);
    found
}

fn versions(source: &PrimitiveType) -> Vec<FormatVersion> {
    match source {
        PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs => vec![FormatVersion::V3],
        _ => vec![FormatVersion::V1, FormatVersion::V2, FormatVersion::V3],
    }
}

async fn check(case: &Case, transform: Transform, expected: Value) {
    for version in versions(&case.source) {
        let found = partitions(case, transform.clone(), version).await;
        assert_eq!(
            found,
            [Some(expected.clone()), None],
            "{transform} of {} in {version:?}",
            case.source
        );
    }
}

#[tokio::test]
async fn identity_keeps_values() {
    for case in cases() {
        check(&case, Transform::Identity, case.identity.clone()).await;
    }
}

#[tokio::test]
async fn buckets_are_the_positive_remainders_of_the_specifications_hashes() {
    for case in cases() {
        for buckets in [1, 16, 1000] {
            let Some(hash) = case.hash else { continue };
            let bucket = (hash & i32::MAX) % buckets;
            check(&case, Transform::Bucket(buckets as u32), Value::Int(bucket)).await;
        }
    }
}

#[tokio::test]
async fn truncation_rounds_down() {
    for case in cases() {
        if let Some((width, expected)) = &case.truncated {
            check(&case, Transform::Truncate(*width), expected.clone()).await;
        }
    }
}

#[tokio::test]
async fn dates_and_timestamps_have_years_months_days_and_hours() {
    for case in cases() {
        for (transform, expected) in &case.calendar {
            check(&case, transform.clone(), Value::Int(*expected)).await;
        }
    }
}

#[tokio::test]
async fn before_1970_calendars_round_down() {
    let moment = TimestampMicrosecondArray::from(vec![-1]);
    let case = Case {
        source: PrimitiveType::Timestamp,
        value: Arc::new(moment),
        identity: Value::Long(-1),
        hash: None,
        truncated: None,
        calendar: Vec::new(),
    };
    for transform in [Transform::Year, Transform::Month, Transform::Day, Transform::Hour] {
        check(&case, transform, Value::Int(-1)).await;
    }
}

#[tokio::test]
async fn void_is_always_null() {
    for case in cases() {
        for version in versions(&case.source) {
            assert_eq!(
                partitions(&case, Transform::Void, version).await,
                [None],
                "{}",
                case.source
            );
        }
    }
}

#[tokio::test]
async fn other_pairs_of_transform_and_type_are_refused() {
    let transforms = [
        Transform::Bucket(4),
        Transform::Truncate(4),
        Transform::Year,
        Transform::Month,
        Transform::Day,
        Transform::Hour,
    ];
    for case in cases() {
        for transform in &transforms {
            let allowed = match transform {
                Transform::Bucket(_) => case.hash.is_some(),
                Transform::Truncate(_) => case.truncated.is_some(),
                other => case.calendar.iter().any(|(t, _)| t == other),
            };
            let columns = vec![NestedField::optional(1, "c", case.source.clone())];
            let making = Making::new()
                .version(FormatVersion::V3)
                .partitioned_by(1, transform.clone());
            let made = Site::try_new(columns, making).await;
            assert_eq!(made.is_ok(), allowed, "{transform} of {}", case.source);
        }
    }
}

#[tokio::test]
async fn several_transforms_of_one_row_make_one_tuple() {
    let columns = vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "ts", PrimitiveType::Timestamptz),
        NestedField::optional(3, "s", PrimitiveType::String),
    ];
    let making = Making::new()
        .partitioned_by(1, Transform::Bucket(16))
        .partitioned_by(2, Transform::Day)
        .partitioned_by(3, Transform::Truncate(2));
    let site = Site::new(columns, making).await;
    let batch = site
        .batch(vec![
            Arc::new(Int64Array::from(vec![34, 34, 34])),
            Arc::new(
                TimestampMicrosecondArray::from(vec![MICROS, MICROS, MICROS + 86_400_000_000]).with_timezone("UTC"),
            ),
            Arc::new(StringViewArray::from(vec!["iceberg", "ice", "iceberg"])),
        ])
        .await;
    site.append(batch).await.unwrap();
    let tuples: Vec<(Vec<Option<Value>>, i64)> = site
        .files()
        .await
        .into_iter()
        .map(|f| (f.partition.0, f.record_count))
        .collect();
    let bucket = (2_017_239_379 & i32::MAX) % 16;
    let tuple = |day: i32| {
        vec![
            Some(Value::Int(bucket)),
            Some(Value::Int(day)),
            Some(Value::string("ic")),
        ]
    };
    assert_eq!(tuples.len(), 2, "{tuples:?}");
    assert!(tuples.contains(&(tuple(DAY), 2)), "{tuples:?}");
    assert!(tuples.contains(&(tuple(DAY + 1), 1)), "{tuples:?}");
}

#[tokio::test]
async fn float_partitions_keep_nan_apart() {
    let columns = vec![NestedField::optional(1, "d", PrimitiveType::Double)];
    let site = Site::new(columns, Making::new().partitioned_by(1, Transform::Identity)).await;
    let values = vec![Some(f64::NAN), Some(1.0), None, Some(f64::NAN)];
    let batch = site.batch(vec![Arc::new(Float64Array::from(values))]).await;
    site.append(batch).await.unwrap();
    let mut found: Vec<(String, i64)> = site
        .files()
        .await
        .iter()
        .map(|f| (format!("{:?}", f.partition.0), f.record_count))
        .collect();
    found.sort();
    let expected = [("[None]", 1), ("[Some(Double(1.0))]", 1), ("[Some(Double(NaN))]", 2)];
    assert_eq!(found, expected.map(|(shown, rows)| (shown.to_string(), rows)));
}
