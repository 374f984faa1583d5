//! `array.field`: a field of each struct in an array.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray};
use datafusion::arrow::compute::is_null;
use datafusion::arrow::compute::kernels::nullif::nullif;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

/// The field of each element.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FieldOfElements {
    field: String,
    signature: Signature,
}

impl FieldOfElements {
    pub(crate) fn new(field: &str) -> Self {
        FieldOfElements {
            field: field.to_string(),
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for FieldOfElements {
    fn name(&self) -> &str {
        "field_of_elements"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        if let [DataType::List(element)] = arguments
            && let DataType::Struct(fields) = element.data_type()
            && let Some((_, field)) = fields.find(&self.field)
        {
            return Ok(DataType::List(Arc::new(Field::new(
                "element",
                field.data_type().clone(),
                true,
            ))));
        }
        exec_err!("'{}' is no field of the elements", self.field)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = args.args.into_iter().next() else {
            return exec_err!("an array is missing");
        };
        let array = value.into_array(args.number_rows)?;
        let list = array.as_list::<i32>();
        let Some(structs) = list.values().as_struct_opt() else {
            return exec_err!("the elements are no structs");
        };
        let Some(values) = structs.column_by_name(&self.field) else {
            return exec_err!("'{}' is no field of the elements", self.field);
        };
        // A field of a null struct is null.
        let values: ArrayRef = match structs.nulls() {
            Some(_) => nullif(values, &is_null(structs)?)?,
            None => Arc::clone(values),
        };
        let field = Arc::new(Field::new("element", values.data_type().clone(), true));
        let out = ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())?;
        Ok(ColumnarValue::Array(Arc::new(out)))
    }
}
