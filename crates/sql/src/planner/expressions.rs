//! Operators with Spark's meaning: literals, casts, division, comparison of text with other types, subscripts, fields.
//!
//! Here types are known, which they are not when names are resolved; what has no operator of its own was marked there
//! with an operator that only this planner knows.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::functions::core::expr_fn::{get_field, nullif};
use datafusion::functions_nested::expr_fn::{array_element, map_extract};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator, lit};
use sqlparser::ast::BinaryOperator;

use super::casts::{self, OnBadInput};
use super::{CaseSensitivity, QuerySettings};

/// `number LITERAL NULL`: a literal of Spark's type.
pub(crate) const LITERAL: &str = "tarn literal";
/// `value CAST CAST(NULL AS type)`
pub(crate) const CAST: &str = "tarn cast";
/// As [`CAST`], for try_cast.
pub(crate) const TRY_CAST: &str = "tarn try_cast";
/// `value SUBSCRIPT index`
pub(crate) const SUBSCRIPT: &str = "tarn subscript";
/// `call UNIFY NULL`, for functions and CASE whose arguments are of one type
pub(crate) const UNIFY: &str = "tarn unify";
/// `value IN_LIST make_array(…)`
pub(crate) const IN_LIST: &str = "tarn in";
/// `value FIELD 'name'`
pub(crate) const FIELD: &str = "tarn field";

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
                SUBSCRIPT => subscript(left, right, schema)?,
                FIELD => self.field(left, &right, schema)?,
                UNIFY => unify(left, schema)?,
                IN_LIST => self.in_list(left, right, schema)?,
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
            B::Divide => divide(typed, schema),
            B::MyIntegerDivide | B::DuckIntegerDivide => {
                let both = typed.cast_both(&DataType::Int64, &DataType::Int64, schema)?;
                Ok(planned(
                    both.left,
                    Operator::Divide,
                    non_zero(both.right, &DataType::Int64)?,
                ))
            }
            B::Modulo => {
                let typed = numbers(typed, schema)?;
                if !typed.right_type.is_numeric() {
                    return Ok(typed.original(op));
                }
                let right = non_zero(typed.right, &typed.right_type)?;
                Ok(planned(typed.left, Operator::Modulo, right))
            }
            B::Plus | B::Minus => self.plus_or_minus(op, typed, schema),
            B::Multiply => Ok(numbers(typed, schema)?.original(op)),
            B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq | B::Spaceship => {
                Ok(self.comparable(typed, schema)?.original(op))
            }
            B::StringConcat => {
                if is_nested(&typed.left_type) || is_nested(&typed.right_type) {
                    return Ok(typed.original(op));
                }
                if is_bytes(&typed.left_type) && is_bytes(&typed.right_type) {
                    return Ok(typed.original(op));
                }
                let text = |t: &DataType| if is_text(t) { t.clone() } else { DataType::Utf8View };
                let (left, right) = (text(&typed.left_type), text(&typed.right_type));
                Ok(typed.cast_both(&left, &right, schema)?.original(op))
            }
            op => Ok(typed.original(op)),
        }
    }

    fn plus_or_minus(
        &self,
        op: BinaryOperator,
        typed: Typed,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        // date ± days
        let date = DataType::Date32;
        if typed.left_type == date && typed.right_type.is_integer() {
            let operator = if op == BinaryOperator::Plus {
                Operator::Plus
            } else {
                Operator::Minus
            };
            let days = Expr::Cast(Cast::new(Box::new(typed.left), DataType::Int32));
            let count = Expr::Cast(Cast::new(Box::new(typed.right), DataType::Int32));
            let sum = BinaryExpr::new(Box::new(days), operator, Box::new(count));
            return Ok(PlannerResult::Planned(Expr::Cast(Cast::new(
                Box::new(Expr::BinaryExpr(sum)),
                date,
            ))));
        }
        let is_interval = |t: &DataType| matches!(t, DataType::Interval(_));
        if is_text(&typed.left_type) && is_interval(&typed.right_type) {
            let zone = DataType::Timestamp(
                datafusion::arrow::datatypes::TimeUnit::Microsecond,
                Some(Arc::clone(&self.time_zone)),
            );
            let right = typed.right_type.clone();
            return Ok(typed.cast_both(&zone, &right, schema)?.original(op));
        }
        Ok(numbers(typed, schema)?.original(op))
    }

    /// Text compared with another type is cast to it: `y = 2024`, `day = DATE '2024-01-01'`.
    fn comparable(&self, typed: Typed, schema: &DFSchema) -> Result<Typed> {
        let other = |t: &DataType| match t {
            DataType::Decimal128(..) | DataType::Decimal256(..) => Some(DataType::Float64),
            t if t.is_numeric() || *t == DataType::Boolean => Some(t.clone()),
            DataType::Date32 | DataType::Timestamp(..) => Some(t.clone()),
            _ => None,
        };
        let (left, right) = (typed.left_type.clone(), typed.right_type.clone());
        if is_text(&left)
            && let Some(target) = other(&right)
        {
            return typed.cast_both(&target, &target, schema);
        }
        if is_text(&right)
            && let Some(target) = other(&left)
        {
            return typed.cast_both(&target, &target, schema);
        }
        if let Some(double) = double_of(&left, &right) {
            return typed.cast_both(&double, &double, schema);
        }
        let zoned = |t: &DataType| matches!(t, DataType::Timestamp(_, Some(_)));
        let plain = |t: &DataType| matches!(t, DataType::Timestamp(_, None) | DataType::Date32);
        if zoned(&left) && plain(&right) {
            return typed.cast_both(&left, &left, schema);
        }
        if plain(&left) && zoned(&right) {
            return typed.cast_both(&right, &right, schema);
        }
        Ok(typed)
    }

    /// `x IN (a, b)`, each compared as `x = a` would be.
    fn in_list(&self, value: Expr, list: Expr, schema: &DFSchema) -> Result<Expr> {
        let Expr::ScalarFunction(list) = list else {
            return plan_err!("'{list}' is no list");
        };
        let mut value = value;
        let mut items = Vec::with_capacity(list.args.len());
        for item in list.args {
            let typed = Typed {
                left_type: value.get_type(schema)?,
                left: value,
                right_type: item.get_type(schema)?,
                right: item,
            };
            let typed = self.comparable(typed, schema)?;
            value = typed.left;
            items.push(typed.right);
        }
        if value.get_type(schema)?.is_floating() && items.iter().any(is_zero) {
            // Lists are looked up by bits, in which the two zeros differ.
            items.extend([lit(0.0_f64), lit(-0.0_f64)]);
        }
        Ok(value.in_list(items, false))
    }

    /// A field of a struct, or of each struct in an array.
    fn field(&self, value: Expr, name: &Expr, schema: &DFSchema) -> Result<Expr> {
        let Expr::Literal(ScalarValue::Utf8(Some(name)), _) = name else {
            return plan_err!("the name of a field must be a constant");
        };
        let value_type = value.get_type(schema)?;
        let fields = match &value_type {
            DataType::Struct(fields) => fields,
            DataType::Map(..) => {
                let key = lit(name.as_str());
                return subscript(value, key, schema);
            }
            DataType::List(element) => {
                let DataType::Struct(fields) = element.data_type() else {
                    return plan_err!(
                        "'{value}' has no field '{name}': it is an array of {}",
                        element.data_type()
                    );
                };
                let declared = self.declared(fields, name, &value)?;
                return Ok(crate::functions::field_of_elements(value, &declared));
            }
            other => return plan_err!("'{value}' has no field '{name}': it is of type {other}"),
        };
        let declared = self.declared(fields, name, &value)?;
        Ok(get_field(value, declared))
    }

    fn declared(&self, fields: &datafusion::arrow::datatypes::Fields, name: &str, value: &Expr) -> Result<String> {
        let mut matches = fields.iter().filter(|f| self.case.same(f.name(), name));
        match (matches.next(), matches.next()) {
            (Some(found), None) => Ok(found.name().clone()),
            (Some(_), Some(_)) => plan_err!("field '{name}' of '{value}' is ambiguous"),
            _ => {
                let known = fields.iter().map(|f| f.name().clone());
                let near = super::resolve::suggest::nearest(name, known);
                plan_err!("'{value}' has no field '{name}'; did you mean {}?", near.join(", "))
            }
        }
    }
}

fn planned(left: Expr, op: Operator, right: Expr) -> PlannerResult<RawBinaryExpr> {
    PlannerResult::Planned(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
}

fn is_text(t: &DataType) -> bool {
    matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_bytes(t: &DataType) -> bool {
    matches!(t, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

fn is_nested(t: &DataType) -> bool {
    matches!(
        t,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(..)
            | DataType::Map(..)
            | DataType::Struct(_)
    )
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

/// Decimals among doubles become doubles.
fn unify(value: Expr, schema: &DFSchema) -> Result<Expr> {
    let widen = |args: Vec<Expr>| -> Result<Vec<Expr>> {
        let types: Vec<DataType> = args.iter().map(|a| a.get_type(schema)).collect::<Result<_>>()?;
        if !types.iter().any(|a| types.iter().any(|b| double_of(a, b).is_some())) {
            return Ok(args);
        }
        let double = |(arg, t): (Expr, &DataType)| {
            if t.is_numeric() {
                casts::cast(arg, &DataType::Float64, OnBadInput::Spark, schema)
            } else {
                Ok(arg)
            }
        };
        args.into_iter().zip(&types).map(double).collect()
    };
    match value {
        Expr::ScalarFunction(mut call) => {
            call.args = widen(call.args)?;
            Ok(Expr::ScalarFunction(call))
        }
        Expr::Case(mut case) => {
            let branches = case.when_then_expr.iter().map(|(_, then)| then.as_ref().clone());
            let values: Vec<Expr> = branches.chain(case.else_expr.as_deref().cloned()).collect();
            let mut widened = widen(values)?.into_iter();
            for (then, value) in case.when_then_expr.iter_mut().map(|(_, then)| then).zip(&mut widened) {
                **then = value;
            }
            if let Some(value) = widened.next() {
                case.else_expr = Some(Box::new(value));
            }
            Ok(Expr::Case(case))
        }
        other => Ok(other),
    }
}

/// Whether a constant is zero of any sign.
fn is_zero(item: &Expr) -> bool {
    let constant = match item {
        Expr::Cast(cast) => cast.expr.as_ref(),
        Expr::TryCast(cast) => cast.expr.as_ref(),
        other => other,
    };
    let Expr::Literal(value, _) = constant else {
        return false;
    };
    matches!(value.cast_to(&DataType::Float64), Ok(ScalarValue::Float64(Some(v))) if v == 0.0)
}

/// A decimal beside a double or float is a double: DataFusion would make both decimal, which has no NaN.
fn double_of(left: &DataType, right: &DataType) -> Option<DataType> {
    let decimal = |t: &DataType| matches!(t, DataType::Decimal128(..) | DataType::Decimal256(..));
    let mixed = (decimal(left) && right.is_floating()) || (left.is_floating() && decimal(right));
    mixed.then_some(DataType::Float64)
}

/// Text in arithmetic is a double.
fn numbers(typed: Typed, schema: &DFSchema) -> Result<Typed> {
    if let Some(double) = double_of(&typed.left_type, &typed.right_type) {
        return typed.cast_both(&double, &double, schema);
    }
    let number = |t: &DataType| if is_text(t) { DataType::Float64 } else { t.clone() };
    let (left, right) = (number(&typed.left_type), number(&typed.right_type));
    typed.cast_both(&left, &right, schema)
}

/// `/` is a division of doubles or decimals; by zero it is NULL.
fn divide(typed: Typed, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let typed = numbers(typed, schema)?;
    let decimal = |t: &DataType| matches!(t, DataType::Decimal128(..) | DataType::Decimal256(..));
    let exact = |t: &DataType| decimal(t) || t.is_integer();
    let (left, right) = (&typed.left_type, &typed.right_type);
    if !(left.is_numeric() || left.is_null()) || !(right.is_numeric() || right.is_null()) {
        return Ok(typed.original(BinaryOperator::Divide));
    }
    if (decimal(left) || decimal(right)) && exact(left) && exact(right) {
        let right_type = typed.right_type.clone();
        return Ok(planned(
            typed.left,
            Operator::Divide,
            non_zero(typed.right, &right_type)?,
        ));
    }
    let both = typed.cast_both(&DataType::Float64, &DataType::Float64, schema)?;
    let right = non_zero(both.right, &DataType::Float64)?;
    Ok(planned(both.left, Operator::Divide, right))
}

fn non_zero(divisor: Expr, data_type: &DataType) -> Result<Expr> {
    let zero = ScalarValue::new_zero(data_type)?;
    if let Expr::Literal(value, _) = &divisor
        && *value != zero
    {
        return Ok(divisor);
    }
    if let Expr::Cast(cast) = &divisor
        && let Expr::Literal(value, _) = cast.expr.as_ref()
        && value.cast_to(data_type).is_ok_and(|v| v != zero)
    {
        return Ok(divisor);
    }
    Ok(nullif(divisor, Expr::Literal(zero, None)))
}

/// `array[i]` counts from 0, and is NULL outside; `map[key]` is NULL without the key.
fn subscript(value: Expr, index: Expr, schema: &DFSchema) -> Result<Expr> {
    match value.get_type(schema)? {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => {
            if !index.get_type(schema)?.is_integer() {
                return plan_err!("the subscript of an array must be a whole number, not '{index}'");
            }
            let index = Expr::Cast(Cast::new(Box::new(index), DataType::Int64));
            let one_based = BinaryExpr::new(Box::new(index.clone()), Operator::Plus, Box::new(lit(1_i64)));
            let element = array_element(value, Expr::BinaryExpr(one_based));
            // DataFusion counts negative subscripts from the end.
            let inside = BinaryExpr::new(Box::new(index), Operator::GtEq, Box::new(lit(0_i64)));
            datafusion::logical_expr::when(Expr::BinaryExpr(inside), element).end()
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(fields) = entries.data_type() else {
                return plan_err!("a map has no entries");
            };
            let Some(key) = fields.first() else {
                return plan_err!("a map has no keys");
            };
            let index = casts::cast(index, key.data_type(), OnBadInput::Spark, schema)?;
            Ok(array_element(map_extract(value, index), lit(1_i64)))
        }
        DataType::Struct(_) => match &index {
            Expr::Literal(ScalarValue::Utf8(Some(name)), _) => Ok(get_field(value, name.clone())),
            _ => plan_err!("'{value}' is a struct, whose fields have names"),
        },
        other => plan_err!("'{value}' takes no subscript: it is of type {other}"),
    }
}
