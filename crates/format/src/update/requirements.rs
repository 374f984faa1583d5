//! What a change requires of the table it was made for (Java: `UpdateRequirements`).

use std::collections::BTreeSet;

use super::{TableRequirement, TableUpdate};
use crate::spec::snapshot::{MAIN_BRANCH, RefKind};
use crate::spec::table_metadata::TableMetadata;

/// A change of a table: updates, and what must hold of the table when they are applied.
pub type TableChange = (Vec<TableUpdate>, Vec<TableRequirement>);

/// Whether a change alters a table or puts another in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Intent {
    Update,
    Replace,
}

/// Requirements of updates that create a table.
pub fn requirements_for_create() -> Vec<TableRequirement> {
    vec![TableRequirement::NotExist]
}

/// Requirements of updates that were made for `base`: what they rest on must not have changed.
pub fn requirements_for_update(base: &TableMetadata, updates: &[TableUpdate]) -> Vec<TableRequirement> {
    Requirements::collect(base, updates, Intent::Update)
}

/// Requirements of updates that replace the table `base`: only ids must not have been given away.
pub fn requirements_for_replace(base: &TableMetadata, updates: &[TableUpdate]) -> Vec<TableRequirement> {
    Requirements::collect(base, updates, Intent::Replace)
}

struct Requirements<'a> {
    base: &'a TableMetadata,
    intent: Intent,
    refs: BTreeSet<&'a str>,
    found: Vec<TableRequirement>,
}

impl<'a> Requirements<'a> {
    fn collect(base: &'a TableMetadata, updates: &'a [TableUpdate], intent: Intent) -> Vec<TableRequirement> {
        let mut requirements = Requirements {
            base,
            intent,
            refs: BTreeSet::new(),
            found: base.table_uuid.map(TableRequirement::UuidMatch).into_iter().collect(),
        };
        updates.iter().for_each(|update| requirements.add(update));
        requirements.found
    }

    fn add(&mut self, update: &'a TableUpdate) {
        let base = self.base;
        match update {
            TableUpdate::SetSnapshotRef { name, .. } | TableUpdate::RemoveSnapshotRef(name) => self.ref_unchanged(name),
            // What another writer moved a ref to may be what is removed. (Java requires nothing.)
            TableUpdate::RemoveSnapshots(_) => base.refs.keys().for_each(|name| self.ref_unchanged(name)),
            TableUpdate::AddSchema(_) => {
                self.require(TableRequirement::LastAssignedFieldIdMatch(base.last_column_id));
            }
            TableUpdate::AddSpec(_) => {
                self.require(TableRequirement::LastAssignedPartitionIdMatch(base.last_partition_id));
            }
            TableUpdate::SetCurrentSchema(_) => self.current_schema_unchanged(),
            TableUpdate::SetDefaultSpec(_) => self.default_spec_unchanged(),
            TableUpdate::SetDefaultSortOrder(_) => {
                self.unchanged(TableRequirement::DefaultSortOrderIdMatch(base.default_sort_order_id));
            }
            TableUpdate::RemovePartitionSpecs(_) => {
                self.default_spec_unchanged();
                self.branches_unchanged();
            }
            TableUpdate::RemoveSchemas(_) => {
                self.current_schema_unchanged();
                self.branches_unchanged();
            }
            _ => {}
        }
    }

    fn ref_unchanged(&mut self, name: &'a str) {
        // What counts is where the ref was before the first of several changes.
        if self.refs.insert(name) {
            self.unchanged(TableRequirement::RefSnapshotIdMatch {
                name: name.to_string(),
                snapshot_id: self.base.refs.get(name).map(|reference| reference.snapshot_id),
            });
        }
    }

    fn current_schema_unchanged(&mut self) {
        self.unchanged(TableRequirement::CurrentSchemaIdMatch(self.base.current_schema_id));
    }

    fn default_spec_unchanged(&mut self) {
        self.unchanged(TableRequirement::DefaultSpecIdMatch(self.base.default_spec_id));
    }

    /// Another branch may still write with what is removed.
    fn branches_unchanged(&mut self) {
        for (name, reference) in &self.base.refs {
            if reference.kind == RefKind::Branch && name != MAIN_BRANCH {
                self.unchanged(TableRequirement::RefSnapshotIdMatch {
                    name: name.clone(),
                    snapshot_id: Some(reference.snapshot_id),
                });
            }
        }
    }

    fn unchanged(&mut self, requirement: TableRequirement) {
        if self.intent == Intent::Update {
            self.require(requirement);
        }
    }

    fn require(&mut self, requirement: TableRequirement) {
        if !self.found.contains(&requirement) {
            self.found.push(requirement);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::error::ErrorKind;
    use crate::spec::snapshot::SnapshotRef;
    use crate::update::test_tables::{changed, snapshot, try_changed, two_columns};

    fn set(name: &str, reference: SnapshotRef) -> TableUpdate {
        let name = name.to_string();
        TableUpdate::SetSnapshotRef { name, reference }
    }

    #[test]
    fn snapshots_are_removed_only_where_no_ref_has_moved() {
        let updates = vec![
            TableUpdate::AddSnapshot(snapshot(1, None, 1)),
            TableUpdate::AddSnapshot(snapshot(2, Some(1), 2)),
            set(MAIN_BRANCH, SnapshotRef::branch(2)),
            set("t", SnapshotRef::tag(2)),
            set("gone", SnapshotRef::branch(1)),
        ];
        let base = changed(&two_columns(), &(updates, vec![]));
        let unmoved = |requirements: &[TableRequirement]| -> BTreeMap<String, Option<i64>> {
            let refs = requirements.iter().filter_map(|requirement| match requirement {
                TableRequirement::RefSnapshotIdMatch { name, snapshot_id } => Some((name.clone(), *snapshot_id)),
                _ => None,
            });
            refs.collect()
        };
        let remove_ref = vec![TableUpdate::RemoveSnapshotRef("gone".into())];
        let required = requirements_for_update(&base, &remove_ref);
        assert_eq!(unmoved(&required), BTreeMap::from([("gone".into(), Some(1))]));
        assert!(unmoved(&requirements_for_replace(&base, &remove_ref)).is_empty());

        let mut expire = remove_ref;
        expire.push(TableUpdate::RemoveSnapshots(vec![1]));
        let required = requirements_for_update(&base, &expire);
        let all = [("gone", 1), (MAIN_BRANCH, 2), ("t", 2)].map(|(name, id)| (name.to_string(), Some(id)));
        assert_eq!(unmoved(&required), BTreeMap::from(all));
        let change = (expire, required);
        assert!(changed(&base, &change).snapshot_by_id(1).is_none());
        // Rolled back, tagged: by writers that were not seen.
        for meanwhile in [
            set(MAIN_BRANCH, SnapshotRef::branch(1)),
            set("t", SnapshotRef::tag(1)),
            set("new", SnapshotRef::tag(1)),
        ] {
            let moved = changed(&base, &(vec![meanwhile.clone()], vec![]));
            let error = try_changed(&moved, &change).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Conflict, "{meanwhile:?}");
        }
    }
}
