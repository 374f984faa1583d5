//! Functions: DataFusion's, Spark's over them, and Iceberg's own.

mod average;
mod elements;
mod maps;
mod timestamp_text;
mod transform_arguments;
mod transforms;
mod version;

pub(crate) use timestamp_text::timestamps_as_text;

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ScalarUDF};
use datafusion_spark::SessionStateBuilderSpark;

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
    functions.push(Arc::new(ScalarUDF::from(timestamp_text::TimestampText::new())));
    functions.push(maps::map_of());
    let aggregates = builder.aggregate_functions().get_or_insert_with(Vec::new);
    aggregates.push(average::average());
    builder
}

/// A timestamp as Spark writes it: `2024-01-31 12:00:00.5`.
pub(crate) fn timestamp_text(timestamp: Expr) -> Expr {
    let function = Arc::new(ScalarUDF::from(timestamp_text::TimestampText::new()));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![timestamp]))
}

/// The field of this name of each struct in an array.
pub(crate) fn field_of_elements(array: Expr, field: &str) -> Expr {
    let function = Arc::new(ScalarUDF::from(elements::FieldOfElements::new(field)));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![array]))
}
