//! [`SpecUpdate`]: partition evolution (Java: `UpdatePartitionSpec`, `BaseUpdatePartitionSpec`).

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::requirements::{TableChange, requirements_for_update};
use super::{LAST_ADDED, TableUpdate};
use crate::error::{Error, Result};
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::CaseSensitivity;
use crate::spec::table_metadata::{FormatVersion, TableMetadataRef};
use crate::spec::types::FieldId;
use crate::transform::Transform;
use crate::update::builder::{check_spec, check_spec_names, same_partitioning};

/// Whether a new spec becomes the one that writers use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecUse {
    /// Writers use it from now on.
    Default,
    /// It is only added.
    Additional,
}

/// Changes of a table's default partition spec, collected.
#[derive(Debug)]
pub struct SpecUpdate {
    base: TableMetadataRef,
    spec: Arc<PartitionSpec>,
    case: CaseSensitivity,
    spec_use: SpecUse,
    last_field_id: FieldId,
    adds: Vec<PartitionField>,
    deletes: BTreeSet<FieldId>,
    /// New names by old ones.
    renames: BTreeMap<String, String>,
}

impl SpecUpdate {
    /// Starts from a table's default spec.
    ///
    /// # Errors
    /// `Unsupported` when it has a transform we don't know.
    pub fn new(base: &TableMetadataRef) -> Result<Self> {
        let spec = Arc::clone(base.default_spec());
        let mut unknown = spec
            .fields
            .iter()
            .filter(|f| matches!(f.transform, Transform::Unknown(_)));
        if let Some(field) = unknown.next() {
            return Err(Error::unsupported(format!(
                "cannot change a partition spec with the unknown transform '{}'",
                field.transform
            )));
        }
        Ok(SpecUpdate {
            last_field_id: base.last_partition_id,
            spec,
            base: Arc::clone(base),
            case: CaseSensitivity::Sensitive,
            spec_use: SpecUse::Default,
            adds: Vec::new(),
            deletes: BTreeSet::new(),
            renames: BTreeMap::new(),
        })
    }

    /// Whether column names must match in case; they must by default.
    #[must_use]
    pub fn case_sensitivity(mut self, case: CaseSensitivity) -> Self {
        self.case = case;
        self
    }

    /// What becomes of the new spec; it becomes the default one by default.
    #[must_use]
    pub fn spec_use(mut self, spec_use: SpecUse) -> Self {
        self.spec_use = spec_use;
        self
    }

    /// Adds a field that partitions by a transform of a column. Without a name it is called after both, as in
    /// `id_bucket_16`. A field of an earlier spec is taken up again with its id.
    ///
    /// # Errors
    /// `InvalidInput` when the column does not exist, the transform does not take it, or the field is there already,
    /// is redundant (two times of one column), or its name is taken.
    pub fn add_field(&mut self, source: &str, transform: Transform, name: Option<&str>) -> Result<&mut Self> {
        let source_id = self.source(source, &transform)?;
        let existing = self.by_transform(&self.spec.fields, source_id, &transform).cloned();
        if let Some(dropped) = existing.as_ref().filter(|f| self.deletes.contains(&f.field_id)) {
            // Dropped and added again: it stays, perhaps under another name.
            self.deletes.remove(&dropped.field_id);
            return match name {
                Some(name) if name != dropped.name => self.rename_field(&dropped.name, name),
                _ => Ok(self),
            };
        }
        let added = self.by_transform(&self.adds, source_id, &transform).cloned();
        if let Some(other) = existing.or(added) {
            let message = format!(
                "the table is partitioned by {transform} of '{source}' already: '{}'",
                other.name
            );
            return Err(Error::invalid(message));
        }
        let field = self.recycled_or_new(source_id, transform, name)?;
        self.check_redundant(&field)?;
        if self.adds.iter().any(|f| f.name == field.name) {
            return Err(Error::invalid(format!(
                "partition field '{}' is added twice",
                field.name
            )));
        }
        self.make_room_for(&field.name)?;
        self.adds.push(field);
        Ok(self)
    }

    /// Drops a field by name. In format version 1 it stays as a void one.
    ///
    /// # Errors
    /// `InvalidInput` when it does not exist or the update adds or renames it.
    pub fn remove_field(&mut self, name: &str) -> Result<&mut Self> {
        if self.adds.iter().any(|field| field.name == name) {
            return Err(Error::invalid(format!(
                "cannot drop partition field '{name}', which is being added"
            )));
        }
        if self.renames.contains_key(name) {
            return Err(Error::invalid(format!(
                "cannot both rename and drop partition field '{name}'"
            )));
        }
        let field = named(&self.spec, name)?.field_id;
        self.deletes.insert(field);
        Ok(self)
    }

    /// Drops the field that partitions by a transform of a column.
    ///
    /// # Errors
    /// Those of [`Self::remove_field`].
    pub fn remove_field_by_transform(&mut self, source: &str, transform: &Transform) -> Result<&mut Self> {
        let source_id = self.source(source, transform)?;
        let fields = self.spec.fields.iter().chain(&self.adds);
        let mut found = fields.filter(|f| f.source_ids == [source_id] && f.transform == *transform);
        match found.next().map(|f| f.name.clone()) {
            Some(name) => self.remove_field(&name),
            None => Err(Error::invalid(format!(
                "the table is not partitioned by {transform} of '{source}'"
            ))),
        }
    }

    /// Renames a field.
    ///
    /// # Errors
    /// `InvalidInput` when it does not exist or the update adds or drops it.
    pub fn rename_field(&mut self, name: &str, new_name: &str) -> Result<&mut Self> {
        if self.adds.iter().any(|field| field.name == name) {
            return Err(Error::invalid(format!(
                "cannot rename partition field '{name}', which is being added"
            )));
        }
        let field = named(&self.spec, name)?;
        if self.deletes.contains(&field.field_id) {
            return Err(Error::invalid(format!(
                "cannot both drop and rename partition field '{name}'"
            )));
        }
        if new_name != name {
            self.move_void_away(new_name);
        }
        self.renames.insert(name.to_string(), new_name.to_string());
        Ok(self)
    }

    /// The spec with the changes. Its id means nothing yet.
    ///
    /// # Errors
    /// `InvalidInput` or `Validation` when names clash, among themselves or with columns, or a source is unfit.
    pub fn apply(&self) -> Result<PartitionSpec> {
        let mut fields = Vec::new();
        for field in &self.spec.fields {
            let mut field = field.clone();
            if let Some(name) = self.renames.get(&field.name) {
                field.name.clone_from(name);
            }
            if self.deletes.contains(&field.field_id) {
                if self.base.format_version > FormatVersion::V1 {
                    continue;
                }
                // v1 readers count ids, so that a dropped field must keep its place.
                field.transform = Transform::Void;
            }
            fields.push(field);
        }
        fields.extend(self.adds.iter().cloned());
        let spec = PartitionSpec {
            spec_id: self.spec.spec_id,
            fields,
            extra: Default::default(),
        };
        check_spec(&spec, self.base.current_schema())?;
        check_spec_names(&spec, self.base.current_schema())?;
        Ok(spec)
    }

    /// The change to commit; empty when nothing changes.
    ///
    /// # Errors
    /// Those of [`Self::apply`].
    pub fn finish(self) -> Result<TableChange> {
        let spec = self.apply()?;
        if same_partitioning(&spec, &self.spec) {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut updates = vec![TableUpdate::AddSpec(spec)];
        if self.spec_use == SpecUse::Default {
            updates.push(TableUpdate::SetDefaultSpec(LAST_ADDED));
        }
        let requirements = requirements_for_update(&self.base, &updates);
        Ok((updates, requirements))
    }

    fn source(&self, source: &str, transform: &Transform) -> Result<FieldId> {
        let schema = self.base.current_schema();
        let field = schema
            .find_field(source, self.case)?
            .ok_or_else(|| Error::invalid(format!("column '{source}' does not exist")))?;
        let takes = field
            .field_type
            .as_primitive()
            .is_some_and(|p| transform.can_transform(p));
        if !takes || matches!(transform, Transform::Unknown(_)) {
            let message = format!(
                "cannot partition by {transform} of column '{source}' of type {}",
                field.field_type
            );
            return Err(Error::invalid(message));
        }
        Ok(field.id)
    }

    fn by_transform<'a>(
        &self,
        fields: &'a [PartitionField],
        source: FieldId,
        transform: &Transform,
    ) -> Option<&'a PartitionField> {
        fields
            .iter()
            .find(|f| f.source_ids == [source] && f.transform == *transform)
    }

    fn recycled_or_new(&mut self, source: FieldId, transform: Transform, name: Option<&str>) -> Result<PartitionField> {
        if self.base.format_version > FormatVersion::V1 {
            let earlier = self.base.partition_specs.iter().flat_map(|spec| &spec.fields);
            let mut same = earlier.filter(|f| f.source_ids == [source] && f.transform == transform);
            if let Some(field) = same.find(|f| name.is_none_or(|name| f.name == name)) {
                return Ok(field.clone());
            }
        }
        let schema = self.base.current_schema();
        let column = schema.full_name(source).unwrap_or_default();
        let name = name.map_or_else(|| default_name(column, &transform), str::to_string);
        self.last_field_id = self
            .last_field_id
            .checked_add(1)
            .ok_or_else(|| Error::invalid("the table has no partition field ids left"))?;
        Ok(PartitionField {
            source_ids: vec![source],
            field_id: self.last_field_id,
            name,
            transform,
            extra: Default::default(),
        })
    }

    /// Two times of one column: the coarser one adds nothing.
    fn check_redundant(&self, field: &PartitionField) -> Result<()> {
        let is_time = |f: &PartitionField| {
            matches!(
                f.transform,
                Transform::Year | Transform::Month | Transform::Day | Transform::Hour
            )
        };
        let other = self
            .adds
            .iter()
            .find(|f| is_time(f) && f.source_ids == field.source_ids);
        match other.filter(|_| is_time(field)) {
            None => Ok(()),
            Some(other) => Err(Error::invalid(format!(
                "partition field '{}' is redundant beside '{}'",
                field.name, other.name
            ))),
        }
    }

    /// A field that goes, or went in v1, gives its name up to a new one.
    fn make_room_for(&mut self, name: &str) -> Result<()> {
        let Some(holder) = self.spec.fields.iter().find(|f| f.name == name) else {
            return Ok(());
        };
        let goes = self.deletes.contains(&holder.field_id);
        if goes {
            let aside = format!("{}_{}", holder.name, holder.field_id);
            self.renames.insert(holder.name.clone(), aside);
            return Ok(());
        }
        if holder.transform == Transform::Void {
            self.move_void_away(name);
            return Ok(());
        }
        // A field renamed in the same update leaves its name too.
        if self.renames.contains_key(name) {
            return Ok(());
        }
        Err(Error::invalid(format!("partition field '{name}' exists already")))
    }

    fn move_void_away(&mut self, name: &str) {
        let holder = self
            .spec
            .fields
            .iter()
            .find(|f| f.name == name && f.transform == Transform::Void);
        if let Some(holder) = holder {
            let aside = format!("{}_{}", holder.name, holder.field_id);
            self.renames.insert(holder.name.clone(), aside);
        }
    }
}

fn named<'a>(spec: &'a PartitionSpec, name: &str) -> Result<&'a PartitionField> {
    let field = spec.fields.iter().find(|field| field.name == name);
    field.ok_or_else(|| Error::invalid(format!("partition field '{name}' does not exist")))
}

/// What a field of a new table's spec is called: unlike in later specs, widths are no part of it (Java:
/// `PartitionSpec.Builder`).
pub fn name_of_new_table(column: &str, transform: &Transform) -> String {
    match transform {
        Transform::Bucket(_) => format!("{column}_bucket"),
        Transform::Truncate(_) => format!("{column}_trunc"),
        other => default_name(column, other),
    }
}

/// What a field is called when nobody names it (Java: `PartitionNameGenerator`).
pub fn default_name(column: &str, transform: &Transform) -> String {
    match transform {
        Transform::Identity => column.to_string(),
        Transform::Bucket(n) => format!("{column}_bucket_{n}"),
        Transform::Truncate(width) => format!("{column}_trunc_{width}"),
        Transform::Year => format!("{column}_year"),
        Transform::Month => format!("{column}_month"),
        Transform::Day => format!("{column}_day"),
        Transform::Hour => format!("{column}_hour"),
        Transform::Void => format!("{column}_null"),
        Transform::Unknown(name) => format!("{column}_{name}"),
    }
}
