//! History, snapshots, refs and the metadata log.

use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::snapshot::{RefKind, SnapshotRef, SnapshotRetention};
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::update::TableUpdate;

use super::{MetadataTableKind as K, Site, data_file};

fn reference(snapshot_id: i64, kind: RefKind, retention: SnapshotRetention) -> SnapshotRef {
    SnapshotRef {
        snapshot_id,
        kind,
        retention,
        extra: Default::default(),
    }
}

async fn set_ref(site: &Site, name: &'static str, reference: SnapshotRef) {
    site.update(move |_| {
        vec![TableUpdate::SetSnapshotRef {
            name: name.to_string(),
            reference: reference.clone(),
        }]
    })
    .await;
}

#[tokio::test]
async fn a_rolled_back_snapshot_stays_in_history_and_is_no_ancestor() {
    let site = Site::by_p(FormatVersion::V2).await;
    let first = site.append([data_file("s3://bucket/a", Some("a"), 1)]).await;
    let second = site.append([data_file("s3://bucket/b", Some("b"), 1)]).await;
    let back = reference(first, RefKind::Branch, SnapshotRetention::default());
    set_ref(&site, "main", back).await;
    let third = site.append([data_file("s3://bucket/c", Some("c"), 1)]).await;
    let history = "select snapshot_id, parent_id, is_current_ancestor from m";
    let expected = [
        format!("{first}|NULL|true"),
        format!("{second}|{first}|false"),
        format!("{first}|NULL|true"),
        format!("{third}|{first}|true"),
    ];
    assert_eq!(site.rows(K::History, history).await, expected);
    let snapshots = "select snapshot_id, parent_id, operation, summary['added-records'] from m";
    let expected = [
        format!("{first}|NULL|append|1"),
        format!("{second}|{first}|append|1"),
        format!("{third}|{first}|append|1"),
    ];
    assert_eq!(site.rows(K::Snapshots, snapshots).await, expected);
    // Created, three appends and one change of the branch; the log names the files of all.
    let log = site
        .rows(K::MetadataLogEntries, "select file, latest_sequence_number from m")
        .await;
    assert_eq!(log.len(), 5);
    let table = site.table().await;
    assert!(
        log[4].starts_with(table.metadata_location.as_deref().unwrap()),
        "{log:?}"
    );
}

#[tokio::test]
async fn refs_show_their_retention() {
    let site = Site::by_p(FormatVersion::V2).await;
    let id = site.append([data_file("s3://bucket/a", Some("a"), 1)]).await;
    let kept = SnapshotRetention {
        min_snapshots_to_keep: Some(3),
        max_snapshot_age_ms: Some(20),
        max_ref_age_ms: Some(30),
    };
    set_ref(&site, "dev", reference(id, RefKind::Branch, kept)).await;
    set_ref(&site, "eoy", reference(id, RefKind::Tag, SnapshotRetention::default())).await;
    let expected = [
        format!("dev|BRANCH|{id}|30|3|20"),
        format!("eoy|TAG|{id}|NULL|NULL|NULL"),
        format!("main|BRANCH|{id}|NULL|NULL|NULL"),
    ];
    assert_eq!(site.rows(K::Refs, "select * from m").await, expected);
}

#[tokio::test]
async fn an_empty_table_has_empty_metadata_tables() {
    for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        let site = Site::by_p(version).await;
        for kind in K::ALL {
            let count = if kind == K::MetadataLogEntries { 1 } else { 0 };
            assert_eq!(site.rows(kind, "select * from m").await.len(), count, "{kind}");
            let counted = site.rows(kind, "select count(*) from m").await;
            assert_eq!(counted, [count.to_string()], "{kind}");
        }
    }
}

#[tokio::test]
async fn a_chosen_snapshot_shows_its_own_files() {
    let site = Site::by_p(FormatVersion::V2).await;
    let first = site.append([data_file("s3://bucket/a", Some("a"), 1)]).await;
    site.append([data_file("s3://bucket/b", Some("b"), 2)]).await;
    set_ref(
        &site,
        "old",
        reference(first, RefKind::Tag, SnapshotRetention::default()),
    )
    .await;
    let sum = "select sum(record_count) from m";
    assert_eq!(site.rows(K::Files, sum).await, ["3"]);
    for selector in [SnapshotSelector::Id(first), SnapshotSelector::Ref("old".to_string())] {
        assert_eq!(site.rows_at(K::Files, &selector, sum).await, ["1"]);
        assert_eq!(site.rows_at(K::Partitions, &selector, sum).await, ["1"]);
        let manifests = site.rows_at(K::Manifests, &selector, "select count(*) from m").await;
        assert_eq!(manifests, ["1"]);
    }
}
