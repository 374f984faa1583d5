//! CREATE, REPLACE and DROP of branches and tags (Java: `CreateOrReplaceBranchExec`, `CreateOrReplaceTagExec`).

use tarn_format::commit::Change;
use tarn_format::commit::append::fast_append;
use tarn_format::spec::snapshot::{RefKind, SnapshotRef};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::update::refs::RefsUpdate;
use tarn_format::{Error, ErrorKind, Result};

use super::Changer;
use crate::ast::alter::{PutRef, PutRefMode};
use crate::ast::{IfExists, IfNotExists};

/// Whether the statement makes a branch of a table that has no snapshot it could begin at.
pub(super) fn needs_snapshot(metadata: &TableMetadata, put: &PutRef) -> bool {
    put.kind == RefKind::Branch
        && put.mode != PutRefMode::Replace
        && put.snapshot_id.is_none()
        && metadata.current_snapshot_id.is_none()
        && !metadata.refs.contains_key(&put.name)
}

/// The empty snapshot that such a branch begins with (Java: `SnapshotManager.createBranch`).
pub(super) fn empty_snapshot(put: &PutRef) -> Change {
    fast_append([]).on_branch(put.name.as_str())
}

/// The retention of a branch that the statement made with an empty snapshot.
pub(super) fn retain(put: PutRef) -> Changer {
    Box::new(move |base| {
        let mut refs = RefsUpdate::new(base);
        refs.set_retention(&put.name, &put.retention)?;
        Ok(refs.finish().0)
    })
}

/// CREATE, CREATE OR REPLACE and REPLACE. What is not said of retention stays.
pub(super) fn put(put: PutRef) -> Changer {
    Box::new(move |base| {
        let mut refs = RefsUpdate::new(base);
        let exists = base.refs.contains_key(&put.name);
        let creates = match put.mode {
            PutRefMode::Create(IfNotExists::Given) if exists => return Ok(Vec::new()),
            PutRefMode::Create(_) => true,
            PutRefMode::CreateOrReplace => !exists,
            PutRefMode::Replace => false,
        };
        if creates && exists {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("ref '{}' exists already: CREATE OR REPLACE moves it", put.name),
            ));
        }
        let snapshot_id = snapshot(base, &put)?;
        if creates {
            refs.create(&put.name, reference(&put, snapshot_id))?;
        } else {
            refs.replace(&put.name, put.kind, snapshot_id)?;
        }
        refs.set_retention(&put.name, &put.retention)?;
        Ok(refs.finish().0)
    })
}

fn snapshot(base: &TableMetadata, put: &PutRef) -> Result<i64> {
    put.snapshot_id.or(base.current_snapshot_id).ok_or_else(|| {
        Error::invalid(format!(
            "the table has no snapshot that {} '{}' could point to: insert rows first, or name one by AS OF VERSION",
            put.kind, put.name
        ))
    })
}

fn reference(put: &PutRef, snapshot_id: i64) -> SnapshotRef {
    match put.kind {
        RefKind::Branch => SnapshotRef::branch(snapshot_id),
        RefKind::Tag => SnapshotRef::tag(snapshot_id),
    }
}

/// DROP BRANCH and DROP TAG.
pub(super) fn drop(kind: RefKind, name: String, if_exists: IfExists) -> Changer {
    Box::new(move |base| {
        if if_exists == IfExists::Given && !base.refs.contains_key(&name) {
            return Ok(Vec::new());
        }
        let mut refs = RefsUpdate::new(base);
        refs.remove(&name, kind)?;
        Ok(refs.finish().0)
    })
}
