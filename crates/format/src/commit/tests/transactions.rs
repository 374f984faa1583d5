//! Several steps in one commit; tables created and replaced with their first rows.

use super::catalog::Fault;
use super::table::{ALL_VERSIONS, Layout, TestTable, creation, names, summary};
use crate::catalog::{Catalog, TableIdent};
use crate::commit::Transaction;
use crate::commit::append::fast_append;
use crate::commit::delete::DeleteFiles;
use crate::error::ErrorKind;
use crate::spec::snapshot::{MAIN_BRANCH, Properties};
use crate::spec::table_metadata::FormatVersion;
use crate::update::{LAST_ADDED, TableUpdate};

fn set(key: &str, value: &str) -> TableUpdate {
    TableUpdate::SetProperties(Properties::from([(key.to_string(), value.to_string())]))
}

#[tokio::test]
async fn steps_see_those_before_and_appear_together() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::Unpartitioned).await;
        let outcome = Transaction::on(t.ident.clone())
            .change(fast_append([t.file("a", "", (1, 10)), t.file("b", "", (11, 12))]))
            .update(|metadata| {
                assert_eq!(metadata.snapshots.len(), 1);
                Ok(vec![set("k", "v")])
            })
            .change(DeleteFiles::new().path("a").validate_files_exist().build())
            .commit(t.catalog.as_ref(), &t.options)
            .await
            .unwrap();
        assert_eq!(t.catalog.commits(), 1);
        let metadata = t.load().await.metadata;
        assert_eq!(metadata.snapshots.len(), 2);
        assert_eq!(metadata.current_snapshot_id, outcome.snapshot_ids.last().copied());
        assert_eq!(metadata.properties["k"], "v");
        let snapshot = t.current().await;
        assert_eq!(snapshot.parent_snapshot_id, Some(outcome.snapshot_ids[0]));
        assert_eq!(summary(&snapshot, ["total-records", "deleted-records"]), ["2", "10"]);
        assert_eq!(t.live().await, names(["b"]));
        if version > FormatVersion::V1 {
            assert_eq!(metadata.last_sequence_number, 2);
        }
    }
}

#[tokio::test]
async fn all_steps_are_applied_again_to_a_newer_table() {
    let t = TestTable::new(FormatVersion::V3, Layout::Unpartitioned).await;
    t.must(fast_append([t.file("c", "", (20, 29))])).await;
    t.catalog.inject([Fault::UnknownOvertaken, Fault::Conflict]);
    let outcome = Transaction::on(t.ident.clone())
        .change(fast_append([t.file("a", "", (1, 10))]))
        .change(fast_append([t.file("b", "", (11, 12))]))
        .commit(t.catalog.as_ref(), &t.options)
        .await
        .unwrap();
    assert_eq!(outcome.attempts, 2);
    assert_eq!(outcome.snapshot_ids.len(), 2);
    assert_eq!(t.load().await.metadata.snapshots.len(), 4);
    assert_eq!(t.live().await, names(["a", "b", "c"]));
    let row_ids = ["c", "a", "b"].map(|path| path.to_string());
    let mut found = Vec::new();
    for path in &row_ids {
        found.push(t.entry(path).await.data_file.first_row_id);
    }
    assert_eq!(found, [Some(0), Some(10), Some(20)]);
}

#[tokio::test]
async fn one_failing_step_fails_all() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let error = Transaction::on(t.ident.clone())
        .change(fast_append([t.file("a", "", (1, 10))]))
        .change(DeleteFiles::new().path("nowhere").validate_files_exist().build())
        .commit(t.catalog.as_ref(), &t.options)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation);
    let table = t.load().await;
    assert!(table.metadata.snapshots.is_empty());
    let files = table
        .io
        .list(&format!("{}/metadata", table.metadata.location))
        .await
        .unwrap();
    assert!(files.iter().all(|f| !f.location.ends_with(".avro")), "{files:?}");
}

#[tokio::test]
async fn nothing_to_do_is_not_committed() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let before = t.load().await.metadata_location;
    let outcome = Transaction::on(t.ident.clone())
        .commit(t.catalog.as_ref(), &t.options)
        .await
        .unwrap();
    assert_eq!(outcome.table.metadata_location, before);
    assert_eq!(t.catalog.commits(), 0);
}

#[tokio::test]
async fn a_table_is_created_with_its_rows() {
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        let ident = TableIdent::new(t.ident.namespace.clone(), "new");
        let staged = t
            .catalog
            .stage_table(&ident, creation(version, Layout::ByP, &[]))
            .await
            .unwrap();
        let create = || Transaction::create(staged.clone()).change(fast_append([t.file("a", "x", (1, 10))]));
        assert!(!t.catalog.table_exists(&ident).await.unwrap());
        let outcome = create().commit(t.catalog.as_ref(), &t.options).await.unwrap();
        assert_eq!(outcome.table.metadata.table_uuid, staged.metadata.table_uuid);
        assert_eq!(
            outcome.table.metadata.current_snapshot_id,
            Some(outcome.snapshot_ids[0])
        );
        assert_eq!(outcome.table.metadata.format_version, version);
        let error = create().commit(t.catalog.as_ref(), &t.options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
    }
}

#[tokio::test]
async fn a_lost_answer_to_a_creation_is_found_by_uuid() {
    let t = TestTable::new(FormatVersion::V2, Layout::ByP).await;
    let ident = TableIdent::new(t.ident.namespace.clone(), "new");
    let staged = t
        .catalog
        .stage_table(&ident, creation(t.version, Layout::ByP, &[]))
        .await
        .unwrap();
    t.catalog.inject([Fault::UnknownApplied]);
    Transaction::create(staged.clone())
        .commit(t.catalog.as_ref(), &t.options)
        .await
        .unwrap();
    let found = t.catalog.load_table(&ident).await.unwrap();
    assert_eq!(found.metadata.table_uuid, staged.metadata.table_uuid);
}

#[tokio::test]
async fn a_table_is_replaced_and_keeps_its_history() {
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let old = t.must(fast_append([t.file("a", "", (1, 10))])).await;
    let table = t.load().await;
    let updates = vec![
        TableUpdate::RemoveSnapshotRef(MAIN_BRANCH.into()),
        TableUpdate::AddSpec(Default::default()),
        TableUpdate::SetDefaultSpec(LAST_ADDED),
        set("k", "v"),
    ];
    // Others may change the table meanwhile: it is replaced all the same.
    t.must(fast_append([t.file("late", "", (1, 1))])).await;
    let outcome = Transaction::replace(table, updates)
        .change(fast_append([t.file("b", "", (1, 2))]))
        .commit(t.catalog.as_ref(), &t.options)
        .await
        .unwrap();
    let metadata = &outcome.table.metadata;
    assert_eq!(metadata.current_snapshot_id, Some(outcome.snapshot_ids[0]));
    assert_eq!(t.current().await.parent_snapshot_id, None);
    assert_eq!(summary(t.current().await.as_ref(), ["total-records"]), ["2"]);
    assert_eq!(t.live().await, names(["b"]));
    assert!(metadata.snapshot_by_id(old).is_some());
}

#[tokio::test]
async fn a_replacement_with_stale_ids_is_refused() {
    use crate::spec::schema::Schema;
    use crate::spec::types::{NestedField, PrimitiveType, StructType, Type};
    let t = TestTable::new(FormatVersion::V2, Layout::Unpartitioned).await;
    let table = t.load().await;
    let schema = |id| {
        let mut fields = table.metadata.current_schema().fields().to_vec();
        fields.push(NestedField::optional(id, format!("c{id}"), Type::Primitive(PrimitiveType::Int)).into());
        Schema::new(1, StructType { fields }, Vec::new()).unwrap()
    };
    let replacement = vec![
        TableUpdate::RemoveSnapshotRef(MAIN_BRANCH.into()),
        TableUpdate::AddSchema(schema(4)),
        TableUpdate::SetCurrentSchema(LAST_ADDED),
    ];
    let other = vec![
        TableUpdate::AddSchema(schema(5)),
        TableUpdate::SetCurrentSchema(LAST_ADDED),
    ];
    Transaction::on(t.ident.clone())
        .update(move |_| Ok(other.clone()))
        .commit(t.catalog.as_ref(), &t.options)
        .await
        .unwrap();
    let error = Transaction::replace(table.clone(), replacement)
        .commit(t.catalog.as_ref(), &t.options)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
}

#[tokio::test]
async fn a_replacement_keeps_the_ids_of_what_the_table_had() {
    use crate::spec::schema::Schema;
    use crate::spec::types::{NestedField, PrimitiveType, StructType, Type};
    use crate::update::replace::replacement;
    for version in ALL_VERSIONS {
        let t = TestTable::new(version, Layout::ByP).await;
        let old = t.must(fast_append([t.file("a", "x", (1, 10))])).await;
        let column = |id, name: &str, t| NestedField::optional(id, name, Type::Primitive(t));
        let mut wanted = creation(version, Layout::ByP, &[("k", "v")]);
        let root = StructType::new(vec![
            column(1, "y", PrimitiveType::String),
            column(2, "id", PrimitiveType::Long),
        ]);
        wanted.schema = Schema::new(0, root, Vec::new()).unwrap();
        let spec = wanted.partition_spec.as_mut().unwrap();
        spec.fields[0].source_ids = vec![1];
        spec.fields[0].name = "y".into();
        let table = t.load().await;
        let updates = replacement(&table.metadata, &wanted).unwrap();
        let outcome = Transaction::replace(table, updates)
            .commit(t.catalog.as_ref(), &t.options)
            .await
            .unwrap();
        let metadata = &outcome.table.metadata;
        let schema = metadata.current_schema();
        assert_eq!(schema.field_by_name("id").unwrap().id, 1);
        assert_eq!(schema.field_by_name("y").unwrap().id, 4);
        let fields: Vec<_> = metadata
            .default_spec()
            .fields
            .iter()
            .map(|f| (f.field_id, f.name.as_str()))
            .collect();
        match version {
            // The old field keeps its place as void.
            FormatVersion::V1 => assert_eq!(fields, [(1000, "p"), (1001, "y")]),
            _ => assert_eq!(fields, [(1001, "y")]),
        }
        assert_eq!(metadata.current_snapshot_id, None);
        assert!(metadata.snapshot_by_id(old).is_some());
        assert_eq!(metadata.properties["k"], "v");
    }
}
