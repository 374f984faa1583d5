//! The functions against the format's transforms of single values.

use datafusion::arrow::array::{
    BinaryArray, Date32Array, Decimal128Array, Int8Array, Int16Array, Int32Array, Int64Array, StringArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use datafusion::arrow::datatypes::Field;
use datafusion::config::ConfigOptions;
use tarn_engine::arrow::value::{from_scalar, to_scalar};
use tarn_format::spec::types::Type;

use super::*;

/// Numbers without a pattern (xorshift), the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as i64
    }

    /// Every fifth is none; small and large ones in turn.
    fn some(&mut self, count: usize) -> Vec<Option<i64>> {
        (0..count)
            .map(|i| match i % 5 {
                0 => None,
                1 => Some(self.next() % 100),
                2 => Some(self.next() % 1_000_000_000),
                _ => Some(self.next()),
            })
            .collect()
    }
}

fn columns(count: usize) -> Vec<ArrayRef> {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut longs = || numbers.some(count).into_iter();
    // Times of years that calendars have.
    let micros = |v: Option<i64>| v.map(|v| v % 60_000_000_000_000_000);
    let text = |v: Option<i64>| v.map(|v| format!("größe {v} 𝄞"));
    let texts: Vec<Option<String>> = longs().map(text).collect();
    let bytes: Vec<Option<Vec<u8>>> = longs().map(|v| v.map(|v| v.to_be_bytes().to_vec())).collect();
    vec![
        Arc::new(longs().map(|v| v.map(|v| v as i8)).collect::<Int8Array>()),
        Arc::new(longs().map(|v| v.map(|v| v as i16)).collect::<Int16Array>()),
        Arc::new(longs().map(|v| v.map(|v| v as i32)).collect::<Int32Array>()),
        Arc::new(longs().collect::<Int64Array>()),
        Arc::new(
            longs()
                .map(|v| v.map(|v| (v % 700_000) as i32))
                .collect::<Date32Array>(),
        ),
        Arc::new(longs().map(micros).collect::<TimestampMicrosecondArray>()),
        Arc::new(
            longs()
                .map(micros)
                .collect::<TimestampMicrosecondArray>()
                .with_timezone("+02:00"),
        ),
        Arc::new(longs().collect::<TimestampNanosecondArray>()),
        Arc::new(
            longs()
                .map(|v| v.map(i128::from))
                .collect::<Decimal128Array>()
                .with_precision_and_scale(20, 3)
                .unwrap(),
        ),
        Arc::new(StringArray::from(texts)),
        Arc::new(BinaryArray::from_iter(bytes)),
    ]
}

fn call(kind: Kind, parameter: Option<ColumnarValue>, values: &ArrayRef) -> Result<ArrayRef> {
    let function = TransformFunction::new(kind);
    let arguments: Vec<ColumnarValue> = parameter
        .into_iter()
        .chain([ColumnarValue::Array(Arc::clone(values))])
        .collect();
    let types: Vec<DataType> = arguments.iter().map(ColumnarValue::data_type).collect();
    let output = function.return_type(&types)?;
    let field = |t: &DataType| Arc::new(Field::new("x", t.clone(), true));
    let result = function.invoke_with_args(ScalarFunctionArgs {
        arg_fields: types.iter().map(field).collect(),
        args: arguments,
        number_rows: values.len(),
        return_field: field(&output),
        config_options: Arc::new(ConfigOptions::default()),
    })?;
    result.into_array(values.len())
}

/// What the format's transform makes of one value.
fn expected(kind: Kind, parameter: u32, values: &ArrayRef, row: usize) -> ScalarValue {
    let source = source_type("", kind.accepted(), values.data_type()).unwrap();
    let transform = kind.transform(parameter);
    let value = ScalarValue::try_from_array(values, row).unwrap();
    let value = from_scalar(&value, &source);
    let result_type = Type::Primitive(transform.result_type(&source).unwrap());
    let result = transform.apply(value.as_ref(), &source).unwrap();
    to_scalar(result.as_ref(), &result_type).unwrap()
}

/// Whole numbers of the result's type, which Java wraps around to.
fn wrapped(value: ScalarValue, data_type: &DataType) -> ScalarValue {
    match (value, data_type) {
        (ScalarValue::Int32(v), DataType::Int8) => ScalarValue::Int8(v.map(|v| v as i8)),
        (ScalarValue::Int32(v), DataType::Int16) => ScalarValue::Int16(v.map(|v| v as i16)),
        (value, data_type) => value.cast_to(data_type).unwrap(),
    }
}

#[test]
fn columns_are_transformed_as_single_values_are() {
    let mut pairs = 0;
    for values in columns(200) {
        for kind in Kind::ALL {
            if source_type("", kind.accepted(), values.data_type()).is_err() {
                continue;
            }
            pairs += 1;
            for parameter in if kind.has_parameter() {
                vec![1_u32, 7, 1000]
            } else {
                vec![1]
            } {
                let constant = ColumnarValue::Scalar(ScalarValue::Int32(Some(parameter as i32)));
                let found = call(kind, kind.has_parameter().then_some(constant), &values).unwrap();
                for row in 0..values.len() {
                    assert_eq!(
                        ScalarValue::try_from_array(&found, row).unwrap(),
                        wrapped(expected(kind, parameter, &values, row), found.data_type()),
                        "{} of {parameter} and {:?}",
                        kind.name(),
                        ScalarValue::try_from_array(&values, row)
                    );
                }
            }
        }
    }
    // bucket takes all 11, truncate 7, years, months and days 4, hours 3.
    assert_eq!(pairs, 11 + 7 + 3 * 4 + 3);
}

#[test]
fn every_row_may_have_its_own_parameter() {
    let values: ArrayRef = Arc::new(Int64Array::from_iter((0..9).map(Some)));
    let widths = Int32Array::from_iter((0..9).map(|i| (i != 4).then_some(i % 3 + 2)));
    let found = call(Kind::Truncate, Some(ColumnarValue::Array(Arc::new(widths))), &values).unwrap();
    let expected: Int64Array = (0..9).map(|i| (i != 4).then_some(i - i % (i % 3 + 2))).collect();
    assert_eq!(found.as_ref(), &expected as &dyn Array);
}

#[test]
fn parameters_must_be_above_zero() {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let zero = || ColumnarValue::Scalar(ScalarValue::Int32(Some(0)));
    let told = call(Kind::Bucket, Some(zero()), &values).unwrap_err().to_string();
    assert!(told.contains("must be above 0, but is 0"), "{told}");
    let nothing: ArrayRef = Arc::new(Int64Array::from(vec![None]));
    assert!(call(Kind::Bucket, Some(zero()), &nothing).unwrap().is_null(0));
}
