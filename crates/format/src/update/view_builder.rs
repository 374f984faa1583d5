//! [`ViewMetadataBuilder`]: applies [`ViewUpdate`]s to view metadata (Java: `ViewMetadata.Builder`).

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use uuid::Uuid;

use super::builder::next_id;
use super::{LAST_ADDED, ViewRequirement, ViewUpdate, positive_property};
use crate::catalog::ViewCreation;
use crate::error::{Error, ErrorKind, Result};
use crate::spec::schema::Schema;
use crate::spec::table_metadata_json::strip_trailing_slashes;
use crate::spec::view_metadata::{ViewMetadata, ViewRepresentation, ViewVersion, ViewVersionLogEntry};
use crate::spec::view_metadata_json::VIEW_FORMAT_VERSION;

/// How many versions a view keeps.
const VERSION_HISTORY_SIZE: &str = "version.history.num-entries";
const VERSION_HISTORY_SIZE_DEFAULT: usize = 10;
/// Whether a replacement may lose a dialect.
const DROP_DIALECT_ALLOWED: &str = "replace.drop-dialect.allowed";

/// View metadata under change. A builder that returned an error must be dropped.
#[derive(Debug)]
pub struct ViewMetadataBuilder {
    base: Option<Arc<ViewMetadata>>,
    uuid: Option<Uuid>,
    state: ViewMetadata,
    last_schema: Option<i32>,
    last_version: Option<i32>,
    added_versions: BTreeSet<i32>,
    became_current: Option<i32>,
    changed: bool,
}

impl ViewMetadataBuilder {
    /// Starts from an empty state: the base of a commit that creates a view from updates.
    pub fn empty() -> Self {
        ViewMetadataBuilder {
            base: None,
            uuid: None,
            state: ViewMetadata {
                view_uuid: Uuid::nil(),
                format_version: VIEW_FORMAT_VERSION,
                location: String::new(),
                schemas: Vec::new(),
                current_version_id: -1,
                versions: Vec::new(),
                version_log: Vec::new(),
                properties: Default::default(),
                extra: Default::default(),
            },
            last_schema: None,
            last_version: None,
            added_versions: BTreeSet::new(),
            became_current: None,
            changed: false,
        }
    }

    /// Starts a new view whose first version is that of `creation`.
    ///
    /// # Errors
    /// `InvalidInput` when the version has two queries of one dialect or the location is empty.
    pub fn new_view(creation: &ViewCreation, location: &str, uuid: Uuid) -> Result<Self> {
        let mut builder = Self::empty();
        let version = ViewVersion {
            version_id: 1,
            schema_id: LAST_ADDED,
            ..creation.version.clone()
        };
        builder.apply_all(&[
            ViewUpdate::AssignUuid(uuid),
            ViewUpdate::SetLocation(location.to_string()),
            ViewUpdate::SetProperties(creation.properties.clone()),
            ViewUpdate::AddSchema(creation.schema.clone()),
            ViewUpdate::AddVersion(version),
            ViewUpdate::SetCurrentVersion(LAST_ADDED),
        ])?;
        Ok(builder)
    }

    /// Starts from existing metadata.
    pub fn from_metadata(base: Arc<ViewMetadata>) -> Self {
        ViewMetadataBuilder {
            uuid: Some(base.view_uuid),
            state: base.as_ref().clone(),
            base: Some(base),
            ..Self::empty()
        }
    }

    /// Whether any update changed anything.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Applies updates in order.
    ///
    /// # Errors
    /// The first of [`Self::apply`].
    pub fn apply_all<'a>(&mut self, updates: impl IntoIterator<Item = &'a ViewUpdate>) -> Result<()> {
        updates.into_iter().try_for_each(|update| self.apply(update))
    }

    /// Applies one update.
    ///
    /// # Errors
    /// `Validation` or `InvalidInput` when it breaks a rule, `Unsupported` for an unknown format version.
    pub fn apply(&mut self, update: &ViewUpdate) -> Result<()> {
        match update {
            ViewUpdate::AssignUuid(uuid) => self.assign_uuid(*uuid),
            ViewUpdate::UpgradeFormatVersion(VIEW_FORMAT_VERSION) => Ok(()),
            ViewUpdate::UpgradeFormatVersion(version) => Err(Error::unsupported(format!(
                "view format version {version} is not supported"
            ))),
            ViewUpdate::AddSchema(schema) => self.add_schema(schema),
            ViewUpdate::SetLocation(location) => self.set_location(location),
            ViewUpdate::SetProperties(properties) => {
                for (key, value) in properties {
                    let before = self.state.properties.insert(key.clone(), value.clone());
                    self.changed |= before.as_ref() != Some(value);
                }
                Ok(())
            }
            ViewUpdate::RemoveProperties(keys) => {
                for key in keys {
                    self.changed |= self.state.properties.remove(key).is_some();
                }
                Ok(())
            }
            ViewUpdate::AddVersion(version) => self.add_version(version),
            ViewUpdate::SetCurrentVersion(id) => self.set_current_version(*id),
        }
    }

    /// Finishes: the new metadata, or the base as it was when nothing changed.
    ///
    /// # Errors
    /// `Validation` when a dialect would be lost, or a new view lacks a location or version.
    pub fn build(mut self, now_ms: i64) -> Result<ViewMetadata> {
        if let (Some(base), false) = (&self.base, self.changed) {
            return Ok(base.as_ref().clone());
        }
        if self.state.location.is_empty() {
            return Err(Error::validation("a new view has no location"));
        }
        if self.state.version_by_id(self.state.current_version_id).is_none() {
            return Err(Error::validation("a new view has no current version"));
        }
        self.state.view_uuid = self.uuid.unwrap_or_else(Uuid::new_v4);
        if let Some(id) = self.became_current {
            let added = self.added_versions.contains(&id);
            let created_ms = self.state.version_by_id(id).map(|version| version.timestamp_ms);
            // Going back to an older version happens now.
            let timestamp_ms = created_ms.filter(|_| added).unwrap_or(now_ms);
            self.state.version_log.push(ViewVersionLogEntry {
                version_id: id,
                timestamp_ms,
                extra: Default::default(),
            });
        }
        self.check_dialects()?;
        self.expire_versions()?;
        Ok(self.state)
    }

    fn assign_uuid(&mut self, uuid: Uuid) -> Result<()> {
        match self.uuid {
            Some(current) if current == uuid => {}
            Some(current) => {
                return Err(Error::validation(format!(
                    "the view has the uuid {current}, it cannot become {uuid}"
                )));
            }
            None => {
                self.uuid = Some(uuid);
                self.changed = true;
            }
        }
        Ok(())
    }

    fn set_location(&mut self, location: &str) -> Result<()> {
        let location = strip_trailing_slashes(location);
        if location.is_empty() {
            return Err(Error::invalid("the location of a view cannot be empty"));
        }
        if self.state.location != location {
            self.state.location = location.to_string();
            self.changed = true;
        }
        Ok(())
    }

    fn add_schema(&mut self, schema: &Schema) -> Result<()> {
        let found = self.state.schemas.iter().find(|s| s.same_fields(schema));
        let id = match found {
            Some(same) => same.schema_id(),
            None => {
                let id = next_id(self.state.schemas.iter().map(|s| s.schema_id()), 0)?;
                self.state.schemas.push(Arc::new(schema.with_schema_id(id)));
                self.changed = true;
                id
            }
        };
        self.last_schema = Some(id);
        Ok(())
    }

    fn add_version(&mut self, version: &ViewVersion) -> Result<()> {
        let schema_id = match (version.schema_id, self.last_schema) {
            (LAST_ADDED, Some(last)) => last,
            (LAST_ADDED, None) => {
                return Err(Error::validation(
                    "no schema was added that the view version could have",
                ));
            }
            (id, _) => id,
        };
        if self.state.schema_by_id(schema_id).is_none() {
            return Err(Error::validation(format!(
                "schema {schema_id} of the view version does not exist"
            )));
        }
        let same = self.state.versions.iter().find(|v| same_version(v, version, schema_id));
        if let Some(same) = same {
            self.last_version = Some(same.version_id);
            return Ok(());
        }
        let mut seen = HashSet::new();
        if let Some(dialect) = dialects(version).find(|dialect| !seen.insert(dialect.clone())) {
            return Err(Error::invalid(format!(
                "a view version has two queries of the dialect '{dialect}'"
            )));
        }
        let version_id = next_id(
            self.state.versions.iter().map(|v| v.version_id),
            version.version_id.max(1),
        )?;
        self.state.versions.push(Arc::new(ViewVersion {
            version_id,
            schema_id,
            ..version.clone()
        }));
        self.added_versions.insert(version_id);
        self.last_version = Some(version_id);
        self.changed = true;
        Ok(())
    }

    fn set_current_version(&mut self, id: i32) -> Result<()> {
        let id = match (id, self.last_version) {
            (LAST_ADDED, Some(last)) => last,
            (LAST_ADDED, None) => return Err(Error::validation("no view version was added that could be set")),
            (id, _) => id,
        };
        if self.state.version_by_id(id).is_none() {
            return Err(Error::validation(format!("view version {id} does not exist")));
        }
        if self.state.current_version_id != id {
            self.state.current_version_id = id;
            self.became_current = Some(id);
            self.changed = true;
        }
        Ok(())
    }

    fn check_dialects(&self) -> Result<()> {
        let allowed = self.state.properties.get(DROP_DIALECT_ALLOWED);
        let Some(base) = self
            .base
            .as_ref()
            .filter(|_| !allowed.is_some_and(|v| v.eq_ignore_ascii_case("true")))
        else {
            return Ok(());
        };
        let kept: HashSet<String> = dialects(self.state.current_version()).collect();
        match dialects(base.current_version()).find(|dialect| !kept.contains(dialect)) {
            None => Ok(()),
            Some(lost) => Err(Error::validation(format!(
                "the view would lose its query in the dialect '{lost}': set {DROP_DIALECT_ALLOWED}=true to allow it"
            ))),
        }
    }

    /// Keeps the newest versions, and at least the current one and those added now.
    fn expire_versions(&mut self) -> Result<()> {
        let state = &mut self.state;
        let size = state.properties.get(VERSION_HISTORY_SIZE);
        if size.is_some_and(|text| text.trim().parse::<i64>().is_ok_and(|n| n <= 0)) {
            return Err(Error::invalid(format!(
                "property '{VERSION_HISTORY_SIZE}' must be positive"
            )));
        }
        let size = positive_property(&state.properties, VERSION_HISTORY_SIZE, VERSION_HISTORY_SIZE_DEFAULT)?;
        let mut pinned = self.added_versions.clone();
        pinned.insert(state.current_version_id);
        let keep = size.max(pinned.len());
        if state.versions.len() <= keep {
            return Ok(());
        }
        let current = state.current_version_id;
        let mut ids: Vec<i32> = state
            .versions
            .iter()
            .map(|v| v.version_id)
            .filter(|id| *id != current)
            .collect();
        ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        let kept: HashSet<i32> = ids.into_iter().take(keep - 1).chain([current]).collect();
        state.versions.retain(|v| kept.contains(&v.version_id));
        let mut log = Vec::new();
        for entry in state.version_log.drain(..) {
            // As in the snapshot log, a gap takes what is before it with it.
            match kept.contains(&entry.version_id) {
                true => log.push(entry),
                false => log.clear(),
            }
        }
        state.version_log = log;
        Ok(())
    }
}

impl ViewRequirement {
    /// Checks that the requirement holds of `base`; `None` is a view that does not exist.
    ///
    /// # Errors
    /// `Conflict` when it does not hold, `NotFound` when there is no view.
    pub fn check(&self, base: Option<&ViewMetadata>) -> Result<()> {
        let ViewRequirement::UuidMatch(uuid) = self;
        match base {
            Some(base) if base.view_uuid == *uuid => Ok(()),
            Some(base) => Err(Error::conflict(format!(
                "the view uuid has changed: expected {uuid}, found {}",
                base.view_uuid
            ))),
            None => Err(Error::new(ErrorKind::NotFound, "the view does not exist")),
        }
    }
}

/// Whether two versions behave alike: ids and times don't matter.
fn same_version(one: &ViewVersion, other: &ViewVersion, other_schema_id: i32) -> bool {
    one.schema_id == other_schema_id
        && one.summary == other.summary
        && one.representations == other.representations
        && one.default_catalog == other.default_catalog
        && one.default_namespace == other.default_namespace
}

fn dialects(version: &ViewVersion) -> impl Iterator<Item = String> + '_ {
    version
        .representations
        .iter()
        .filter_map(|representation| match representation {
            ViewRepresentation::Sql { dialect, .. } => Some(dialect.to_lowercase()),
            ViewRepresentation::Other(_) => None,
        })
}
