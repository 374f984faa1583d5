//! Functions of bytes that DataFusion has for some of their types only.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::cast;
use datafusion::arrow::compute::kernels::length;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};
use datafusion_spark::function::math::hex::SparkHex;

use super::unary::{self, Kernel};

/// All of them.
pub(super) fn functions() -> Vec<Arc<ScalarUDF>> {
    let hex = Hex { plain: SparkHex::new() };
    vec![
        Arc::new(ScalarUDF::from(hex)),
        unary::function(Length::Bytes),
        unary::function(Length::Bits),
    ]
}

/// `hex(x)`: Spark's, which does not know views of bytes.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Hex {
    plain: SparkHex,
}

impl ScalarUDFImpl for Hex {
    fn name(&self) -> &str {
        self.plain.name()
    }

    fn signature(&self) -> &Signature {
        self.plain.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.plain.return_type(types)
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        for value in &mut args.args {
            if value.data_type() == DataType::BinaryView {
                *value = value.cast_to(&DataType::Binary, None)?;
            }
        }
        self.plain.invoke_with_args(args)
    }
}

/// `octet_length(x)` and `bit_length(x)` of text and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Length {
    Bytes,
    Bits,
}

impl Kernel for Length {
    fn name(&self) -> &str {
        match self {
            Length::Bytes => "octet_length",
            Length::Bits => "bit_length",
        }
    }

    fn return_type(&self, argument: &DataType) -> Result<DataType> {
        match argument {
            DataType::List(_) | DataType::Map(..) | DataType::Struct(_) => {
                plan_err!("{} takes text or bytes, not {argument}", self.name())
            }
            _ => Ok(DataType::Int32),
        }
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let bytes = match array.data_type() {
            DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_) | DataType::Utf8 => {
                Arc::clone(array)
            }
            DataType::BinaryView => cast(array, &DataType::Binary)?,
            _ => cast(array, &DataType::Utf8)?,
        };
        let lengths = match self {
            Length::Bytes => length::length(&bytes)?,
            Length::Bits => length::bit_length(&bytes)?,
        };
        Ok(cast(&lengths, &DataType::Int32)?)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{AsArray, BinaryViewArray, StringViewArray};
    use datafusion::arrow::datatypes::Int32Type;

    use super::*;

    #[test]
    fn lengths_are_of_bytes() {
        let text: ArrayRef = Arc::new(StringViewArray::from(vec![Some("aé"), None]));
        let bytes: ArrayRef = Arc::new(BinaryViewArray::from(vec![Some(&b"\x00\xff"[..]), None]));
        for (array, expected) in [(text, 3), (bytes, 2)] {
            for (length, times) in [(Length::Bytes, 1), (Length::Bits, 8)] {
                let lengths = length.evaluate(&array).unwrap();
                let lengths: Vec<_> = lengths.as_primitive::<Int32Type>().iter().collect();
                assert_eq!(lengths, [Some(expected * times), None]);
            }
        }
    }
}
