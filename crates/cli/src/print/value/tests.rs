use std::collections::HashMap;
use std::sync::Arc;

use tarn::datafusion::arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int32Array, Int64Array, ListArray, MapBuilder, NullArray, RecordBatch, StringArray,
    StringBuilder, StructArray, Time64MicrosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray,
    UInt64Array,
};
use tarn::datafusion::arrow::datatypes::{Float64Type, Int8Type, Schema};

use super::*;

/// Text and JSON of each row of one column.
fn both(array: impl Array + 'static, zone: &str) -> Vec<(String, String)> {
    let field = Field::new("c", array.data_type().clone(), true);
    both_of(field, Arc::new(array), zone)
}

fn both_of(field: Field, array: ArrayRef, zone: &str) -> Vec<(String, String)> {
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap();
    let values = Values {
        zone: zone.parse().unwrap(),
    };
    let row = |row| {
        let mut json = String::new();
        values.json(&mut json, &batch, 0, row);
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
        let text = values.text(&batch, 0, row).unwrap_or_else(|| "-".to_string());
        (text, json)
    };
    (0..batch.num_rows()).map(row).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(t, j)| (t.to_string(), j.to_string())).collect()
}

#[test]
fn numbers_keep_all_their_digits() {
    let shown = both(Int64Array::from(vec![Some(i64::MIN), None]), "UTC");
    assert_eq!(
        shown,
        pairs(&[("-9223372036854775808", "-9223372036854775808"), ("-", "null")])
    );
    let shown = both(UInt64Array::from(vec![u64::MAX]), "UTC");
    assert_eq!(shown, pairs(&[("18446744073709551615", "18446744073709551615")]));
    let decimals = Decimal128Array::from(vec![-5, 12_345_678_901_234_567_890_123_456_789_i128]);
    let shown = both(decimals.with_precision_and_scale(38, 2).unwrap(), "UTC");
    let large = "123456789012345678901234567.89";
    assert_eq!(shown, pairs(&[("-0.05", "-0.05"), (large, large)]));
}

#[test]
fn floats_are_shortest_and_json_has_no_nan() {
    let shown = both(
        Float64Array::from(vec![0.1, 3.0, -0.0, f64::NAN, f64::NEG_INFINITY]),
        "UTC",
    );
    let expected = [
        ("0.1", "0.1"),
        ("3.0", "3.0"),
        ("-0.0", "-0.0"),
        ("NaN", "\"NaN\""),
        ("-Infinity", "\"-Infinity\""),
    ];
    assert_eq!(shown, pairs(&expected));
    // As a 32-bit number 0.1 has no more digits than that.
    assert_eq!(both(Float32Array::from(vec![0.1]), "UTC"), pairs(&[("0.1", "0.1")]));
}

#[test]
fn moments_are_in_the_sessions_zone_and_say_so_in_json() {
    let micros = 1_704_164_645_120_000; // 2024-01-02T03:04:05.12Z
    let zoned = TimestampMicrosecondArray::from(vec![micros]).with_timezone("UTC");
    assert_eq!(
        both(zoned.clone(), "UTC"),
        pairs(&[("2024-01-02 03:04:05.12", "\"2024-01-02T03:04:05.12Z\"")])
    );
    let oslo = [("2024-01-02 04:04:05.12", "\"2024-01-02T04:04:05.12+01:00\"")];
    assert_eq!(both(zoned, "Europe/Oslo"), pairs(&oslo));
    let local = TimestampMicrosecondArray::from(vec![micros, -1]);
    let expected = [
        ("2024-01-02 03:04:05.12", "\"2024-01-02T03:04:05.12\""),
        ("1969-12-31 23:59:59.999999", "\"1969-12-31T23:59:59.999999\""),
    ];
    assert_eq!(both(local, "Europe/Oslo"), pairs(&expected));
    let nanos = TimestampNanosecondArray::from(vec![1]);
    assert_eq!(
        both(nanos, "UTC"),
        pairs(&[("1970-01-01 00:00:00.000000001", "\"1970-01-01T00:00:00.000000001\"")])
    );
    let times = Time64MicrosecondArray::from(vec![86_399_999_999]);
    assert_eq!(both(times, "UTC"), pairs(&[("23:59:59.999999", "\"23:59:59.999999\"")]));
    let dates = Date32Array::from(vec![-719_162, 19_782]);
    assert_eq!(
        both(dates, "UTC"),
        pairs(&[("0001-01-01", "\"0001-01-01\""), ("2024-02-29", "\"2024-02-29\"")])
    );
}

#[test]
fn moments_outside_the_calendar_are_still_shown() {
    for shown in [
        both(Date32Array::from(vec![i32::MAX]), "UTC"),
        both(TimestampMicrosecondArray::from(vec![i64::MIN]), "UTC"),
        both(Time64MicrosecondArray::from(vec![-1]), "UTC"),
    ] {
        assert!(!shown[0].0.is_empty());
    }
}

#[test]
fn bytes_are_hexadecimal_and_uuids_are_uuids() {
    let bytes = BinaryArray::from(vec![&[0u8, 171, 255][..], &[]]);
    assert_eq!(both(bytes, "UTC"), pairs(&[("00abff", "\"00abff\""), ("", "\"\"")]));
    let sixteen: Vec<u8> = (0..16).collect();
    let fixed = FixedSizeBinaryArray::try_from_iter([sixteen].into_iter()).unwrap();
    let metadata = HashMap::from([("ARROW:extension:name".to_string(), "arrow.uuid".to_string())]);
    let field = Field::new("c", fixed.data_type().clone(), true).with_metadata(metadata);
    let uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
    assert_eq!(
        both_of(field, Arc::new(fixed), "UTC"),
        pairs(&[(uuid, &format!("\"{uuid}\""))])
    );
}

#[test]
fn text_is_escaped_in_json_only() {
    let shown = both(StringArray::from(vec!["a\"b\\c\nd\u{1}", "ö"]), "UTC");
    assert_eq!(shown[0].0, "a\"b\\c\nd\u{1}");
    assert_eq!(shown[0].1, "\"a\\\"b\\\\c\\nd\\u0001\"");
    assert_eq!(shown[1], ("ö".to_string(), "\"ö\"".to_string()));
    assert_eq!(both(BooleanArray::from(vec![true]), "UTC"), pairs(&[("true", "true")]));
    assert_eq!(both(NullArray::new(1), "UTC"), pairs(&[("-", "null")]));
}

#[test]
fn nested_values_are_nested() {
    let list = ListArray::from_iter_primitive::<Float64Type, _, _>([Some(vec![Some(1.0), None]), Some(vec![]), None]);
    assert_eq!(
        both(list, "UTC"),
        pairs(&[("[1.0, NULL]", "[1.0,null]"), ("[]", "[]"), ("-", "null")])
    );

    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    map.keys().append_value("k\"");
    map.values().append_value("v");
    map.append(true).unwrap();
    let map = map.finish();
    assert_eq!(both(map.clone(), "UTC"), pairs(&[("{k\": v}", "{\"k\\\"\":\"v\"}")]));

    let int = Arc::new(Int32Array::from(vec![None])) as ArrayRef;
    let number = Arc::new(Field::new("n", DataType::Int32, true));
    let inner = Arc::new(Field::new("m", map.data_type().clone(), true));
    let structure = StructArray::from(vec![(number, int), (inner, Arc::new(map) as ArrayRef)]);
    let expected = [("{n: NULL, m: {k\": v}}", "{\"n\":null,\"m\":{\"k\\\"\":\"v\"}}")];
    assert_eq!(both(structure, "UTC"), pairs(&expected));
}

#[test]
fn dictionaries_are_what_they_stand_for() {
    let dictionary: DictionaryArray<Int8Type> = [Some("a"), None, Some("a")].into_iter().collect();
    assert_eq!(
        both(dictionary, "UTC"),
        pairs(&[("a", "\"a\""), ("-", "null"), ("a", "\"a\"")])
    );
}
