//! Partition evolution; expected values follow Java's `BaseUpdatePartitionSpec`.

use super::*;
use crate::error::ErrorKind;
use crate::spec::types::{NestedField, PrimitiveType};
use crate::update::TableRequirement;
use crate::update::test_tables::{changed, table};

fn field(source: FieldId, id: FieldId, name: &str, transform: Transform) -> PartitionField {
    PartitionField {
        source_ids: vec![source],
        field_id: id,
        name: name.into(),
        transform,
        extra: Default::default(),
    }
}

/// `id long, ts timestamp, data string` partitioned by `day(ts) AS shard`.
fn base(version: FormatVersion) -> TableMetadataRef {
    let columns = vec![
        NestedField::required(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "ts", PrimitiveType::Timestamp),
        NestedField::optional(3, "data", PrimitiveType::String),
    ];
    let spec = PartitionSpec {
        spec_id: 0,
        fields: vec![field(2, 1000, "shard", Transform::Day)],
        extra: Default::default(),
    };
    table(version, columns, Some(spec))
}

fn update(base: &TableMetadataRef) -> SpecUpdate {
    SpecUpdate::new(base).unwrap()
}

fn told(spec: &PartitionSpec) -> Vec<String> {
    let fields = spec.fields.iter();
    fields
        .map(|f| format!("{} {}={}({})", f.field_id, f.name, f.transform, f.source_ids[0]))
        .collect()
}

#[test]
fn fields_are_added_with_default_names() {
    let base = base(FormatVersion::V2);
    let mut update = update(&base);
    update.add_field("id", Transform::Bucket(16), None).unwrap();
    update.add_field("data", Transform::Truncate(4), None).unwrap();
    update.add_field("data", Transform::Identity, None).unwrap();
    update.add_field("ts", Transform::Hour, Some("h")).unwrap();
    let change = update.finish().unwrap();
    assert!(change.1.contains(&TableRequirement::LastAssignedPartitionIdMatch(1000)));
    assert!(change.1.contains(&TableRequirement::DefaultSpecIdMatch(0)));
    let table = changed(&base, &change);
    let expected = [
        "1000 shard=day(2)",
        "1001 id_bucket_16=bucket[16](1)",
        "1002 data_trunc_4=truncate[4](3)",
        "1003 data=identity(3)",
        "1004 h=hour(2)",
    ];
    assert_eq!(told(table.default_spec()), expected);
    assert_eq!((table.default_spec_id, table.last_partition_id), (1, 1004));
}

#[test]
fn v2_drops_fields_and_takes_them_up_again_with_their_ids() {
    let base = base(FormatVersion::V2);
    let mut update_one = update(&base);
    update_one.remove_field("shard").unwrap();
    update_one.add_field("id", Transform::Bucket(8), None).unwrap();
    let one = changed(&base, &update_one.finish().unwrap());
    assert_eq!(told(one.default_spec()), ["1001 id_bucket_8=bucket[8](1)"]);
    let mut update_two = update(&one);
    update_two.add_field("ts", Transform::Day, None).unwrap();
    update_two
        .remove_field_by_transform("id", &Transform::Bucket(8))
        .unwrap();
    let two = changed(&one, &update_two.finish().unwrap());
    // The earlier field comes back under its id and name, and with it the earlier spec.
    assert_eq!(told(two.default_spec()), ["1000 shard=day(2)"]);
    assert_eq!((two.default_spec_id, two.partition_specs.len()), (0, 2));
    // Under another name it is another field.
    let mut update_three = update(&one);
    update_three.add_field("ts", Transform::Day, Some("d")).unwrap();
    let three = changed(&one, &update_three.finish().unwrap());
    assert_eq!(told(three.default_spec())[1], "1002 d=day(2)");
}

#[test]
fn v1_leaves_void_fields_in_place() {
    let base = base(FormatVersion::V1);
    let mut drop = update(&base);
    drop.remove_field("shard").unwrap();
    let dropped = changed(&base, &drop.finish().unwrap());
    assert_eq!(told(dropped.default_spec()), ["1000 shard=void(2)"]);
    // A new field of that name pushes the void one aside.
    let mut add = update(&dropped);
    add.add_field("id", Transform::Bucket(2), Some("shard")).unwrap();
    let added = changed(&dropped, &add.finish().unwrap());
    assert_eq!(
        told(added.default_spec()),
        ["1000 shard_1000=void(2)", "1001 shard=bucket[2](1)"]
    );
}

#[test]
fn dropping_and_adding_the_same_field_keeps_or_renames_it() {
    let base = base(FormatVersion::V2);
    let mut same = update(&base);
    same.remove_field("shard").unwrap();
    same.add_field("ts", Transform::Day, None).unwrap();
    assert_eq!(same.finish().unwrap(), (vec![], vec![]));
    let mut renamed = update(&base);
    renamed.remove_field("shard").unwrap();
    renamed.add_field("ts", Transform::Day, Some("ts_day")).unwrap();
    let renamed = changed(&base, &renamed.finish().unwrap());
    assert_eq!(told(renamed.default_spec()), ["1000 ts_day=day(2)"]);
    let mut plain = update(&base);
    plain.rename_field("shard", "d").unwrap();
    let plain = changed(&base, &plain.finish().unwrap());
    assert_eq!(told(plain.default_spec()), ["1000 d=day(2)"]);
}

#[test]
fn a_spec_may_be_added_without_becoming_the_default() {
    let base = base(FormatVersion::V2);
    let mut update = update(&base)
        .spec_use(SpecUse::Additional)
        .case_sensitivity(CaseSensitivity::Insensitive);
    update.add_field("DATA", Transform::Identity, None).unwrap();
    let table = changed(&base, &update.finish().unwrap());
    assert_eq!((table.default_spec_id, table.partition_specs.len()), (0, 2));
    // The name is that of the column, not of the caller.
    assert_eq!(table.partition_specs[1].fields[1].name, "data");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let base = base(FormatVersion::V2);
    type Step = fn(&mut SpecUpdate) -> Result<&mut SpecUpdate>;
    let cases: Vec<(&str, Vec<Step>)> = vec![
        ("missing column", vec![|u| u.add_field("x", Transform::Identity, None)]),
        ("wrong case", vec![|u| u.add_field("ID", Transform::Identity, None)]),
        ("unfit transform", vec![|u| u.add_field("data", Transform::Day, None)]),
        (
            "unknown transform",
            vec![|u| u.add_field("id", Transform::Unknown("z".into()), None)],
        ),
        (
            "same transform",
            vec![|u| u.add_field("ts", Transform::Day, Some("again"))],
        ),
        (
            "added twice",
            vec![|u| u.add_field("id", Transform::Identity, None), |u| {
                u.add_field("id", Transform::Identity, Some("other"))
            }],
        ),
        (
            "redundant",
            vec![|u| u.add_field("ts", Transform::Hour, None), |u| {
                u.add_field("ts", Transform::Month, None)
            }],
        ),
        (
            "taken name",
            vec![|u| u.add_field("id", Transform::Bucket(3), Some("shard"))],
        ),
        (
            "same name twice",
            vec![|u| u.add_field("id", Transform::Bucket(3), Some("b")), |u| {
                u.add_field("data", Transform::Bucket(3), Some("b"))
            }],
        ),
        ("missing field", vec![|u| u.remove_field("x")]),
        (
            "missing transform",
            vec![|u| u.remove_field_by_transform("id", &Transform::Identity)],
        ),
        ("missing rename", vec![|u| u.rename_field("x", "y")]),
        (
            "drop and rename",
            vec![|u| u.remove_field("shard"), |u| u.rename_field("shard", "y")],
        ),
        (
            "rename and drop",
            vec![|u| u.rename_field("shard", "y"), |u| u.remove_field("shard")],
        ),
        (
            "drop an addition",
            vec![|u| u.add_field("id", Transform::Identity, None), |u| {
                u.remove_field("id")
            }],
        ),
        (
            "rename an addition",
            vec![|u| u.add_field("id", Transform::Identity, None), |u| {
                u.rename_field("id", "y")
            }],
        ),
    ];
    for (what, steps) in cases {
        let mut update = update(&base);
        let (last, before) = steps.split_last().unwrap();
        for step in before {
            step(&mut update).unwrap();
        }
        assert_eq!(last(&mut update).unwrap_err().kind(), ErrorKind::InvalidInput, "{what}");
    }
    let mut column_name = update(&base);
    column_name.add_field("id", Transform::Bucket(3), Some("data")).unwrap();
    assert_eq!(column_name.finish().unwrap_err().kind(), ErrorKind::InvalidInput);
}
