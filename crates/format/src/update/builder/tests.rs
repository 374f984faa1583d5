//! Rules of the metadata builder; expected values follow the spec and Java's `TableMetadata.Builder`.

mod snapshots;

use std::sync::Arc;

use uuid::Uuid;

use super::*;
use crate::catalog::TableCreation;
use crate::error::ErrorKind;
use crate::spec::partition::PartitionField;
use crate::spec::schema::Schema;
use crate::spec::snapshot::{MAIN_BRANCH, Operation, Properties, Snapshot, SnapshotManifests, SnapshotRef};
use crate::spec::sort::{NullOrder, SortDirection, SortField};
use crate::spec::table_metadata::{EncryptedKey, StatisticsFile};
use crate::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use crate::spec::value::Value;
use crate::transform::Transform;
use crate::update::{LAST_ADDED, TableUpdate};

const NOW: i64 = 1_700_000_000_000;

fn schema(fields: Vec<NestedField>) -> Schema {
    Schema::new(0, StructType::new(fields), vec![]).unwrap()
}

fn two_columns() -> Schema {
    schema(vec![
        NestedField::required(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "ts", PrimitiveType::Timestamp),
    ])
}

fn creation(version: FormatVersion) -> TableCreation {
    TableCreation {
        schema: two_columns(),
        partition_spec: None,
        sort_order: None,
        location: None,
        properties: Properties::new(),
        format_version: version,
    }
}

fn table(version: FormatVersion) -> TableMetadata {
    let builder = MetadataBuilder::new_table(&creation(version), "s3://b/t/", Uuid::from_u128(7)).unwrap();
    builder.build(NOW).unwrap()
}

fn change(base: &TableMetadata, updates: &[TableUpdate]) -> Result<TableMetadata> {
    let mut builder =
        MetadataBuilder::from_metadata(Arc::new(base.clone()), Some("s3://b/t/metadata/v1.metadata.json"));
    builder.apply_all(updates)?;
    builder.build(NOW + 1000)
}

fn snapshot(id: i64, parent: Option<i64>, sequence_number: i64) -> Snapshot {
    Snapshot {
        snapshot_id: id,
        parent_snapshot_id: parent,
        sequence_number,
        timestamp_ms: NOW + id,
        manifests: SnapshotManifests::List(format!("s3://b/t/metadata/snap-{id}.avro")),
        operation: Some(Operation::Append),
        summary: Properties::new(),
        schema_id: Some(0),
        first_row_id: None,
        added_rows: None,
        key_id: None,
        extra: Default::default(),
    }
}

fn set_main(id: i64) -> TableUpdate {
    TableUpdate::SetSnapshotRef {
        name: MAIN_BRANCH.into(),
        reference: SnapshotRef::branch(id),
    }
}

fn partition_field(source: i32, id: i32, name: &str, transform: Transform) -> PartitionField {
    PartitionField {
        source_ids: vec![source],
        field_id: id,
        name: name.into(),
        transform,
        extra: Default::default(),
    }
}

fn spec(fields: Vec<PartitionField>) -> PartitionSpec {
    PartitionSpec {
        spec_id: 0,
        fields,
        extra: Default::default(),
    }
}

fn kind(result: Result<TableMetadata>) -> ErrorKind {
    result.map(|_| ()).unwrap_err().kind()
}

#[test]
fn a_new_table_gets_fresh_ids_level_by_level() {
    let inner = StructType::new(vec![
        NestedField::required(11, "x", PrimitiveType::Int),
        NestedField::required(12, "y", PrimitiveType::Int),
    ]);
    let list = ListType {
        element: Arc::new(NestedField::optional(21, "element", inner)),
    };
    let map = MapType {
        key: Arc::new(NestedField::required(31, "key", PrimitiveType::String)),
        value: Arc::new(NestedField::optional(32, "value", PrimitiveType::Long)),
    };
    let mut creation = creation(FormatVersion::V2);
    creation.schema = Schema::new(
        5,
        StructType::new(vec![
            NestedField::optional(40, "l", list),
            NestedField::optional(50, "m", map),
            NestedField::required(60, "id", PrimitiveType::Long),
        ]),
        vec![60],
    )
    .unwrap();
    creation.partition_spec = Some(spec(vec![partition_field(60, 1007, "id_bucket", Transform::Bucket(4))]));
    creation.sort_order = Some(SortOrder {
        order_id: 9,
        fields: vec![SortField {
            source_ids: vec![60],
            transform: Transform::Identity,
            direction: SortDirection::Asc,
            null_order: NullOrder::First,
            extra: Default::default(),
        }],
        extra: Default::default(),
    });
    let builder = MetadataBuilder::new_table(&creation, "s3://b/t/", Uuid::from_u128(7)).unwrap();
    let table = builder.build(NOW).unwrap();
    let current = table.current_schema();
    let id = |name: &str| current.field_by_name(name).unwrap().id;
    assert_eq!([id("l"), id("m"), id("id")], [1, 2, 3]);
    assert_eq!([id("l.element"), id("l.element.x"), id("l.element.y")], [4, 5, 6]);
    assert_eq!([id("m.key"), id("m.value")], [7, 8]);
    assert_eq!(current.identifier_field_ids(), [3]);
    assert_eq!((table.last_column_id, table.last_partition_id), (8, 1000));
    assert_eq!(table.default_spec().fields[0].source_ids, [3]);
    assert_eq!(
        (
            table.default_sort_order_id,
            table.default_sort_order().fields[0].source_ids[0]
        ),
        (1, 3)
    );
    assert_eq!((table.current_schema_id, table.default_spec_id), (0, 0));
    assert_eq!((table.location.as_str(), table.last_updated_ms), ("s3://b/t", NOW));
    assert_eq!(table.properties["write.parquet.compression-codec"], "zstd");
    assert!(table.metadata_log.is_empty());
}

#[test]
fn creation_properties_obey_the_version_and_drop_what_is_reserved() {
    let mut creation = creation(FormatVersion::V2);
    creation.properties = Properties::from([("format-version".into(), "3".into()), ("uuid".into(), "x".into())]);
    let builder = MetadataBuilder::new_table(&creation, "/t", Uuid::nil()).unwrap();
    let table = builder.build(NOW).unwrap();
    assert_eq!(table.format_version, FormatVersion::V3);
    assert_eq!(table.properties.len(), 1);
    creation.properties = Properties::from([("format-version".into(), "4".into())]);
    let refused = MetadataBuilder::new_table(&creation, "/t", Uuid::nil()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    for nonsense in ["0", "-1", "99", "two"] {
        creation.properties = Properties::from([("format-version".into(), nonsense.into())]);
        let refused = MetadataBuilder::new_table(&creation, "/t", Uuid::nil()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{nonsense}");
    }
}

#[test]
fn a_staged_table_is_made_again_from_its_updates() {
    let mut creation = creation(FormatVersion::V1);
    creation.partition_spec = Some(spec(vec![partition_field(2, 1000, "day", Transform::Day)]));
    let staged = MetadataBuilder::new_table(&creation, "/t", Uuid::from_u128(9)).unwrap();
    let staged = staged.build(NOW).unwrap();
    let mut builder = MetadataBuilder::empty();
    builder.apply_all(&creation_updates(&staged)).unwrap();
    assert_eq!(builder.build(NOW).unwrap(), staged);
}

#[test]
fn equal_schemas_specs_and_orders_are_reused() {
    let base = table(FormatVersion::V2);
    let same = change(
        &base,
        &[
            TableUpdate::AddSchema(two_columns().with_schema_id(17)),
            TableUpdate::SetCurrentSchema(LAST_ADDED),
            TableUpdate::AddSpec(PartitionSpec::unpartitioned()),
            TableUpdate::SetDefaultSpec(LAST_ADDED),
            TableUpdate::AddSortOrder(SortOrder::unsorted()),
            TableUpdate::SetDefaultSortOrder(LAST_ADDED),
        ],
    );
    assert_eq!(same.unwrap(), base);
    let wider = schema(vec![
        NestedField::required(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "ts", PrimitiveType::Timestamp),
        NestedField::optional(3, "s", PrimitiveType::String),
    ]);
    let by_bucket = spec(vec![partition_field(1, 1000, "b", Transform::Bucket(2))]);
    let changed = change(
        &base,
        &[
            TableUpdate::AddSchema(wider),
            TableUpdate::SetCurrentSchema(LAST_ADDED),
            TableUpdate::AddSpec(by_bucket.clone()),
            TableUpdate::SetDefaultSpec(LAST_ADDED),
        ],
    )
    .unwrap();
    assert_eq!((changed.current_schema_id, changed.default_spec_id), (1, 1));
    assert_eq!((changed.last_column_id, changed.last_partition_id), (3, 1000));
    // Back to the first schema: it is found again by its fields.
    let back = change(
        &changed,
        &[
            TableUpdate::AddSchema(two_columns()),
            TableUpdate::SetCurrentSchema(LAST_ADDED),
        ],
    );
    let back = back.unwrap();
    assert_eq!(
        (back.current_schema_id, back.schemas.len(), back.last_column_id),
        (0, 2, 3)
    );
    assert_eq!(back.metadata_log.len(), 2);
}

#[test]
fn setting_what_was_never_added_is_refused() {
    let base = table(FormatVersion::V2);
    for update in [
        TableUpdate::SetCurrentSchema(LAST_ADDED),
        TableUpdate::SetCurrentSchema(4),
        TableUpdate::SetDefaultSpec(LAST_ADDED),
        TableUpdate::SetDefaultSpec(4),
        TableUpdate::SetDefaultSortOrder(LAST_ADDED),
        TableUpdate::SetDefaultSortOrder(4),
        set_main(4),
        TableUpdate::AssignUuid(Uuid::from_u128(1)),
    ] {
        assert_eq!(
            kind(change(&base, std::slice::from_ref(&update))),
            ErrorKind::Validation,
            "{update:?}"
        );
    }
    assert!(MetadataBuilder::empty().build(NOW).is_err());
}

#[test]
fn v3_types_and_defaults_need_v3() {
    let mut defaulted = NestedField::optional(3, "d", PrimitiveType::Int);
    defaulted.initial_default = Some(Value::Int(1));
    let nested = ListType {
        element: Arc::new(NestedField::optional(4, "element", Type::Variant)),
    };
    let mut unfit = NestedField::optional(3, "g", PrimitiveType::Geometry { crs: None });
    unfit.write_default = Some(Value::binary([1]));
    for (column, fits_v3) in [
        (NestedField::optional(3, "v", Type::Variant), true),
        (NestedField::optional(3, "u", PrimitiveType::Unknown), true),
        (NestedField::optional(3, "n", PrimitiveType::TimestampNs), true),
        (NestedField::optional(3, "l", nested), true),
        (defaulted, true),
        (NestedField::required(3, "u", PrimitiveType::Unknown), false),
        (unfit, false),
    ] {
        let wider = Schema::new(0, StructType::new(vec![column.clone()]), vec![]).unwrap();
        for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
            let result = change(&table(version), &[TableUpdate::AddSchema(wider.clone())]);
            assert_eq!(
                result.is_ok(),
                fits_v3 && version == FormatVersion::V3,
                "{column:?} in v{version}"
            );
        }
    }
}

#[test]
fn versions_go_up_only() {
    let v1 = table(FormatVersion::V1);
    let v2 = change(&v1, &[TableUpdate::UpgradeFormatVersion(FormatVersion::V2)]).unwrap();
    let asked = Properties::from([("format-version".to_string(), "3".to_string())]);
    let v3 = change(&v2, &[TableUpdate::SetProperties(asked)]).unwrap();
    assert_eq!(
        (v3.format_version, v3.next_row_id, v3.last_sequence_number),
        (FormatVersion::V3, 0, 0)
    );
    assert!(!v3.properties.contains_key("format-version"));
    let down = change(&v3, &[TableUpdate::UpgradeFormatVersion(FormatVersion::V2)]);
    assert_eq!(kind(down), ErrorKind::Validation);
    let reserved = Properties::from([("current-schema".to_string(), "{}".to_string())]);
    assert_eq!(
        kind(change(&v2, &[TableUpdate::SetProperties(reserved)])),
        ErrorKind::InvalidInput
    );
    // A v1 table without a uuid gets one.
    let nameless = TableMetadata { table_uuid: None, ..v1 };
    let named = change(&nameless, &[TableUpdate::UpgradeFormatVersion(FormatVersion::V2)]).unwrap();
    assert!(named.table_uuid.is_some());
}

#[test]
fn v1_specs_count_from_1000() {
    let gap = spec(vec![partition_field(1, 1001, "b", Transform::Bucket(2))]);
    assert_eq!(
        kind(change(&table(FormatVersion::V1), &[TableUpdate::AddSpec(gap.clone())])),
        ErrorKind::Validation
    );
    assert!(change(&table(FormatVersion::V2), &[TableUpdate::AddSpec(gap)]).is_ok());
}

#[test]
fn specs_must_fit_the_schema() {
    let base = table(FormatVersion::V2);
    for (field, expected) in [
        (
            partition_field(9, 1000, "x", Transform::Identity),
            ErrorKind::Validation,
        ),
        (partition_field(1, 1000, "x", Transform::Day), ErrorKind::Validation),
        (
            partition_field(1, 1000, "ts", Transform::Bucket(3)),
            ErrorKind::InvalidInput,
        ),
        (
            partition_field(1, 1000, "", Transform::Bucket(3)),
            ErrorKind::InvalidInput,
        ),
    ] {
        assert_eq!(
            kind(change(&base, &[TableUpdate::AddSpec(spec(vec![field.clone()]))])),
            expected,
            "{field:?}"
        );
    }
    let by_ts = spec(vec![partition_field(2, 1000, "ts", Transform::Identity)]);
    let base = change(
        &base,
        &[TableUpdate::AddSpec(by_ts), TableUpdate::SetDefaultSpec(LAST_ADDED)],
    )
    .unwrap();
    // The default spec's column cannot be dropped.
    let narrower = schema(vec![NestedField::required(1, "id", PrimitiveType::Long)]);
    let dropped = change(
        &base,
        &[
            TableUpdate::AddSchema(narrower),
            TableUpdate::SetCurrentSchema(LAST_ADDED),
        ],
    );
    assert_eq!(kind(dropped), ErrorKind::Validation);
}

#[test]
fn the_metadata_log_is_trimmed() {
    let max = Properties::from([("write.metadata.previous-versions-max".to_string(), "2".to_string())]);
    let mut current = change(&table(FormatVersion::V2), &[TableUpdate::SetProperties(max)]).unwrap();
    for version in 2..6 {
        let mut builder = MetadataBuilder::from_metadata(Arc::new(current), Some(&format!("v{version}")));
        builder
            .apply(&TableUpdate::SetLocation(format!("s3://b/t{version}")))
            .unwrap();
        current = builder.build(NOW + version).unwrap();
    }
    let files: Vec<&str> = current
        .metadata_log
        .iter()
        .map(|entry| entry.metadata_file.as_str())
        .collect();
    assert_eq!(files, ["v4", "v5"]);
    assert_eq!(current.metadata_log[1].timestamp_ms, NOW + 4);
}

#[test]
fn clocks_may_differ_by_a_minute() {
    let base = Arc::new(table(FormatVersion::V2));
    for (now, fine) in [(NOW - 60_000, true), (NOW - 60_001, false)] {
        let mut builder = MetadataBuilder::from_metadata(Arc::clone(&base), Some("v1"));
        builder.apply(&TableUpdate::SetLocation("s3://b/other".into())).unwrap();
        assert_eq!(builder.build(now).is_ok(), fine, "{now}");
    }
    let early = Snapshot {
        timestamp_ms: NOW + 100_000,
        ..snapshot(1, None, 1)
    };
    assert!(change(&base, &[TableUpdate::AddSnapshot(early), set_main(1)]).is_err());
}

#[test]
fn what_is_in_use_is_not_removed() {
    let wider = schema(vec![NestedField::required(1, "id", PrimitiveType::Long)]);
    let by_id = spec(vec![partition_field(1, 1000, "id", Transform::Identity)]);
    let base = change(
        &table(FormatVersion::V2),
        &[
            TableUpdate::AddSnapshot(snapshot(1, None, 1)),
            TableUpdate::AddSchema(wider),
            TableUpdate::SetCurrentSchema(LAST_ADDED),
            TableUpdate::AddSpec(by_id),
            TableUpdate::SetDefaultSpec(LAST_ADDED),
        ],
    )
    .unwrap();
    for update in [
        TableUpdate::RemoveSchemas(vec![1]),
        TableUpdate::RemoveSchemas(vec![0]),
        TableUpdate::RemovePartitionSpecs(vec![1]),
    ] {
        assert_eq!(
            kind(change(&base, std::slice::from_ref(&update))),
            ErrorKind::Validation,
            "{update:?}"
        );
    }
    let slim = change(
        &base,
        &[
            TableUpdate::RemoveSchemas(vec![0]),
            TableUpdate::RemoveSnapshots(vec![1]),
            TableUpdate::RemovePartitionSpecs(vec![0]),
        ],
    )
    .unwrap();
    assert_eq!((slim.schemas.len(), slim.partition_specs.len()), (1, 1));
}

#[test]
fn encryption_keys_come_and_go() {
    let key = EncryptedKey {
        key_id: "k".into(),
        encrypted_key_metadata: "aWNl".into(),
        encrypted_by_id: None,
        properties: Properties::new(),
        extra: Default::default(),
    };
    let add = TableUpdate::AddEncryptionKey(key);
    assert!(change(&table(FormatVersion::V2), std::slice::from_ref(&add)).is_err());
    let keyed = change(&table(FormatVersion::V3), &[add.clone(), add]).unwrap();
    assert_eq!(keyed.encryption_keys.len(), 1);
    let bare = change(&keyed, &[TableUpdate::RemoveEncryptionKey("k".into())]).unwrap();
    assert!(bare.encryption_keys.is_empty());
}

#[test]
fn a_builder_says_whether_anything_changed() {
    let base = Arc::new(table(FormatVersion::V2));
    let mut builder = MetadataBuilder::from_metadata(Arc::clone(&base), Some("v1"));
    builder.apply(&TableUpdate::SetLocation("s3://b/t/".into())).unwrap();
    builder
        .apply(&TableUpdate::RemoveProperties(vec!["absent".into()]))
        .unwrap();
    builder
        .apply(&TableUpdate::SetProperties(base.properties.clone()))
        .unwrap();
    assert!(!builder.changed());
    builder
        .apply(&TableUpdate::SetProperties(Properties::from([(
            "a".into(),
            "b".into(),
        )])))
        .unwrap();
    assert!(builder.changed());
}
