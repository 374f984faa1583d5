//! Calls and CASE whose values are all of one type.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, ExprSchemable};

use crate::planner::casts::{self, OnBadInput};
use crate::planner::coercion::common_type;

/// Casts arguments, or the values of a CASE, to the type that all have in common.
pub(super) fn unify(value: Expr, schema: &DFSchema) -> Result<Expr> {
    match value {
        Expr::ScalarFunction(mut call) => {
            // The condition of `if` is no value of it, and `nullif` gives its first argument or NULL.
            let rest = match call.name() {
                "if" => call.args.split_off(1.min(call.args.len())),
                _ => std::mem::take(&mut call.args),
            };
            call.args.extend(to_common_type(rest, schema)?);
            Ok(Expr::ScalarFunction(call))
        }
        Expr::Case(mut case) => {
            let branches = case.when_then_expr.iter().map(|(_, then)| then.as_ref().clone());
            let values: Vec<Expr> = branches.chain(case.else_expr.as_deref().cloned()).collect();
            let mut unified = to_common_type(values, schema)?.into_iter();
            for (then, value) in case.when_then_expr.iter_mut().map(|(_, then)| then).zip(&mut unified) {
                **then = value;
            }
            if let Some(value) = unified.next() {
                case.else_expr = Some(Box::new(value));
            }
            Ok(Expr::Case(case))
        }
        other => Ok(other),
    }
}

fn to_common_type(values: Vec<Expr>, schema: &DFSchema) -> Result<Vec<Expr>> {
    let types: Vec<DataType> = values.iter().map(|v| v.get_type(schema)).collect::<Result<_>>()?;
    if types.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(values);
    }
    let Some(common) = common_type(&types) else {
        // DataFusion says what does not fit.
        return Ok(values);
    };
    let cast = |v: Expr| casts::cast(v, &common, OnBadInput::Spark, schema);
    values.into_iter().map(cast).collect()
}
