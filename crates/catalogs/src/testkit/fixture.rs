//! Small tables, views and commits to test catalogs with.

use tarn_format::Result;
use tarn_format::catalog::{Catalog, Namespace, Table, TableCommit, TableCreation, TableIdent, ViewCreation};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::{
    MAIN_BRANCH, Operation, Properties, RefKind, Snapshot, SnapshotManifests, SnapshotRef, SnapshotRetention,
};
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadata};
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType, Type};
use tarn_format::spec::view_metadata::{ViewRepresentation, ViewVersion};
use tarn_format::update::{TableRequirement, TableUpdate};

/// A namespace of these levels.
pub fn namespace(levels: &[&str]) -> Namespace {
    Namespace::new(levels.iter().copied())
}

/// A name, levels separated by dots.
pub fn ident(dotted: &str) -> TableIdent {
    let mut levels: Vec<&str> = dotted.split('.').collect();
    let name = levels.pop().unwrap_or_default();
    TableIdent::new(namespace(&levels), name)
}

/// Properties of these pairs.
pub fn properties(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// A schema of a required long and an optional string.
///
/// # Errors
/// None in practice.
pub fn schema() -> Result<Schema> {
    let fields = vec![
        NestedField::required(1, "id", Type::Primitive(PrimitiveType::Long)),
        NestedField::optional(2, "data", Type::Primitive(PrimitiveType::String)),
    ];
    Schema::new(0, StructType::new(fields), vec![])
}

/// An unpartitioned table with [`schema`] and these properties.
///
/// # Errors
/// None in practice.
pub fn table(pairs: &[(&str, &str)]) -> Result<TableCreation> {
    Ok(TableCreation {
        schema: schema()?,
        partition_spec: None,
        sort_order: None,
        location: None,
        properties: properties(pairs),
        format_version: FormatVersion::V2,
    })
}

/// A view with [`schema`] and this SQL.
///
/// # Errors
/// None in practice.
pub fn view(sql: &str) -> Result<ViewCreation> {
    Ok(ViewCreation {
        schema: schema()?,
        version: view_version(sql),
        location: None,
        properties: Properties::new(),
    })
}

/// A version of a view with this SQL, over schema 0.
pub fn view_version(sql: &str) -> ViewVersion {
    ViewVersion {
        version_id: 1,
        schema_id: 0,
        timestamp_ms: 0,
        summary: properties(&[("engine-name", "testkit")]),
        representations: vec![ViewRepresentation::Sql {
            sql: sql.to_owned(),
            dialect: "spark".to_owned(),
            extra: Default::default(),
        }],
        default_catalog: None,
        default_namespace: vec!["db".to_owned()],
        extra: Default::default(),
    }
}

/// Makes the namespace and an empty table in it.
///
/// # Errors
/// Those of the catalog.
pub async fn make_table(catalog: &dyn Catalog, name: &TableIdent, pairs: &[(&str, &str)]) -> Result<Table> {
    if !catalog.namespace_exists(&name.namespace).await? {
        catalog.create_namespace(&name.namespace, Properties::new()).await?;
    }
    catalog.create_table(name, table(pairs)?).await
}

/// A commit that sets one property.
pub fn set_property(name: &TableIdent, key: &str, value: &str) -> TableCommit {
    TableCommit {
        ident: name.clone(),
        requirements: vec![],
        updates: vec![TableUpdate::SetProperties(properties(&[(key, value)]))],
    }
}

/// A commit that puts a snapshot with this id on top of `main`. It names a manifest list that does not exist.
pub fn append_snapshot(name: &TableIdent, base: &TableMetadata, snapshot_id: i64) -> TableCommit {
    let parent = base.current_snapshot_id;
    let snapshot = Snapshot {
        snapshot_id,
        parent_snapshot_id: parent,
        sequence_number: base.next_sequence_number(),
        timestamp_ms: crate::metadata_ops::next::now_ms().max(base.last_updated_ms),
        manifests: SnapshotManifests::List(format!("{}/metadata/snap-{snapshot_id}.avro", base.location)),
        operation: Some(Operation::Append),
        summary: properties(&[("total-records", "0")]),
        schema_id: Some(base.current_schema_id),
        first_row_id: None,
        added_rows: None,
        key_id: None,
        extra: Default::default(),
    };
    let reference = SnapshotRef {
        snapshot_id,
        kind: RefKind::Branch,
        retention: SnapshotRetention::default(),
        extra: Default::default(),
    };
    TableCommit {
        ident: name.clone(),
        requirements: vec![TableRequirement::RefSnapshotIdMatch {
            name: MAIN_BRANCH.to_owned(),
            snapshot_id: parent,
        }],
        updates: vec![
            TableUpdate::AddSnapshot(snapshot),
            TableUpdate::SetSnapshotRef {
                name: MAIN_BRANCH.to_owned(),
                reference,
            },
        ],
    }
}
