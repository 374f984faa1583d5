//! Position deletes and deletion vectors.

use std::sync::Arc;

use tarn_engine::scan::{MetadataColumn, ReadOptions};
use tarn_format::ErrorKind;
use tarn_format::manifest::data_file::{DataFile, FileFormat};
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::table_metadata::FormatVersion::{V2, V3};

use crate::site::{Site, by, id_and_data, partition, shown};

/// A table of ids 0 to 29 in two files of 20 and 10 rows, in row groups of 4.
async fn two_files(site: &Site) -> (Arc<DataFile>, Arc<DataFile>) {
    let (a, b) = (site.numbered("a", 0, 20).await, site.numbered("b", 20, 10).await);
    site.append(&[&a, &b]).await;
    (a, b)
}

#[tokio::test]
async fn deleted_positions_are_left_out() {
    let site = Site::new(V2).await;
    let (a, b) = two_files(&site).await;
    // Rows 4 to 7 are a whole row group; 3 ends one.
    let of_a = site.positions_of("da", &a, &[3, 4, 5, 6, 7, 19]).await;
    let of_both = [(b.file_path.as_ref(), 0), (a.file_path.as_ref(), 0)].map(|(path, pos)| (Some(path), pos));
    let of_both = site.positions("db", &of_both).await;
    site.delete([of_a, of_both]).await;
    let expected: Vec<i64> = (0..30).filter(|id| ![0, 3, 4, 5, 6, 7, 19, 20].contains(id)).collect();
    assert_eq!(site.ids().await, shown(expected));
    assert_eq!(site.query("SELECT count(*) FROM t").await, ["22"]);
    assert_eq!(site.query("SELECT min(id), max(id) FROM t").await, ["1 29"]);
    assert_eq!(
        site.query("SELECT id FROM t WHERE id BETWEEN 2 AND 8 ORDER BY id")
            .await,
        ["2", "8"]
    );
    assert_eq!(
        site.query("SELECT count(*) FROM (SELECT id FROM t LIMIT 15)").await,
        ["15"]
    );
    assert_eq!(
        site.query("SELECT count(*) FROM (SELECT id FROM t LIMIT 25)").await,
        ["22"]
    );
    assert_eq!(
        site.query("SELECT id FROM t ORDER BY id LIMIT 3").await,
        ["1", "2", "8"]
    );
    assert_eq!(
        site.query("SELECT id FROM t ORDER BY id DESC LIMIT 2").await,
        ["29", "28"]
    );
}

#[tokio::test]
async fn vectors_are_left_out_and_counted_from_metadata() {
    let site = Site::new(V3).await;
    let (a, b) = two_files(&site).await;
    let of_a = site.vector_of("da", &a, &[0, 8, 9, 10, 11]).await;
    let of_b = site.vector_of("db", &b, &[9]).await;
    site.delete([of_a, of_b]).await;
    let expected = (1..29).filter(|id| !(8..12).contains(id));
    assert_eq!(site.ids().await, shown(expected));
    assert_eq!(site.query("SELECT count(*) FROM t").await, ["24"]);
    let plan = site.plan("SELECT count(*) FROM t").await;
    assert!(!plan.contains("DataSourceExec"), "{plan}");
    assert_eq!(site.query("SELECT min(id), max(id) FROM t").await, ["1 28"]);
}

#[tokio::test]
async fn counts_and_bounds_are_not_believed_beside_position_deletes() {
    let site = Site::new(V2).await;
    let (a, _) = two_files(&site).await;
    site.delete([site.positions_of("d", &a, &[0]).await]).await;
    for query in [
        "SELECT count(*) FROM t",
        "SELECT max(id) FROM t",
        "SELECT count(id) FROM t",
    ] {
        let plan = site.plan(query).await;
        assert!(plan.contains("DataSourceExec"), "{query}: {plan}");
    }
}

#[tokio::test]
async fn positions_stay_those_of_the_file() {
    for version in [V2, V3] {
        let site = Site::new(version).await;
        let (a, _) = two_files(&site).await;
        let deletes = match version {
            V2 => site.positions_of("d", &a, &[1, 2]).await,
            _ => site.vector_of("d", &a, &[1, 2]).await,
        };
        site.delete([deletes]).await;
        let columns = [MetadataColumn::Pos, MetadataColumn::File];
        let query = "SELECT id, _pos, right(_file, 1) FROM t WHERE id < 5 ORDER BY id";
        assert_eq!(site.query_with(query, &columns).await, ["0 0 a", "3 3 a", "4 4 a"]);
    }
}

/// Spec, "Scan Planning": position deletes apply to data files of the same or an older sequence number.
#[tokio::test]
async fn positions_delete_from_files_that_are_not_newer() {
    let site = Site::new(V2).await;
    let a = site.numbered("a", 0, 3).await;
    site.append(&[&a]).await;
    let b = site.numbered("b", 10, 3).await;
    let path = |file: &DataFile| Some(file.file_path.to_string());
    let rows = [(path(&a), 1), (path(&b), 1)];
    let rows: Vec<(Option<&str>, i64)> = rows.iter().map(|(path, pos)| (path.as_deref(), *pos)).collect();
    // The same commit adds `b`: equal sequence numbers.
    let deletes = site.positions("d", &rows).await;
    let delta = tarn_format::commit::row_delta::RowDelta::new();
    site.commit(delta.add_rows(Arc::clone(&b)).add_deletes(Arc::new(deletes)).build())
        .await;
    assert_eq!(site.ids().await, ["0", "2", "10", "12"]);
    // A file that came later at a path that was deleted from before.
    let c = site.numbered("c", 20, 2).await;
    let early = site.positions("e", &[(Some(&c.file_path), 0)]).await;
    site.delete([early]).await;
    site.append(&[&c]).await;
    assert_eq!(site.ids().await, ["0", "2", "10", "12", "20", "21"]);
}

#[tokio::test]
async fn paths_may_be_spelled_otherwise_and_null_or_dangling_ones_delete_nothing() {
    let site = Site::new(V2).await;
    let (a, _) = two_files(&site).await;
    let other = a.file_path.replace("s3://", "s3a://");
    let bare = a.file_path.replace("s3://bucket", "");
    let elsewhere = a.file_path.replace("s3://bucket", "s3://other");
    let rows = [
        (Some(other.as_str()), 0),
        (Some(bare.as_str()), 1),
        (Some(elsewhere.as_str()), 2),
        (None, 3),
        (Some("s3://bucket/gone"), 4),
        (Some(a.file_path.as_ref()), 1_000),
    ];
    site.delete([site.positions("d", &rows).await]).await;
    assert_eq!(site.ids().await, shown(2..30));
}

#[tokio::test]
async fn positions_of_other_partitions_do_not_count() {
    let site = Site::with(V2, id_and_data(), by(2)).await;
    let in_partition = |file: Arc<DataFile>, value: &str| {
        let mut file = Arc::unwrap_or_clone(file);
        file.partition = partition(value);
        Arc::new(file)
    };
    let a = in_partition(site.numbered("a", 0, 3).await, "x");
    let b = in_partition(site.numbered("b", 10, 3).await, "y");
    site.append(&[&a, &b]).await;
    let rows = [(a.file_path.as_ref(), 0), (b.file_path.as_ref(), 0)].map(|(path, pos)| (Some(path), pos));
    let mut deletes = site.positions("d", &rows).await;
    deletes.partition = partition("x");
    site.delete([deletes]).await;
    assert_eq!(site.ids().await, ["1", "2", "10", "11", "12"]);
}

#[tokio::test]
async fn a_vector_replaces_the_position_deletes_of_its_file() {
    let site = Site::with(V2, id_and_data(), PartitionSpec::unpartitioned()).await;
    let (a, b) = two_files(&site).await;
    let rows = [(a.file_path.as_ref(), 0), (b.file_path.as_ref(), 0)].map(|(path, pos)| (Some(path), pos));
    site.delete([site.positions("d", &rows).await]).await;
    site.upgrade(V3).await;
    // It holds all positions that are deleted from its file; here not, to tell the two apart.
    site.delete([site.vector_of("v", &a, &[5]).await]).await;
    let expected = (0..30).filter(|id| ![5, 20].contains(id));
    assert_eq!(site.ids().await, shown(expected));
}

#[tokio::test]
async fn row_groups_of_a_piece_only() {
    let site = Site::new(V2).await;
    let (a, b) = two_files(&site).await;
    site.delete([
        site.positions_of("da", &a, &[0, 5, 6, 7, 8]).await,
        site.positions_of("db", &b, &[9]).await,
    ])
    .await;
    let read = ReadOptions {
        split_size_bytes: Some(1),
        ..ReadOptions::default()
    };
    let expected = (1..29).filter(|id| !(5..9).contains(id));
    let rows = site.try_query("SELECT id FROM t ORDER BY id", &[], read).await;
    assert_eq!(rows.unwrap(), shown(expected));
}

#[tokio::test]
async fn counts_of_manifests_may_be_wrong() {
    let site = Site::new(V2).await;
    let mut a = Arc::unwrap_or_clone(site.numbered("a", 0, 10).await);
    a.record_count = 3;
    let a = Arc::new(a);
    site.append(&[&a]).await;
    site.delete([site.positions_of("d", &a, &[1, 8]).await]).await;
    assert_eq!(site.ids().await, shown([0, 2, 3, 4, 5, 6, 7, 9]));
    assert_eq!(site.query("SELECT count(*) FROM t").await, ["8"]);
}

#[tokio::test]
async fn broken_vectors_are_refused() {
    let site = Site::new(V3).await;
    let (a, _) = two_files(&site).await;
    let mut of_a = site.vector_of("da", &a, &[1, 2]).await;
    of_a.record_count = 3;
    site.delete([of_a]).await;
    let error = site.error("SELECT * FROM t").await;
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("2 positions, 3 were promised"), "{error}");
    let site = Site::new(V3).await;
    let (a, _) = two_files(&site).await;
    let of_a = site.vector_of("da", &a, &[1, 2]).await;
    let io = site.io().await;
    let mut bytes = io.read(&of_a.file_path).await.unwrap().to_vec();
    bytes[of_a.content_offset.unwrap() as usize + 12] ^= 1;
    io.delete(&of_a.file_path).await.unwrap();
    io.write(&of_a.file_path, bytes.into()).await.unwrap();
    site.delete([of_a]).await;
    let error = site.error("SELECT * FROM t").await;
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("checksum"), "{error}");
}

#[tokio::test]
async fn deletes_of_another_format_than_their_entry_says_are_refused() {
    let site = Site::new(V2).await;
    let (a, _) = two_files(&site).await;
    let mut deletes = site.positions_of("d", &a, &[1]).await;
    deletes.file_format = FileFormat::Orc;
    let location = deletes.file_path.to_string();
    site.delete([deletes]).await;
    let error = site.error("SELECT * FROM t").await;
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains(&location), "{error}");
}

#[tokio::test]
async fn deletes_are_read_once_and_not_beyond_their_budget() {
    let mut site = Site::new(V2).await;
    let (a, b) = two_files(&site).await;
    let rows = [(a.file_path.as_ref(), 0), (b.file_path.as_ref(), 0)].map(|(path, pos)| (Some(path), pos));
    let deletes = site.positions("d", &rows).await;
    let location = deletes.file_path.to_string();
    site.delete([deletes]).await;
    assert_eq!(site.query("SELECT count(*) FROM t").await, ["28"]);
    // The second scan needs the file no more.
    let bytes = site.io().await.read(&location).await.unwrap();
    site.io().await.delete(&location).await.unwrap();
    assert_eq!(site.query("SELECT count(*) FROM t").await, ["28"]);
    site.io().await.write(&location, bytes).await.unwrap();
    site.budget(100);
    let error = site.error("SELECT * FROM t").await;
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
}
