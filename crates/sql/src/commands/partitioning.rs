//! The partition spec that PARTITIONED BY describes (Java: `Spark3Util.toPartitionSpec`, `PartitionSpec.Builder`).

use tarn_format::spec::partition::{PARTITION_FIELD_ID_START, PartitionField, PartitionSpec};
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::types::FieldId;
use tarn_format::transform::Transform;
use tarn_format::update::spec::name_of_new_table;
use tarn_format::{Error, Result, ResultExt};

use crate::ast::PartitionTerm;

/// The spec of a new table.
///
/// # Errors
/// `InvalidInput` for unknown columns, and for transforms that don't fit or contradict each other.
pub(crate) fn partition_spec(terms: &[PartitionTerm], schema: &Schema, case: CaseSensitivity) -> Result<PartitionSpec> {
    let mut spec = PartitionSpec::default();
    for term in terms {
        let name = term.column.to_string();
        let Some(source) = schema.find_field(&name, case)? else {
            return Err(Error::invalid(format!(
                "partition column '{name}' is not a column of the table"
            )));
        };
        let Some(primitive) = source.field_type.as_primitive() else {
            return Err(Error::invalid(format!(
                "column '{name}' of type {} cannot partition a table",
                source.field_type
            )));
        };
        term.transform.result_type(primitive).context("column", name.as_str())?;
        check_other_fields(&spec, source.id, &term.transform, &name)?;
        let full_name = schema.full_name(source.id).unwrap_or(&name);
        let ordinal = i32::try_from(spec.fields.len()).unwrap_or(i32::MAX);
        spec.fields.push(PartitionField {
            source_ids: vec![source.id],
            field_id: PARTITION_FIELD_ID_START.saturating_add(ordinal),
            name: name_of_new_table(full_name, &term.transform),
            transform: term.transform.clone(),
            extra: Default::default(),
        });
    }
    Ok(spec)
}

/// One transform of a column may occur once, whatever its width, and one of its times.
fn check_other_fields(spec: &PartitionSpec, source: FieldId, transform: &Transform, column: &str) -> Result<()> {
    let of_column = spec.fields.iter().filter(|f| f.source_ids == [source]);
    for other in of_column {
        if std::mem::discriminant(&other.transform) == std::mem::discriminant(transform) {
            return Err(Error::invalid(format!(
                "column '{column}' occurs twice in PARTITIONED BY with the same transform"
            )));
        }
        if is_time(&other.transform) && is_time(transform) {
            return Err(Error::invalid(format!(
                "PARTITIONED BY {} and {transform} of column '{column}': one of them is redundant, keep the finer",
                other.transform
            )));
        }
    }
    Ok(())
}

fn is_time(transform: &Transform) -> bool {
    matches!(
        transform,
        Transform::Year | Transform::Month | Transform::Day | Transform::Hour
    )
}
