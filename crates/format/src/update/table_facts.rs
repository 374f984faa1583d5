//! Changes of single facts of a table: properties, location, format version, statistics files.

use super::TableUpdate;
use super::builder::{FORMAT_VERSION, format_version, is_reserved};
use super::requirements::{TableChange, requirements_for_update};
use crate::error::{Error, Result};
use crate::spec::snapshot::Properties;
use crate::spec::table_metadata::{FormatVersion, PartitionStatisticsFile, StatisticsFile, TableMetadata};

/// Sets and removes properties (Java: `UpdateProperties`). Setting `format-version` upgrades the table instead.
///
/// # Errors
/// `InvalidInput` when a property is both set and removed or is reserved, `Unsupported` for an upcoming format version.
pub fn change_properties(base: &TableMetadata, set: Properties, removed: Vec<String>) -> Result<TableChange> {
    if let Some(key) = removed.iter().find(|key| set.contains_key(*key)) {
        return Err(Error::invalid(format!("property '{key}' is both set and removed")));
    }
    let mut updates = Vec::new();
    let mut stored = Properties::new();
    for (key, value) in set {
        if key == FORMAT_VERSION {
            let version = format_version(&value)?;
            if version != base.format_version {
                updates.push(TableUpdate::UpgradeFormatVersion(version));
            }
        } else if is_reserved(&key) {
            return Err(Error::invalid(format!(
                "property '{key}' is reserved and cannot be set"
            )));
        } else if base.properties.get(&key) != Some(&value) {
            stored.insert(key, value);
        }
    }
    if !stored.is_empty() {
        updates.push(TableUpdate::SetProperties(stored));
    }
    let removed: Vec<String> = removed
        .into_iter()
        .filter(|key| base.properties.contains_key(key))
        .collect();
    if !removed.is_empty() {
        updates.push(TableUpdate::RemoveProperties(removed));
    }
    Ok(change(base, updates))
}

/// Sets the base location (Java: `UpdateLocation`).
pub fn change_location(base: &TableMetadata, location: &str) -> TableChange {
    let update = TableUpdate::SetLocation(location.to_string());
    change(
        base,
        if location == base.location {
            vec![]
        } else {
            vec![update]
        },
    )
}

/// Raises the format version.
pub fn upgrade_format_version(base: &TableMetadata, version: FormatVersion) -> TableChange {
    let update = TableUpdate::UpgradeFormatVersion(version);
    change(
        base,
        if version == base.format_version {
            vec![]
        } else {
            vec![update]
        },
    )
}

/// Sets the statistics file of its snapshot (Java: `UpdateStatistics`).
pub fn set_statistics(base: &TableMetadata, file: StatisticsFile) -> TableChange {
    change(base, vec![TableUpdate::SetStatistics(file)])
}

/// Removes the statistics file of a snapshot.
pub fn remove_statistics(base: &TableMetadata, snapshot_id: i64) -> TableChange {
    change(base, vec![TableUpdate::RemoveStatistics(snapshot_id)])
}

/// Sets the partition statistics file of its snapshot (Java: `UpdatePartitionStatistics`).
pub fn set_partition_statistics(base: &TableMetadata, file: PartitionStatisticsFile) -> TableChange {
    change(base, vec![TableUpdate::SetPartitionStatistics(file)])
}

/// Removes the partition statistics file of a snapshot.
pub fn remove_partition_statistics(base: &TableMetadata, snapshot_id: i64) -> TableChange {
    change(base, vec![TableUpdate::RemovePartitionStatistics(snapshot_id)])
}

fn change(base: &TableMetadata, updates: Vec<TableUpdate>) -> TableChange {
    let requirements = match updates.is_empty() {
        true => Vec::new(),
        false => requirements_for_update(base, &updates),
    };
    (updates, requirements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::update::test_tables::{changed, two_columns};

    fn properties(pairs: &[(&str, &str)]) -> Properties {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn properties_change_and_versions_go_up() {
        let base = two_columns();
        let change = change_properties(
            &base,
            properties(&[("a", "1"), ("format-version", "3")]),
            vec!["x".into()],
        );
        let change = change.unwrap();
        assert_eq!(change.0.len(), 2);
        let table = changed(&base, &change);
        assert_eq!(
            (table.format_version, table.properties["a"].as_str()),
            (FormatVersion::V3, "1")
        );
        let change = change_properties(&table, properties(&[("a", "1")]), vec!["a".into()]);
        assert_eq!(change.unwrap_err().kind(), ErrorKind::InvalidInput);
        let change = change_properties(&table, properties(&[("a", "1")]), vec!["b".into()]).unwrap();
        assert_eq!(change, (vec![], vec![]));
        let reserved = change_properties(&table, properties(&[("current-snapshot-id", "1")]), vec![]);
        assert_eq!(reserved.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
