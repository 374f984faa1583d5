//! Commits: atomic, guarded by requirements, kept in the metadata log.

use futures::future::join_all;
use tarn_format::ErrorKind;
use tarn_format::catalog::{Catalog, TableCommit};
use tarn_format::update::{TableRequirement, TableUpdate, creation_updates};

use super::case;
use crate::testkit::fixture::{append_snapshot, ident, make_table, properties, set_property, table};
use crate::testkit::race::{append_all, check_all_landed};
use crate::testkit::{Case, CaseResult, ensure, equal, refused};

pub(super) const CASES: &[Case] = &[
    case!(a_commit_is_seen_by_all),
    case!(a_commit_logs_the_metadata_before_it),
    case!(requirements_that_fail_change_nothing),
    case!(updates_that_fail_change_nothing),
    case!(an_empty_commit_writes_nothing),
    case!(a_commit_on_a_stale_base_conflicts),
    case!(a_table_is_created_by_a_commit),
    case!(of_two_creations_one_wins),
    case!(of_many_writers_none_loses_a_commit),
    case!(old_metadata_files_are_deleted_when_asked),
    case!(old_metadata_files_are_kept_by_default),
    case!(many_writers_delete_old_metadata_and_lose_nothing),
];

async fn a_commit_is_seen_by_all(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let before = make_table(catalog, &name, &[]).await?;
    let after = catalog.commit_table(set_property(&name, "a", "b")).await?;
    equal(
        after.metadata.properties.get("a").map(String::as_str),
        Some("b"),
        "property",
    )?;
    ensure(after.metadata_location != before.metadata_location, || {
        "the metadata file was overwritten".to_owned()
    })?;
    let loaded = catalog.load_table(&name).await?;
    equal(&loaded.metadata, &after.metadata, "metadata")?;
    equal(&loaded.metadata_location, &after.metadata_location, "metadata location")?;
    let id = 7;
    let appended = catalog
        .commit_table(append_snapshot(&name, &after.metadata, id))
        .await?;
    equal(appended.metadata.current_snapshot_id, Some(id), "current snapshot")?;
    equal(appended.metadata.last_sequence_number, 1, "sequence number")
}

async fn a_commit_logs_the_metadata_before_it(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let mut expected = vec![];
    let mut table = make_table(catalog, &name, &[]).await?;
    for i in 0..3 {
        expected.push((
            table.metadata.last_updated_ms,
            table.metadata_location.clone().unwrap_or_default(),
        ));
        table = catalog.commit_table(set_property(&name, "i", &i.to_string())).await?;
    }
    let log = table
        .metadata
        .metadata_log
        .iter()
        .map(|e| (e.timestamp_ms, e.metadata_file.clone()));
    equal(log.collect::<Vec<_>>(), expected, "metadata log")
}

async fn requirements_that_fail_change_nothing(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let before = make_table(catalog, &name, &[]).await?;
    let wrong = [
        TableRequirement::UuidMatch(uuid::Uuid::nil()),
        TableRequirement::RefSnapshotIdMatch {
            name: "main".to_owned(),
            snapshot_id: Some(1),
        },
        TableRequirement::CurrentSchemaIdMatch(5),
        TableRequirement::LastAssignedFieldIdMatch(99),
    ];
    for requirement in wrong {
        let mut commit = set_property(&name, "a", "b");
        commit.requirements.push(requirement);
        refused(catalog.commit_table(commit).await, ErrorKind::Conflict, "committing")?;
    }
    let mut commit = set_property(&name, "a", "b");
    commit.requirements.push(TableRequirement::NotExist);
    refused(
        catalog.commit_table(commit).await,
        ErrorKind::AlreadyExists,
        "creating by a commit",
    )?;
    let loaded = catalog.load_table(&name).await?;
    equal(&loaded.metadata, &before.metadata, "metadata")?;
    equal(
        &loaded.metadata_location,
        &before.metadata_location,
        "metadata location",
    )
}

async fn updates_that_fail_change_nothing(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let before = make_table(catalog, &name, &[]).await?;
    let mut commit = set_property(&name, "a", "b");
    commit.updates.push(TableUpdate::SetCurrentSchema(77));
    ensure(catalog.commit_table(commit).await.is_err(), || {
        "a missing schema became current".to_owned()
    })?;
    equal(catalog.load_table(&name).await?.metadata, before.metadata, "metadata")
}

async fn an_empty_commit_writes_nothing(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let before = make_table(catalog, &name, &[]).await?;
    let commit = TableCommit {
        ident: name.clone(),
        requirements: vec![],
        updates: vec![],
    };
    let after = catalog.commit_table(commit).await?;
    equal(after.metadata_location, before.metadata_location, "metadata location")
}

async fn a_commit_on_a_stale_base_conflicts(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let base = make_table(catalog, &name, &[]).await?;
    let (first, second) = (
        append_snapshot(&name, &base.metadata, 1),
        append_snapshot(&name, &base.metadata, 2),
    );
    catalog.commit_table(first).await?;
    refused(
        catalog.commit_table(second).await,
        ErrorKind::Conflict,
        "committing on a stale base",
    )?;
    let table = catalog.load_table(&name).await?;
    equal(table.metadata.snapshots.len(), 1, "snapshots")?;
    equal(table.metadata.current_snapshot_id, Some(1), "current snapshot")
}

async fn a_table_is_created_by_a_commit(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    make_table(catalog, &ident("db.other"), &[]).await?;
    let staged = catalog.stage_table(&name, table(&[])?).await?;
    let commit = TableCommit {
        ident: name.clone(),
        requirements: vec![TableRequirement::NotExist],
        updates: creation_updates(&staged.metadata),
    };
    let made = catalog.commit_table(commit.clone()).await?;
    equal(made.metadata.table_uuid, staged.metadata.table_uuid, "uuid")?;
    equal(&made.metadata.location, &staged.metadata.location, "location")?;
    equal(
        made.metadata.current_schema().fields(),
        staged.metadata.current_schema().fields(),
        "columns",
    )?;
    equal(catalog.load_table(&name).await?.metadata, made.metadata, "metadata")?;
    refused(
        catalog.commit_table(commit).await,
        ErrorKind::AlreadyExists,
        "creating it again",
    )
}

async fn of_two_creations_one_wins(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    catalog.create_namespace(&name.namespace, properties(&[])).await?;
    let mut creations = Vec::new();
    for _ in 0..8 {
        creations.push(catalog.create_table(&name, table(&[])?));
    }
    let results = join_all(creations).await;
    let mut winner = None;
    for result in results {
        match result {
            Ok(table) => {
                ensure(winner.is_none(), || "two creations won".to_owned())?;
                winner = Some(table);
            }
            lost => refused(lost, ErrorKind::AlreadyExists, "losing the race")?,
        }
    }
    let loaded = catalog.load_table(&name).await?;
    equal(
        Some(loaded.metadata),
        winner.map(|w| w.metadata),
        "metadata of the winner",
    )
}

async fn of_many_writers_none_loses_a_commit(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    make_table(catalog, &name, &[]).await?;
    let writers = (0..6).map(|w| append_all(catalog, &name, w, 5)).collect::<Vec<_>>();
    for result in join_all(writers).await {
        result?;
    }
    let table = catalog.load_table(&name).await?;
    check_all_landed(&table, 6, 5)?;
    equal(table.metadata.metadata_log.len(), 30, "entries of the metadata log")
}

async fn old_metadata_files_are_deleted_when_asked(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let settings = [
        ("write.metadata.delete-after-commit.enabled", "true"),
        ("write.metadata.previous-versions-max", "2"),
    ];
    let mut locations = vec![
        make_table(catalog, &name, &settings)
            .await?
            .metadata_location
            .unwrap_or_default(),
    ];
    for i in 0..5 {
        let table = catalog.commit_table(set_property(&name, "i", &i.to_string())).await?;
        locations.push(table.metadata_location.unwrap_or_default());
    }
    let table = catalog.load_table(&name).await?;
    equal(table.metadata.metadata_log.len(), 2, "entries of the metadata log")?;
    for (i, location) in locations.iter().enumerate() {
        equal(table.io.exists(location).await?, i >= 3, location)?;
    }
    Ok(())
}

async fn old_metadata_files_are_kept_by_default(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let first = make_table(catalog, &name, &[("write.metadata.previous-versions-max", "1")]).await?;
    for i in 0..3 {
        catalog.commit_table(set_property(&name, "i", &i.to_string())).await?;
    }
    equal(
        catalog.load_table(&name).await?.metadata.metadata_log.len(),
        1,
        "entries of the metadata log",
    )?;
    let first_location = first.metadata_location.unwrap_or_default();
    equal(
        first.io.exists(&first_location).await?,
        true,
        "existence of the first metadata file",
    )
}

async fn many_writers_delete_old_metadata_and_lose_nothing(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let settings = [
        ("write.metadata.delete-after-commit.enabled", "true"),
        ("write.metadata.previous-versions-max", "3"),
    ];
    make_table(catalog, &name, &settings).await?;
    let writers = (0..6).map(|w| append_all(catalog, &name, w, 5)).collect::<Vec<_>>();
    for result in join_all(writers).await {
        result?;
    }
    check_all_landed(&catalog.load_table(&name).await?, 6, 5)
}
