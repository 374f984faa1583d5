use tarn_format::catalog::{Catalog, Purge, TableCommit};
use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::manifest::list::{ManifestListWriterOptions, encode};
use tarn_format::manifest::manifest_file::ManifestContent;
use tarn_format::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use tarn_format::spec::snapshot::SnapshotManifests;
use tarn_format::spec::table_metadata::{PartitionStatisticsFile, StatisticsFile};
use tarn_format::update::TableUpdate;

use crate::load::load_catalog;
use crate::testkit::fixture::{append_snapshot, ident, make_table, properties, set_property};

/// A table of two snapshots with data, deletes and statistics, in a memory catalog; and all of its files.
async fn filled_table(settings: &[(&str, &str)]) -> (std::sync::Arc<dyn Catalog>, Vec<String>) {
    let catalog = load_catalog("test", &properties(&[("type", "memory")])).await.unwrap();
    let name = ident("db.t");
    let mut table = make_table(&*catalog, &name, settings).await.unwrap();
    let io = table.io.clone();
    for snapshot_id in [1, 2] {
        let base = table.metadata.clone();
        let mut manifests = Vec::new();
        for (content, kind) in [
            (ManifestContent::Data, DataContent::Data),
            (ManifestContent::Deletes, DataContent::PositionDeletes),
        ] {
            let file = format!("{}/data/{kind:?}-{snapshot_id}.parquet", base.location);
            io.write(&file, "rows".into()).await.unwrap();
            let mut data_file = DataFile::new(kind, &file, FileFormat::Parquet);
            (data_file.record_count, data_file.file_size_in_bytes) = (1, 4);
            let options = ManifestWriterOptions::for_table(&base, 0)
                .unwrap()
                .with_content(content)
                .with_snapshot_id(snapshot_id);
            let mut writer = ManifestWriter::new(options).unwrap();
            writer.added(&data_file, None).unwrap();
            let location = format!("{}/metadata/{kind:?}-{snapshot_id}.avro", base.location);
            let (bytes, manifest) = writer.finish(&location).unwrap();
            io.write(&location, bytes).await.unwrap();
            manifests.push(manifest);
        }
        let mut commit = append_snapshot(&name, &base, snapshot_id);
        let TableUpdate::AddSnapshot(snapshot) = &commit.updates[0] else {
            unreachable!()
        };
        let SnapshotManifests::List(list) = snapshot.manifests.clone() else {
            unreachable!()
        };
        let options = ManifestListWriterOptions {
            format_version: base.format_version,
            snapshot_id,
            parent_snapshot_id: snapshot.parent_snapshot_id,
            sequence_number: snapshot.sequence_number,
            first_row_id: 0,
            codec: Codec::default(),
        };
        io.write(&list, encode(options, &manifests).unwrap().bytes)
            .await
            .unwrap();
        commit.updates.extend(statistics(&base.location, snapshot_id));
        for location in [
            format!("{}/stats-{snapshot_id}.puffin", base.location),
            format!("{}/parts-{snapshot_id}", base.location),
        ] {
            io.write(&location, "stats".into()).await.unwrap();
        }
        table = catalog.commit_table(commit).await.unwrap();
    }
    let files = io.list(&table.metadata.location).await.unwrap();
    (catalog, files.into_iter().map(|f| f.location).collect())
}

fn statistics(location: &str, snapshot_id: i64) -> [TableUpdate; 2] {
    [
        TableUpdate::SetStatistics(StatisticsFile {
            snapshot_id,
            statistics_path: format!("{location}/stats-{snapshot_id}.puffin"),
            file_size_bytes: 5,
            file_footer_size_bytes: 1,
            key_metadata: None,
            blob_metadata: vec![],
            extra: Default::default(),
        }),
        TableUpdate::SetPartitionStatistics(PartitionStatisticsFile {
            snapshot_id,
            statistics_path: format!("{location}/parts-{snapshot_id}"),
            file_size_bytes: 5,
            extra: Default::default(),
        }),
    ]
}

async fn left_after(settings: &[(&str, &str)], purge: Purge, foreign: &str) -> (usize, Vec<String>) {
    let (catalog, files) = filled_table(settings).await;
    let io = catalog.file_io().clone();
    if !foreign.is_empty() {
        io.write(foreign, "other".into()).await.unwrap();
    }
    catalog.drop_table(&ident("db.t"), purge).await.unwrap();
    let left = io.list("memory://warehouse").await.unwrap();
    (files.len(), left.into_iter().map(|f| f.location).collect())
}

#[tokio::test]
async fn purging_deletes_every_reachable_file_and_no_other() {
    let foreign = "memory://warehouse/db/t/data/not-ours.parquet";
    let (before, left) = left_after(&[], Purge::Delete, foreign).await;
    // 4 content files, 4 manifests, 2 lists, 4 statistics files, 3 metadata files
    assert_eq!(before, 17);
    assert_eq!(left, [foreign]);
}

#[tokio::test]
async fn without_gc_content_files_stay() {
    // Java's PropertyUtil takes every word but "true" for false.
    for value in ["false", "no"] {
        let (_, left) = left_after(&[("gc.enabled", value)], Purge::Delete, "").await;
        assert_eq!(left.len(), 4);
        assert!(left.iter().all(|f| f.contains("/data/")), "{left:?}");
    }
}

#[tokio::test]
async fn dropping_without_purge_keeps_every_file() {
    let (before, left) = left_after(&[], Purge::Keep, "").await;
    assert_eq!(left.len(), before);
}

#[tokio::test]
async fn what_cannot_be_read_is_left_and_the_rest_deleted() {
    let (catalog, _) = filled_table(&[]).await;
    let io = catalog.file_io().clone();
    let broken = "memory://warehouse/db/t/metadata/Data-1.avro";
    io.write(broken, "no avro".into()).await.unwrap();
    catalog.drop_table(&ident("db.t"), Purge::Delete).await.unwrap();
    let left: Vec<String> = io
        .list("memory://warehouse")
        .await
        .unwrap()
        .into_iter()
        .map(|f| f.location)
        .collect();
    assert_eq!(left, ["memory://warehouse/db/t/data/Data-1.parquet"]);
}

#[tokio::test]
async fn a_lost_metadata_file_does_not_keep_a_table_from_being_dropped() {
    let (catalog, _) = filled_table(&[]).await;
    let name = ident("db.t");
    let commit: TableCommit = set_property(&name, "a", "b");
    let table = catalog.commit_table(commit).await.unwrap();
    catalog
        .file_io()
        .delete(&table.metadata_location.unwrap())
        .await
        .unwrap();
    catalog.drop_table(&name, Purge::Delete).await.unwrap();
    assert!(!catalog.table_exists(&name).await.unwrap());
}
