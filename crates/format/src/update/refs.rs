//! [`RefsUpdate`]: branches and tags (Java: `ManageSnapshots`, `UpdateSnapshotReferencesOperation`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::requirements::{TableChange, requirements_for_update};
use super::{TableRequirement, TableUpdate};
use crate::error::{Error, ErrorKind, Result};
use crate::spec::snapshot::{MAIN_BRANCH, RefKind, SnapshotRef, SnapshotRetention};
use crate::spec::table_metadata::TableMetadataRef;
use crate::update::builder::check_ref;

/// Changes of a table's refs, collected. Each call is checked against the refs as changed so far.
#[derive(Debug)]
pub struct RefsUpdate {
    base: TableMetadataRef,
    refs: BTreeMap<String, SnapshotRef>,
}

impl RefsUpdate {
    /// Starts from a table's refs.
    pub fn new(base: &TableMetadataRef) -> Self {
        RefsUpdate {
            refs: base.refs.clone(),
            base: Arc::clone(base),
        }
    }

    /// Makes a branch or tag.
    ///
    /// # Errors
    /// `AlreadyExists` when the name is taken, `NotFound` when the snapshot does not exist, `Validation` for retention
    /// that the kind does not have.
    pub fn create(&mut self, name: &str, reference: SnapshotRef) -> Result<&mut Self> {
        if self.refs.contains_key(name) {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("ref '{name}' exists already"),
            ));
        }
        self.put(name, reference)
    }

    /// Points an existing branch or tag to another snapshot; its retention stays.
    ///
    /// # Errors
    /// `NotFound` when ref or snapshot does not exist, `InvalidInput` when the ref is of the other kind.
    pub fn replace(&mut self, name: &str, kind: RefKind, snapshot_id: i64) -> Result<&mut Self> {
        let reference = self.of_kind(name, kind)?.clone();
        self.put(
            name,
            SnapshotRef {
                snapshot_id,
                ..reference
            },
        )
    }

    /// Points a branch to the snapshot of another ref, wherever that is; a missing branch is made.
    ///
    /// # Errors
    /// `NotFound` when the other ref does not exist, `InvalidInput` when `branch` is a tag.
    pub fn replace_branch_with(&mut self, branch: &str, to: &str) -> Result<&mut Self> {
        let target = self.existing(to)?.snapshot_id;
        match self.refs.contains_key(branch) {
            true => self.replace(branch, RefKind::Branch, target),
            false => self.create(branch, SnapshotRef::branch(target)),
        }
    }

    /// Moves a branch forward to the snapshot of another ref; a missing branch is made.
    ///
    /// # Errors
    /// Those of [`Self::replace_branch_with`], and `InvalidInput` when the branch's snapshot is no ancestor of the
    /// other ref's.
    pub fn fast_forward(&mut self, branch: &str, to: &str) -> Result<&mut Self> {
        let target = self.existing(to)?.snapshot_id;
        if let Some(current) = self.refs.get(branch).map(|reference| reference.snapshot_id) {
            let ancestors = self.base.ancestors_of(target);
            if !ancestors.iter().any(|s| s.snapshot_id == current) {
                return Err(Error::invalid(format!(
                    "cannot fast-forward: '{branch}' is not an ancestor of '{to}'"
                )));
            }
        }
        self.replace_branch_with(branch, to)
    }

    /// Removes a branch or tag.
    ///
    /// # Errors
    /// `NotFound` when it does not exist, `InvalidInput` when it is of the other kind or `main`.
    pub fn remove(&mut self, name: &str, kind: RefKind) -> Result<&mut Self> {
        refuse_main(name, "removed")?;
        self.of_kind(name, kind)?;
        self.refs.remove(name);
        Ok(self)
    }

    /// Renames a branch.
    ///
    /// # Errors
    /// `NotFound` when it does not exist, `AlreadyExists` when the new name is taken, `InvalidInput` for `main` or a tag.
    pub fn rename_branch(&mut self, name: &str, new_name: &str) -> Result<&mut Self> {
        refuse_main(name, "renamed")?;
        let reference = self.of_kind(name, RefKind::Branch)?.clone();
        self.create(new_name, reference)?;
        self.refs.remove(name);
        Ok(self)
    }

    /// Sets retention of a ref; what is `None` stays as it is.
    ///
    /// # Errors
    /// `NotFound` when it does not exist, `Validation` for retention that its kind does not have or that is not positive.
    pub fn set_retention(&mut self, name: &str, retention: &SnapshotRetention) -> Result<&mut Self> {
        let mut reference = self.existing(name)?.clone();
        let kept = &mut reference.retention;
        kept.min_snapshots_to_keep = retention.min_snapshots_to_keep.or(kept.min_snapshots_to_keep);
        kept.max_snapshot_age_ms = retention.max_snapshot_age_ms.or(kept.max_snapshot_age_ms);
        kept.max_ref_age_ms = retention.max_ref_age_ms.or(kept.max_ref_age_ms);
        self.put(name, reference)
    }

    /// The refs with the changes.
    pub fn apply(&self) -> &BTreeMap<String, SnapshotRef> {
        &self.refs
    }

    /// The change to commit; empty when nothing changes. Unlike in Java, a ref that is removed or renamed must not have
    /// moved meanwhile: a commit to it would be lost.
    pub fn finish(self) -> TableChange {
        let mut updates = Vec::new();
        let mut unmoved = Vec::new();
        for (name, reference) in &self.base.refs {
            if !self.refs.contains_key(name) {
                updates.push(TableUpdate::RemoveSnapshotRef(name.clone()));
                unmoved.push(TableRequirement::RefSnapshotIdMatch {
                    name: name.clone(),
                    snapshot_id: Some(reference.snapshot_id),
                });
            }
        }
        for (name, reference) in &self.refs {
            if self.base.refs.get(name) != Some(reference) {
                updates.push(TableUpdate::SetSnapshotRef {
                    name: name.clone(),
                    reference: reference.clone(),
                });
            }
        }
        if updates.is_empty() {
            return (updates, Vec::new());
        }
        let mut requirements = requirements_for_update(&self.base, &updates);
        requirements.append(&mut unmoved);
        (updates, requirements)
    }

    fn put(&mut self, name: &str, reference: SnapshotRef) -> Result<&mut Self> {
        if name.is_empty() {
            return Err(Error::invalid("a ref needs a name"));
        }
        let id = reference.snapshot_id;
        if self.base.snapshot_by_id(id).is_none() {
            return Err(Error::not_found(format!("snapshot {id} does not exist")));
        }
        check_ref(name, &reference)?;
        self.refs.insert(name.to_string(), reference);
        Ok(self)
    }

    fn existing(&self, name: &str) -> Result<&SnapshotRef> {
        self.refs
            .get(name)
            .ok_or_else(|| Error::not_found(format!("ref '{name}' does not exist")))
    }

    fn of_kind(&self, name: &str, kind: RefKind) -> Result<&SnapshotRef> {
        let reference = self
            .refs
            .get(name)
            .ok_or_else(|| Error::not_found(format!("{kind} '{name}' does not exist")))?;
        if reference.kind != kind {
            return Err(Error::invalid(format!(
                "ref '{name}' is a {}, not a {kind}",
                reference.kind
            )));
        }
        Ok(reference)
    }
}

fn refuse_main(name: &str, what: &str) -> Result<()> {
    if name == MAIN_BRANCH {
        return Err(Error::invalid(format!("branch '{MAIN_BRANCH}' cannot be {what}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::update::test_tables::{changed, snapshot, try_changed, two_columns};

    /// `main` at 3, whose ancestors are 2 and 1; branch `old` at 1; tag `t` at 2; snapshot 4 apart.
    fn table() -> TableMetadataRef {
        let snapshot = |id: i64, parent| TableUpdate::AddSnapshot(snapshot(id, parent, id));
        let set = |name: &str, reference: SnapshotRef| TableUpdate::SetSnapshotRef {
            name: name.into(),
            reference,
        };
        let updates = vec![
            snapshot(1, None),
            snapshot(2, Some(1)),
            snapshot(3, Some(2)),
            snapshot(4, None),
            set(MAIN_BRANCH, SnapshotRef::branch(3)),
            set("old", SnapshotRef::branch(1)),
            set("t", SnapshotRef::tag(2)),
        ];
        changed(&two_columns(), &(updates, vec![]))
    }

    fn one(change: impl FnOnce(&mut RefsUpdate) -> Result<&mut RefsUpdate>) -> Result<TableMetadataRef> {
        let base = table();
        let mut update = RefsUpdate::new(&base);
        change(&mut update)?;
        try_changed(&base, &update.finish())
    }

    #[test]
    fn refs_are_made_moved_renamed_and_removed() {
        let at = |table: &TableMetadataRef, name: &str| table.refs.get(name).map(|r| r.snapshot_id);
        assert_eq!(
            at(&one(|u| u.create("b", SnapshotRef::branch(4))).unwrap(), "b"),
            Some(4)
        );
        assert_eq!(at(&one(|u| u.replace("t", RefKind::Tag, 3)).unwrap(), "t"), Some(3));
        assert_eq!(
            at(&one(|u| u.fast_forward("old", MAIN_BRANCH)).unwrap(), "old"),
            Some(3)
        );
        assert_eq!(at(&one(|u| u.fast_forward("new", "t")).unwrap(), "new"), Some(2));
        assert_eq!(
            at(
                &one(|u| u.replace_branch_with(MAIN_BRANCH, "old")).unwrap(),
                MAIN_BRANCH
            ),
            Some(1)
        );
        let renamed = one(|u| u.rename_branch("old", "older")).unwrap();
        assert_eq!((at(&renamed, "old"), at(&renamed, "older")), (None, Some(1)));
        assert_eq!(at(&one(|u| u.remove("t", RefKind::Tag)).unwrap(), "t"), None);
        let retention = SnapshotRetention {
            min_snapshots_to_keep: Some(5),
            ..Default::default()
        };
        let kept = one(|u| u.set_retention("old", &retention)).unwrap();
        assert_eq!(kept.refs["old"].retention, retention);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let tag_retention = SnapshotRetention {
            max_snapshot_age_ms: Some(5),
            ..Default::default()
        };
        let refused: Vec<(ErrorKind, Result<TableMetadataRef>)> = vec![
            (ErrorKind::AlreadyExists, one(|u| u.create("t", SnapshotRef::branch(1)))),
            (ErrorKind::NotFound, one(|u| u.create("b", SnapshotRef::branch(9)))),
            (ErrorKind::InvalidInput, one(|u| u.create("", SnapshotRef::branch(1)))),
            (ErrorKind::InvalidInput, one(|u| u.replace("t", RefKind::Branch, 1))),
            (ErrorKind::NotFound, one(|u| u.replace("x", RefKind::Branch, 1))),
            (ErrorKind::InvalidInput, one(|u| u.fast_forward(MAIN_BRANCH, "old"))),
            (ErrorKind::NotFound, one(|u| u.fast_forward("old", "x"))),
            (ErrorKind::InvalidInput, one(|u| u.fast_forward("t", MAIN_BRANCH))),
            (ErrorKind::InvalidInput, one(|u| u.remove(MAIN_BRANCH, RefKind::Branch))),
            (ErrorKind::InvalidInput, one(|u| u.remove("t", RefKind::Branch))),
            (ErrorKind::InvalidInput, one(|u| u.rename_branch(MAIN_BRANCH, "m"))),
            (ErrorKind::AlreadyExists, one(|u| u.rename_branch("old", "t"))),
            (ErrorKind::Validation, one(|u| u.set_retention("t", &tag_retention))),
        ];
        for (position, (kind, result)) in refused.into_iter().enumerate() {
            assert_eq!(result.unwrap_err().kind(), kind, "case {position}");
        }
    }

    #[test]
    fn a_removed_branch_must_not_have_moved() {
        let base = table();
        let mut update = RefsUpdate::new(&base);
        update.rename_branch("old", "older").unwrap();
        let change = update.finish();
        let mut other = RefsUpdate::new(&base);
        other.fast_forward("old", MAIN_BRANCH).unwrap();
        let moved = changed(&base, &other.finish());
        assert_eq!(try_changed(&moved, &change).unwrap_err().kind(), ErrorKind::Conflict);
    }
}
