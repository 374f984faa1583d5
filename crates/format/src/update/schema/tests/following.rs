//! What follows from a schema change elsewhere: unions, column properties, the name mapping.

use super::*;

#[test]
fn a_union_adds_and_widens_but_never_narrows() {
    let base = base(FormatVersion::V2);
    let point = StructType::new(vec![
        NestedField::optional(51, "x", PrimitiveType::Float),
        NestedField::required(52, "z", PrimitiveType::Int),
    ]);
    let points = ListType {
        element: Arc::new(NestedField::optional(
            61,
            "element",
            StructType::new(vec![
                NestedField::optional(62, "x", PrimitiveType::Long).with_doc("wide"),
            ]),
        )),
    };
    let other = StructType::new(vec![
        NestedField::required(40, "id", PrimitiveType::Int),
        NestedField::optional(50, "point", point),
        NestedField::optional(60, "points", points),
        NestedField::required(70, "fresh", PrimitiveType::Date),
    ]);
    let other = Schema::new(0, other, vec![]).unwrap();
    let mut update = SchemaUpdate::new(&base);
    update.union_by_name_with(&other).unwrap();
    let table = changed(&base, &update.finish().unwrap());
    let schema = table.current_schema();
    let type_of = |name: &str| schema.field_by_name(name).unwrap().field_type.clone();
    assert_eq!(type_of("id"), PrimitiveType::Long.into());
    assert_eq!(type_of("point.x"), PrimitiveType::Double.into());
    assert!(!schema.field_by_name("point.x").unwrap().required);
    assert!(!schema.field_by_name("point.z").unwrap().required);
    assert_eq!(type_of("points.element.x"), PrimitiveType::Long.into());
    assert_eq!(
        schema.field_by_name("points.element.x").unwrap().doc.as_deref(),
        Some("wide")
    );
    assert!(!schema.field_by_name("fresh").unwrap().required);
    assert!(schema.field_by_name("data").is_some());
    let clash = Schema::new(
        0,
        StructType::new(vec![NestedField::optional(1, "data", PrimitiveType::Int)]),
        vec![],
    );
    let mut update = SchemaUpdate::new(&base);
    assert!(update.union_by_name_with(&clash.unwrap()).is_err());
}

#[test]
fn properties_and_the_name_mapping_follow() {
    let base = base(FormatVersion::V2);
    let mapping = NameMapping::of_schema(base.current_schema()).to_json().unwrap();
    let properties = [
        ("write.metadata.metrics.column.data", "full"),
        ("write.metadata.metrics.column.point.x", "counts"),
        ("write.parquet.bloom-filter-enabled.column.id", "true"),
        (DEFAULT_NAME_MAPPING, mapping.as_str()),
    ];
    let properties: Properties = properties.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let base = changed(&base, &change_properties(&base, properties, vec![]).unwrap());
    let table = evolve(
        &base,
        &[|u| u.rename_column("data", "payload"), |u| u.delete_column("point")],
    )
    .unwrap();
    // As in Java, the old name is free only in the next update.
    let table = evolve(
        &table,
        &[|u| u.add_column(NewColumn::optional("data", PrimitiveType::Int))],
    )
    .unwrap();
    let properties = &table.properties;
    assert_eq!(properties["write.metadata.metrics.column.payload"], "full");
    assert_eq!(properties["write.parquet.bloom-filter-enabled.column.id"], "true");
    assert!(!properties.contains_key("write.metadata.metrics.column.data"));
    assert!(!properties.contains_key("write.metadata.metrics.column.point.x"));
    let mapping = NameMapping::from_json(&properties[DEFAULT_NAME_MAPPING]).unwrap();
    assert_eq!(mapping.field_by_name("payload").unwrap().field_id, Some(2));
    assert_eq!(mapping.field_by_name("data").unwrap().field_id, Some(14));
}
