//! Partition values of rows, and rows grouped by them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::DataType;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::ScalarValue;
use tarn_format::manifest::data_file::PartitionTuple;
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{FieldId, PrimitiveType, StructType, Type};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;
use tarn_format::{Error, Result};

pub use super::transform_array::transform_array;
use crate::arrow::parent_nulls::masked_child;
use crate::arrow::schema::type_to_arrow;
use crate::arrow::value::from_scalar;

/// A transform of a column, perhaps one inside structs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TransformedColumn {
    /// Indexes from the batch down to the column, at least one.
    pub(super) path: Vec<usize>,
    pub(super) transform: Transform,
    pub(super) source: PrimitiveType,
}

impl TransformedColumn {
    /// The transform of the column of this id.
    ///
    /// # Errors
    /// `InvalidInput` when the column is in no struct of the schema or has no primitive type.
    pub(super) fn new(schema: &Schema, source_ids: &[FieldId], transform: &Transform) -> Result<Self> {
        let [id] = source_ids else {
            return Err(Error::unsupported(format!("transform {transform} of several columns")));
        };
        let missing = || Error::invalid(format!("source column {id} of transform {transform} cannot be written"));
        let path = path_to(schema.as_struct(), *id).ok_or_else(missing)?;
        let source = schema
            .type_by_id(*id)
            .and_then(Type::as_primitive)
            .ok_or_else(missing)?;
        transform.result_type(source)?;
        Ok(TransformedColumn {
            path,
            transform: transform.clone(),
            source: source.clone(),
        })
    }

    /// The values of a batch's rows, from the batch's top-level column.
    pub(super) fn evaluate(&self, column: &ArrayRef) -> Result<ArrayRef> {
        let mut array = Arc::clone(column);
        for index in self.path.iter().skip(1) {
            array = child(&array, *index)?;
        }
        transform_array(&self.transform, &array, &self.source)
    }

    /// Index of the batch's column that the values come from.
    pub(super) fn root(&self) -> usize {
        self.path.first().copied().unwrap_or(0)
    }

    /// The Arrow type of the values.
    pub(super) fn data_type(&self) -> Result<DataType> {
        let result = self.transform.result_type(&self.source)?;
        Ok(type_to_arrow(&Type::Primitive(result)))
    }
}

fn path_to(fields: &StructType, id: FieldId) -> Option<Vec<usize>> {
    fields.fields.iter().enumerate().find_map(|(i, field)| {
        if field.id == id {
            return Some(vec![i]);
        }
        let mut path = vec![i];
        path.extend(path_to(field.field_type.as_struct()?, id)?);
        Some(path)
    })
}

/// A struct's child, null where the struct is.
fn child(array: &ArrayRef, index: usize) -> Result<ArrayRef> {
    let child = array.as_struct_opt().and_then(|s| masked_child(s, index));
    let child = child.ok_or_else(|| Error::invalid("a partition source is not inside a struct"))?;
    child.map_err(|e| Error::invalid("a partition source cannot be read").with_source(e))
}

/// Rows of one partition.
#[derive(Debug)]
pub(super) struct PartitionRows {
    /// Identifies the partition among those of one [`Partitioner`].
    pub(super) key: OwnedRow,
    /// Its tuple.
    pub(super) tuple: PartitionTuple,
    /// The rows, in the batch's order.
    pub(super) rows: RecordBatch,
}

/// Splits batches by partition.
#[derive(Debug)]
pub(super) struct Partitioner {
    columns: Vec<TransformedColumn>,
    results: Vec<PrimitiveType>,
    rows: RowConverter,
}

impl Partitioner {
    /// For a spec over rows of `schema`.
    ///
    /// # Errors
    /// As [`TransformedColumn::new`]; `Unsupported` for unknown transforms.
    pub(super) fn new(spec: &PartitionSpec, schema: &Schema) -> Result<Self> {
        let columns = partition_columns(spec, schema)?;
        let results: Result<Vec<_>> = columns.iter().map(|c| c.transform.result_type(&c.source)).collect();
        let fields: Result<Vec<_>> = columns.iter().map(|c| Ok(SortField::new(c.data_type()?))).collect();
        let rows = RowConverter::new(fields?).map_err(arrow_error)?;
        Ok(Partitioner {
            columns,
            results: results?,
            rows,
        })
    }

    /// The batch's rows by partition, partitions in order of appearance.
    pub(super) fn split(&mut self, batch: &RecordBatch) -> Result<Vec<PartitionRows>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let values = self.values(batch)?;
        let rows = self.rows.convert_columns(&values).map_err(arrow_error)?;
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut group_of: HashMap<&[u8], usize> = HashMap::new();
        let mut last: Option<(&[u8], usize)> = None;
        let encoded: Vec<_> = rows.iter().collect();
        for (row, key) in encoded.iter().enumerate() {
            let key = key.as_ref();
            let group = match last {
                Some((same, group)) if same == key => group,
                _ => *group_of.entry(key).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                }),
            };
            last = Some((key, group));
            if let Some(indexes) = groups.get_mut(group) {
                indexes.push(row as u32);
            }
        }
        let mut split = Vec::with_capacity(groups.len());
        for indexes in groups {
            let first = indexes.first().copied().unwrap_or(0) as usize;
            split.push(PartitionRows {
                key: rows.row(first).owned(),
                tuple: self.tuple(&values, first)?,
                rows: pick(batch, indexes)?,
            });
        }
        Ok(split)
    }

    fn values(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let values = self.columns.iter().map(|c| {
            let column = batch.columns().get(c.root());
            let column = column.ok_or_else(|| Error::invalid("a partition source column is missing"))?;
            c.evaluate(column)
        });
        values.collect()
    }

    fn tuple(&self, values: &[ArrayRef], row: usize) -> Result<PartitionTuple> {
        let tuple = values.iter().zip(&self.results).map(|(array, result)| {
            let scalar = ScalarValue::try_from_array(array, row)
                .map_err(|e| Error::invalid("a partition value cannot be read").with_source(e))?;
            partition_value(&scalar, result)
        });
        Ok(PartitionTuple(tuple.collect::<Result<_>>()?))
    }
}

fn partition_value(scalar: &ScalarValue, result: &PrimitiveType) -> Result<Option<Value>> {
    if scalar.is_null() {
        return Ok(None);
    }
    let value = from_scalar(scalar, result);
    value
        .map(Some)
        .ok_or_else(|| Error::invalid(format!("a partition value is not of type {result}")))
}

/// The spec's fields over the columns of `schema`.
pub(super) fn partition_columns(spec: &PartitionSpec, schema: &Schema) -> Result<Vec<TransformedColumn>> {
    let columns = spec.fields.iter().map(|field| {
        if let Transform::Unknown(name) = &field.transform {
            let message = format!("partition field '{}' has the unknown transform '{name}'", field.name);
            return Err(Error::unsupported(message));
        }
        TransformedColumn::new(schema, &field.source_ids, &field.transform)
    });
    columns.collect()
}

fn pick(batch: &RecordBatch, indexes: Vec<u32>) -> Result<RecordBatch> {
    let (first, last) = match (indexes.first(), indexes.last()) {
        (Some(first), Some(last)) => (*first as usize, *last as usize),
        _ => (0, 0),
    };
    // Rows that lie side by side need no copy.
    if last - first + 1 == indexes.len() {
        return Ok(batch.slice(first, indexes.len()));
    }
    take_record_batch(batch, &UInt32Array::from(indexes)).map_err(arrow_error)
}

fn arrow_error(e: arrow::error::ArrowError) -> Error {
    Error::invalid("rows cannot be split by partition").with_source(e)
}
