//! Functions: DataFusion's, Spark's over them, and Iceberg's own.

mod average;
mod bytes;
mod casts;
mod date_format;
mod date_pattern;
mod decimal_arithmetic;
mod elements;
mod maps;
mod nested_cast;
mod nested_text;
mod numbers;
mod random;
mod sum;
pub(crate) mod text_to_time;
mod timestamp_text;
mod transform_arguments;
mod transforms;
mod type_name;
mod unary;
mod variant;
mod version;

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ScalarUDF};
use datafusion_spark::SessionStateBuilderSpark;

pub(crate) use self::casts::{
    cast_array, float_text, float_to_whole, local_time, nested_cast, nested_text, text_to_date, text_to_double,
    text_to_timestamp, text_to_whole, timestamp_text,
};
use self::date_format::{PatternFunction, PatternUse};
pub(crate) use self::decimal_arithmetic::DecimalOp;
pub(crate) use self::nested_cast::has_same_shape;
pub(crate) use self::timestamp_text::timestamps_as_text;
pub(crate) use self::type_name::type_name;
pub(crate) use self::variant::{OnMisfit, cast_from_variant, cast_to_variant};

/// Functions of the `system` namespace of every catalog.
pub(crate) const SYSTEM_FUNCTIONS: [&str; 7] = [
    "bucket",
    "truncate",
    "years",
    "months",
    "days",
    "hours",
    "iceberg_version",
];

/// Adds all functions to a session's state: DataFusion's defaults must be in it already.
#[must_use]
pub fn register(builder: SessionStateBuilder) -> SessionStateBuilder {
    let mut builder = builder.with_spark_features();
    let functions = builder.scalar_functions().get_or_insert_with(Vec::new);
    functions.extend(transforms::functions());
    functions.push(Arc::new(ScalarUDF::from(version::IcebergVersion::new())));
    functions.push(unary::function(timestamp_text::TimestampText));
    functions.push(unary::function(type_name::TypeOf));
    functions.push(Arc::new(ScalarUDF::from(PatternFunction::new(PatternUse::Format))));
    functions.push(Arc::new(ScalarUDF::from(PatternFunction::new(PatternUse::Parse))));
    functions.push(maps::map_of());
    functions.extend(variant::functions());
    functions.extend(bytes::functions());
    for spread in [random::Spread::Uniform, random::Spread::Normal] {
        functions.push(Arc::new(ScalarUDF::from(random::Seeded::new(spread))));
    }
    let aggregates = builder.aggregate_functions().get_or_insert_with(Vec::new);
    aggregates.push(average::average());
    aggregates.push(sum::sum());
    builder
}

/// The field of this name of each struct in an array.
pub(crate) fn field_of_elements(array: Expr, field: &str) -> Expr {
    let function = Arc::new(ScalarUDF::from(elements::FieldOfElements::new(field)));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![array]))
}

/// Arithmetic of two decimals.
pub(crate) fn decimal_arithmetic(op: DecimalOp, left: Expr, right: Expr) -> Expr {
    let function = Arc::new(ScalarUDF::from(decimal_arithmetic::DecimalArithmetic::new(op)));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![left, right]))
}
