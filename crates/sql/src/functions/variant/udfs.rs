//! The functions as DataFusion knows them.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringArray, StringViewArray, StructArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{ScalarValue, exec_err, plan_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use parquet_variant_compute::{VariantArrayBuilder, cast_to_variant};
use tarn_engine::arrow::variant::{as_column, is_variant_type, variant_at, variant_type, variants_as_json};

use super::convert::convert;
use super::json::append_json;
use super::path::Path;
use super::schema::schema_of;
use crate::functions::type_name;
use crate::functions::unary::{Kernel, function};

/// What a value that is not as it should be gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OnMisfit {
    Fail,
    Null,
}

/// All of them.
pub(crate) fn functions() -> Vec<Arc<ScalarUDF>> {
    vec![
        function(ParseJson(OnMisfit::Fail)),
        function(ParseJson(OnMisfit::Null)),
        function(ToJson),
        function(IsVariantNull),
        function(SchemaOf),
        function(ToVariant),
        Arc::new(ScalarUDF::from(Get::by_arguments(OnMisfit::Fail))),
        Arc::new(ScalarUDF::from(Get::by_arguments(OnMisfit::Null))),
    ]
}

fn variants<'a>(name: &str, array: &'a ArrayRef) -> Result<&'a StructArray> {
    match is_variant_type(array.data_type()) {
        true => Ok(array.as_struct()),
        false => exec_err!("{name} takes a variant, not {}", type_name(array.data_type())),
    }
}

/// Refuses arguments that are no variants.
fn of_variant(name: &str, argument: &DataType, result: DataType) -> Result<DataType> {
    match is_variant_type(argument) || argument.is_null() {
        true => Ok(result),
        false => plan_err!("{name} takes a variant, not {}", type_name(argument)),
    }
}

/// `parse_json` and `try_parse_json`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ParseJson(OnMisfit);

impl Kernel for ParseJson {
    fn name(&self) -> &str {
        match self.0 {
            OnMisfit::Fail => "parse_json",
            OnMisfit::Null => "try_parse_json",
        }
    }

    fn return_type(&self, argument: &DataType) -> Result<DataType> {
        match argument {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Ok(variant_type()),
            other => plan_err!("{} takes text, not {}", self.name(), type_name(other)),
        }
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let texts = cast(array, &DataType::Utf8View)?;
        let mut builder = VariantArrayBuilder::new(texts.len());
        for text in texts.as_string_view() {
            let Some(text) = text else {
                builder.append_null();
                continue;
            };
            match (append_json(text, &mut builder), self.0) {
                (Ok(()), _) => {}
                (Err(_), OnMisfit::Null) => builder.append_null(),
                (Err(error), OnMisfit::Fail) => {
                    let shown: String = text.chars().take(60).collect();
                    return exec_err!("'{shown}' is no JSON ({error}): try_parse_json gives NULL instead");
                }
            }
        }
        Ok(as_column(&builder.build())?)
    }
}

/// `to_json` of a variant.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ToJson;

impl Kernel for ToJson {
    fn name(&self) -> &str {
        "to_json"
    }

    fn return_type(&self, argument: &DataType) -> Result<DataType> {
        of_variant(self.name(), argument, DataType::Utf8)
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        if array.data_type().is_null() {
            return Ok(Arc::new(StringArray::new_null(array.len())));
        }
        Ok(Arc::new(variants_as_json(variants(self.name(), array)?)?))
    }
}

/// `is_variant_null`: whether a value is there and is JSON's null.
#[derive(Debug, PartialEq, Eq, Hash)]
struct IsVariantNull;

impl Kernel for IsVariantNull {
    fn name(&self) -> &str {
        "is_variant_null"
    }

    fn return_type(&self, argument: &DataType) -> Result<DataType> {
        of_variant(self.name(), argument, DataType::Boolean)
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        if array.data_type().is_null() {
            return Ok(Arc::new(BooleanArray::from(vec![false; array.len()])));
        }
        let array = variants(self.name(), array)?;
        let is_null = |row| Ok(variant_at(array, row)?.is_some_and(|v| v.as_null().is_some()));
        let marks = (0..array.len()).map(is_null).collect::<Result<Vec<bool>>>()?;
        Ok(Arc::new(BooleanArray::from(marks)))
    }
}

/// `schema_of_variant`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct SchemaOf;

impl Kernel for SchemaOf {
    fn name(&self) -> &str {
        "schema_of_variant"
    }

    fn return_type(&self, argument: &DataType) -> Result<DataType> {
        of_variant(self.name(), argument, DataType::Utf8View)
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        if array.data_type().is_null() {
            return Ok(Arc::new(StringViewArray::new_null(array.len())));
        }
        let array = variants(self.name(), array)?;
        let schema = |row| Ok(variant_at(array, row)?.map(|v| schema_of(&v)));
        let schemas = (0..array.len()).map(schema).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(StringViewArray::from_iter(schemas)))
    }
}

/// Any value as a variant.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ToVariant;

impl Kernel for ToVariant {
    fn name(&self) -> &str {
        "to_variant"
    }

    fn return_type(&self, _argument: &DataType) -> Result<DataType> {
        Ok(variant_type())
    }

    fn evaluate(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match is_variant_type(array.data_type()) {
            true => Ok(Arc::clone(array)),
            false => Ok(as_column(&cast_to_variant(array.as_ref())?)?),
        }
    }
}

/// `variant_get(v, path [, type])` and `try_variant_get`, and casts of whole variants.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Get {
    signature: Signature,
    /// What casts ask for; calls say it by arguments.
    target: Option<DataType>,
    on_misfit: OnMisfit,
}

impl Get {
    fn by_arguments(on_misfit: OnMisfit) -> Self {
        Get {
            signature: Signature::variadic_any(Volatility::Immutable),
            target: None,
            on_misfit,
        }
    }

    /// The cast of a whole variant to a type.
    pub(super) fn whole(target: DataType, on_misfit: OnMisfit) -> Self {
        Get {
            signature: Signature::any(1, Volatility::Immutable),
            target: Some(target),
            on_misfit,
        }
    }

    /// The path that the arguments name, if any.
    fn path(&self, constants: &[Option<&ScalarValue>]) -> Result<Path> {
        match self.target {
            Some(_) => Ok(Path::default()),
            None => Path::parse(self.text(constants, 1, "the path")?),
        }
    }

    /// The type that the arguments name.
    fn type_of(&self, constants: &[Option<&ScalarValue>]) -> Result<DataType> {
        if let Some(target) = &self.target {
            return Ok(target.clone());
        }
        if constants.len() == 2 {
            return Ok(variant_type());
        }
        crate::planner::type_of_text(self.text(constants, 2, "the type")?)
            .map_err(|e| DataFusionError::Plan(format!("{}: {e}", self.name())))
    }

    fn text<'a>(&self, constants: &[Option<&'a ScalarValue>], at: usize, what: &str) -> Result<&'a str> {
        match constants.get(at).copied().flatten().map(ScalarValue::try_as_str) {
            Some(Some(Some(text))) => Ok(text),
            _ => plan_err!("{} takes {what} as a constant text", self.name()),
        }
    }
}

impl ScalarUDFImpl for Get {
    fn name(&self) -> &str {
        match (&self.target, self.on_misfit) {
            (Some(_), _) => "cast_variant",
            (None, OnMisfit::Fail) => "variant_get",
            (None, OnMisfit::Null) => "try_variant_get",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        exec_err!("the type of {} depends on its arguments", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<datafusion::arrow::datatypes::FieldRef> {
        let count = args.arg_fields.len();
        if self.target.is_none() && !(2..=3).contains(&count) {
            return plan_err!(
                "{} takes a variant, a path and a type, not {count} arguments",
                self.name()
            );
        }
        of_variant(self.name(), args.arg_fields[0].data_type(), DataType::Null)?;
        self.path(args.scalar_arguments)?;
        let target = self.type_of(args.scalar_arguments)?;
        Ok(Arc::new(datafusion::arrow::datatypes::Field::new(
            self.name(),
            target,
            true,
        )))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let target = args.return_field.data_type().clone();
        let constants = args.args.iter().map(|arg| match arg {
            ColumnarValue::Scalar(value) => Some(value),
            ColumnarValue::Array(_) => None,
        });
        let path = self.path(&constants.collect::<Vec<_>>())?;
        let Some(value) = args.args.first() else {
            return exec_err!("{} takes a variant", self.name());
        };
        let array = value.to_array(args.number_rows)?;
        if array.data_type().is_null() {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from(&target)?));
        }
        let array = variants(self.name(), &array)?;
        let part = |row| Ok(variant_at(array, row)?.and_then(|v| path.of(v)));
        let parts = (0..array.len()).map(part).collect::<Result<Vec<_>>>()?;
        Ok(ColumnarValue::Array(convert(parts, &target, self.on_misfit)?))
    }
}
