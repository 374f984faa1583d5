//! Files, entries and manifests after appends, deletes and removals.

use std::sync::Arc;

use tarn_format::commit::delete::DeleteFiles;
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::spec::table_metadata::FormatVersion;

use super::{MetadataTableKind as K, Site, data_file, position_deletes};

/// Appends three files, deletes rows of the first and removes the second.
async fn changed(version: FormatVersion) -> (Site, [i64; 3]) {
    let site = Site::by_p(version).await;
    let files = [
        data_file("s3://bucket/a", Some("a"), 2),
        data_file("s3://bucket/b", Some("b"), 3),
        data_file("s3://bucket/n", None, 4),
    ];
    let mut deletes = position_deletes("s3://bucket/a-deletes", &files[0], 1);
    if version == FormatVersion::V3 {
        deletes.file_format = FileFormat::Puffin;
        deletes.content_offset = Some(4);
        deletes.content_size_in_bytes = Some(40);
        deletes.referenced_data_file = Some(Arc::from("s3://bucket/a"));
    }
    let removed = Arc::new(files[1].clone());
    let appended = site.append(files).await;
    let deleted = site
        .commit(RowDelta::new().add_deletes(Arc::new(deletes)).build())
        .await;
    let removed = site.commit(DeleteFiles::new().file(removed).build()).await;
    (site, [appended, deleted, removed])
}

#[tokio::test]
async fn files_are_those_of_the_snapshot() {
    let (site, _) = changed(FormatVersion::V2).await;
    let sql = "select content, file_path, file_format, spec_id, partition, record_count, file_size_in_bytes
               from m order by file_path";
    let a = "0|s3://bucket/a|PARQUET|0|{p: a}|2|200";
    let deletes = "1|s3://bucket/a-deletes|PARQUET|0|{p: a}|1|50";
    let n = "0|s3://bucket/n|PARQUET|0|{p: NULL}|4|400";
    assert_eq!(site.rows(K::Files, sql).await, [a, deletes, n]);
    assert_eq!(site.rows(K::DataFiles, sql).await, [a, n]);
    assert_eq!(site.rows(K::DeleteFiles, sql).await, [deletes]);
    let b = "0|s3://bucket/b|PARQUET|0|{p: b}|3|300";
    // Every manifest of every snapshot once: the rewritten one lists `a` and `n` again.
    assert_eq!(site.rows(K::AllDataFiles, sql).await, [a, a, b, n, n]);
    assert_eq!(site.rows(K::AllDeleteFiles, sql).await, [deletes]);
    assert_eq!(site.rows(K::AllFiles, sql).await, [a, a, deletes, b, n, n]);
}

/// Spec, "Manifest Entry Fields": a removed file keeps its sequence number and has the id of the snapshot that removed it.
#[tokio::test]
async fn entries_show_what_was_removed() {
    let (site, [appended, deleted, removed]) = changed(FormatVersion::V2).await;
    let sql = "select status, snapshot_id, sequence_number, file_sequence_number, data_file['file_path']
               from m order by data_file['file_path'], status";
    let current = [
        format!("0|{appended}|1|1|s3://bucket/a"),
        format!("1|{deleted}|2|2|s3://bucket/a-deletes"),
        format!("2|{removed}|1|1|s3://bucket/b"),
        format!("0|{appended}|1|1|s3://bucket/n"),
    ];
    assert_eq!(site.rows(K::Entries, sql).await, current);
    let all = [
        format!("0|{appended}|1|1|s3://bucket/a"),
        format!("1|{appended}|1|1|s3://bucket/a"),
        format!("1|{deleted}|2|2|s3://bucket/a-deletes"),
        format!("1|{appended}|1|1|s3://bucket/b"),
        format!("2|{removed}|1|1|s3://bucket/b"),
        format!("0|{appended}|1|1|s3://bucket/n"),
        format!("1|{appended}|1|1|s3://bucket/n"),
    ];
    assert_eq!(site.rows(K::AllEntries, sql).await, all);
}

#[tokio::test]
async fn manifests_count_data_and_delete_files_apart() {
    let (site, [appended, deleted, removed]) = changed(FormatVersion::V2).await;
    let sql = "select content, partition_spec_id, added_snapshot_id, added_data_files_count, existing_data_files_count,
               deleted_data_files_count, added_delete_files_count, existing_delete_files_count,
               deleted_delete_files_count, partition_summaries from m order by content, added_snapshot_id = ";
    // Java's `toHumanString` shows a missing bound as text.
    let summary = |null, lower, upper| {
        format!("[{{contains_null: {null}, contains_nan: false, lower_bound: {lower}, upper_bound: {upper}}}]")
    };
    let data = format!("0|0|{removed}|0|2|1|0|0|0|{}", summary(true, "a", "b"));
    let deletes = format!("1|0|{deleted}|0|0|0|1|0|0|{}", summary(false, "a", "a"));
    let current = site.rows(K::Manifests, &format!("{sql}{removed}")).await;
    assert_eq!(current, [data.clone(), deletes.clone()]);
    let first = format!("0|0|{appended}|3|0|0|0|0|0|{}", summary(true, "a", "b"));
    let sql = sql.replace("select content", "select reference_snapshot_id, content");
    let all = site
        .rows(
            K::AllManifests,
            &format!("{sql}{removed}, reference_snapshot_id = {removed}, reference_snapshot_id = {deleted}"),
        )
        .await;
    let expected = [
        format!("{appended}|{first}"),
        format!("{deleted}|{first}"),
        format!("{removed}|{data}"),
        format!("{deleted}|{deletes}"),
        format!("{removed}|{deletes}"),
    ];
    assert_eq!(all, expected);
    let one = format!("select count(*) from m where reference_snapshot_id = {appended}");
    assert_eq!(site.rows(K::AllManifests, &one).await, ["1"]);
}

#[tokio::test]
async fn deletion_vectors_and_row_ids_are_shown() {
    let (site, _) = changed(FormatVersion::V3).await;
    let sql = "select file_path, first_row_id, referenced_data_file, content_offset, content_size_in_bytes
               from m order by file_path";
    // Rows are numbered in the order of the files: two of `a`, then three of `b`.
    let expected = [
        "s3://bucket/a|0|NULL|NULL|NULL",
        "s3://bucket/a-deletes|NULL|s3://bucket/a|4|40",
        "s3://bucket/n|5|NULL|NULL|NULL",
    ];
    assert_eq!(site.rows(K::Files, sql).await, expected);
}

#[tokio::test]
async fn rare_columns_are_shown_where_files_have_them() {
    let site = Site::by_p(FormatVersion::V2).await;
    let mut data = data_file("s3://bucket/a", Some("a"), 2);
    data.split_offsets = vec![4, 1000];
    data.sort_order_id = Some(0);
    data.key_metadata = Some(vec![1, 255]);
    let mut equality = DataFile::new(DataContent::EqualityDeletes, "s3://bucket/e", FileFormat::Avro);
    equality.partition = data.partition.clone();
    equality.equality_ids = vec![1, 2];
    site.append([data]).await;
    site.commit(RowDelta::new().add_deletes(Arc::new(equality)).build())
        .await;
    let sql = "select content, file_format, split_offsets, equality_ids, sort_order_id, key_metadata, value_counts
               from m order by content";
    let expected = [
        "0|PARQUET|[4, 1000]|NULL|0|01ff|NULL",
        "2|AVRO|NULL|[1, 2]|NULL|NULL|NULL",
    ];
    assert_eq!(site.rows(K::Files, sql).await, expected);
}
