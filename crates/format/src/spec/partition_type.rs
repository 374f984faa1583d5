//! Partition types: the struct that a spec's partition tuples have (spec, "Partitioning", "Manifests").

use super::partition::{PartitionField, PartitionSpec};
use super::schema::Schema;
use super::table_metadata::TableMetadata;
use super::types::{NestedField, PrimitiveType, StructType, Type};
use crate::error::{Error, Result};
use crate::transform::Transform;

impl PartitionSpec {
    /// The type of the spec's partition tuples over the columns of `schema`: optional fields with the partition fields'
    /// ids and the transforms' result types.
    ///
    /// A transform we don't know gives string, as in Java's `PartitionSpec.partitionType`. A source column that `schema`
    /// lacks gives `unknown`, but (unlike in Java) only where the result's type is the source's: a bucket is an int
    /// whatever it is of.
    pub fn partition_type(&self, schema: &Schema) -> StructType {
        self.partition_type_over(&[schema])
    }

    fn partition_type_over(&self, schemas: &[&Schema]) -> StructType {
        let fields = self.fields.iter().map(|field| {
            let source = field.source_id().and_then(|id| source_type(id, schemas));
            NestedField::optional(field.field_id, field.name.clone(), result_type(field, source))
        });
        StructType::new(fields.collect())
    }
}

impl TableMetadata {
    /// The type of the partition tuples of one spec. Source columns are looked up in the current schema and then in the
    /// others, newest first, so that tuples over dropped columns still have their types.
    ///
    /// # Errors
    /// `Corrupt` when there is no such spec.
    pub fn partition_type_of(&self, spec_id: i32) -> Result<StructType> {
        let spec = self
            .spec_by_id(spec_id)
            .ok_or_else(|| Error::corrupt(format!("partition spec {spec_id} does not exist")))?;
        let mut schemas: Vec<&Schema> = self.schemas.iter().map(AsRef::as_ref).collect();
        schemas.sort_by_key(|s| (s.schema_id() != self.current_schema_id, -i64::from(s.schema_id())));
        Ok(spec.partition_type_over(&schemas))
    }
}

fn source_type<'a>(id: i32, schemas: &[&'a Schema]) -> Option<&'a Type> {
    schemas.iter().find_map(|schema| schema.type_by_id(id))
}

fn result_type(field: &PartitionField, source: Option<&Type>) -> Type {
    let source = source.and_then(Type::as_primitive);
    Type::Primitive(match field.transform {
        Transform::Unknown(_) => PrimitiveType::String,
        Transform::Bucket(_) | Transform::Year | Transform::Month | Transform::Hour => PrimitiveType::Int,
        Transform::Day => PrimitiveType::Date,
        Transform::Identity | Transform::Truncate(_) | Transform::Void => match source {
            // A transform that its source does not allow is a broken spec; its tuples can still be skipped over.
            Some(source) => field.transform.result_type(source).unwrap_or(PrimitiveType::String),
            None => PrimitiveType::Unknown,
        },
    })
}
