//! Properties, statistics and encryption keys under change.

use super::MetadataBuilder;
use crate::error::{Error, Result};
use crate::spec::snapshot::Properties;
use crate::spec::table_metadata::{EncryptedKey, FormatVersion};
use crate::update::TableUpdate;

/// The property that asks for a format version; never stored.
pub(crate) const FORMAT_VERSION: &str = "format-version";

/// The version that the specification is working on.
const UPCOMING_VERSION: i64 = 4;

/// Property names that tell facts about a table in other tools; never stored (Java: `TableProperties`).
pub const RESERVED_PROPERTIES: [&str; 9] = [
    FORMAT_VERSION,
    "uuid",
    "snapshot-count",
    "current-snapshot-id",
    "current-snapshot-summary",
    "current-snapshot-timestamp-ms",
    "current-schema",
    "default-partition-spec",
    "default-sort-order",
];

pub(crate) fn is_reserved(key: &str) -> bool {
    RESERVED_PROPERTIES.contains(&key)
}

/// The format version that a property value asks for.
pub(crate) fn format_version(text: &str) -> Result<FormatVersion> {
    let number: i64 = text
        .trim()
        .parse()
        .map_err(|_| Error::invalid(format!("'{FORMAT_VERSION}' must be a number, not '{text}'")))?;
    match (FormatVersion::from_number(number), number) {
        (Some(version), _) => Ok(version),
        (None, UPCOMING_VERSION) => Err(Error::unsupported(format!(
            "table format version {number} is not supported"
        ))),
        (None, _) => Err(Error::invalid(format!(
            "format version {number} does not exist: versions are 1, 2 and 3"
        ))),
    }
}

/// An integer property of at least 1: smaller ones count as 1, absent ones as `default`.
///
/// # Errors
/// `InvalidInput` when it is no integer.
pub fn positive_property(properties: &Properties, key: &str, default: usize) -> Result<usize> {
    let Some(text) = properties.get(key) else {
        return Ok(default);
    };
    let number: i64 = text
        .trim()
        .parse()
        .map_err(|_| Error::invalid(format!("property '{key}' must be an integer, not '{text}'")))?;
    Ok(usize::try_from(number.max(1)).unwrap_or(usize::MAX))
}

impl MetadataBuilder {
    pub(super) fn set_properties(&mut self, updated: &Properties) -> Result<()> {
        for (key, value) in updated {
            if key == FORMAT_VERSION {
                self.upgrade(format_version(value)?)?;
                continue;
            }
            if is_reserved(key) {
                return Err(Error::invalid(format!(
                    "property '{key}' is reserved and cannot be set"
                )));
            }
            let before = self.state.properties.insert(key.clone(), value.clone());
            self.changes.any |= before.as_ref() != Some(value);
        }
        Ok(())
    }

    pub(super) fn remove_properties(&mut self, keys: &[String]) {
        for key in keys {
            self.changes.any |= self.state.properties.remove(key).is_some();
        }
    }

    pub(super) fn change_statistics(&mut self, update: &TableUpdate) {
        let state = &mut self.state;
        match update {
            TableUpdate::SetStatistics(file) => {
                state.statistics.retain(|other| other.snapshot_id != file.snapshot_id);
                state.statistics.push(file.clone());
                self.changes.any = true;
            }
            TableUpdate::SetPartitionStatistics(file) => {
                let files = &mut state.partition_statistics;
                files.retain(|other| other.snapshot_id != file.snapshot_id);
                files.push(file.clone());
                self.changes.any = true;
            }
            TableUpdate::RemoveStatistics(id) => {
                let before = state.statistics.len();
                state.statistics.retain(|file| file.snapshot_id != *id);
                self.changes.any |= state.statistics.len() != before;
            }
            TableUpdate::RemovePartitionStatistics(id) => {
                let before = state.partition_statistics.len();
                state.partition_statistics.retain(|file| file.snapshot_id != *id);
                self.changes.any |= state.partition_statistics.len() != before;
            }
            _ => {}
        }
    }

    pub(super) fn add_encryption_key(&mut self, key: &EncryptedKey) {
        let known = self.state.encryption_keys.iter().any(|k| k.key_id == key.key_id);
        if !known {
            self.state.encryption_keys.push(key.clone());
            self.changes.keys_added = true;
            self.changes.any = true;
        }
    }

    pub(super) fn remove_encryption_key(&mut self, id: &str) {
        let before = self.state.encryption_keys.len();
        self.state.encryption_keys.retain(|key| key.key_id != id);
        self.changes.any |= self.state.encryption_keys.len() != before;
    }
}
