//! Which fields of struct columns a projection reads: the others need not be made, nor their metrics decoded.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use datafusion::common::ScalarValue;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

/// What is read of a column or field.
#[derive(Debug)]
enum Use {
    Whole,
    Fields(BTreeMap<String, Use>),
}

impl Use {
    fn none() -> Self {
        Use::Fields(BTreeMap::new())
    }

    fn add(&mut self, path: &[&str]) {
        let Use::Fields(fields) = self else { return };
        match path {
            [] => *self = Use::Whole,
            [first, rest @ ..] => fields.entry(first.to_string()).or_insert_with(Use::none).add(rest),
        }
    }
}

/// The schema without the fields of structs that these expressions over it don't read; `None` when they read all.
/// Columns keep their places, and fields their order.
pub(super) fn narrowed<'a>(
    schema: &ArrowSchemaRef,
    expressions: impl Iterator<Item = &'a Arc<dyn PhysicalExpr>>,
) -> Option<ArrowSchemaRef> {
    let mut uses: BTreeMap<usize, Use> = BTreeMap::new();
    for expression in expressions {
        collect(expression, &mut uses);
    }
    let columns = schema.fields().iter().enumerate();
    let fields: Fields = columns
        .map(|(i, field)| match uses.get(&i) {
            Some(used) => narrow(field, used),
            None => Arc::clone(field),
        })
        .collect();
    (fields != *schema.fields()).then(|| Arc::new(ArrowSchema::new_with_metadata(fields, schema.metadata().clone())))
}

fn narrow(field: &FieldRef, used: &Use) -> FieldRef {
    let (DataType::Struct(children), Use::Fields(of_children)) = (field.data_type(), used) else {
        return Arc::clone(field);
    };
    let kept: Fields = children
        .iter()
        .filter_map(|child| Some(narrow(child, of_children.get(child.name())?)))
        .collect();
    // A field that the struct does not have is none of ours to judge.
    if kept.len() < of_children.len() {
        return Arc::clone(field);
    }
    Arc::new(Field::clone(field).with_data_type(DataType::Struct(kept)))
}

fn collect(expression: &Arc<dyn PhysicalExpr>, uses: &mut BTreeMap<usize, Use>) {
    let mut path = Vec::new();
    if let Some(column) = field_path(expression, &mut path) {
        uses.entry(column).or_insert_with(Use::none).add(&path);
        return;
    }
    for child in expression.children() {
        collect(child, uses);
    }
}

/// The column of a chain of field accesses, and the names of the fields.
fn field_path<'a>(expression: &'a Arc<dyn PhysicalExpr>, path: &mut Vec<&'a str>) -> Option<usize> {
    if let Some(column) = expression.downcast_ref::<Column>() {
        return Some(column.index());
    }
    let call = expression.downcast_ref::<ScalarFunctionExpr>()?;
    if call.fun().name() != "get_field" {
        return None;
    }
    let (base, keys) = call.args().split_first()?;
    let column = field_path(base, path)?;
    for key in keys {
        path.push(match key.downcast_ref::<Literal>()?.value() {
            ScalarValue::Utf8(Some(name)) | ScalarValue::Utf8View(Some(name)) | ScalarValue::LargeUtf8(Some(name)) => {
                name.as_str()
            }
            _ => return None,
        });
    }
    Some(column)
}
