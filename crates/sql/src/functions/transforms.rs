//! Partition transforms as functions: `system.bucket(16, id)`, `system.truncate`, `system.years` and the others.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int32Type};
use datafusion::common::{ScalarValue, exec_datafusion_err, exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use tarn_engine::arrow::schema::type_to_arrow;
use tarn_engine::arrow::value::{from_scalar, to_scalar};
use tarn_format::spec::types::{PrimitiveType, Type};
use tarn_format::transform::Transform;

use super::transform_arguments::{Accepted, is_parameter, source_type};

/// A transform, its parameter aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Bucket,
    Truncate,
    Year,
    Month,
    Day,
    Hour,
}

impl Kind {
    const ALL: [Kind; 6] = [
        Kind::Bucket,
        Kind::Truncate,
        Kind::Year,
        Kind::Month,
        Kind::Day,
        Kind::Hour,
    ];

    fn name(self) -> &'static str {
        match self {
            Kind::Bucket => "system.bucket",
            Kind::Truncate => "system.truncate",
            Kind::Year => "system.years",
            Kind::Month => "system.months",
            Kind::Day => "system.days",
            Kind::Hour => "system.hours",
        }
    }

    fn accepted(self) -> Accepted {
        match self {
            Kind::Bucket => Accepted::Hashable,
            Kind::Truncate => Accepted::Truncatable,
            Kind::Year | Kind::Month | Kind::Day => Accepted::DateOrTimestamp,
            Kind::Hour => Accepted::Timestamp,
        }
    }

    fn has_parameter(self) -> bool {
        matches!(self, Kind::Bucket | Kind::Truncate)
    }

    fn transform(self, parameter: u32) -> Transform {
        match self {
            Kind::Bucket => Transform::Bucket(parameter),
            Kind::Truncate => Transform::Truncate(parameter),
            Kind::Year => Transform::Year,
            Kind::Month => Transform::Month,
            Kind::Day => Transform::Day,
            Kind::Hour => Transform::Hour,
        }
    }
}

/// All transform functions.
pub(crate) fn functions() -> Vec<Arc<ScalarUDF>> {
    let function = |kind: Kind| Arc::new(ScalarUDF::from(TransformFunction::new(kind)));
    Kind::ALL.into_iter().map(function).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct TransformFunction {
    kind: Kind,
    signature: Signature,
}

impl TransformFunction {
    fn new(kind: Kind) -> Self {
        TransformFunction {
            kind,
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }

    fn source<'t>(&self, types: &'t [DataType]) -> Result<&'t DataType> {
        let name = self.kind.name();
        match (self.kind.has_parameter(), types) {
            (true, [parameter, source]) if is_parameter(parameter) => Ok(source),
            (true, [parameter, _]) => {
                plan_err!("the first argument of {name} is a whole number (tinyint, smallint, int), not {parameter}")
            }
            (false, [source]) => Ok(source),
            (true, other) => plan_err!("{name} takes 2 arguments, not {}", other.len()),
            (false, other) => plan_err!("{name} takes 1 argument, not {}", other.len()),
        }
    }
}

impl ScalarUDFImpl for TransformFunction {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let source = self.source(types)?;
        source_type(self.name(), self.kind.accepted(), source)?;
        Ok(types.to_vec())
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let source = self.source(types)?;
        let primitive = source_type(self.name(), self.kind.accepted(), source)?;
        if self.kind == Kind::Truncate {
            return Ok(source.clone());
        }
        let result = self.kind.transform(1).result_type(&primitive);
        let result = result.map_err(|e| exec_datafusion_err!("{e}"))?;
        Ok(type_to_arrow(&Type::Primitive(result)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types: Vec<DataType> = args.args.iter().map(ColumnarValue::data_type).collect();
        let source = source_type(self.name(), self.kind.accepted(), self.source(&types)?)?;
        let is_constant = args.args.iter().all(|a| matches!(a, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let mut arguments = args.args.into_iter();
        let parameter = if self.kind.has_parameter() {
            arguments.next()
        } else {
            None
        };
        let Some(values) = arguments.next() else {
            return exec_err!("{} lacks its value", self.name());
        };
        let parameters = parameter.map(|p| p.into_array(rows)).transpose()?;
        let values = values.into_array(rows)?;
        let column = Column {
            kind: self.kind,
            source,
            output: args.return_field.data_type().clone(),
        };
        let result = column.transform(parameters.as_ref(), &values)?;
        if is_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}

/// One call.
struct Column {
    kind: Kind,
    source: PrimitiveType,
    output: DataType,
}

impl Column {
    fn transform(&self, parameters: Option<&ArrayRef>, values: &ArrayRef) -> Result<ArrayRef> {
        let parameters = parameters.map(|p| cast(p, &DataType::Int32)).transpose()?;
        let parameters = parameters.as_ref().map(|p| p.as_primitive::<Int32Type>());
        let mut out = Vec::with_capacity(values.len());
        for row in 0..values.len() {
            let parameter = match parameters {
                None => Some(1),
                Some(p) if p.is_null(row) => None,
                Some(p) => Some(p.value(row)),
            };
            out.push(self.value(parameter, &ScalarValue::try_from_array(values, row)?)?);
        }
        if out.is_empty() {
            return Ok(datafusion::arrow::array::new_empty_array(&self.output));
        }
        ScalarValue::iter_to_array(out)
    }

    fn value(&self, parameter: Option<i32>, value: &ScalarValue) -> Result<ScalarValue> {
        let value = from_scalar(value, &self.source);
        let (Some(parameter), Some(value)) = (parameter, value) else {
            return ScalarValue::try_from(&self.output);
        };
        let name = self.kind.name();
        let parameter = match u32::try_from(parameter) {
            Ok(p) if p > 0 => p,
            _ => return exec_err!("the first argument of {name} must be above 0, but is {parameter}"),
        };
        let transform = self.kind.transform(parameter);
        let apply = || {
            let result_type = transform.result_type(&self.source)?;
            let result = transform.apply(Some(&value), &self.source)?;
            to_scalar(result.as_ref(), &Type::Primitive(result_type))
        };
        let scalar = apply().map_err(|e| exec_datafusion_err!("{name}: {e}"))?;
        scalar.cast_to(&self.output)
    }
}
