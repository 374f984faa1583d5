//! The column `partition`: tuples of all specs in one struct.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StructArray, UInt32Array, new_null_array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use tarn_format::manifest::data_file::PartitionTuple;
use tarn_format::scan::manifest_entries::ManifestEntries;
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{FieldId, NestedFieldRef, StructType};
use tarn_format::spec::value::Value;

use crate::arrow::value::to_scalar;
use crate::scan::metadata_columns::partition_struct;

/// The fields of all specs whose source columns the current schema still has (Java `Partitioning.partitionType`).
pub(super) fn active_partition_struct(metadata: &TableMetadata) -> StructType {
    let schema = metadata.current_schema();
    let is_active = |id: FieldId| {
        let fields = metadata.partition_specs.iter().flat_map(|s| &s.fields);
        let mut sources = fields
            .filter(|f| f.field_id == id)
            .flat_map(|f| f.source_ids.first().copied());
        sources.any(|source| schema.field_by_id(source).is_some())
    };
    let mut partition = partition_struct(metadata);
    partition.fields.retain(|f| is_active(f.id));
    partition
}

/// For each field of `partition` its place in the tuples of a spec; `None` where the spec has no such field.
pub(super) fn places(spec: Option<&PartitionSpec>, partition: &StructType) -> Vec<Option<usize>> {
    let place = |field: &NestedFieldRef| spec?.fields.iter().position(|f| f.field_id == field.id);
    partition.fields.iter().map(place).collect()
}

/// The partitions of one manifest's files, each once.
#[derive(Debug)]
pub(super) struct ManifestPartitions {
    distinct: ArrayRef,
}

impl ManifestPartitions {
    /// Those of `entries`, as a struct of the fields of `partition` with the type of `field`.
    ///
    /// # Errors
    /// When a value is not of its field's type.
    pub(super) fn new(
        entries: &ManifestEntries,
        metadata: &TableMetadata,
        partition: &StructType,
        field: &Field,
    ) -> Result<Self> {
        let places = places(metadata.spec_by_id(entries.spec_id()).map(AsRef::as_ref), partition);
        let tuples = &entries.columns.partitions;
        let values = |i: usize| {
            let place = places.get(i).copied().flatten();
            tuples
                .iter()
                .map(move |tuple| place.and_then(|p| tuple.0.get(p)?.as_ref()))
        };
        Ok(ManifestPartitions {
            distinct: struct_array(partition, field, tuples.len(), values)?,
        })
    }

    /// The partitions of these entries.
    pub(super) fn of_rows(&self, entries: &ManifestEntries, rows: &[u32]) -> Result<ArrayRef> {
        let indexes = rows
            .iter()
            .map(|row| entries.columns.partition_index.get(*row as usize).copied());
        Ok(take(&self.distinct, &UInt32Array::from_iter(indexes), None)?)
    }
}

/// A struct array of tuples that have one value for each field of `partition`.
///
/// # Errors
/// When a value is not of its field's type.
pub(super) fn tuples_array<'a>(
    partition: &StructType,
    field: &Field,
    tuples: impl ExactSizeIterator<Item = &'a PartitionTuple> + Clone,
) -> Result<ArrayRef> {
    let values = |i: usize| tuples.clone().map(move |tuple| tuple.0.get(i)?.as_ref());
    struct_array(partition, field, tuples.len(), values)
}

/// `values` gives the values of the field of an index, of which there are `len`.
fn struct_array<'a, I>(
    partition: &StructType,
    field: &Field,
    len: usize,
    values: impl Fn(usize) -> I,
) -> Result<ArrayRef>
where
    I: Iterator<Item = Option<&'a Value>>,
{
    let none = Fields::empty();
    let fields = match field.data_type() {
        DataType::Struct(fields) => fields,
        _ => &none,
    };
    let mut columns = Vec::with_capacity(fields.len());
    for (i, nested) in partition.fields.iter().enumerate() {
        // A query may have asked for some fields only.
        if let Some((_, arrow)) = fields.find(&nested.name) {
            columns.push(values_array(nested, arrow, values(i))?);
        }
    }
    let array = StructArray::try_new_with_length(fields.clone(), columns, None, len)?;
    Ok(Arc::new(array))
}

fn values_array<'a>(
    nested: &NestedFieldRef,
    field: &Field,
    values: impl Iterator<Item = Option<&'a Value>>,
) -> Result<ArrayRef> {
    let scalars = values.map(|value| match value {
        None => ScalarValue::try_from(field.data_type()),
        Some(value) => to_scalar(Some(value), &nested.field_type)
            .map_err(|e| {
                let named = e.with_context("partition field", nested.name.as_str());
                DataFusionError::External(Box::new(named))
            })?
            .cast_to(field.data_type()),
    });
    let scalars: Result<Vec<ScalarValue>> = scalars.collect();
    let scalars = scalars?;
    if scalars.is_empty() {
        return Ok(new_null_array(field.data_type(), 0));
    }
    let array = ScalarValue::iter_to_array(scalars)?;
    debug_assert_eq!(array.data_type(), field.data_type());
    Ok(array)
}
