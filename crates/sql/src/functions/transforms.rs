//! Partition transforms as functions: `system.bucket(16, id)`, `system.truncate`, `system.years` and the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, UInt32Array, new_empty_array, new_null_array};
use datafusion::arrow::compute::{cast, interleave, take};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, DataType, Int8Type, Int16Type, Int32Type};
use datafusion::common::{ScalarValue, exec_datafusion_err, exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use tarn_engine::arrow::schema::type_to_arrow;
use tarn_engine::write::transform_array;
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
        let Some(parameters) = parameters else {
            return self.with_parameter(1, values);
        };
        let parameters = cast(parameters, &DataType::Int32)?;
        let parameters = parameters.as_primitive::<Int32Type>();
        // Rows by their parameter, which nearly always is one for all.
        let mut rows: BTreeMap<Option<i32>, Vec<u32>> = BTreeMap::new();
        for (row, parameter) in (0..).zip(parameters.iter()) {
            rows.entry(parameter).or_default().push(row);
        }
        if let [(parameter, _)] = rows.iter().collect::<Vec<_>>().as_slice() {
            return match parameter {
                Some(parameter) => self.with_parameter(*parameter, values),
                None => Ok(new_null_array(&self.output, values.len())),
            };
        }
        let mut places = vec![(0, 0); values.len()];
        let mut parts = Vec::with_capacity(rows.len());
        for (parameter, rows) in rows {
            for (at, row) in rows.iter().enumerate() {
                places[*row as usize] = (parts.len(), at);
            }
            let own = take(values, &UInt32Array::from(rows), None)?;
            parts.push(match parameter {
                Some(parameter) => self.with_parameter(parameter, &own)?,
                None => new_null_array(&self.output, own.len()),
            });
        }
        if parts.is_empty() {
            return Ok(new_empty_array(&self.output));
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(interleave(&parts, &places)?)
    }

    fn with_parameter(&self, parameter: i32, values: &ArrayRef) -> Result<ArrayRef> {
        let name = self.kind.name();
        if values.null_count() == values.len() {
            return Ok(new_null_array(&self.output, values.len()));
        }
        let parameter = match u32::try_from(parameter) {
            Ok(p) if p > 0 => p,
            _ => return exec_err!("the first argument of {name} must be above 0, but is {parameter}"),
        };
        let transform = self.kind.transform(parameter);
        let result =
            transform_array(&transform, values, &self.source).map_err(|e| exec_datafusion_err!("{name}: {e}"))?;
        match (result.data_type(), &self.output) {
            // Numbers wrap around, as in Java.
            (DataType::Int32, DataType::Int8) => Ok(narrowed::<Int8Type>(&result, |v| v as i8)),
            (DataType::Int32, DataType::Int16) => Ok(narrowed::<Int16Type>(&result, |v| v as i16)),
            _ => Ok(cast(&result, &self.output)?),
        }
    }
}

fn narrowed<T: ArrowPrimitiveType>(array: &ArrayRef, narrow: impl Fn(i32) -> T::Native) -> ArrayRef {
    Arc::new(array.as_primitive::<Int32Type>().unary::<_, T>(narrow))
}

#[cfg(test)]
mod tests;
