//! Expected values come from the spec's tables and Java's transform tests.

use super::*;
use PrimitiveType as T;

fn decimal(precision: u8, scale: u8) -> T {
    T::Decimal { precision, scale }
}

fn apply(transform: &str, value: Value, ty: &T) -> Value {
    let transform: Transform = transform.parse().unwrap();
    transform.apply(Some(&value), ty).unwrap().unwrap()
}

fn all_types() -> Vec<T> {
    vec![
        T::Boolean,
        T::Int,
        T::Long,
        T::Float,
        T::Double,
        decimal(9, 2),
        T::Date,
        T::Time,
        T::Timestamp,
        T::Timestamptz,
        T::TimestampNs,
        T::TimestamptzNs,
        T::String,
        T::Uuid,
        T::Fixed(4),
        T::Binary,
        T::Unknown,
        T::Geometry { crs: None },
        T::Geography {
            crs: None,
            algorithm: None,
        },
    ]
}

/// 2017-11-16T22:31:08 in seconds.
const INSTANT: i64 = 1_510_871_468;

/// Spec, Appendix B.
#[test]
fn spec_hash_values() {
    let uuid = [
        0xf7, 0x9c, 0x3e, 9, 0x67, 0x7c, 0x4b, 0xbd, 0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7,
    ];
    for (value, ty, expected) in [
        (Value::Int(34), T::Int, 2_017_239_379),
        (Value::Long(34), T::Long, 2_017_239_379),
        (Value::Decimal(1420), decimal(9, 2), -500_754_589),
        (Value::Int(17_486), T::Date, -653_330_422),
        (Value::Long(81_068_000_000), T::Time, -662_762_989),
        (Value::Long(INSTANT * 1_000_000), T::Timestamp, -2_047_944_441),
        (Value::Long(INSTANT * 1_000_000 + 1), T::Timestamp, -1_207_196_810),
        (Value::Long(INSTANT * 1_000_000), T::Timestamptz, -2_047_944_441),
        (Value::Long(INSTANT * 1_000_000_000), T::TimestampNs, -2_047_944_441),
        (
            Value::Long(INSTANT * 1_000_000_000 + 1001),
            T::TimestampNs,
            -1_207_196_810,
        ),
        (
            Value::Long(INSTANT * 1_000_000_000 + 1001),
            T::TimestamptzNs,
            -1_207_196_810,
        ),
        (Value::string("iceberg"), T::String, 1_210_000_089),
        (Value::Uuid(uuid), T::Uuid, 1_488_055_340),
        (Value::binary([0, 1, 2, 3]), T::Fixed(4), -188_683_207),
        (Value::binary([0, 1, 2, 3]), T::Binary, -188_683_207),
    ] {
        assert_eq!(bucket_hash(&value, &ty), Some(expected), "{ty} {value:?}");
    }
    assert_eq!(bucket_hash(&Value::Double(1.0), &T::Double), None);
}

#[test]
fn buckets_are_never_negative() {
    // 22:31:08 hashes to a negative number: (hash & MAX) % 16.
    let expected = (-662_762_989i32 & i32::MAX) % 16;
    assert_eq!(
        apply("bucket[16]", Value::Long(81_068_000_000), &T::Time),
        Value::Int(expected)
    );
    assert!(Transform::Bucket(0).apply(Some(&Value::Int(1)), &T::Int).is_err());
}

/// Spec, "Truncate Transform Details", and Java's TestTruncate.
#[test]
fn truncates() {
    for (value, expected) in [
        (0, 0),
        (1, 0),
        (5, 0),
        (9, 0),
        (10, 10),
        (11, 10),
        (-1, -10),
        (-10, -10),
        (-12, -20),
    ] {
        assert_eq!(apply("truncate[10]", Value::Int(value), &T::Int), Value::Int(expected));
        let (value, expected) = (i64::from(value), i64::from(expected));
        assert_eq!(
            apply("truncate[10]", Value::Long(value), &T::Long),
            Value::Long(expected)
        );
    }
    for (value, expected) in [(1234, 1230), (1230, 1230), (1229, 1220), (5, 0), (-5, -10)] {
        assert_eq!(
            apply("truncate[10]", Value::Decimal(value), &decimal(9, 2)),
            Value::Decimal(expected)
        );
    }
    assert_eq!(
        apply("truncate[50]", Value::Decimal(1065), &decimal(9, 2)),
        Value::Decimal(1050)
    );
    for (value, expected) in [("abcdefg", "abcde"), ("abc", "abc"), ("iceberg", "icebe")] {
        assert_eq!(
            apply("truncate[5]", Value::string(value), &T::String),
            Value::string(expected)
        );
    }
    assert_eq!(
        apply("truncate[2]", Value::string("😀😁x"), &T::String),
        Value::string("😀😁")
    );
    let bytes = Value::binary([1, 2, 3, 4, 5]);
    assert_eq!(apply("truncate[3]", bytes, &T::Binary), Value::binary([1, 2, 3]));
    assert_eq!(apply("truncate[3]", Value::binary([1]), &T::Binary), Value::binary([1]));
}

/// Java: `v - (((v % W) + W) % W)` in 32 and 64 bits wraps below the minimum.
#[test]
fn truncate_wraps_at_the_minimum() {
    assert_eq!(
        apply("truncate[10]", Value::Int(i32::MIN), &T::Int),
        Value::Int(i32::MAX - 1)
    );
    assert_eq!(
        apply("truncate[10]", Value::Long(i64::MIN), &T::Long),
        Value::Long(i64::MAX - 1)
    );
}

/// Java's TestDates and TestTimestamps.
#[test]
fn dates_and_timestamps() {
    for (days, year, month) in [
        (17_501, 47, 575),
        (0, 0, 0),
        (-1, -1, -1),
        (-366, -2, -13),
        (11_016, 30, 361),
    ] {
        assert_eq!(apply("year", Value::Int(days), &T::Date), Value::Int(year), "{days}");
        assert_eq!(apply("month", Value::Int(days), &T::Date), Value::Int(month), "{days}");
        assert_eq!(apply("day", Value::Int(days), &T::Date), Value::Int(days));
    }
    // 2017-12-01T10:12:55.038194, 1970-01-01T00:00:01.000001, 1969-12-31T23:59:58.999999
    for (micros, [year, month, day, hour]) in [
        (1_512_123_175_038_194i64, [47, 575, 17_501, 420_034]),
        (1_000_001, [0, 0, 0, 0]),
        (-1_000_001, [-1, -1, -1, -1]),
    ] {
        for (name, expected) in [("year", year), ("month", month), ("day", day), ("hour", hour)] {
            for ty in [T::Timestamp, T::Timestamptz] {
                assert_eq!(
                    apply(name, Value::Long(micros), &ty),
                    Value::Int(expected),
                    "{name} {micros}"
                );
            }
            for ty in [T::TimestampNs, T::TimestamptzNs] {
                assert_eq!(
                    apply(name, Value::Long(micros * 1000), &ty),
                    Value::Int(expected),
                    "{name} {micros}"
                );
            }
        }
    }
}

#[test]
fn extremes_do_not_panic() {
    for name in [
        "identity",
        "bucket[7]",
        "truncate[2147483647]",
        "year",
        "month",
        "day",
        "hour",
        "void",
    ] {
        let transform: Transform = name.parse().unwrap();
        for ty in all_types().iter().filter(|t| transform.can_transform(t)) {
            let values = match ty {
                T::Int | T::Date => vec![Value::Int(i32::MIN), Value::Int(i32::MAX)],
                T::Decimal { .. } => vec![Value::Decimal(i128::MIN), Value::Decimal(i128::MAX)],
                T::String => vec![Value::string("")],
                T::Binary | T::Fixed(_) => vec![Value::binary([])],
                T::Time | T::Long | T::Timestamp | T::Timestamptz | T::TimestampNs | T::TimestamptzNs => {
                    vec![Value::Long(i64::MIN), Value::Long(i64::MAX)]
                }
                _ => continue,
            };
            for value in values {
                let result = transform.apply(Some(&value), ty).unwrap();
                let shown = transform.to_human_string(result.as_ref(), &transform.result_type(ty).unwrap());
                assert!(!shown.contains("Int(") && !shown.contains("Long("), "{shown}");
            }
        }
    }
    let max = Value::Long(i64::MAX);
    assert_eq!(apply("hour", max.clone(), &T::Timestamp), Value::Int(i32::MAX));
    assert_eq!(apply("year", max, &T::Timestamp), Value::Int(294_247 - 1970));
    assert_eq!(
        apply("year", Value::Int(i32::MAX), &T::Date),
        Value::Int(5_881_580 - 1970)
    );
}

/// The source types of the spec's table.
#[test]
fn legality_and_result_types() {
    let takes = |name: &str| {
        let transform: Transform = name.parse().unwrap();
        let taken = all_types().into_iter().filter(|t| transform.can_transform(t));
        taken.map(|t| t.to_string()).collect::<Vec<_>>().join(" ")
    };
    let times = "timestamp timestamptz timestamp_ns timestamptz_ns";
    assert_eq!(takes("truncate[2]"), "int long decimal(9, 2) string binary");
    assert_eq!(takes("month"), format!("date {times}"));
    assert_eq!(takes("hour"), times);
    assert_eq!(
        takes("bucket[2]"),
        format!("int long decimal(9, 2) date time {times} string uuid fixed[4] binary")
    );
    assert_eq!(
        all_types()
            .iter()
            .filter(|t| Transform::Identity.can_transform(t))
            .count(),
        17
    );
    assert_eq!(
        all_types().iter().filter(|t| Transform::Void.can_transform(t)).count(),
        19
    );
    assert_eq!(Transform::Day.result_type(&T::Timestamp).unwrap(), T::Date);
    assert_eq!(Transform::Hour.result_type(&T::Timestamp).unwrap(), T::Int);
    assert_eq!(Transform::Bucket(3).result_type(&T::String).unwrap(), T::Int);
    assert_eq!(Transform::Truncate(3).result_type(&T::Binary).unwrap(), T::Binary);
    assert_eq!(Transform::Void.result_type(&T::Double).unwrap(), T::Double);
    assert!(Transform::Hour.result_type(&T::Date).is_err());
    assert!(
        Transform::Bucket(3)
            .apply(Some(&Value::Double(1.0)), &T::Double)
            .is_err()
    );
    assert!(Transform::Year.apply(Some(&Value::Int(1)), &T::Timestamp).is_err());
}

#[test]
fn nulls_and_unknown_transforms() {
    for name in ["identity", "bucket[7]", "truncate[3]", "void"] {
        let transform: Transform = name.parse().unwrap();
        assert_eq!(transform.apply(None, &T::Long).unwrap(), None);
    }
    assert_eq!(Transform::Void.apply(Some(&Value::Long(1)), &T::Long).unwrap(), None);
    let zorder: Transform = "zorder[2]".parse().unwrap();
    assert_eq!(zorder, Transform::Unknown("zorder[2]".to_string()));
    assert_eq!(zorder.result_type(&T::Long).unwrap(), T::String);
    assert_eq!(
        zorder.apply(Some(&Value::Long(1)), &T::Long).unwrap_err().kind(),
        crate::ErrorKind::Unsupported
    );
}

/// Java's TestIdentity, TestDates, TestTimestamps and TestTruncate human strings.
#[test]
fn human_strings() {
    let identity = |value: Value, ty: T| Transform::Identity.to_human_string(Some(&value), &ty);
    let micros = Value::Long(1_512_123_175_038_194);
    assert_eq!(Transform::Identity.to_human_string(None, &T::Binary), "null");
    assert_eq!(identity(Value::binary([1, 2, 3]), T::Binary), "AQID");
    assert_eq!(identity(Value::binary([1, 2, 3]), T::Fixed(3)), "AQID");
    assert_eq!(identity(Value::Int(17_501), T::Date), "2017-12-01");
    assert_eq!(identity(Value::Long(36_775_038_194), T::Time), "10:12:55.038194");
    assert_eq!(identity(Value::Long(36_720_000_000), T::Time), "10:12");
    assert_eq!(identity(Value::Long(36_775_500_000), T::Time), "10:12:55.500");
    assert_eq!(
        identity(micros.clone(), T::Timestamptz),
        "2017-12-01T10:12:55.038194+00:00"
    );
    assert_eq!(identity(micros, T::Timestamp), "2017-12-01T10:12:55.038194");
    assert_eq!(
        identity(Value::Long(-1), T::TimestampNs),
        "1969-12-31T23:59:59.999999999"
    );
    assert_eq!(identity(Value::Long(0), T::Timestamp), "1970-01-01T00:00:00");
    assert_eq!(identity(Value::Long(-1_234_567_890_000), T::Long), "-1234567890000");
    assert_eq!(identity(Value::string("a/b/c=d"), T::String), "a/b/c=d");
    assert_eq!(identity(Value::Decimal(-150), decimal(9, 2)), "-1.50");
    assert_eq!(identity(Value::Decimal(5), decimal(9, 2)), "0.05");
    assert_eq!(identity(Value::Decimal(12), decimal(9, 8)), "1.2E-7");
    assert_eq!(identity(Value::Boolean(true), T::Boolean), "true");
    for (value, shown) in [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (1e7, "1.0E7"),
        (1_234_567.5, "1234567.5"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(identity(Value::Double(value), T::Double), shown);
    }
    assert_eq!(identity(Value::Float(0.1), T::Float), "0.1");
    let time = |transform: Transform, v| transform.to_human_string(Some(&Value::Int(v)), &T::Int);
    assert_eq!(time(Transform::Year, 47), "2017");
    assert_eq!(time(Transform::Month, 575), "2017-12");
    assert_eq!(time(Transform::Month, -1), "1969-12");
    assert_eq!(time(Transform::Day, 17_501), "2017-12-01");
    assert_eq!(time(Transform::Day, -1), "1969-12-31");
    assert_eq!(time(Transform::Hour, 420_034), "2017-12-01-10");
    assert_eq!(time(Transform::Hour, -1), "1969-12-31-23");
    assert_eq!(Transform::Bucket(4).to_human_string(Some(&Value::Int(3)), &T::Int), "3");
}

#[test]
fn orders() {
    let satisfies_for = |a: &str, b: &str, source: &T| {
        let a: Transform = a.parse().unwrap();
        a.satisfies_order_of(&b.parse().unwrap(), source)
    };
    let satisfies = |a: &str, b: &str| satisfies_for(a, b, &T::String);
    assert!(satisfies("identity", "day") && satisfies("identity", "truncate[3]"));
    assert!(!satisfies("identity", "bucket[3]") && !satisfies("identity", "void"));
    assert!(satisfies("hour", "day") && satisfies("day", "year") && satisfies("month", "month"));
    assert!(!satisfies("year", "day") && !satisfies("day", "truncate[3]"));
    assert!(satisfies("truncate[8]", "truncate[3]") && !satisfies("truncate[2]", "truncate[3]"));
    for number in [T::Int, T::Long, T::Decimal { precision: 9, scale: 2 }] {
        assert!(!satisfies_for("truncate[10]", "truncate[5]", &number));
        assert!(satisfies_for("truncate[10]", "truncate[10]", &number));
    }
    assert!(satisfies_for("truncate[8]", "truncate[3]", &T::Binary));
    assert!(satisfies("bucket[8]", "bucket[8]") && !satisfies("bucket[8]", "bucket[4]"));
    assert_eq!(Transform::Hour.dedup_name(), "time");
    assert_eq!(Transform::Bucket(8).dedup_name(), "bucket[8]");
}

#[test]
fn only_numbers_out_of_range_make_a_known_name_corrupt() {
    for name in [
        "bucket[16, 7]",
        "bucket[x]",
        "truncate[10 chars]",
        "bucket[]",
        "bucket[-1]",
        "truncate[ 4 ]",
    ] {
        let transform: Transform = name.parse().unwrap();
        assert_eq!(transform, Transform::Unknown(name.to_string()));
        assert_eq!(transform.to_string(), name);
    }
    for name in [
        "bucket[0]",
        "truncate[0]",
        "bucket[2147483648]",
        "truncate[99999999999999999999]",
    ] {
        let error = name.parse::<Transform>().unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Corrupt, "{name}");
    }
    assert_eq!("BUCKET[16]".parse::<Transform>().unwrap(), Transform::Bucket(16));
}
