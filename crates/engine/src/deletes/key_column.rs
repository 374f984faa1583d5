//! Key columns of equality deletes, found by field id in data and delete files alike (spec, "Equality Delete Files").

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use arrow::error::ArrowError;
use tarn_format::spec::schema::SchemaRef;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{FieldId, NestedField, StructType, Type};
use tarn_format::{Error, Result};

use crate::arrow::parent_nulls::masked_child;
use crate::arrow::schema::field_to_arrow;

/// One key column, in the newest type that the table has given it: values of older files are promoted. It may be dropped
/// from the table, and deletes all the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeyColumn {
    pub(crate) id: FieldId,
    /// The top-level column that holds it, without what else that holds. Of a name that the table doesn't have.
    pub(crate) field: FieldRef,
    /// Structs around it.
    depth: usize,
    /// The schema that describes it.
    pub(crate) schema: SchemaRef,
}

impl KeyColumn {
    /// The column of this id, whose top-level column is then called `name`.
    ///
    /// # Errors
    /// `Corrupt` when no schema has it, or it is none that rows can be told by.
    pub(crate) fn find(metadata: &TableMetadata, id: FieldId, name: &str) -> Result<Self> {
        let schemas = std::iter::once(metadata.current_schema()).chain(metadata.schemas.iter().rev());
        let schema = schemas.into_iter().find(|s| s.field_by_id(id).is_some());
        let unusable = |why: &str| Error::corrupt(format!("equality deletes name field {id} as a key, {why}"));
        let schema = schema.ok_or_else(|| unusable("which no schema of the table has"))?;
        let mut holder = schema.field_by_id(id);
        let mut column: Option<NestedField> = None;
        let mut depth = 0;
        while let Some(field) = holder {
            let field_type = match (column.take(), &field.field_type) {
                (None, Type::Primitive(_)) => field.field_type.clone(),
                (None, _) => return Err(unusable("which is no single value")),
                (Some(child), Type::Struct(_)) => {
                    depth += 1;
                    Type::from(StructType::new(vec![child]))
                }
                (Some(_), _) => return Err(unusable("which is in a list or map")),
            };
            column = Some(NestedField::optional(field.id, field.name.as_str(), field_type));
            holder = schema.parent_id(field.id).and_then(|parent| schema.field_by_id(parent));
        }
        let column = column.ok_or_else(|| unusable("which the table does not have"))?;
        let field = field_to_arrow(&column);
        Ok(KeyColumn {
            id,
            field: Arc::new(Field::clone(&field).with_name(name)),
            depth,
            schema: Arc::clone(schema),
        })
    }

    /// The type of its values.
    pub(crate) fn data_type(&self) -> DataType {
        let mut data_type = self.field.data_type();
        while let DataType::Struct(fields) = data_type
            && let [child] = fields.as_ref()
        {
            data_type = child.data_type();
        }
        data_type.clone()
    }

    /// Its values in a top-level column of [`Self::field`]; null where a struct around it is. All NaNs are one, as in Java.
    ///
    /// # Errors
    /// Arrow's, when the column is another.
    pub(crate) fn values(&self, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let mut values = Arc::clone(column);
        for _ in 0..self.depth {
            let child = values.as_struct_opt().and_then(|parent| masked_child(parent, 0));
            values = child.ok_or_else(|| {
                let message = format!("key column {} is in no struct", self.field.name());
                ArrowError::SchemaError(message)
            })??;
        }
        Ok(with_one_nan(values))
    }
}

fn with_one_nan(values: ArrayRef) -> ArrayRef {
    match values.data_type() {
        DataType::Float32 => {
            let values = values.as_primitive::<Float32Type>();
            Arc::new(values.unary::<_, Float32Type>(|v| if v.is_nan() { f32::NAN } else { v }))
        }
        DataType::Float64 => {
            let values = values.as_primitive::<Float64Type>();
            Arc::new(values.unary::<_, Float64Type>(|v| if v.is_nan() { f64::NAN } else { v }))
        }
        _ => values,
    }
}
