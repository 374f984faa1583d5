//! Incoming batches turned into what files store: the table's types, unknown columns left out, and no null where the
//! schema forbids it, at any depth.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, RecordBatch, StructArray};
use arrow::buffer::NullBuffer;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use tarn_format::spec::schema::SchemaRef;
use tarn_format::spec::types::{NestedField, NestedFieldRef, Type};
use tarn_format::{Error, Result};

use super::parquet_schema::is_stored;
use crate::arrow::schema::schema_to_arrow;

/// Turns batches into stored ones.
#[derive(Debug, Clone)]
pub(super) struct Conform {
    schema: SchemaRef,
    stored: ArrowSchemaRef,
}

impl Conform {
    /// For rows of `schema`.
    pub(super) fn new(schema: SchemaRef) -> Self {
        let all = schema_to_arrow(&schema);
        Conform {
            stored: Arc::new(ArrowSchema::new(without_unknown(all.fields()))),
            schema,
        }
    }

    /// The schema of stored batches.
    pub(super) fn stored_schema(&self) -> &ArrowSchemaRef {
        &self.stored
    }

    /// Checks once, before anything runs, that rows of `input` can be stored.
    ///
    /// # Errors
    /// `InvalidInput` naming the column.
    pub(super) fn check(&self, input: &ArrowSchema) -> Result<()> {
        let columns = self.schema.fields();
        if input.fields().len() != columns.len() {
            return Err(Error::invalid(format!(
                "{} columns are given, but the table has {}",
                input.fields().len(),
                columns.len()
            )));
        }
        for (given, column) in input.fields().iter().zip(columns) {
            let target = crate::arrow::schema::field_to_arrow(column);
            check_type(given.data_type(), target.data_type(), &column.name)?;
        }
        Ok(())
    }

    /// The stored form of a batch whose columns are the table's, in order.
    ///
    /// # Errors
    /// `InvalidInput` naming the column, for a null where none may be and for types that do not match.
    pub(super) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.schema.fields();
        if batch.num_columns() != columns.len() {
            return Err(Error::invalid("a batch has another number of columns than the table"));
        }
        let mut arrays = Vec::with_capacity(self.stored.fields().len());
        let mut stored = self.stored.fields().iter();
        for (array, column) in batch.columns().iter().zip(columns) {
            check_nulls(array, None, column, &column.name)?;
            if !is_stored(&column.field_type) {
                continue;
            }
            let Some(target) = stored.next() else { break };
            arrays.push(conform(array, column, target, &column.name)?);
        }
        RecordBatch::try_new(Arc::clone(&self.stored), arrays)
            .map_err(|e| Error::invalid("rows do not fit the table").with_source(e))
    }
}

fn without_unknown(fields: &Fields) -> Fields {
    let stored = fields.iter().filter(|f| *f.data_type() != DataType::Null);
    stored.map(stored_field).collect()
}

fn stored_field(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Struct(children) if children.iter().any(|c| has_unknown(c)) => {
            DataType::Struct(without_unknown(children))
        }
        DataType::List(element) if has_unknown(element) => DataType::List(stored_field(element)),
        DataType::Map(entries, sorted) if has_unknown(entries) => DataType::Map(stored_field(entries), *sorted),
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

fn has_unknown(field: &Field) -> bool {
    match field.data_type() {
        DataType::Null => true,
        DataType::Struct(children) => children.iter().any(|c| has_unknown(c)),
        DataType::List(child) | DataType::Map(child, _) => has_unknown(child),
        _ => false,
    }
}

/// Whether values of `given` are values of `target` in another form, without any loss.
fn check_type(given: &DataType, target: &DataType, column: &str) -> Result<()> {
    let mismatch = || {
        Err(Error::invalid(format!(
            "column '{column}' has type {target}, but {given} is given; cast it first"
        )))
    };
    match (given, target) {
        (given, target) if given == target => Ok(()),
        (DataType::Null, _) => Ok(()),
        (DataType::Dictionary(_, values), _) => check_type(values, target, column),
        (DataType::Struct(from), DataType::Struct(to)) if from.len() == to.len() => from
            .iter()
            .zip(to)
            .try_for_each(|(f, t)| check_type(f.data_type(), t.data_type(), &format!("{column}.{}", t.name()))),
        (DataType::List(from) | DataType::LargeList(from) | DataType::ListView(from), DataType::List(to)) => {
            check_type(from.data_type(), to.data_type(), &format!("{column}.{}", to.name()))
        }
        (DataType::Map(from, _), DataType::Map(to, _)) => check_type(from.data_type(), to.data_type(), column),
        (from, to) if is_text(from) && is_text(to) => Ok(()),
        (from, to) if is_bytes(from) && is_bytes(to) => Ok(()),
        (DataType::Timestamp(from, Some(_)), DataType::Timestamp(to, Some(_))) if from == to => Ok(()),
        _ => mismatch(),
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_bytes(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView
    )
}

/// Refuses nulls of a required field where its parent has a value.
fn check_nulls(array: &ArrayRef, parent: Option<&NullBuffer>, field: &NestedField, name: &str) -> Result<()> {
    if !field.required || array.logical_null_count() == 0 {
        return Ok(());
    }
    let nulls = array.logical_nulls();
    let only_under_parents = |nulls: &NullBuffer| parent.is_some_and(|p| p.contains(nulls));
    if nulls.is_some_and(|n| n.null_count() > 0 && !only_under_parents(&n)) {
        return Err(Error::invalid(format!(
            "column '{name}' is NOT NULL, but a row has NULL in it"
        )));
    }
    Ok(())
}

fn conform(array: &ArrayRef, field: &NestedField, target: &Field, name: &str) -> Result<ArrayRef> {
    match (&field.field_type, array.data_type(), target.data_type()) {
        (Type::Struct(s), DataType::Struct(_), DataType::Struct(to)) => {
            conform_struct(array.as_struct(), &s.fields, to, name).map(|a| Arc::new(a) as ArrayRef)
        }
        (Type::List(l), DataType::List(_), DataType::List(to)) => {
            conform_list(array.as_list(), &l.element, to, name).map(|a| Arc::new(a) as ArrayRef)
        }
        (Type::Map(m), DataType::Map(_, _), DataType::Map(to, sorted)) => {
            let array = array.as_map();
            let DataType::Struct(entry_fields) = to.data_type() else {
                return Err(misfit(name));
            };
            let fields = [Arc::clone(&m.key), Arc::clone(&m.value)];
            let entries = conform_struct(array.entries(), &fields, entry_fields, name)?;
            let (offsets, nulls) = (array.offsets().clone(), array.nulls().cloned());
            let map = MapArray::try_new(Arc::clone(to), offsets, entries, nulls, *sorted);
            Ok(Arc::new(map.map_err(|e| misfit(name).with_source(e))?))
        }
        (_, from, to) if from == to => Ok(Arc::clone(array)),
        (Type::List(_), DataType::LargeList(inner) | DataType::ListView(inner), DataType::List(_)) => {
            let plain = cast(array, &DataType::List(Arc::clone(inner)), name)?;
            conform(&plain, field, target, name)
        }
        (_, _, to) => cast(array, to, name),
    }
}

fn misfit(name: &str) -> Error {
    Error::invalid(format!("values of column '{name}' do not fit its type"))
}

fn cast(array: &ArrayRef, to: &DataType, name: &str) -> Result<ArrayRef> {
    check_type(array.data_type(), to, name)?;
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(array, to, &strict).map_err(|e| misfit(name).with_source(e))
}

fn conform_struct(array: &StructArray, fields: &[NestedFieldRef], to: &Fields, name: &str) -> Result<StructArray> {
    if array.num_columns() != fields.len() {
        return Err(misfit(name));
    }
    let mut columns = Vec::with_capacity(to.len());
    let mut targets = to.iter();
    for (child, field) in array.columns().iter().zip(fields) {
        let child_name = format!("{name}.{}", field.name);
        check_nulls(child, array.nulls(), field, &child_name)?;
        if !is_stored(&field.field_type) {
            continue;
        }
        let Some(target) = targets.next() else {
            return Err(misfit(name));
        };
        columns.push(conform(child, field, target, &child_name)?);
    }
    StructArray::try_new_with_length(to.clone(), columns, array.nulls().cloned(), array.len())
        .map_err(|e| misfit(name).with_source(e))
}

fn conform_list(array: &ListArray, element: &NestedField, to: &FieldRef, name: &str) -> Result<ListArray> {
    let element_name = format!("{name}.{}", element.name);
    // Values outside the lists, which a sliced array may hold, don't count.
    let (first, last) = match (array.offsets().first(), array.offsets().last()) {
        (Some(first), Some(last)) => (*first as usize, *last as usize),
        _ => (0, 0),
    };
    let values = array.values().slice(first, last.saturating_sub(first));
    check_nulls(&values, None, element, &element_name)?;
    let values = conform(array.values(), element, to, &element_name)?;
    ListArray::try_new(Arc::clone(to), array.offsets().clone(), values, array.nulls().cloned())
        .map_err(|e| misfit(name).with_source(e))
}
