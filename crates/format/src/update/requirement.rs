//! Checking requirements against a table's state.

use super::TableRequirement;
use crate::error::{Error, ErrorKind, Result};
use crate::spec::table_metadata::TableMetadata;

impl TableRequirement {
    /// Checks that the requirement holds of `base`; `None` is a table that does not exist.
    ///
    /// # Errors
    /// `Conflict` when it does not hold, `NotFound` when it is about a table that does not exist.
    pub fn check(&self, base: Option<&TableMetadata>) -> Result<()> {
        let base = match (self, base) {
            (TableRequirement::NotExist, None) => return Ok(()),
            (TableRequirement::NotExist, Some(_)) => return Err(changed("the table", "absent", "there")),
            (_, Some(base)) => base,
            (_, None) => return Err(Error::new(ErrorKind::NotFound, "the table does not exist")),
        };
        match self {
            TableRequirement::NotExist => Ok(()),
            TableRequirement::UuidMatch(uuid) => match base.table_uuid {
                Some(current) if current == *uuid => Ok(()),
                current => Err(changed("the table uuid", uuid, or_none(current))),
            },
            TableRequirement::RefSnapshotIdMatch { name, snapshot_id } => {
                let current = base.refs.get(name).map(|reference| reference.snapshot_id);
                if current == *snapshot_id {
                    return Ok(());
                }
                Err(changed(
                    &format!("ref '{name}'"),
                    or_none(*snapshot_id),
                    or_none(current),
                ))
            }
            TableRequirement::LastAssignedFieldIdMatch(id) => same("the last column id", *id, base.last_column_id),
            TableRequirement::CurrentSchemaIdMatch(id) => same("the current schema", *id, base.current_schema_id),
            TableRequirement::LastAssignedPartitionIdMatch(id) => {
                same("the last partition field id", *id, base.last_partition_id)
            }
            TableRequirement::DefaultSpecIdMatch(id) => same("the default partition spec", *id, base.default_spec_id),
            TableRequirement::DefaultSortOrderIdMatch(id) => {
                same("the default sort order", *id, base.default_sort_order_id)
            }
        }
    }
}

fn same(what: &str, expected: i32, found: i32) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(changed(what, expected, found))
}

fn or_none(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "none".to_string(), |value| value.to_string())
}

fn changed(what: &str, expected: impl std::fmt::Display, found: impl std::fmt::Display) -> Error {
    Error::conflict(format!("{what} has changed: expected {expected}, found {found}"))
}
