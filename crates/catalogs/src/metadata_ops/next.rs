//! The metadata that a commit leads to.

use std::time::{SystemTime, UNIX_EPOCH};

use tarn_format::Result;
use tarn_format::catalog::{Table, TableCommit, View, ViewCommit, ViewCreation};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::view_metadata::ViewMetadata;
use tarn_format::update::{MetadataBuilder, TableRequirement, ViewMetadataBuilder};

use crate::pointers::{EntryKind, existing_entry, missing_entry};

/// What is to be written for a commit.
#[derive(Debug)]
pub(crate) enum Next<M> {
    /// Nothing: the commit changes nothing.
    Unchanged,
    /// This.
    Changed(Box<M>),
}

/// Checks a commit against the current state (`None`: there is no such table) and applies it.
///
/// # Errors
/// `NotFound` or `AlreadyExists` when the table's existence is not what the commit asks for, `Conflict` for any other
/// requirement that does not hold, and those of the updates.
pub(crate) fn table(current: Option<&Table>, commit: &TableCommit) -> Result<Next<TableMetadata>> {
    let creates = commit.requirements.contains(&TableRequirement::NotExist);
    match current {
        Some(_) if creates => return Err(existing_entry(EntryKind::Table, &commit.ident)),
        None if !creates => return Err(missing_entry(EntryKind::Table, &commit.ident)),
        _ => {}
    }
    for requirement in &commit.requirements {
        requirement.check(current.map(|t| &*t.metadata))?;
    }
    let mut builder = match current {
        Some(table) => MetadataBuilder::from_metadata(table.metadata.clone(), table.metadata_location.as_deref()),
        None => MetadataBuilder::empty(),
    };
    builder.apply_all(&commit.updates)?;
    if current.is_some() && !builder.changed() {
        return Ok(Next::Unchanged);
    }
    Ok(Next::Changed(Box::new(builder.build(now_ms())?)))
}

/// Checks a commit of a view and applies it.
///
/// # Errors
/// `Conflict` for a requirement that does not hold, and those of the updates.
pub(crate) fn view(current: &View, commit: &ViewCommit) -> Result<Next<ViewMetadata>> {
    for requirement in &commit.requirements {
        requirement.check(Some(&current.metadata))?;
    }
    let mut builder = ViewMetadataBuilder::from_metadata(current.metadata.clone());
    builder.apply_all(&commit.updates)?;
    if !builder.changed() {
        return Ok(Next::Unchanged);
    }
    Ok(Next::Changed(Box::new(builder.build(now_ms())?)))
}

/// The metadata of a new view.
pub(crate) fn new_view(creation: &ViewCreation, location: &str) -> Result<ViewMetadata> {
    ViewMetadataBuilder::new_view(creation, location, uuid::Uuid::new_v4())?.build(now_ms())
}

/// The time now, milliseconds since epoch; 0 on a machine that is set to before it.
pub(crate) fn now_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}
