//! The tables of a session's catalogs, as queries name them.

use std::sync::Arc;

use async_trait::async_trait;
use tarn_engine::IcebergTable;
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::snapshot::RefKind;
use tarn_format::{Error, Result, ResultExt};

use crate::ast::Name;
use crate::names::{FoundTable, Suffix, find_table};
use crate::planner::{LoadedRelation, RelationLoader, RelationVersion};
use crate::session::Session;

/// Loads the relations of queries from the catalogs of a session.
#[derive(Debug)]
pub(crate) struct SessionRelations {
    pub(crate) session: Session,
}

#[async_trait]
impl RelationLoader for SessionRelations {
    async fn load(&self, name: &Name, version: Option<RelationVersion>) -> Result<LoadedRelation> {
        let located = self.session.locate_table(name).await?;
        let found = find_table(&located).await?;
        let full = full_name(&found);
        let selector = selector(&found, version).context("table", full.to_string())?;
        let provider = IcebergTable::new(found.table, selector, found.entry.caches.clone());
        let provider = provider.context("table", full.to_string())?;
        let provider = provider.with_catalog(found.entry.catalog);
        Ok(LoadedRelation {
            provider: Arc::new(provider.clone()),
            name: full,
            iceberg: Some(provider),
        })
    }
}

/// Catalog, namespace and table.
pub(crate) fn full_name(found: &FoundTable) -> Name {
    let ident = &found.table.ident;
    let mut parts = vec![found.catalog_name.clone()];
    parts.extend(ident.namespace.0.iter().cloned());
    parts.push(ident.name.clone());
    Name(parts)
}

/// Which state of the table is meant by what follows its name and the AS OF clause.
fn selector(found: &FoundTable, version: Option<RelationVersion>) -> Result<SnapshotSelector> {
    let suffix = match (&found.suffix, version) {
        (Suffix::None, None) => return Ok(SnapshotSelector::Current),
        (Suffix::None, Some(version)) => return as_of(found, version),
        (_, Some(_)) => {
            return Err(Error::invalid(
                "a version is given both in the table's name and by AS OF: leave one out",
            ));
        }
        (suffix, None) => suffix,
    };
    match suffix {
        Suffix::None => Ok(SnapshotSelector::Current),
        Suffix::Branch(name) => named(found, name, RefKind::Branch),
        Suffix::Tag(name) => named(found, name, RefKind::Tag),
        Suffix::SnapshotId(id) => Ok(SnapshotSelector::Id(*id)),
        Suffix::AtTimestamp(ms) => Ok(SnapshotSelector::AsOf(*ms)),
        Suffix::Other(name) => Err(Error::not_found(format!(
            "'{name}' is neither a metadata table nor branch_NAME, tag_NAME, snapshot_id_N or at_timestamp_N"
        ))),
    }
}

fn as_of(found: &FoundTable, version: RelationVersion) -> Result<SnapshotSelector> {
    Ok(match version {
        RelationVersion::Snapshot(id) => SnapshotSelector::Id(id),
        RelationVersion::TimestampMs(ms) => SnapshotSelector::AsOf(ms),
        RelationVersion::Ref(text) => {
            let is_ref = found.table.metadata.refs.contains_key(&text);
            match text.parse() {
                Ok(id) if !is_ref => SnapshotSelector::Id(id),
                _ => SnapshotSelector::Ref(text),
            }
        }
    })
}

/// `branch_x` never reads a tag, and `tag_x` never a branch.
fn named(found: &FoundTable, name: &str, kind: RefKind) -> Result<SnapshotSelector> {
    match found.table.metadata.refs.get(name) {
        Some(reference) if reference.kind == kind => Ok(SnapshotSelector::Ref(name.to_string())),
        // A table without snapshots has its main branch all the same.
        None if kind == RefKind::Branch && name == tarn_format::spec::snapshot::MAIN_BRANCH => {
            Ok(SnapshotSelector::Current)
        }
        _ => Err(Error::not_found(format!("the table has no {kind} '{name}'"))),
    }
}
