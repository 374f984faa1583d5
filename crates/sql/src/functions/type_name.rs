//! `typeof(x)`: Spark's name of a type.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, StringViewArray};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::error::Result;
use tarn_engine::arrow::variant::is_variant_type;

use super::unary::Kernel;

/// The name of the argument's type.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TypeOf;

impl Kernel for TypeOf {
    fn name(&self) -> &str {
        "typeof"
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let name = type_name(array.data_type());
        let names = std::iter::repeat_n(Some(name.as_str()), array.len());
        Ok(Arc::new(names.collect::<StringViewArray>()))
    }
}

/// Spark's name of a type, and Arrow's where Spark has none.
pub(crate) fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Null => "void".to_string(),
        DataType::Boolean => "boolean".to_string(),
        DataType::Int8 => "tinyint".to_string(),
        DataType::Int16 => "smallint".to_string(),
        DataType::Int32 => "int".to_string(),
        DataType::Int64 => "bigint".to_string(),
        DataType::Float32 => "float".to_string(),
        DataType::Float64 => "double".to_string(),
        DataType::Decimal128(p, s) => format!("decimal({p},{s})"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "string".to_string(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "binary".to_string(),
        DataType::Date32 => "date".to_string(),
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => "timestamp".to_string(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => "timestamp_ntz".to_string(),
        DataType::List(element) | DataType::LargeList(element) | DataType::FixedSizeList(element, _) => {
            format!("array<{}>", type_name(element.data_type()))
        }
        variant if is_variant_type(variant) => "variant".to_string(),
        DataType::Struct(fields) => {
            let fields = fields
                .iter()
                .map(|f| format!("{}:{}", f.name(), type_name(f.data_type())));
            format!("struct<{}>", fields.collect::<Vec<_>>().join(","))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) if pair.len() == 2 => {
                format!(
                    "map<{},{}>",
                    type_name(pair[0].data_type()),
                    type_name(pair[1].data_type())
                )
            }
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}
