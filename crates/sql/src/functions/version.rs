//! `system.iceberg_version()`

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

/// The version of Tarn.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct IcebergVersion {
    signature: Signature,
}

impl IcebergVersion {
    pub(crate) fn new() -> Self {
        IcebergVersion {
            signature: Signature::nullary(Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for IcebergVersion {
    fn name(&self) -> &str {
        "system.iceberg_version"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let version = concat!("Tarn ", env!("CARGO_PKG_VERSION"));
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8View(Some(version.to_string()))))
    }
}
