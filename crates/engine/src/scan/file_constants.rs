//! What a file has in every row: identity partition values and metadata columns.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{FieldId, StructType, Type};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;
use tarn_format::{Error, Result};

use super::field_id_adapter::FileConstants;
use super::metadata_columns::{MetadataColumn, partition_struct};
use crate::arrow::value::{struct_scalar, to_scalar};

/// The constants of files of one table, for the columns that a scan reads.
#[derive(Debug, Clone)]
pub(crate) struct ConstantColumns {
    metadata: Arc<TableMetadata>,
    schema: Arc<Schema>,
    metadata_columns: Vec<MetadataColumn>,
    partition: StructType,
    /// What the values of each spec's partitions are.
    spec_types: Vec<(i32, StructType)>,
}

impl ConstantColumns {
    pub(crate) fn new(metadata: Arc<TableMetadata>, schema: Arc<Schema>, columns: Vec<MetadataColumn>) -> Self {
        let specs = metadata.partition_specs.iter().map(|s| s.spec_id);
        let spec_types = specs.filter_map(|id| Some((id, metadata.partition_type_of(id).ok()?)));
        ConstantColumns {
            spec_types: spec_types.collect(),
            partition: partition_struct(&metadata),
            metadata,
            schema,
            metadata_columns: columns,
        }
    }

    /// The constants of one file. Identity partition values stand for their source columns whether or not the file holds
    /// them, as in Java: migrated files don't.
    ///
    /// # Errors
    /// `Corrupt` when a partition value is not of its type.
    pub(crate) fn of(&self, task: &FileScanTask) -> Result<FileConstants> {
        let mut constants = FileConstants::new();
        if let Some(spec) = self.metadata.spec_by_id(task.spec_id()) {
            for (i, field) in spec.fields.iter().enumerate() {
                let (Transform::Identity, Some(source)) = (&field.transform, field.source_id()) else {
                    continue;
                };
                if let Some(column) = self.schema.field_by_id(source)
                    && matches!(column.field_type, Type::Primitive(_))
                    && self.schema.parent_id(source).is_none()
                {
                    let value = task.partition().0.get(i).and_then(Option::as_ref);
                    let own = self
                        .partition_field_type(task.spec_id(), i)
                        .unwrap_or(&column.field_type);
                    constants.insert(source, constant(value, own, &column.field_type)?);
                }
            }
        }
        for column in &self.metadata_columns {
            if let Some(value) = self.metadata_column(*column, task)? {
                constants.insert(column.field_id(), value);
            }
        }
        Ok(constants)
    }

    fn partition_field_type(&self, spec_id: i32, at: usize) -> Option<&Type> {
        let (_, types) = self.spec_types.iter().find(|(id, _)| *id == spec_id)?;
        types.fields.get(at).map(|f| &f.field_type)
    }

    fn metadata_column(&self, column: MetadataColumn, task: &FileScanTask) -> Result<Option<ScalarValue>> {
        Ok(Some(match column {
            MetadataColumn::File => ScalarValue::Utf8View(Some(task.path().to_string())),
            MetadataColumn::SpecId => ScalarValue::Int32(Some(task.spec_id())),
            MetadataColumn::Deleted => ScalarValue::Boolean(Some(false)),
            MetadataColumn::Partition => struct_scalar(&self.partition_values(task), &self.partition)?,
            // Made row by row.
            MetadataColumn::Pos | MetadataColumn::RowId | MetadataColumn::LastUpdatedSequenceNumber => return Ok(None),
        }))
    }

    /// The file's partition as a tuple over the fields of all specs.
    fn partition_values(&self, task: &FileScanTask) -> Vec<Option<Value>> {
        let ids: Vec<FieldId> = match self.metadata.spec_by_id(task.spec_id()) {
            Some(spec) => spec.fields.iter().map(|f| f.field_id).collect(),
            None => Vec::new(),
        };
        let value = |id: FieldId| {
            let index = ids.iter().position(|i| *i == id)?;
            task.partition().0.get(index).cloned().flatten()
        };
        self.partition.fields.iter().map(|f| value(f.id)).collect()
    }
}

/// A partition value in its column's type. An old snapshot's column may be narrower than the partition, whose type follows
/// the table's present schema; its own values still fit.
fn constant(value: Option<&Value>, own: &Type, column: &Type) -> Result<ScalarValue> {
    let scalar = to_scalar(value, own)?;
    if own == column {
        return Ok(scalar);
    }
    let wanted = to_scalar(None, column)?.data_type();
    let cast = scalar.cast_to(&wanted);
    cast.map_err(|e| Error::corrupt("a partition value does not fit its column").with_source(e))
}
