//! Which files a query reads, and in what pieces its rows come.

use futures::TryStreamExt;
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::spec::table_metadata::FormatVersion;

use super::{MetadataTableKind as K, Site, data_file, position_deletes};

/// Three appends, a partition each, and deletes for the first.
async fn site() -> Site {
    let site = Site::by_p(FormatVersion::V2).await;
    let a = data_file("s3://bucket/a", Some("a"), 1);
    site.append([a.clone()]).await;
    site.append([data_file("s3://bucket/b", Some("b"), 2)]).await;
    site.append([data_file("s3://bucket/c", Some("c"), 3)]).await;
    let deletes = position_deletes("s3://bucket/d", &a, 1);
    site.commit(RowDelta::new().add_deletes(deletes.into()).build()).await;
    site
}

/// How many manifest lists and manifests were read.
fn counted(files: &[String]) -> (usize, usize) {
    let lists = files.iter().filter(|f| f.starts_with("snap-")).count();
    (lists, files.len() - lists)
}

#[tokio::test]
async fn what_metadata_tells_reads_nothing() {
    let site = site().await;
    for kind in [K::Snapshots, K::History, K::Refs, K::MetadataLogEntries] {
        assert_eq!(site.files_read_by(kind, "select * from m").await, [""; 0], "{kind}");
        assert_eq!(
            site.files_read_by(kind, "select count(*) from m").await,
            [""; 0],
            "{kind}"
        );
    }
}

#[tokio::test]
async fn manifests_read_lists_only() {
    let one = site().await;
    assert_eq!(
        counted(&one.files_read_by(K::Manifests, "select * from m").await),
        (1, 0)
    );
    // Lists are kept: only the three others are read now.
    assert_eq!(
        counted(&one.files_read_by(K::AllManifests, "select * from m").await),
        (3, 0)
    );
    let other = site().await;
    let current = other.table().await.metadata.current_snapshot_id.unwrap();
    let sql = format!("select * from m where reference_snapshot_id = {current}");
    assert_eq!(counted(&other.files_read_by(K::AllManifests, &sql).await), (1, 0));
}

#[tokio::test]
async fn filters_skip_manifests() {
    let cases = [
        (K::Files, "true", 4),
        (K::Files, "partition['p'] = 'b'", 1),
        (K::Files, "partition['p'] > 'a'", 2),
        (K::Files, "partition['p'] in ('a', 'c')", 3),
        (K::Files, "partition['p'] is null", 0),
        // Java asks each manifest by partition and by content, neither of which decides here.
        (K::Files, "partition['p'] = 'b' or content = 1", 4),
        (K::Files, "content = 1", 1),
        (K::Files, "content <> 0", 1),
        (K::Files, "content = 0 and partition['p'] = 'a'", 1),
        (K::Files, "content not in (1, 2)", 3),
        (K::Files, "content not in (1)", 4),
        (K::Files, "spec_id = 1", 0),
        (K::Files, "record_count = 1", 4),
        (K::DataFiles, "true", 3),
        (K::DeleteFiles, "true", 1),
        (K::Entries, "data_file['partition']['p'] = 'b'", 1),
        (K::Entries, "data_file['content'] = 1", 1),
        (K::Entries, "snapshot_id = 1", 0),
        (K::AllEntries, "data_file['partition']['p'] = 'b'", 1),
        (K::Partitions, "partition['p'] = 'a'", 2),
        (K::PositionDeletes, "partition['p'] = 'b'", 0),
    ];
    for (kind, filter, manifests) in cases {
        let site = site().await;
        let read = site
            .files_read_by(kind, &format!("select * from m where {filter}"))
            .await;
        assert_eq!(counted(&read).1, manifests, "{kind} where {filter}");
    }
}

#[tokio::test]
async fn entries_of_one_snapshot_read_its_manifest() {
    let site = site().await;
    let ids = site.rows(K::Snapshots, "select snapshot_id from m").await;
    let sql = format!("select data_file['file_path'] from m where snapshot_id = {}", ids[1]);
    assert_eq!(counted(&site.files_read_by(K::Entries, &sql).await), (1, 1));
    assert_eq!(site.rows(K::Entries, &sql).await, ["s3://bucket/b"]);
}

#[tokio::test]
async fn the_plan_tells_what_is_skipped() {
    let site = site().await;
    let sql = "explain select file_path from m where partition['p'] = 'b'";
    let plan = site.rows(K::Files, sql).await.join("\n");
    assert!(plan.contains("MetadataTableExec: table=db.t.files"), "{plan}");
    assert!(plan.contains("manifests=1 (skipped 3)"), "{plan}");
}

#[tokio::test]
async fn rows_come_in_batches() {
    let site = Site::by_p(FormatVersion::V2).await;
    let files = (0..5).map(|i| data_file(&format!("s3://bucket/{i}"), Some("a"), 1));
    site.append(files).await;
    for kind in [K::Files, K::Entries, K::AllFiles] {
        let frame = site.context(kind).await.sql("select * from m").await.unwrap();
        let stream = frame.execute_stream().await.unwrap();
        let batches: Vec<_> = stream.try_collect().await.unwrap();
        let sizes: Vec<usize> = batches.iter().map(|b| b.num_rows()).collect();
        assert_eq!(sizes, [2, 2, 1], "{kind}");
    }
}

/// Plans are run again by correlated subqueries and cached views: they give the same rows.
#[tokio::test]
async fn a_plan_runs_twice() {
    let site = site().await;
    for kind in [K::Files, K::Manifests, K::Partitions, K::Snapshots] {
        let context = site.context(kind).await;
        let plan = context
            .sql("select * from m")
            .await
            .unwrap()
            .create_physical_plan()
            .await
            .unwrap();
        let first = datafusion::physical_plan::collect(plan.clone(), context.task_ctx())
            .await
            .unwrap();
        let second = datafusion::physical_plan::collect(plan, context.task_ctx())
            .await
            .unwrap();
        assert_eq!(first, second, "{kind}");
        assert!(!first.is_empty());
    }
}
