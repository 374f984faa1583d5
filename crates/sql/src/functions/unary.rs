//! Functions of one column, told by what they do to an array.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{ScalarValue, exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// What a function does to the values of a column.
pub(crate) trait Kernel: Debug + PartialEq + Eq + Hash + Send + Sync + 'static {
    /// The function's name.
    fn name(&self) -> &str;

    /// The type of its results.
    fn return_type(&self, argument: &DataType) -> Result<DataType>;

    /// Its results, as many as there are values.
    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef>;
}

/// A function of one column.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Unary<K: Kernel> {
    kernel: K,
    signature: Signature,
}

/// The function of a kernel.
pub(crate) fn function<K: Kernel>(kernel: K) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::from(Unary {
        kernel,
        signature: Signature::any(1, Volatility::Immutable),
    }))
}

/// A call of a kernel's function.
pub(crate) fn call<K: Kernel>(kernel: K, argument: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(function(kernel), vec![argument]))
}

impl<K: Kernel> ScalarUDFImpl for Unary<K> {
    fn name(&self) -> &str {
        self.kernel.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [argument] => self.kernel.return_type(argument),
            other => plan_err!("{} takes 1 argument, not {}", self.name(), other.len()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = args.args.into_iter().next() else {
            return exec_err!("{} takes 1 argument", self.name());
        };
        match value {
            ColumnarValue::Array(array) => Ok(ColumnarValue::Array(self.kernel.evaluate(&array)?)),
            ColumnarValue::Scalar(scalar) => {
                let result = self.kernel.evaluate(&scalar.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?))
            }
        }
    }
}
