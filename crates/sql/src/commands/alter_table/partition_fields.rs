//! ADD, DROP and REPLACE PARTITION FIELD.

use tarn_format::Result;
use tarn_format::spec::schema::CaseSensitivity;
use tarn_format::spec::table_metadata::TableMetadataRef;
use tarn_format::transform::Transform;
use tarn_format::update::spec::SpecUpdate;

use super::Changer;
use crate::ast::PartitionTerm;

/// ADD PARTITION FIELD term [AS name].
pub(super) fn add(term: PartitionTerm, name: Option<String>, case: CaseSensitivity) -> Changer {
    Box::new(move |base| {
        let mut update = SpecUpdate::new(base)?.case_sensitivity(case);
        update.add_field(&term.column.to_string(), term.transform.clone(), name.as_deref())?;
        Ok(update.finish()?.0)
    })
}

/// DROP PARTITION FIELD term or name.
pub(super) fn drop(term: PartitionTerm, case: CaseSensitivity) -> Changer {
    Box::new(move |base| {
        let mut update = SpecUpdate::new(base)?.case_sensitivity(case);
        remove(&mut update, base, &term, case)?;
        Ok(update.finish()?.0)
    })
}

/// REPLACE PARTITION FIELD old WITH new [AS name].
pub(super) fn replace(old: PartitionTerm, new: PartitionTerm, name: Option<String>, case: CaseSensitivity) -> Changer {
    Box::new(move |base| {
        let mut update = SpecUpdate::new(base)?.case_sensitivity(case);
        remove(&mut update, base, &old, case)?;
        update.add_field(&new.column.to_string(), new.transform.clone(), name.as_deref())?;
        Ok(update.finish()?.0)
    })
}

/// A plain name that is no column is that of a field (Java: `DropPartitionFieldExec`).
fn remove(update: &mut SpecUpdate, base: &TableMetadataRef, term: &PartitionTerm, case: CaseSensitivity) -> Result<()> {
    let column = term.column.to_string();
    let is_name = term.transform == Transform::Identity && term.column.0.len() == 1;
    if is_name && base.current_schema().find_field(&column, case)?.is_none() {
        return update.remove_field(&column).map(|_| ());
    }
    update.remove_field_by_transform(&column, &term.transform).map(|_| ())
}
