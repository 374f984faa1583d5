//! SET and DROP IDENTIFIER FIELDS.

use tarn_format::spec::schema::CaseSensitivity;
use tarn_format::update::schema::SchemaUpdate;
use tarn_format::{Error, Result};

use super::Changer;
use crate::ast::Name;

/// SET IDENTIFIER FIELDS: these instead of those before.
pub(super) fn set(names: Vec<Name>, case: CaseSensitivity) -> Changer {
    let names: Vec<String> = names.iter().map(Name::to_string).collect();
    Box::new(move |base| {
        let mut update = SchemaUpdate::new(base).case_sensitivity(case);
        update.set_identifier_fields(names.iter().map(String::as_str))?;
        Ok(update.finish()?.0)
    })
}

/// DROP IDENTIFIER FIELDS: all but these stay.
pub(super) fn drop(names: Vec<Name>, case: CaseSensitivity) -> Changer {
    let names: Vec<String> = names.iter().map(Name::to_string).collect();
    Box::new(move |base| {
        let schema = base.current_schema();
        let mut kept: Vec<i32> = schema.identifier_field_ids().to_vec();
        for name in &names {
            let field = schema
                .find_field(name, case)?
                .ok_or_else(|| Error::invalid(format!("column '{name}' does not exist")))?;
            let place = kept.iter().position(|id| *id == field.id);
            let place = place.ok_or_else(|| Error::invalid(format!("'{name}' is no identifier field")))?;
            kept.remove(place);
        }
        let kept: Result<Vec<&str>> = kept
            .iter()
            .map(|id| {
                let name = schema.full_name(*id);
                name.ok_or_else(|| Error::corrupt(format!("identifier field {id} is no column")))
            })
            .collect();
        let mut update = SchemaUpdate::new(base).case_sensitivity(CaseSensitivity::Sensitive);
        update.set_identifier_fields(kept?)?;
        Ok(update.finish()?.0)
    })
}
