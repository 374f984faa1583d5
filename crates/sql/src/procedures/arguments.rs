//! Arguments of CALL, bound to a procedure's parameters: by name or by position, of types that Spark casts without loss
//! (Java: `ResolveProcedures`, `ProcedureArgumentCoercion`).

use std::collections::BTreeMap;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, TimeUnit};
use datafusion::common::ScalarValue;
use tarn_format::{Error, Result};

use super::parameters::{Parameter, ParameterType, Presence};
use crate::ast::call::CallArgument;
use crate::functions::type_name;
use crate::near_names::did_you_mean;
use crate::planner::{PlanContext, plan_scalar};

/// A value of a parameter's type.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    String(String),
    Boolean(bool),
    Long(i64),
    /// Microseconds since 1970.
    Timestamp(i64),
    Longs(Vec<i64>),
    Strings(Vec<String>),
    Map(BTreeMap<String, String>),
}

/// The arguments of a call. Those that were left out or are NULL are not there.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Arguments(BTreeMap<&'static str, Value>);

impl Arguments {
    /// Binds what a CALL gives to the parameters.
    ///
    /// # Errors
    /// `InvalidInput` for names that are unknown or given twice, names mixed with positions, too many arguments, missing
    /// ones, values that are not constant, and values of other types.
    pub(crate) fn bind(
        context: &PlanContext,
        parameters: &'static [Parameter],
        given: &[CallArgument],
    ) -> Result<Arguments> {
        let mut bound = BTreeMap::new();
        for (parameter, argument) in assigned(parameters, given)? {
            let value = plan_scalar(context, argument.value.clone())
                .map_err(|e| Error::invalid(format!("argument {} is no constant: {e}", parameter.name)))?;
            if value.is_null() {
                continue;
            }
            bound.insert(
                parameter.name,
                converted(parameter, &value, &context.settings.time_zone)?,
            );
        }
        let missing = parameters
            .iter()
            .filter(|p| p.presence == Presence::Required && !bound.contains_key(p.name));
        let missing: Vec<&str> = missing.map(|p| p.name).collect();
        if !missing.is_empty() {
            return Err(Error::invalid(format!("missing arguments: {}", missing.join(", "))));
        }
        Ok(Arguments(bound))
    }

    /// A required text.
    ///
    /// # Errors
    /// Never for a required parameter of type [`ParameterType::String`]; so all required ones below.
    pub(crate) fn string(&self, parameter: &Parameter) -> Result<&str> {
        self.optional_string(parameter).ok_or_else(|| missing(parameter))
    }

    /// A text.
    pub(crate) fn optional_string(&self, parameter: &Parameter) -> Option<&str> {
        match self.0.get(parameter.name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// A required whole number.
    pub(crate) fn long(&self, parameter: &Parameter) -> Result<i64> {
        self.optional_long(parameter).ok_or_else(|| missing(parameter))
    }

    /// A whole number, of type [`ParameterType::Long`] or [`ParameterType::Int`].
    pub(crate) fn optional_long(&self, parameter: &Parameter) -> Option<i64> {
        match self.0.get(parameter.name) {
            Some(Value::Long(n)) => Some(*n),
            _ => None,
        }
    }

    /// A required time in milliseconds since 1970, rounded down.
    pub(crate) fn timestamp_ms(&self, parameter: &Parameter) -> Result<i64> {
        self.optional_timestamp_ms(parameter).ok_or_else(|| missing(parameter))
    }

    /// A time in milliseconds since 1970, rounded down.
    pub(crate) fn optional_timestamp_ms(&self, parameter: &Parameter) -> Option<i64> {
        match self.0.get(parameter.name) {
            Some(Value::Timestamp(micros)) => Some(micros.div_euclid(1000)),
            _ => None,
        }
    }
}

/// What procedures that are still to come take.
#[allow(dead_code)]
impl Arguments {
    /// A truth value.
    pub(crate) fn optional_boolean(&self, parameter: &Parameter) -> Option<bool> {
        match self.0.get(parameter.name) {
            Some(Value::Boolean(b)) => Some(*b),
            _ => None,
        }
    }

    /// Whole numbers.
    pub(crate) fn optional_longs(&self, parameter: &Parameter) -> Option<&[i64]> {
        match self.0.get(parameter.name) {
            Some(Value::Longs(n)) => Some(n),
            _ => None,
        }
    }

    /// Texts.
    pub(crate) fn optional_strings(&self, parameter: &Parameter) -> Option<&[String]> {
        match self.0.get(parameter.name) {
            Some(Value::Strings(s)) => Some(s),
            _ => None,
        }
    }

    /// Options by name.
    pub(crate) fn optional_map(&self, parameter: &Parameter) -> Option<&BTreeMap<String, String>> {
        match self.0.get(parameter.name) {
            Some(Value::Map(map)) => Some(map),
            _ => None,
        }
    }
}

fn missing(parameter: &Parameter) -> Error {
    Error::invalid(format!("missing arguments: {}", parameter.name))
}

/// The parameter of each argument.
fn assigned<'g>(
    parameters: &'static [Parameter],
    given: &'g [CallArgument],
) -> Result<Vec<(&'static Parameter, &'g CallArgument)>> {
    let named = given.iter().filter(|a| a.name.is_some()).count();
    if named > 0 && named < given.len() {
        return Err(Error::invalid(
            "arguments by name and by position cannot be mixed: name all of them, or none",
        ));
    }
    if given.len() > parameters.len() {
        let names: Vec<&str> = parameters.iter().map(|p| p.name).collect();
        return Err(Error::invalid(format!(
            "too many arguments: there are {}, the procedure takes {}",
            given.len(),
            names.join(", ")
        )));
    }
    let mut assigned: Vec<(&'static Parameter, &CallArgument)> = Vec::with_capacity(given.len());
    for (at, argument) in given.iter().enumerate() {
        let parameter = match &argument.name {
            Some(name) => named_parameter(parameters, name)?,
            None => &parameters[at],
        };
        if assigned.iter().any(|(earlier, _)| earlier.name == parameter.name) {
            return Err(Error::invalid(format!("argument {} is given twice", parameter.name)));
        }
        assigned.push((parameter, argument));
    }
    Ok(assigned)
}

fn named_parameter(parameters: &'static [Parameter], name: &str) -> Result<&'static Parameter> {
    let found = parameters.iter().find(|p| p.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        let hint = did_you_mean(name, parameters.iter().map(|p| p.name));
        Error::invalid(format!("unknown argument {name}{hint}"))
    })
}

fn converted(parameter: &Parameter, value: &ScalarValue, time_zone: &str) -> Result<Value> {
    let converted = match parameter.parameter_type {
        ParameterType::String => text(value).map(Value::String),
        ParameterType::Boolean => match value {
            ScalarValue::Boolean(Some(b)) => Some(Value::Boolean(*b)),
            _ => None,
        },
        ParameterType::Int => long(value)
            .filter(|_| value.data_type() != DataType::Int64)
            .map(Value::Long),
        ParameterType::Long => long(value).map(Value::Long),
        ParameterType::Timestamp => timestamp(value, time_zone).map(Value::Timestamp),
        ParameterType::Longs => elements(value).and_then(|e| longs(&e)).map(Value::Longs),
        ParameterType::Strings => elements(value).and_then(|e| texts(&e)).map(Value::Strings),
        ParameterType::Map => map(value).map(Value::Map),
    };
    converted.ok_or_else(|| {
        Error::invalid(format!(
            "argument {} must be of type {}, not {}",
            parameter.name,
            parameter.parameter_type,
            type_name(&value.data_type())
        ))
    })
}

fn is_whole(data_type: &DataType) -> bool {
    use DataType::{Int8, Int16, Int32, Int64};
    matches!(data_type, Int8 | Int16 | Int32 | Int64)
}

fn is_text(data_type: &DataType) -> bool {
    use DataType::{LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View)
}

fn long(value: &ScalarValue) -> Option<i64> {
    if !is_whole(&value.data_type()) {
        return None;
    }
    match value.cast_to(&DataType::Int64) {
        Ok(ScalarValue::Int64(n)) => n,
        _ => None,
    }
}

/// Text; numbers and truth values as text.
fn text(value: &ScalarValue) -> Option<String> {
    let data_type = value.data_type();
    if data_type.is_nested() || data_type.is_binary() || data_type.is_temporal() {
        return None;
    }
    match value.cast_to(&DataType::Utf8) {
        Ok(ScalarValue::Utf8(text)) => text,
        _ => None,
    }
}

/// A point in time in microseconds; a date is its midnight, and times without zone are the session's.
fn timestamp(value: &ScalarValue, time_zone: &str) -> Option<i64> {
    use DataType::{Date32, Timestamp};
    let data_type = value.data_type();
    if !matches!(data_type, Date32 | Timestamp(..)) {
        return None;
    }
    // A date is first a time without zone, so that its midnight is the session's.
    let value = match data_type {
        Date32 => value.cast_to(&Timestamp(TimeUnit::Microsecond, None)).ok()?,
        _ => value.clone(),
    };
    let zoned = Timestamp(TimeUnit::Microsecond, Some(time_zone.into()));
    match value.cast_to(&zoned) {
        Ok(ScalarValue::TimestampMicrosecond(micros, _)) => micros,
        _ => None,
    }
}

fn elements(value: &ScalarValue) -> Option<ArrayRef> {
    match value {
        ScalarValue::List(list) => Some(list.value(0)),
        ScalarValue::LargeList(list) => Some(list.value(0)),
        _ => None,
    }
}

fn longs(elements: &ArrayRef) -> Option<Vec<i64>> {
    if !is_whole(elements.data_type()) && !elements.is_empty() || elements.null_count() > 0 {
        return None;
    }
    let elements = cast(elements, &DataType::Int64).ok()?;
    Some(elements.as_primitive::<Int64Type>().values().to_vec())
}

fn texts(elements: &ArrayRef) -> Option<Vec<String>> {
    if !is_text(elements.data_type()) && !elements.is_empty() || elements.null_count() > 0 {
        return None;
    }
    strings(elements)
}

fn strings(elements: &ArrayRef) -> Option<Vec<String>> {
    let elements = cast(elements, &DataType::Utf8).ok()?;
    let elements = elements.as_string::<i32>();
    elements.iter().map(|text| text.map(str::to_string)).collect()
}

/// Options: keys are texts, values texts, numbers or truth values.
fn map(value: &ScalarValue) -> Option<BTreeMap<String, String>> {
    let ScalarValue::Map(map) = value else {
        return None;
    };
    let entries = map.value(0);
    let [keys, values] = entries.columns() else {
        return None;
    };
    if !is_text(keys.data_type()) || values.data_type().is_nested() {
        return None;
    }
    Some(strings(keys)?.into_iter().zip(strings(values)?).collect())
}

#[cfg(test)]
mod tests;
