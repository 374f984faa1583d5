//! Putting a new table in the place of another (Java: `TableMetadata.buildReplacement`).

use std::collections::{BTreeMap, BTreeSet};

use super::builder::{FORMAT_VERSION, format_version, fresh_order, fresh_spec, persisted};
use super::fresh_ids::FreshIds;
use super::{LAST_ADDED, TableUpdate};
use crate::catalog::TableCreation;
use crate::error::{Error, Result};
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::snapshot::MAIN_BRANCH;
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::spec::types::FieldId;
use crate::transform::Transform;

/// The updates that make `base` a table as `creation` wants it, empty on `main`. History, other refs, properties not set
/// anew and the uuid stay. Columns keep the ids of columns of the same name, partition fields those of equal ones.
///
/// The location stays unless `creation` gives one; the format version stays unless the properties ask for a higher one.
///
/// # Errors
/// `InvalidInput` when spec, order or identifier fields don't fit the schema, `Unsupported` for an upcoming version.
pub fn replacement(base: &TableMetadata, creation: &TableCreation) -> Result<Vec<TableUpdate>> {
    let mut updates = Vec::new();
    if let Some(text) = creation.properties.get(FORMAT_VERSION) {
        let version = format_version(text)?;
        if version != base.format_version {
            updates.push(TableUpdate::UpgradeFormatVersion(version));
        }
    }
    if base.refs.contains_key(MAIN_BRANCH) {
        updates.push(TableUpdate::RemoveSnapshotRef(MAIN_BRANCH.to_string()));
    }
    let mut ids = FreshIds::reusing(base.last_column_id, &creation.schema, base.current_schema());
    let schema = ids.assign_schema(0, &creation.schema)?;
    let spec = fresh_spec(creation.partition_spec.as_ref(), &creation.schema, &ids)?;
    let order = fresh_order(creation.sort_order.as_ref(), &creation.schema, &ids)?;
    updates.extend([
        TableUpdate::AddSchema(schema),
        TableUpdate::SetCurrentSchema(LAST_ADDED),
        TableUpdate::AddSpec(with_known_ids(base, spec)?),
        TableUpdate::SetDefaultSpec(LAST_ADDED),
        TableUpdate::AddSortOrder(order),
        TableUpdate::SetDefaultSortOrder(LAST_ADDED),
    ]);
    updates.extend(creation.location.clone().map(TableUpdate::SetLocation));
    updates.push(TableUpdate::SetProperties(persisted(&creation.properties)));
    Ok(updates)
}

/// Gives the fields of a spec the ids of equal fields that the table has had, and new ids to the others.
fn with_known_ids(base: &TableMetadata, spec: PartitionSpec) -> Result<PartitionSpec> {
    let mut last = base.last_partition_id;
    let mut next_id = || {
        last = last
            .checked_add(1)
            .ok_or_else(|| Error::invalid("the table has no partition field ids left"))?;
        Ok(last)
    };
    if base.format_version == FormatVersion::V1 {
        return carried_forward(base, spec, next_id);
    }
    let mut known: BTreeMap<(Vec<FieldId>, String), FieldId> = BTreeMap::new();
    for field in base.partition_specs.iter().flat_map(|spec| &spec.fields) {
        let id = known.entry(key(field)).or_insert(field.field_id);
        *id = (*id).max(field.field_id);
    }
    let mut fields = Vec::with_capacity(spec.fields.len());
    for field in spec.fields {
        let field_id = match known.get(&key(&field)) {
            Some(id) => *id,
            None => next_id()?,
        };
        fields.push(PartitionField { field_id, ..field });
    }
    Ok(PartitionSpec { fields, ..spec })
}

/// In v1 every field of the spec before keeps its place: what is not wanted any more becomes void.
fn carried_forward(
    base: &TableMetadata,
    spec: PartitionSpec,
    mut next_id: impl FnMut() -> Result<FieldId>,
) -> Result<PartitionSpec> {
    let wanted_names: BTreeSet<String> = spec.fields.iter().map(|f| f.name.clone()).collect();
    let mut wanted = spec.fields;
    let mut fields = Vec::new();
    for before in &base.default_spec().fields {
        let place = wanted.iter().position(|field| key(field) == key(before));
        fields.push(match place {
            Some(place) => PartitionField {
                field_id: before.field_id,
                ..wanted.remove(place)
            },
            None => PartitionField {
                name: match wanted_names.contains(&before.name) {
                    true => format!("{}_{}", before.name, before.field_id),
                    false => before.name.clone(),
                },
                transform: Transform::Void,
                ..before.clone()
            },
        });
    }
    for field in wanted {
        let field_id = next_id()?;
        fields.push(PartitionField { field_id, ..field });
    }
    Ok(PartitionSpec {
        spec_id: spec.spec_id,
        fields,
        extra: spec.extra,
    })
}

fn key(field: &PartitionField) -> (Vec<FieldId>, String) {
    (field.source_ids.clone(), field.transform.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::schema::Schema;
    use crate::spec::snapshot::{Properties, SnapshotRef};
    use crate::spec::table_metadata::TableMetadataRef;
    use crate::spec::types::{NestedField, PrimitiveType, StructType};
    use crate::update::TableRequirement;
    use crate::update::requirements::requirements_for_replace;
    use crate::update::test_tables::{changed, snapshot, table};

    fn field(source: FieldId, id: FieldId, name: &str, transform: Transform) -> PartitionField {
        PartitionField {
            source_ids: vec![source],
            field_id: id,
            name: name.into(),
            transform,
            extra: Default::default(),
        }
    }

    fn base(version: FormatVersion) -> TableMetadataRef {
        let columns = vec![
            NestedField::required(1, "id", PrimitiveType::Long),
            NestedField::optional(2, "data", PrimitiveType::String),
        ];
        let spec = PartitionSpec {
            spec_id: 0,
            fields: vec![field(2, 1000, "data", Transform::Identity)],
            extra: Default::default(),
        };
        let sequence_number = i64::from(version > FormatVersion::V1);
        let updates = vec![
            TableUpdate::AddSnapshot(snapshot(5, None, sequence_number)),
            TableUpdate::SetSnapshotRef {
                name: MAIN_BRANCH.into(),
                reference: SnapshotRef::branch(5),
            },
            TableUpdate::SetProperties(Properties::from([("kept".into(), "yes".into())])),
        ];
        changed(&table(version, columns, Some(spec)), &(updates, vec![]))
    }

    /// `extra int, data string` partitioned by `bucket(data) AS data_b, identity(data) AS data`.
    fn creation() -> TableCreation {
        let columns = vec![
            NestedField::optional(1, "extra", PrimitiveType::Int),
            NestedField::optional(2, "data", PrimitiveType::String),
        ];
        TableCreation {
            schema: Schema::new(0, StructType::new(columns), vec![]).unwrap(),
            partition_spec: Some(PartitionSpec {
                spec_id: 0,
                fields: vec![
                    field(2, 1000, "data_b", Transform::Bucket(4)),
                    field(2, 1001, "data", Transform::Identity),
                ],
                extra: Default::default(),
            }),
            sort_order: None,
            location: None,
            properties: Properties::from([("new".into(), "1".into())]),
            format_version: FormatVersion::V2,
        }
    }

    #[test]
    fn ids_of_what_has_the_same_name_are_kept() {
        let base = base(FormatVersion::V2);
        let updates = replacement(&base, &creation()).unwrap();
        let requirements = requirements_for_replace(&base, &updates);
        let expected = [
            TableRequirement::UuidMatch(base.table_uuid.unwrap()),
            TableRequirement::LastAssignedFieldIdMatch(2),
            TableRequirement::LastAssignedPartitionIdMatch(1000),
        ];
        assert_eq!(requirements, expected);
        let table = changed(&base, &(updates, requirements));
        let ids: Vec<FieldId> = table.current_schema().fields().iter().map(|f| f.id).collect();
        assert_eq!((ids, table.last_column_id), (vec![3, 2], 3));
        let spec = table.default_spec();
        assert_eq!((spec.fields[0].field_id, spec.fields[1].field_id), (1001, 1000));
        assert_eq!(
            (table.current_snapshot_id, table.snapshots.len(), table.table_uuid),
            (None, 1, base.table_uuid)
        );
        assert_eq!(
            (table.properties["kept"].as_str(), table.properties["new"].as_str()),
            ("yes", "1")
        );
        assert_eq!(table.location, base.location);
    }

    #[test]
    fn v1_carries_its_partition_fields_forward() {
        let base = base(FormatVersion::V1);
        let mut creation = creation();
        creation.partition_spec = Some(PartitionSpec {
            spec_id: 0,
            fields: vec![field(2, 1000, "data", Transform::Truncate(2))],
            extra: Default::default(),
        });
        creation.schema = Schema::new(0, creation.schema.as_struct().clone(), vec![]).unwrap();
        let updates = replacement(&base, &creation).unwrap();
        let TableUpdate::AddSpec(spec) = &updates[3] else {
            panic!("no spec")
        };
        let told: Vec<(FieldId, &str, &Transform)> = spec
            .fields
            .iter()
            .map(|f| (f.field_id, f.name.as_str(), &f.transform))
            .collect();
        let expected = [
            (1000, "data_1000", &Transform::Void),
            (1001, "data", &Transform::Truncate(2)),
        ];
        assert_eq!(told, expected);
    }
}
