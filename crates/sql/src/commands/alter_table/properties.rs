//! SET and UNSET TBLPROPERTIES, SET LOCATION.

use tarn_format::spec::snapshot::Properties;
use tarn_format::update::current_snapshot::set_current_snapshot;
use tarn_format::update::table_facts::{change_location, change_properties};
use tarn_format::{Error, Result};

use super::Changer;
use crate::ast::PropertyList;
use crate::commands::table_properties::refuse_statements;

/// Properties that Iceberg's Spark catalog takes for commands (Java: `SparkCatalog.alterTable`).
const LOCATION: &str = "location";
const CURRENT_SNAPSHOT: &str = "current-snapshot-id";
const CHERRY_PICK: &str = "cherry-pick-snapshot-id";

/// SET TBLPROPERTIES.
///
/// # Errors
/// `InvalidInput` for properties that statements stand for.
pub(super) fn set(list: PropertyList) -> Result<Changer> {
    let mut set = Properties::new();
    let mut location = None;
    let mut snapshot_id: Option<i64> = None;
    for (key, value) in list {
        refuse_statements(&key)?;
        match key.to_ascii_lowercase().as_str() {
            LOCATION => location = Some(value),
            CURRENT_SNAPSHOT => {
                let id = value.trim().parse();
                let refused = |_| Error::invalid(format!("property '{key}' must be a snapshot id, not '{value}'"));
                snapshot_id = Some(id.map_err(refused)?);
            }
            CHERRY_PICK => {
                return Err(Error::unsupported(format!(
                    "property '{key}' cannot be set: use CALL system.cherrypick_snapshot"
                )));
            }
            _ => drop(set.insert(key, value)),
        }
    }
    Ok(Box::new(move |base| {
        let mut updates = Vec::new();
        if let Some(location) = &location {
            updates.extend(change_location(base, location).0);
        }
        if let Some(id) = snapshot_id {
            updates.extend(set_current_snapshot(base, id)?.0);
        }
        updates.extend(change_properties(base, set.clone(), Vec::new())?.0);
        Ok(updates)
    }))
}

/// UNSET TBLPROPERTIES. Those that are not there are ignored, as in Java.
pub(super) fn unset(keys: Vec<String>) -> Changer {
    Box::new(move |base| Ok(change_properties(base, Properties::new(), keys.clone())?.0))
}

/// SET LOCATION.
pub(super) fn set_location(location: String) -> Changer {
    Box::new(move |base| Ok(change_location(base, &location).0))
}
