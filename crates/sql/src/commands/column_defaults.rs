//! DEFAULT values of columns: from an expression to a value of the column's type, and from a value to text.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::lit;
use sqlparser::ast::{Expr, Query, SetExpr};
use sqlparser::parser::Parser;
use tarn_engine::arrow::schema::field_to_arrow;
use tarn_engine::arrow::value::from_scalar;
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::types::{NestedField, PrimitiveType, Type};
use tarn_format::spec::value::Value;
use tarn_format::spec::value_json;
use tarn_format::{Error, Result, ResultExt};

use super::insert_columns::column;
use super::spark_types::type_name;
use crate::ast::InsertTarget;
use crate::dialect::TarnDialect;
use crate::planner::{PlanContext, evaluate, plan_scalar};
use crate::quoting::string;
use crate::store_assignment::{Matching, assign};

/// The value of a DEFAULT expression as one of the column's; `None` for NULL.
///
/// # Errors
/// `InvalidInput` when the expression is not constant or its value cannot be stored in the column, `Unsupported` for
/// columns whose type takes no default but NULL.
pub(crate) fn default_value(ctx: &PlanContext, default: &Expr, column: &NestedField) -> Result<Option<Value>> {
    let value = plan_scalar(ctx, default.clone()).context("default of column", column.name.as_str())?;
    if value.is_null() {
        return match column.required {
            true => Err(Error::invalid(format!(
                "column '{}' is NOT NULL: its default cannot be NULL",
                column.name
            ))),
            false => Ok(None),
        };
    }
    let Some(primitive) = column.field_type.as_primitive() else {
        return Err(Error::invalid(format!(
            "column '{}' of type {} can have no default but NULL",
            column.name, column.field_type
        )));
    };
    let from = value.data_type();
    let assigned = assign(lit(value), &from, &field_to_arrow(column), Matching::Position)?;
    let stored = evaluate(ctx, assigned).context("default of column", column.name.as_str())?;
    from_scalar(&stored, primitive).map(Some).ok_or_else(|| {
        Error::invalid(format!(
            "the default {default} of column '{}' is no {}",
            column.name, column.field_type
        ))
    })
}

/// A value as SQL that has it as its result.
///
/// # Errors
/// `Corrupt` when the value is not of the type.
pub(crate) fn literal(value: Option<&Value>, field_type: &Type) -> Result<String> {
    let Some(value) = value else {
        return Ok("NULL".to_string());
    };
    let json = value_json::to_json(value, field_type)?;
    let text = match &json {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(match field_type {
        Type::Primitive(PrimitiveType::Boolean | PrimitiveType::Int) => text,
        Type::Primitive(PrimitiveType::String) => string(&text),
        Type::Primitive(PrimitiveType::Uuid) => format!("X'{}'", text.replace('-', "")),
        Type::Primitive(PrimitiveType::Binary | PrimitiveType::Fixed(_)) => format!("X'{text}'"),
        other => format!("CAST({} AS {})", string(&text), type_name(other)),
    })
}

/// Puts the columns' defaults where VALUES of an INSERT say DEFAULT.
///
/// # Errors
/// `InvalidInput` when a column needs a value and has no default.
pub(crate) fn fill_defaults(
    query: &mut Query,
    target: &InsertTarget,
    constants: &[Option<ScalarValue>],
    schema: &Schema,
    case: CaseSensitivity,
) -> Result<()> {
    let given: Vec<usize> = (0..schema.fields().len())
        .filter(|at| constants.get(*at).is_none_or(Option::is_none))
        .collect();
    let SetExpr::Values(values) = query.body.as_mut() else {
        return Ok(());
    };
    for row in &mut values.rows {
        for (i, value) in row.content.iter_mut().enumerate() {
            if !is_default(value) {
                continue;
            }
            let at = match target {
                InsertTarget::Columns(names) => names.get(i).map(|name| column(name, schema, case)).transpose()?,
                InsertTarget::ByPosition | InsertTarget::ByName => given.get(i).copied(),
            };
            let field = at.and_then(|at| schema.fields().get(at));
            *value = match field {
                // Too many values: told when they are counted.
                None => null(),
                Some(field) if field.required && field.write_default.is_none() => {
                    return Err(Error::invalid(format!(
                        "column '{}' is NOT NULL and has no default: give it a value",
                        field.name
                    )));
                }
                Some(field) => default_expression(field)?,
            };
        }
    }
    Ok(())
}

/// Whether an expression is the word DEFAULT.
pub(crate) fn is_default(value: &Expr) -> bool {
    matches!(value, Expr::Identifier(i) if i.quote_style.is_none() && i.value.eq_ignore_ascii_case("DEFAULT"))
}

fn null() -> Expr {
    Expr::Value(sqlparser::ast::Value::Null.into())
}

/// A column's default as an expression.
///
/// # Errors
/// `Corrupt` when the table's metadata has a default that is not of its type.
pub(crate) fn default_expression(field: &NestedField) -> Result<Expr> {
    let text = literal(field.write_default.as_ref(), &field.field_type)?;
    let parsed = Parser::new(&TarnDialect::default())
        .try_with_sql(&text)
        .and_then(|mut parser| parser.parse_expr());
    parsed.map_err(|e| {
        let message = format!("the default of column '{}' cannot be written as SQL", field.name);
        Error::corrupt(message).with_source(e)
    })
}
