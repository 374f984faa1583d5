//! Schema evolution; expected values follow the spec ("Schema Evolution") and Java's `SchemaUpdate`.

use std::sync::Arc;

mod following;

use super::*;
use crate::error::ErrorKind;
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::snapshot::Properties;
use crate::spec::table_metadata::FormatVersion;
use crate::spec::types::{ListType, MapType, PrimitiveType, StructType};
use crate::update::TableRequirement;
use crate::update::table_facts::change_properties;
use crate::update::test_tables::{changed, table};

/// ```text
/// 1 id long not null, 2 data string, 3 point {6 x double not null, 7 y double not null},
/// 4 points [8 {9 x int, 10 y int}], 5 props {11 string: 12 {13 n int}}
/// ```
fn base(version: FormatVersion) -> TableMetadataRef {
    let pair = |x, y, x_type: PrimitiveType, nullability| {
        StructType::new(vec![
            NestedField::new(x, "x", x_type.clone(), nullability),
            NestedField::new(y, "y", x_type, nullability),
        ])
    };
    let points = ListType {
        element: Arc::new(NestedField::optional(
            8,
            "element",
            pair(9, 10, PrimitiveType::Int, Nullability::Optional),
        )),
    };
    let value = StructType::new(vec![NestedField::optional(13, "n", PrimitiveType::Int)]);
    let props = MapType {
        key: Arc::new(NestedField::required(11, "key", PrimitiveType::String)),
        value: Arc::new(NestedField::optional(12, "value", value)),
    };
    let columns = vec![
        NestedField::required(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "data", PrimitiveType::String),
        NestedField::optional(3, "point", pair(6, 7, PrimitiveType::Double, Nullability::Required)),
        NestedField::optional(4, "points", points),
        NestedField::optional(5, "props", props),
    ];
    table(version, columns, None)
}

type Step = fn(&mut SchemaUpdate) -> Result<&mut SchemaUpdate>;

fn evolve(base: &TableMetadataRef, steps: &[Step]) -> Result<TableMetadataRef> {
    let mut update = SchemaUpdate::new(base);
    for step in steps {
        step(&mut update)?;
    }
    Ok(changed(base, &update.finish()?))
}

fn names(schema: &Schema) -> Vec<&str> {
    schema.fields().iter().map(|f| f.name.as_str()).collect()
}

fn id(table: &TableMetadataRef, name: &str) -> Option<FieldId> {
    table.current_schema().field_by_name(name).map(|f| f.id)
}

#[test]
fn columns_are_added_at_every_depth() {
    let base = base(FormatVersion::V2);
    let table = evolve(
        &base,
        &[
            |u| {
                let list = ListType {
                    element: Arc::new(NestedField::optional(1, "element", PrimitiveType::Int)),
                };
                u.add_column(NewColumn::optional("tags", list))
            },
            |u| {
                u.add_column(
                    NewColumn::optional("z", PrimitiveType::Double)
                        .inside("point")
                        .with_doc("height"),
                )
            },
            |u| u.add_column(NewColumn::optional("z", PrimitiveType::Int).inside("points")),
            |u| u.add_column(NewColumn::optional("m", PrimitiveType::Int).inside("props.value")),
            |u| u.add_column(NewColumn::optional("a.b", PrimitiveType::Int)),
        ],
    )
    .unwrap();
    assert_eq!((id(&table, "tags"), id(&table, "tags.element")), (Some(14), Some(15)));
    assert_eq!(
        (id(&table, "point.z"), id(&table, "points.element.z")),
        (Some(16), Some(17))
    );
    assert_eq!((id(&table, "props.value.m"), id(&table, "a.b")), (Some(18), Some(19)));
    assert_eq!((table.last_column_id, table.current_schema_id), (19, 1));
    assert_eq!(
        table.current_schema().field_by_name("point.z").unwrap().doc.as_deref(),
        Some("height")
    );
    // The shorter spelling leads to the same fields.
    assert_eq!((id(&table, "points.z"), id(&table, "props.n")), (Some(17), Some(13)));
}

#[test]
fn the_change_requires_what_it_rests_on() {
    let base = base(FormatVersion::V2);
    let mut update = SchemaUpdate::new(&base);
    update.add_column(NewColumn::optional("n", PrimitiveType::Int)).unwrap();
    let (updates, requirements) = update.finish().unwrap();
    assert!(matches!(
        updates[..],
        [TableUpdate::AddSchema(_), TableUpdate::SetCurrentSchema(LAST_ADDED)]
    ));
    let uuid = base.table_uuid.unwrap();
    let expected = [
        TableRequirement::UuidMatch(uuid),
        TableRequirement::LastAssignedFieldIdMatch(13),
        TableRequirement::CurrentSchemaIdMatch(0),
    ];
    assert_eq!(requirements, expected);
    assert_eq!(SchemaUpdate::new(&base).finish().unwrap(), (vec![], vec![]));
}

#[test]
fn columns_are_dropped_and_replaced() {
    let base = base(FormatVersion::V2);
    let table = evolve(
        &base,
        &[
            |u| u.delete_column("data"),
            |u| u.delete_column("points.element.y"),
            |u| u.delete_column("props.value.n"),
            |u| u.add_column(NewColumn::optional("data", PrimitiveType::Long)),
        ],
    )
    .unwrap();
    assert_eq!(
        names(table.current_schema()),
        ["id", "point", "points", "props", "data"]
    );
    assert_eq!(
        (
            id(&table, "data"),
            id(&table, "points.element.y"),
            id(&table, "props.value.n")
        ),
        (Some(14), None, None)
    );
}

#[test]
fn columns_are_renamed_promoted_and_documented_together() {
    let base = base(FormatVersion::V2);
    let table = evolve(
        &base,
        &[
            |u| u.rename_column("points.x", "lat"),
            |u| u.update_column_type("points.x", PrimitiveType::Long),
            |u| u.update_column_doc("points.x", Some("degrees")),
            |u| u.rename_column("point", "place"),
            |u| u.make_column_optional("point.x"),
            |u| u.make_column_optional("id"),
        ],
    )
    .unwrap();
    let schema = table.current_schema();
    let lat = schema.field_by_name("points.element.lat").unwrap();
    assert_eq!((lat.id, &lat.field_type), (9, &Type::Primitive(PrimitiveType::Long)));
    assert_eq!(lat.doc.as_deref(), Some("degrees"));
    assert!(!schema.field_by_name("place.x").unwrap().required && !schema.field_by_name("id").unwrap().required);
    assert!(schema.field_by_name("place.y").unwrap().required);
}

#[test]
fn columns_move_among_their_siblings() {
    use ColumnPosition::{After, Before, First};
    let base = base(FormatVersion::V2);
    let table = evolve(
        &base,
        &[
            |u| u.add_column(NewColumn::optional("new", PrimitiveType::Int)),
            |u| u.move_column("new", &After("id".into())),
            |u| u.move_column("props", &First),
            |u| u.move_column("id", &Before("points".into())),
            |u| u.move_column("points.y", &First),
            |u| u.move_column("point.x", &After("point.y".into())),
        ],
    )
    .unwrap();
    let schema = table.current_schema();
    assert_eq!(names(schema), ["props", "new", "data", "point", "id", "points"]);
    let inner = |name: &str| -> Vec<FieldId> {
        let field_type = &schema.field_by_name(name).unwrap().field_type;
        field_type.children().iter().map(|f| f.id).collect()
    };
    assert_eq!((inner("points.element"), inner("point")), (vec![10, 9], vec![7, 6]));
}

#[test]
fn promotions_follow_the_spec() {
    let decimal = |precision, scale| Type::Primitive(PrimitiveType::Decimal { precision, scale });
    let primitive = Type::Primitive;
    let (v2, v3) = (FormatVersion::V2, FormatVersion::V3);
    for (from, to, allowed_in_v2, allowed_in_v3) in [
        (
            primitive(PrimitiveType::Int),
            primitive(PrimitiveType::Long),
            true,
            true,
        ),
        (
            primitive(PrimitiveType::Float),
            primitive(PrimitiveType::Double),
            true,
            true,
        ),
        (decimal(9, 2), decimal(18, 2), true, true),
        (decimal(9, 2), decimal(18, 3), false, false),
        (decimal(18, 2), decimal(9, 2), false, false),
        (
            primitive(PrimitiveType::Long),
            primitive(PrimitiveType::Int),
            false,
            false,
        ),
        (
            primitive(PrimitiveType::Int),
            primitive(PrimitiveType::String),
            false,
            false,
        ),
        (
            primitive(PrimitiveType::Date),
            primitive(PrimitiveType::Timestamp),
            false,
            true,
        ),
        (
            primitive(PrimitiveType::Date),
            primitive(PrimitiveType::TimestampNs),
            false,
            true,
        ),
        (
            primitive(PrimitiveType::Date),
            primitive(PrimitiveType::Timestamptz),
            false,
            false,
        ),
        (
            primitive(PrimitiveType::Unknown),
            primitive(PrimitiveType::Uuid),
            false,
            true,
        ),
        (primitive(PrimitiveType::Unknown), Type::Variant, false, true),
        (Type::Variant, primitive(PrimitiveType::String), false, false),
    ] {
        assert_eq!(
            is_promotion_allowed(&from, &to, v2),
            allowed_in_v2,
            "{from} -> {to} in v2"
        );
        assert_eq!(
            is_promotion_allowed(&from, &to, v3),
            allowed_in_v3,
            "{from} -> {to} in v3"
        );
    }
}

#[test]
fn a_promotion_must_not_change_partition_values() {
    let by = |transform| {
        let columns = vec![NestedField::optional(1, "d", PrimitiveType::Date)];
        let spec = PartitionSpec {
            spec_id: 0,
            fields: vec![PartitionField {
                source_ids: vec![1],
                field_id: 1000,
                name: "p".into(),
                transform,
                extra: Default::default(),
            }],
            extra: Default::default(),
        };
        table(FormatVersion::V3, columns, Some(spec))
    };
    let promote = |base: TableMetadataRef| evolve(&base, &[|u| u.update_column_type("d", PrimitiveType::Timestamp)]);
    assert!(promote(by(Transform::Month)).is_ok());
    assert_eq!(
        promote(by(Transform::Bucket(4))).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        promote(by(Transform::Identity)).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn defaults_are_set_and_kept_through_promotion() {
    let base = base(FormatVersion::V3);
    let table = evolve(
        &base,
        &[
            |u| u.add_column(NewColumn::required("n", PrimitiveType::Int).with_default(Value::Int(7))),
            |u| u.add_column(NewColumn::optional("d", PrimitiveType::Date).with_default(Value::Int(1))),
            |u| u.add_column(NewColumn::optional("s", PrimitiveType::String)),
            |u| u.require_column("n"),
        ],
    )
    .unwrap();
    let table = evolve(
        &table,
        &[
            |u| u.update_column_default("s", Some(Value::string("x"))),
            |u| u.update_column_default("n", Some(Value::Int(8))),
            |u| u.update_column_type("n", PrimitiveType::Long),
            |u| u.update_column_type("d", PrimitiveType::Timestamp),
        ],
    )
    .unwrap();
    let field = |name: &str| table.current_schema().field_by_name(name).unwrap();
    assert_eq!(
        (&field("n").initial_default, &field("n").write_default),
        (&Some(Value::Long(7)), &Some(Value::Long(8)))
    );
    assert_eq!(
        (&field("s").initial_default, &field("s").write_default),
        (&None, &Some(Value::string("x")))
    );
    assert_eq!(field("d").initial_default, Some(Value::Long(86_400_000_000)));
}

#[test]
fn incompatible_changes_need_to_be_allowed() {
    let base = base(FormatVersion::V2);
    let steps: [Step; 2] = [
        |u| u.add_column(NewColumn::required("r", PrimitiveType::Int)),
        |u| u.require_column("data"),
    ];
    for step in steps {
        let mut update = SchemaUpdate::new(&base);
        assert_eq!(step(&mut update).unwrap_err().kind(), ErrorKind::InvalidInput);
        let mut allowed = SchemaUpdate::new(&base).incompatible_changes(IncompatibleChanges::Allow);
        step(&mut allowed).unwrap();
        allowed.apply().unwrap();
    }
}

#[test]
fn identifier_fields_are_kept_set_and_guarded() {
    let base = base(FormatVersion::V2);
    let table = evolve(&base, &[|u| u.set_identifier_fields(["id"])]).unwrap();
    assert_eq!(table.current_schema().identifier_field_ids(), [1]);
    let renamed = evolve(&table, &[|u| u.rename_column("id", "key")]).unwrap();
    assert_eq!(renamed.current_schema().identifier_field_ids(), [1]);
    assert!(evolve(&table, &[|u| u.delete_column("id")]).is_err());
    let freed = evolve(&table, &[|u| u.set_identifier_fields([]), |u| u.delete_column("id")]).unwrap();
    assert!(freed.current_schema().identifier_field_ids().is_empty());
    // A column that is added later in the same update may be named before.
    let mut update = SchemaUpdate::new(&base).incompatible_changes(IncompatibleChanges::Allow);
    update.set_identifier_fields(["k"]).unwrap();
    update.add_column(NewColumn::required("k", PrimitiveType::Int)).unwrap();
    assert_eq!(update.apply().unwrap().identifier_field_ids(), [14]);
    for unfit in ["data", "point", "point.x", "points.x", "props.key", "nowhere"] {
        let mut update = SchemaUpdate::new(&base);
        update.set_identifier_fields([unfit]).unwrap();
        assert!(update.apply().is_err(), "{unfit}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    use ColumnPosition::{After, Before, First};
    let base = base(FormatVersion::V2);
    let cases: Vec<(&str, Vec<Step>)> = vec![
        (
            "taken name",
            vec![|u| u.add_column(NewColumn::optional("data", PrimitiveType::Int))],
        ),
        (
            "taken nested name",
            vec![|u| u.add_column(NewColumn::optional("x", PrimitiveType::Int).inside("point"))],
        ),
        (
            "no parent",
            vec![|u| u.add_column(NewColumn::optional("x", PrimitiveType::Int).inside("nowhere"))],
        ),
        (
            "parent no struct",
            vec![|u| u.add_column(NewColumn::optional("x", PrimitiveType::Int).inside("id"))],
        ),
        (
            "added twice",
            vec![|u| u.add_column(NewColumn::optional("n", PrimitiveType::Int)), |u| {
                u.add_column(NewColumn::optional("n", PrimitiveType::Int))
            }],
        ),
        (
            "parent goes",
            vec![|u| u.delete_column("point"), |u| {
                u.add_column(NewColumn::optional("n", PrimitiveType::Int).inside("point"))
            }],
        ),
        ("drop missing", vec![|u| u.delete_column("nowhere")]),
        (
            "drop with updates",
            vec![|u| u.rename_column("data", "d"), |u| u.delete_column("data")],
        ),
        (
            "drop with additions",
            vec![
                |u| u.add_column(NewColumn::optional("n", PrimitiveType::Int).inside("point")),
                |u| u.delete_column("point"),
            ],
        ),
        ("rename missing", vec![|u| u.rename_column("nowhere", "x")]),
        (
            "rename dropped",
            vec![|u| u.delete_column("data"), |u| u.rename_column("data", "x")],
        ),
        ("narrow", vec![|u| u.update_column_type("id", PrimitiveType::Int)]),
        (
            "struct to primitive",
            vec![|u| u.update_column_type("point", PrimitiveType::Int)],
        ),
        (
            "default of another type",
            vec![|u| u.update_column_default("id", Some(Value::string("x")))],
        ),
        ("move missing", vec![|u| u.move_column("nowhere", &First)]),
        ("move to itself", vec![|u| u.move_column("id", &After("id".into()))]),
        (
            "move to another struct",
            vec![|u| u.move_column("id", &Before("point.x".into()))],
        ),
        ("move a list element", vec![|u| u.move_column("points.element", &First)]),
        (
            "rename to taken",
            vec![|u| u.rename_column("id", "data"), |u| u.apply().map(|_| u)],
        ),
        (
            "drop an element",
            vec![|u| u.delete_column("points.element"), |u| u.apply().map(|_| u)],
        ),
        (
            "drop a key",
            vec![|u| u.delete_column("props.key"), |u| u.apply().map(|_| u)],
        ),
        (
            "change a key",
            vec![|u| u.update_column_doc("props.key", Some("k")), |u| {
                u.apply().map(|_| u)
            }],
        ),
        (
            "rename a value",
            vec![|u| u.rename_column("props.value", "v"), |u| u.apply().map(|_| u)],
        ),
    ];
    for (what, steps) in cases {
        let mut update = SchemaUpdate::new(&base);
        let (last, before) = steps.split_last().unwrap();
        for step in before {
            step(&mut update).unwrap();
        }
        assert_eq!(
            last(&mut update).map(drop).unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{what}"
        );
    }
}

#[test]
fn case_may_not_matter() {
    let base = base(FormatVersion::V2);
    let mut update = SchemaUpdate::new(&base).case_sensitivity(CaseSensitivity::Insensitive);
    update.rename_column("POINT.X", "lon").unwrap();
    update
        .add_column(NewColumn::optional("Z", PrimitiveType::Double).inside("Point"))
        .unwrap();
    update.move_column("point.z", &ColumnPosition::First).unwrap();
    assert!(
        update
            .add_column(NewColumn::optional("DATA", PrimitiveType::Int))
            .is_err()
    );
    assert!(
        update
            .add_column(NewColumn::optional("z", PrimitiveType::Int).inside("point"))
            .is_err()
    );
    let table = changed(&base, &update.finish().unwrap());
    let point = &table.current_schema().field_by_name("point").unwrap().field_type;
    let names: Vec<&str> = point.children().iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["Z", "lon", "y"]);
}
