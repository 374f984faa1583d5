//! Parts of nested values: fields of structs, elements of arrays, values of maps.

use datafusion::arrow::datatypes::{DataType, Fields};
use datafusion::common::{DFSchema, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::functions::core::expr_fn::get_field;
use datafusion::functions_nested::expr_fn::{array_element, map_extract};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator, lit};

use crate::functions::type_name;
use crate::near_names::most_alike;
use crate::planner::CaseSensitivity;
use crate::planner::casts::{self, OnBadInput};

/// A field of a struct, or of each struct in an array.
pub(super) fn field(value: Expr, name: &Expr, case: CaseSensitivity, schema: &DFSchema) -> Result<Expr> {
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
                    "'{value}' has no field '{name}': it is of type {}",
                    type_name(&value_type)
                );
            };
            let declared = declared(fields, name, case, &value)?;
            return Ok(crate::functions::field_of_elements(value, &declared));
        }
        other => return plan_err!("'{value}' has no field '{name}': it is of type {}", type_name(other)),
    };
    let declared = declared(fields, name, case, &value)?;
    Ok(get_field(value, declared))
}

fn declared(fields: &Fields, name: &str, case: CaseSensitivity, value: &Expr) -> Result<String> {
    let mut matches = fields.iter().filter(|f| case.same(f.name(), name));
    match (matches.next(), matches.next()) {
        (Some(found), None) => Ok(found.name().clone()),
        (Some(_), Some(_)) => plan_err!("field '{name}' of '{value}' is ambiguous"),
        _ => {
            let near = most_alike(name, fields.iter().map(|f| f.name().clone()));
            plan_err!("'{value}' has no field '{name}'; did you mean {}?", near.join(", "))
        }
    }
}

/// `array[i]` counts from 0, and is NULL outside; `map[key]` is NULL without the key.
pub(super) fn subscript(value: Expr, index: Expr, schema: &DFSchema) -> Result<Expr> {
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
        map @ DataType::Map(..) => value_of_key(value, &map, index, schema),
        DataType::Struct(_) => match &index {
            Expr::Literal(ScalarValue::Utf8(Some(name)), _) => Ok(get_field(value, name.clone())),
            _ => plan_err!("'{value}' is a struct, whose fields have names"),
        },
        other => plan_err!("'{value}' takes no subscript: it is of type {}", type_name(&other)),
    }
}

/// `element_at(array, i)` counts from 1, and from the end when negative; `element_at(map, key)`.
pub(super) fn element_at(value: Expr, index: Expr, schema: &DFSchema) -> Result<Expr> {
    match value.get_type(schema)? {
        map @ DataType::Map(..) => value_of_key(value, &map, index, schema),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => {
            let index = Expr::Cast(Cast::new(Box::new(index), DataType::Int64));
            Ok(array_element(value, index))
        }
        other => plan_err!("element_at takes an array or a map, not {}", type_name(&other)),
    }
}

fn value_of_key(value: Expr, map: &DataType, key: Expr, schema: &DFSchema) -> Result<Expr> {
    let key_type = match map {
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => fields.first(),
            _ => None,
        },
        _ => None,
    };
    let Some(key_type) = key_type else {
        return plan_err!("a map has no keys");
    };
    let key = casts::cast(key, key_type.data_type(), OnBadInput::Spark, schema)?;
    Ok(array_element(map_extract(value, key), lit(1_i64)))
}
