//! Operators with Spark's meaning: literals, casts, arithmetic, comparison of text with other types, subscripts, fields.
//!
//! Here types are known, which they are not when names are resolved; what has no operator of its own was marked there
//! with an operator that only this planner knows.

mod arithmetic;
mod comparison;
mod fields;
mod round;
mod unify;

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::functions::unicode::expr_fn::reverse;
use datafusion::functions_nested::expr_fn::array_reverse;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable};
use sqlparser::ast::BinaryOperator;

use super::casts::{self, OnBadInput};
use super::coercion::{is_binary, is_nested, is_text};
use super::{CaseSensitivity, QuerySettings};

/// `number LITERAL NULL`: a literal of Spark's type.
pub(crate) const LITERAL: &str = "tarn literal";
/// `value CAST CAST(NULL AS type)`
pub(crate) const CAST: &str = "tarn cast";
/// As [`CAST`], for try_cast.
pub(crate) const TRY_CAST: &str = "tarn try_cast";
/// `value SUBSCRIPT index`
pub(crate) const SUBSCRIPT: &str = "tarn subscript";
/// `value ELEMENT_AT index`
pub(crate) const ELEMENT_AT: &str = "tarn element_at";
/// `call UNIFY NULL`, for functions and CASE whose arguments are of one type
pub(crate) const UNIFY: &str = "tarn unify";
/// `value IN_LIST make_array(…)`
pub(crate) const IN_LIST: &str = "tarn in";
/// `value FIELD 'name'`
pub(crate) const FIELD: &str = "tarn field";
/// `value NEGATE NULL`
pub(crate) const NEGATE: &str = "tarn negate";

/// `number ROUND digits`
pub(crate) const ROUND: &str = "tarn round";
/// `value REVERSE NULL`, of text or an array
pub(crate) const REVERSE: &str = "tarn reverse";
/// `value TIME NULL`: text as a timestamp, dates and timestamps as they are
pub(crate) const TIME: &str = "tarn time";

/// Spark's operators.
#[derive(Debug)]
pub(crate) struct SparkExpressions {
    case: CaseSensitivity,
    time_zone: Arc<str>,
}

impl SparkExpressions {
    pub(crate) fn new(settings: &QuerySettings) -> Self {
        SparkExpressions {
            case: settings.case_sensitivity,
            time_zone: Arc::from(settings.time_zone.as_str()),
        }
    }
}

impl ExprPlanner for SparkExpressions {
    fn plan_binary_op(&self, raw: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let RawBinaryExpr { op, left, right } = raw;
        if let BinaryOperator::Custom(name) = &op {
            let planned = match name.as_str() {
                LITERAL => literal(left)?,
                CAST => casts::cast(left, &right.get_type(schema)?, OnBadInput::Spark, schema)?,
                TRY_CAST => casts::cast(left, &right.get_type(schema)?, OnBadInput::Null, schema)?,
                SUBSCRIPT => fields::subscript(left, right, schema)?,
                ELEMENT_AT => fields::element_at(left, right, schema)?,
                FIELD => fields::field(left, &right, self.case, schema)?,
                UNIFY => unify::unify(left, schema)?,
                IN_LIST => comparison::in_list(left, right, schema)?,
                ROUND => round::round(left, right, schema)?,
                REVERSE => match left.get_type(schema)? {
                    DataType::List(_) => array_reverse(left),
                    _ => reverse(left),
                },
                TIME => match left.get_type(schema)? {
                    written if is_text(&written) => {
                        let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(&self.time_zone)));
                        casts::cast(left, &zoned, OnBadInput::Spark, schema)?
                    }
                    _ => left,
                },
                NEGATE => {
                    let value_type = left.get_type(schema)?;
                    arithmetic::negate(left, &value_type, schema)?
                }
                _ => return Ok(PlannerResult::Original(RawBinaryExpr { op, left, right })),
            };
            return Ok(PlannerResult::Planned(planned));
        }
        let (Ok(left_type), Ok(right_type)) = (left.get_type(schema), right.get_type(schema)) else {
            return Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }));
        };
        let typed = Typed {
            left,
            left_type,
            right,
            right_type,
        };
        self.operator(op, typed, schema)
    }
}

/// The two sides of an operator.
struct Typed {
    left: Expr,
    left_type: DataType,
    right: Expr,
    right_type: DataType,
}

impl Typed {
    fn original(self, op: BinaryOperator) -> PlannerResult<RawBinaryExpr> {
        PlannerResult::Original(RawBinaryExpr {
            op,
            left: self.left,
            right: self.right,
        })
    }

    fn cast_both(mut self, left: &DataType, right: &DataType, schema: &DFSchema) -> Result<Self> {
        if self.left_type != *left {
            self.left = casts::cast(self.left, left, OnBadInput::Spark, schema)?;
            self.left_type = left.clone();
        }
        if self.right_type != *right {
            self.right = casts::cast(self.right, right, OnBadInput::Spark, schema)?;
            self.right_type = right.clone();
        }
        Ok(self)
    }
}

impl SparkExpressions {
    fn operator(&self, op: BinaryOperator, typed: Typed, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator as B;
        match op {
            B::Divide => arithmetic::divide(typed, schema),
            B::MyIntegerDivide | B::DuckIntegerDivide => arithmetic::whole_division(typed, schema),
            B::Modulo => arithmetic::modulo(typed, schema),
            B::Plus | B::Minus => arithmetic::plus_or_minus(op, typed, &self.time_zone, schema),
            B::Multiply => arithmetic::sum_or_product(op, typed, schema),
            B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq | B::Spaceship => {
                Ok(comparison::comparable(typed, schema)?.original(op))
            }
            B::StringConcat => {
                if is_nested(&typed.left_type) || is_nested(&typed.right_type) {
                    return Ok(typed.original(op));
                }
                if is_binary(&typed.left_type) && is_binary(&typed.right_type) {
                    return Ok(typed.original(op));
                }
                let text = |t: &DataType| if is_text(t) { t.clone() } else { DataType::Utf8View };
                let (left, right) = (text(&typed.left_type), text(&typed.right_type));
                Ok(typed.cast_both(&left, &right, schema)?.original(op))
            }
            op => Ok(typed.original(op)),
        }
    }
}

/// Whole numbers are int where they fit, then bigint, then decimal.
fn literal(value: Expr) -> Result<Expr> {
    let Expr::Literal(scalar, metadata) = value else {
        return plan_err!("'{value}' is no literal");
    };
    let scalar = match scalar {
        ScalarValue::Int64(Some(v)) => match i32::try_from(v) {
            Ok(v) => ScalarValue::Int32(Some(v)),
            Err(_) => ScalarValue::Int64(Some(v)),
        },
        ScalarValue::UInt64(Some(v)) => {
            let digits = v.to_string().len();
            ScalarValue::Decimal128(Some(i128::from(v)), u8::try_from(digits).unwrap_or(20), 0)
        }
        other => other,
    };
    Ok(Expr::Literal(scalar, metadata))
}
