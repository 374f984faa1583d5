//! `schema_of_variant`: the type of a variant's value as Spark writes it.

use parquet_variant::Variant;

/// The type; fields of objects are in the order of their names.
pub(super) fn schema_of(value: &Variant<'_, '_>) -> String {
    Shape::of(value).to_string()
}

/// A type of values.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Void,
    /// A name of a type that holds no others.
    Scalar(&'static str),
    Decimal {
        digits: u8,
        scale: u8,
    },
    Array(Box<Shape>),
    Object(Vec<(String, Shape)>),
    /// What has several types.
    Variant,
}

impl Shape {
    fn of(value: &Variant<'_, '_>) -> Shape {
        let decimal = |integer: i128, scale: u8| {
            let digits = integer.unsigned_abs().checked_ilog10().map_or(1, |n| n + 1) as u8;
            Shape::Decimal {
                digits: digits.max(scale),
                scale,
            }
        };
        match value {
            Variant::Null => Shape::Void,
            Variant::BooleanTrue | Variant::BooleanFalse => Shape::Scalar("BOOLEAN"),
            Variant::Int8(_) | Variant::Int16(_) | Variant::Int32(_) | Variant::Int64(_) => Shape::Scalar("BIGINT"),
            Variant::Decimal4(d) => decimal(i128::from(d.integer()), d.scale()),
            Variant::Decimal8(d) => decimal(i128::from(d.integer()), d.scale()),
            Variant::Decimal16(d) => decimal(d.integer(), d.scale()),
            Variant::Float(_) => Shape::Scalar("FLOAT"),
            Variant::Double(_) => Shape::Scalar("DOUBLE"),
            Variant::Date(_) => Shape::Scalar("DATE"),
            Variant::TimestampMicros(_) => Shape::Scalar("TIMESTAMP"),
            Variant::TimestampNtzMicros(_) => Shape::Scalar("TIMESTAMP_NTZ"),
            Variant::TimestampNanos(_) => Shape::Scalar("TIMESTAMP_NS"),
            Variant::TimestampNtzNanos(_) => Shape::Scalar("TIMESTAMP_NTZ_NS"),
            Variant::Time(_) => Shape::Scalar("TIME"),
            Variant::Binary(_) => Shape::Scalar("BINARY"),
            Variant::String(_) | Variant::ShortString(_) => Shape::Scalar("STRING"),
            Variant::Uuid(_) => Shape::Scalar("UUID"),
            Variant::List(list) => {
                let element = list.iter().map(|v| Shape::of(&v)).reduce(Shape::merge);
                Shape::Array(Box::new(element.unwrap_or(Shape::Void)))
            }
            Variant::Object(object) => Shape::Object(
                object
                    .iter()
                    .map(|(name, v)| (name.to_string(), Shape::of(&v)))
                    .collect(),
            ),
        }
    }

    /// What both are.
    fn merge(self, other: Shape) -> Shape {
        match (self, other) {
            (a, b) if a == b => a,
            (Shape::Void, b) => b,
            (a, Shape::Void) => a,
            (
                Shape::Decimal { digits, scale },
                Shape::Decimal {
                    digits: other_digits,
                    scale: other_scale,
                },
            ) => {
                let scale_of_both = scale.max(other_scale);
                let whole = (digits - scale).max(other_digits - other_scale);
                match whole + scale_of_both {
                    digits @ ..=38 => Shape::Decimal {
                        digits,
                        scale: scale_of_both,
                    },
                    _ => Shape::Scalar("DOUBLE"),
                }
            }
            (Shape::Array(a), Shape::Array(b)) => Shape::Array(Box::new(a.merge(*b))),
            (Shape::Object(a), Shape::Object(b)) => Shape::Object(merge_fields(a, b)),
            _ => Shape::Variant,
        }
    }
}

fn merge_fields(a: Vec<(String, Shape)>, b: Vec<(String, Shape)>) -> Vec<(String, Shape)> {
    let mut fields = std::collections::BTreeMap::new();
    for (name, shape) in a.into_iter().chain(b) {
        let merged = match fields.remove(&name) {
            Some(known) => Shape::merge(known, shape),
            None => shape,
        };
        fields.insert(name, merged);
    }
    fields.into_iter().collect()
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Void => f.write_str("VOID"),
            Shape::Scalar(name) => f.write_str(name),
            Shape::Decimal { digits, scale } => write!(f, "DECIMAL({digits},{scale})"),
            Shape::Array(element) => write!(f, "ARRAY<{element}>"),
            Shape::Variant => f.write_str("VARIANT"),
            Shape::Object(fields) => {
                f.write_str("OBJECT<")?;
                for (i, (name, shape)) in fields.iter().enumerate() {
                    let separator = if i > 0 { ", " } else { "" };
                    write!(f, "{separator}{}: {shape}", crate::quoting::identifier(name))?;
                }
                f.write_str(">")
            }
        }
    }
}
