//! Spark's type names in casts and literals.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::plan_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::planner::TypePlanner;
use sqlparser::ast::{ArrayElemTypeDef, DataType as SqlType, ExactNumberInfo, ObjectNamePart, TimezoneInfo};
use tarn_engine::arrow::schema::type_to_arrow;
use tarn_format::spec::types::{PrimitiveType, Type};

use crate::ast;
use crate::parser::{marked_type, type_of_text as parse_type};

/// Deepest nesting of a type.
const MAX_DEPTH: usize = 64;

/// Spark's types.
#[derive(Debug)]
pub(crate) struct SparkTypes {
    time_zone: Arc<str>,
}

/// A type by its name in DDL, timestamps with a zone in UTC.
///
/// # Errors
/// `InvalidInput` for text that is no type.
pub(crate) fn type_of_text(text: &str) -> tarn_format::Result<DataType> {
    Ok(SparkTypes::new("UTC").of_ddl(&parse_type(text)?, 0))
}

impl SparkTypes {
    pub(crate) fn new(time_zone: &str) -> Self {
        SparkTypes {
            time_zone: Arc::from(time_zone),
        }
    }

    fn data_type(&self, sql_type: &SqlType, depth: usize) -> Result<Option<DataType>> {
        if depth > MAX_DEPTH {
            return plan_err!("the type is nested too deeply");
        }
        Ok(Some(match sql_type {
            SqlType::Timestamp(_, TimezoneInfo::WithoutTimeZone) | SqlType::TimestampNtz(_) => {
                DataType::Timestamp(TimeUnit::Microsecond, None)
            }
            SqlType::Timestamp(..) => DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(&self.time_zone))),
            SqlType::Time(..) => DataType::Time64(TimeUnit::Microsecond),
            SqlType::String(_) | SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Character(_) => {
                text(depth)
            }
            SqlType::Binary(_) | SqlType::Varbinary(_) | SqlType::Bytea => binary(depth),
            SqlType::Decimal(info) | SqlType::Numeric(info) | SqlType::Dec(info) => decimal(info)?,
            SqlType::Double(_) => DataType::Float64,
            SqlType::Float(_) | SqlType::Real => DataType::Float32,
            SqlType::Array(ArrayElemTypeDef::AngleBracket(element)) => {
                let Some(element) = self.nested(element, depth)? else {
                    return Ok(None);
                };
                DataType::List(Arc::new(Field::new("element", element, true)))
            }
            SqlType::Map(key, value) => {
                let (Some(key), Some(value)) = (self.nested(key, depth)?, self.nested(value, depth)?) else {
                    return Ok(None);
                };
                let entries = vec![Field::new("key", key, false), Field::new("value", value, true)];
                DataType::Map(
                    Arc::new(Field::new("key_value", DataType::Struct(entries.into()), false)),
                    false,
                )
            }
            SqlType::Custom(name, arguments) => {
                let word = match name.0.as_slice() {
                    [ObjectNamePart::Identifier(ident)] => ident.value.clone(),
                    _ => name.to_string(),
                };
                return self.named(&word, arguments, depth);
            }
            _ => return Ok(None),
        }))
    }

    fn nested(&self, sql_type: &SqlType, depth: usize) -> Result<Option<DataType>> {
        if let Some(own) = self.data_type(sql_type, depth + 1)? {
            return Ok(Some(own));
        }
        Ok(match sql_type {
            SqlType::Boolean | SqlType::Bool => Some(DataType::Boolean),
            SqlType::TinyInt(_) => Some(DataType::Int8),
            SqlType::SmallInt(_) => Some(DataType::Int16),
            SqlType::Int(_) | SqlType::Integer(_) => Some(DataType::Int32),
            SqlType::BigInt(_) => Some(DataType::Int64),
            SqlType::Date => Some(DataType::Date32),
            _ => None,
        })
    }

    /// A type that was read with the grammar of DDL.
    fn of_ddl(&self, written: &ast::DataType, depth: usize) -> DataType {
        match written {
            ast::DataType::Primitive(PrimitiveType::String) => text(depth),
            ast::DataType::Primitive(PrimitiveType::Binary) => binary(depth),
            ast::DataType::Primitive(PrimitiveType::Timestamptz) => {
                DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(&self.time_zone)))
            }
            ast::DataType::Primitive(p) => type_to_arrow(&Type::Primitive(p.clone())),
            ast::DataType::Variant => type_to_arrow(&Type::Variant),
            ast::DataType::Array(element) => {
                let element = self.of_ddl(element, depth + 1);
                DataType::List(Arc::new(Field::new("element", element, true)))
            }
            ast::DataType::Map(key, value) => {
                let (key, value) = (self.of_ddl(key, depth + 1), self.of_ddl(value, depth + 1));
                let entries = vec![Field::new("key", key, false), Field::new("value", value, true)];
                DataType::Map(
                    Arc::new(Field::new("key_value", DataType::Struct(entries.into()), false)),
                    false,
                )
            }
            ast::DataType::Struct(fields) => {
                let field = |f: &ast::ColumnDef| Field::new(&f.name, self.of_ddl(&f.data_type, depth + 1), true);
                DataType::Struct(fields.iter().map(field).collect::<Vec<_>>().into())
            }
        }
    }

    /// Types that sqlparser does not know by name.
    fn named(&self, name: &str, arguments: &[String], depth: usize) -> Result<Option<DataType>> {
        if let Some(marked) = marked_type(name) {
            let parsed = marked.map_err(|e| DataFusionError::External(Box::new(e)))?;
            return Ok(Some(self.of_ddl(&parsed, depth)));
        }
        let name = name.to_ascii_lowercase();
        Ok(Some(match name.as_str() {
            "byte" => DataType::Int8,
            "short" => DataType::Int16,
            "long" => DataType::Int64,
            "string" => text(depth),
            "binary" => binary(depth),
            "timestamp_ltz" | "timestamptz" => {
                DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(&self.time_zone)))
            }
            // An instant in UTC, for our own rewrites.
            "timestamp_utc" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            "timestamp_ntz" => DataType::Timestamp(TimeUnit::Microsecond, None),
            "timestamp_ns" => DataType::Timestamp(TimeUnit::Nanosecond, None),
            "timestamptz_ns" => DataType::Timestamp(TimeUnit::Nanosecond, Some(Arc::clone(&self.time_zone))),
            "void" => DataType::Null,
            "variant" => type_to_arrow(&Type::Variant),
            _ if arguments.is_empty() => return plan_err!("unknown type '{name}'"),
            _ => return plan_err!("unknown type '{name}({})'", arguments.join(", ")),
        }))
    }
}

// As in tables: views at top level only, because Parquet's reader makes none inside nested types.
fn text(depth: usize) -> DataType {
    if depth == 0 { DataType::Utf8View } else { DataType::Utf8 }
}

fn binary(depth: usize) -> DataType {
    if depth == 0 {
        DataType::BinaryView
    } else {
        DataType::Binary
    }
}

fn decimal(info: &ExactNumberInfo) -> Result<DataType> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => (10, 0),
        ExactNumberInfo::Precision(p) => (*p, 0),
        ExactNumberInfo::PrecisionAndScale(p, s) => (*p, *s),
    };
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(p @ 1..=38), Ok(s)) if s >= 0 && i16::from(s) <= i16::from(p) => Ok(DataType::Decimal128(p, s)),
        _ => {
            plan_err!("decimal({precision},{scale}) is not possible: precision is 1 to 38, scale at most the precision")
        }
    }
}

impl TypePlanner for SparkTypes {
    fn plan_type_field(&self, sql_type: &SqlType) -> Result<Option<FieldRef>> {
        let planned = self.data_type(sql_type, 0)?;
        Ok(planned.map(|t| Arc::new(Field::new("", t, true))))
    }
}
