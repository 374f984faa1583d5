//! What changes leave in the table.

use datafusion::logical_expr::{col, lit};
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::spec::snapshot::Operation;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::transform::Transform;

use super::*;

fn texts(ids: impl IntoIterator<Item = i32>) -> Vec<(i32, String)> {
    ids.into_iter().map(|id| (id, id.to_string())).collect()
}

#[tokio::test]
async fn deletes_again_and_again() {
    for (version, mode) in WAYS {
        let site = site(version).await;
        let report = delete(mode, col("id").eq(lit(3)).or(col("id").gt_eq(lit(18))))
            .run(&site)
            .await
            .unwrap();
        assert_eq!(
            (report.deleted_rows, report.updated_rows, report.inserted_rows),
            (3, 0, 0)
        );
        delete(mode, col("id").in_list(vec![lit(3), lit(5), lit(10)], false))
            .run(&site)
            .await
            .unwrap();
        let left: Vec<i32> = (0..18).filter(|id| ![3, 5, 10].contains(id)).collect();
        assert_eq!(
            site.rows("id").await,
            rows(&site, texts(left)).await,
            "{version:?} {mode:?}"
        );
        let (data, deletes) = files(&site).await;
        let stored: i64 = data.iter().map(|f| f.record_count).sum();
        let table = site.table().await;
        let operations: Vec<_> = table.metadata.snapshots.iter().filter_map(|s| s.operation).collect();
        match mode {
            RowLevelMode::CopyOnWrite => {
                assert_eq!((stored, deletes.len()), (15, 0), "{version:?}");
                assert_eq!(operations[2..], [Operation::Overwrite, Operation::Overwrite]);
            }
            RowLevelMode::MergeOnRead => {
                // One for each data file holds what is deleted from it, old and new.
                assert_eq!((stored, deletes.len()), (20, 2), "{version:?}");
                assert_eq!(deletes.iter().map(|f| f.record_count).sum::<i64>(), 5);
                let format = match version {
                    FormatVersion::V3 => FileFormat::Puffin,
                    _ => FileFormat::Parquet,
                };
                assert!(
                    deletes
                        .iter()
                        .all(|f| f.file_format == format && f.referenced_data_file.is_some())
                );
                assert_eq!(operations[2..], [Operation::Delete, Operation::Delete]);
            }
        }
    }
}

#[tokio::test]
async fn updates_keep_every_other_row() {
    for (version, mode) in WAYS {
        let site = site(version).await;
        let report = update(mode, (col("id") % lit(4)).eq(lit(1))).run(&site).await.unwrap();
        assert_eq!((report.deleted_rows, report.updated_rows), (0, 5));
        update(mode, col("s").eq(lit("new 13"))).run(&site).await.unwrap();
        delete(mode, col("s").eq(lit("new 17"))).run(&site).await.unwrap();
        let expected = (0..20).filter(|id| *id != 17).map(|id| match id % 4 {
            1 => (id, format!("new {id}")),
            _ => (id, id.to_string()),
        });
        assert_eq!(
            site.rows("id").await,
            rows(&site, expected).await,
            "{version:?} {mode:?}"
        );
        let stored: i64 = files(&site).await.0.iter().map(|f| f.record_count).sum();
        assert_eq!(stored, if mode == RowLevelMode::CopyOnWrite { 19 } else { 26 });
    }
}

/// Files of which nothing is left are removed unread; files without changed rows stay as they are.
#[tokio::test]
async fn copies_only_what_it_must() {
    let site = site(FormatVersion::V2).await;
    let before = files(&site).await.0;
    let report = delete(RowLevelMode::CopyOnWrite, col("id").lt(lit(10)))
        .run(&site)
        .await
        .unwrap();
    assert_eq!((report.added_files, report.removed_files), (0, 1));
    let after = files(&site).await.0;
    assert_eq!(after.len(), 1);
    assert!(before.iter().any(|f| f.file_path == after[0].file_path));
}

#[tokio::test]
async fn what_changes_nothing_commits_nothing() {
    for (version, mode) in WAYS {
        let site = site(version).await;
        let (before, stored) = (site.table().await, site.stored_files().await);
        for change in [delete(mode, col("id").eq(lit(77))), update(mode, col("id").eq(lit(77)))] {
            let report = change.run(&site).await.unwrap();
            assert_eq!((report.rows(), report.snapshot_id), (0, None));
        }
        assert_eq!(site.table().await.metadata, before.metadata);
        assert_eq!(site.stored_files().await, stored);
    }
}

#[tokio::test]
async fn deletes_of_a_partition_share_a_file_where_that_is_asked_for() {
    for (granularity, expected) in [(DeleteGranularity::File, 3), (DeleteGranularity::Partition, 2)] {
        let making = Making::new().partitioned_by(1, Transform::Truncate(10));
        let site = Site::new(columns(), making).await;
        for ids in [vec![0, 1, 10], vec![2, 3]] {
            site.append(rows(&site, texts(ids)).await).await.unwrap();
        }
        let change = Change {
            granularity,
            ..delete(
                RowLevelMode::MergeOnRead,
                col("id").in_list(vec![lit(0), lit(2), lit(10)], false),
            )
        };
        change.run(&site).await.unwrap();
        let deletes = files(&site).await.1;
        assert_eq!(deletes.len(), expected);
        for file in &deletes {
            // The path's bounds and the name are there just where all rows are of one data file.
            assert_eq!(file.referenced_data_file.is_some(), file.record_count == 1);
            assert_eq!(file.lower_bounds.is_empty(), file.record_count == 2);
            assert!(file.value_counts.is_empty());
        }
        assert_eq!(site.rows("id").await, rows(&site, texts([1, 3])).await);
    }
}
