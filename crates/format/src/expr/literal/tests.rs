use super::*;
use PrimitiveType as T;

fn exact(literal: impl Into<Literal>, ty: &T) -> Value {
    match literal.into().convert(ty).unwrap() {
        Converted::Exact(value) => value,
        between => panic!("{between:?}"),
    }
}

fn between(literal: impl Into<Literal>, ty: &T) -> (Option<Value>, Option<Value>) {
    match literal.into().convert(ty).unwrap() {
        Converted::Between { below, above } => (below, above),
        exact => panic!("{exact:?}"),
    }
}

fn decimal(precision: u8, scale: u8) -> T {
    T::Decimal { precision, scale }
}

/// Java's TestLiteralConversions and TestNumericLiteralConversions, where those are exact.
#[test]
fn numbers() {
    assert_eq!(exact(34, &T::Long), Value::Long(34));
    assert_eq!(exact(34i64, &T::Int), Value::Int(34));
    assert_eq!(exact(34, &decimal(9, 2)), Value::Decimal(3400));
    assert_eq!(exact(34.11, &decimal(9, 2)), Value::Decimal(3411));
    assert_eq!(exact(34.0f32, &T::Double), Value::Double(34.0));
    assert_eq!(exact(34.5, &T::Float), Value::Float(34.5));
    assert_eq!(exact(34.0, &T::Int), Value::Int(34));
    let price = Literal::Decimal {
        unscaled: 1230,
        scale: 3,
    };
    assert_eq!(exact(price.clone(), &decimal(9, 2)), Value::Decimal(123));
    assert_eq!(exact(price.clone(), &T::Double), Value::Double(1.23));
    assert_eq!(exact("1.23", &decimal(9, 2)), Value::Decimal(123));
    assert_eq!(exact("123e-2", &decimal(9, 2)), Value::Decimal(123));
    assert_eq!(between(price, &T::Int), (Some(Value::Int(1)), Some(Value::Int(2))));
    assert_eq!(between(-2.5, &T::Long), (Some(Value::Long(-3)), Some(Value::Long(-2))));
    assert_eq!(
        between(0.1, &T::Float),
        (Some(Value::Float(0.1f32.next_down())), Some(Value::Float(0.1)))
    );
    let exactly = (1i64 << 53) + 1;
    let neighbours = (
        Some(Value::Double((exactly - 1) as f64)),
        Some(Value::Double((exactly + 1) as f64)),
    );
    assert_eq!(between(exactly, &T::Double), neighbours);
}

#[test]
fn numbers_out_of_range() {
    let int_max = (Some(Value::Int(i32::MAX)), None);
    let int_min = (None, Some(Value::Int(i32::MIN)));
    assert_eq!(between(i64::from(i32::MAX) + 1, &T::Int), int_max);
    assert_eq!(between(i64::from(i32::MIN) - 1, &T::Int), int_min);
    assert_eq!(between(f64::INFINITY, &T::Int), int_max);
    assert_eq!(between(1e300, &T::Int), int_max);
    assert_eq!(between(-1e300, &T::Int), int_min);
    assert_eq!(between(2_147_483_647.5, &T::Int), int_max);
    assert_eq!(between(-2_147_483_648.5, &T::Int), int_min);
    assert_eq!(between(1000, &decimal(4, 2)), (Some(Value::Decimal(9999)), None));
    let huge = Literal::Decimal {
        unscaled: i128::MAX,
        scale: 0,
    };
    assert_eq!(
        between(huge, &decimal(38, 10)),
        (Some(Value::Decimal(10i128.pow(38) - 1)), None)
    );
    let tiny = Literal::Decimal {
        unscaled: -1,
        scale: 255,
    };
    assert_eq!(between(tiny, &T::Int), (Some(Value::Int(-1)), Some(Value::Int(0))));
    assert_eq!(
        between(5e-324, &decimal(9, 2)),
        (Some(Value::Decimal(0)), Some(Value::Decimal(1)))
    );
    assert_eq!(
        between(1e300, &T::Float),
        (Some(Value::Float(f32::MAX)), Some(Value::Float(f32::INFINITY)))
    );
    assert_eq!(exact(f64::INFINITY, &T::Float), Value::Float(f32::INFINITY));
    assert!(Literal::Double(f64::NAN).convert(&T::Int).is_err());
}

#[test]
fn dates_and_times() {
    const DAY: i64 = 86_400_000_000;
    assert_eq!(exact("2017-08-18", &T::Date), Value::Int(17_396));
    assert_eq!(exact("14:21:01.919", &T::Time), Value::Long(51_661_919_000));
    assert_eq!(
        exact("2017-08-18T14:21:01", &T::Timestamp),
        Value::Long(1_503_066_061_000_000)
    );
    assert_eq!(
        exact("2017-08-18T14:21:01-07:00", &T::Timestamptz),
        Value::Long(1_503_091_261_000_000)
    );
    assert_eq!(
        exact("2017-08-18T14:21:01.000000001Z", &T::TimestamptzNs),
        Value::Long(1_503_066_061_000_000_001)
    );
    let finer = between("2017-08-18T14:21:01.000000001", &T::Timestamp);
    assert_eq!(
        finer,
        (
            Some(Value::Long(1_503_066_061_000_000)),
            Some(Value::Long(1_503_066_061_000_001))
        )
    );
    assert_eq!(exact(Literal::Date(1), &T::Timestamp), Value::Long(DAY));
    assert_eq!(exact(Literal::Timestamp(DAY), &T::Date), Value::Int(1));
    assert_eq!(
        between(Literal::Timestamp(-1), &T::Date),
        (Some(Value::Int(-1)), Some(Value::Int(0)))
    );
    assert_eq!(exact(Literal::Timestamp(5), &T::TimestampNs), Value::Long(5000));
    assert_eq!(
        between(Literal::Timestamp(i64::MAX), &T::TimestampNs),
        (Some(Value::Long(i64::MAX)), None)
    );
    assert_eq!(
        between(Literal::Date(i32::MIN), &T::Timestamp),
        (None, Some(Value::Long(i64::MIN)))
    );
    // Year 9999 lies beyond 64-bit nanoseconds.
    assert_eq!(
        between("9999-12-31T00:00:00", &T::TimestampNs),
        (Some(Value::Long(i64::MAX)), None)
    );
    assert_eq!(exact(34, &T::Date), Value::Int(34));
    for (text, ty) in [
        ("yesterday", T::Date),
        ("2017-08-18", T::Timestamp),
        ("2017-08-18T14:21:01Z", T::Timestamp),
    ] {
        assert!(Literal::from(text).convert(&ty).is_err(), "{text}");
    }
}

#[test]
fn bytes_and_what_cannot_be_compared() {
    let uuid = "f79c3e09-677c-4bbd-a479-3f349cb785e7";
    let bytes = uuid::Uuid::parse_str(uuid).unwrap().into_bytes();
    assert_eq!(exact(uuid, &T::Uuid), Value::Uuid(bytes));
    assert_eq!(exact(bytes.to_vec(), &T::Uuid), Value::Uuid(bytes));
    assert_eq!(exact(vec![1, 2], &T::Fixed(2)), Value::binary([1, 2]));
    for (literal, ty) in [
        (Literal::from(5), T::String),
        (Literal::from("5"), T::Int),
        (Literal::from("1e-2147483648"), decimal(9, 2)),
        (Literal::from("5"), T::Binary),
        (Literal::from(true), T::Int),
        (Literal::from(1), T::Boolean),
        (Literal::Date(1), T::Int),
        (Literal::from("x"), T::Uuid),
        (Literal::from(5), T::Unknown),
        (Literal::from(vec![1]), T::Geometry { crs: None }),
    ] {
        let error = literal.convert(&ty).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::InvalidInput);
    }
}
