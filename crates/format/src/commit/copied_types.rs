//! The types of partition values that are copied from manifest to manifest.
//!
//! Table metadata tells the type of most partition fields. It does not where the transform is unknown, or where the source
//! column is in no schema any more. Values of such fields keep the types that their manifests were written with.

use std::sync::Arc;

use super::attempt::Attempt;
use crate::error::{Result, ResultExt};
use crate::manifest::manifest_file::ManifestFile;
use crate::manifest::reader;
use crate::spec::types::{NestedField, PrimitiveType, StructType, Type};
use crate::transform::Transform;

impl Attempt<'_> {
    /// The partition type of a manifest that takes over entries of these, all of one spec; `None` when they hold values of
    /// types that do not go together.
    pub(crate) async fn copied_type(
        &self,
        spec_id: i32,
        manifests: &[&ManifestFile],
    ) -> Result<Option<Arc<StructType>>> {
        let known = self.partition_type(spec_id)?;
        let spec = self.spec(spec_id)?;
        let untold = |(i, field): (usize, &Type)| {
            let is_unknown = spec
                .fields
                .get(i)
                .is_some_and(|f| matches!(f.transform, Transform::Unknown(_)));
            is_unknown || *field == Type::Primitive(PrimitiveType::Unknown)
        };
        let untold: Vec<bool> = known
            .fields
            .iter()
            .map(|f| &f.field_type)
            .enumerate()
            .map(untold)
            .collect();
        if !untold.contains(&true) {
            return Ok(Some(known));
        }
        let mut found: Vec<Option<PrimitiveType>> = vec![None; known.fields.len()];
        for manifest in manifests {
            let bytes = self.io.read(&manifest.manifest_path).await?;
            let written =
                reader::written_partition_types(&bytes, &known).context("manifest", &manifest.manifest_path)?;
            for (found, written) in found.iter_mut().zip(written) {
                let together = match (found.take(), written) {
                    (Some(a), Some(b)) => match together(a, b) {
                        None => return Ok(None),
                        together => together,
                    },
                    (a, b) => a.or(b),
                };
                *found = together;
            }
        }
        let fields = known.fields.iter().zip(found).zip(untold);
        let fields = fields.map(|((field, found), untold)| match found {
            Some(found) if untold => Arc::new(NestedField {
                field_type: Type::Primitive(found),
                ..field.as_ref().clone()
            }),
            _ => Arc::clone(field),
        });
        let copied = StructType {
            fields: fields.collect(),
        };
        Ok(Some(Arc::new(copied)))
    }
}

/// The type that holds the values of both.
fn together(a: PrimitiveType, b: PrimitiveType) -> Option<PrimitiveType> {
    use PrimitiveType as T;
    match (a, b) {
        (a, b) if a == b => Some(a),
        (T::Int, T::Long) | (T::Long, T::Int) => Some(T::Long),
        (T::Float, T::Double) | (T::Double, T::Float) => Some(T::Double),
        (T::Int, T::Date) | (T::Date, T::Int) => Some(T::Date),
        (T::String, T::Binary) | (T::Binary, T::String) => Some(T::Binary),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
