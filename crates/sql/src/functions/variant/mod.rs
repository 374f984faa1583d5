//! Functions of variants, as Spark 4 names them: `parse_json`, `variant_get`, `to_json`, `is_variant_null`,
//! `schema_of_variant`, and casts from and to variants.

mod convert;
mod json;
mod path;
mod schema;
mod udfs;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ScalarUDF};

pub(crate) use self::udfs::OnMisfit;
pub(super) use self::udfs::functions;
use self::udfs::{Get, ToVariant};
use crate::functions::unary;

/// A variant as a value of another type.
pub(crate) fn cast_from_variant(variant: Expr, target: &DataType, on_misfit: OnMisfit) -> Expr {
    let function = Get::whole(target.clone(), on_misfit);
    Expr::ScalarFunction(ScalarFunction::new_udf(
        Arc::new(ScalarUDF::from(function)),
        vec![variant],
    ))
}

/// Any value as a variant.
pub(crate) fn cast_to_variant(value: Expr) -> Expr {
    unary::call(ToVariant, value)
}
