//! UPDATE by new values alone: in files that are taken apart, and in those that are written anew beside them.

use arrow::array::AsArray;
use arrow::datatypes::{Int32Type, Int64Type};
use datafusion::logical_expr::{col, lit};
use tarn_format::transform::Transform;

use super::patches::{change, ids, rows_and_lineage};
use super::*;

/// Ids 0 to 39: a file of its own for each ten.
async fn four_files(version: FormatVersion) -> Site {
    let site = Site::new(columns(), Making::new().version(version)).await;
    for ids in [0..10, 10..20, 20..30, 30..40] {
        site.append(rows(&site, ids.map(|id| (id, id.to_string()))).await)
            .await
            .unwrap();
    }
    site
}

/// Of four files two have deletes: they become one, the others are taken apart, and all rows are there with their lineage.
#[tokio::test]
async fn files_with_deletes_are_written_anew_beside_those_that_are_taken_apart() {
    for version in [FormatVersion::V2, FormatVersion::V3] {
        let site = four_files(version).await;
        let before = rows_and_lineage(&site).await;
        delete(RowLevelMode::MergeOnRead, ids([3, 15]))
            .run(&site)
            .await
            .unwrap();
        let report = update(RowLevelMode::CopyOnWrite, (col("id") % lit(5)).eq(lit(1)))
            .run(&site)
            .await
            .unwrap();
        // Of the two that are taken apart one chunk is copied: that of `id`.
        assert_eq!(
            (report.added_files, report.removed_files),
            (3, 4),
            "{version:?} {report:?}"
        );
        assert_eq!(report.updated_rows, 8);
        assert!(report.copied_chunks >= 2, "{report:?}");
        let left = (0..40).filter(|id| ![3, 15].contains(id)).map(|id| match id % 5 {
            1 => (id, format!("new {id}")),
            _ => (id, id.to_string()),
        });
        assert_eq!(site.rows("id").await, rows(&site, left).await, "{version:?}");
        assert!(files(&site).await.1.is_empty() || version == FormatVersion::V2);
        if version == FormatVersion::V3 {
            let after = rows_and_lineage(&site).await;
            let kept = |batch: &RecordBatch| {
                let ids = batch.column(0).as_primitive::<Int32Type>().values().to_vec();
                let rows = batch.column_by_name("_row_id").unwrap();
                let rows = rows.as_primitive::<Int64Type>().values().to_vec();
                let all = ids.into_iter().zip(rows);
                all.filter(|(id, _)| ![3, 15].contains(id)).collect::<Vec<_>>()
            };
            assert_eq!(kept(&after), kept(&before));
        }
    }
}

/// A value that decides on the partition moves its row there.
#[tokio::test]
async fn rows_move_to_their_partitions() {
    for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        let making = Making::new()
            .version(version)
            .partitioned_by(1, Transform::Truncate(10));
        let site = Site::new(columns(), making).await;
        site.append(rows(&site, (0..20).map(|id| (id, id.to_string()))).await)
            .await
            .unwrap();
        let new = [("id", col("id") + lit(10))];
        let moved = change(&site, ids([2, 13]), lit(RowAction::Update as i32), &new).await;
        assert_eq!(moved.run(&site).await.unwrap().updated_rows, 2);
        let mut expected: Vec<(i32, String)> = (0..20)
            .map(|id| match id {
                2 | 13 => (id + 10, id.to_string()),
                _ => (id, id.to_string()),
            })
            .collect();
        expected.sort();
        let frame = site.rows("id").await;
        assert_eq!(frame.num_rows(), 20);
        let found = frame.column(0).as_primitive::<Int32Type>().values().to_vec();
        assert_eq!(
            found,
            expected.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            "{version:?}"
        );
        let mut partitions: Vec<i64> = files(&site).await.0.iter().map(|f| f.record_count).collect();
        partitions.sort_unstable();
        // Rows 0 to 9 without 2; 10 to 19 with 12, without 13; and 23.
        assert_eq!(partitions, [1, 9, 10], "{version:?}");
    }
}

/// NULL for a required column is refused with the column, however its file is written.
#[tokio::test]
async fn null_is_refused_where_files_are_written_anew() {
    let site = four_files(FormatVersion::V2).await;
    delete(RowLevelMode::MergeOnRead, ids([3])).run(&site).await.unwrap();
    let null = cast(
        lit(datafusion::common::ScalarValue::Null),
        arrow::datatypes::DataType::Int32,
    );
    let change = change(&site, ids([1]), lit(RowAction::Update as i32), &[("id", null)]).await;
    let error = change.run(&site).await.unwrap_err();
    assert_eq!(error.kind(), tarn_format::ErrorKind::InvalidInput, "{error:?}");
    assert!(format!("{error:?}").contains("id"), "{error:?}");
}

/// Rows whose values are not given stay: an update of no column is none that loses them.
#[tokio::test]
async fn an_update_of_no_column_keeps_all_rows() {
    let site = four_files(FormatVersion::V2).await;
    let nothing = change(&site, ids([1, 12]), lit(RowAction::Update as i32), &[]).await;
    assert_eq!(nothing.run(&site).await.unwrap().updated_rows, 2);
    let all = (0..40).map(|id| (id, id.to_string()));
    assert_eq!(site.rows("id").await, rows(&site, all).await);
}

/// What was done is among the plan's metrics.
#[tokio::test]
async fn metrics_tell_what_was_copied() {
    let site = four_files(FormatVersion::V2).await;
    let (plan, context) = update(RowLevelMode::CopyOnWrite, ids([1, 2, 33])).plan(&site).await;
    execute(&plan, &context).await.unwrap();
    let metrics = plan.metrics().unwrap();
    let found = ["updated_rows", "removed_files", "copied_chunks", "encoded_chunks"]
        .map(|name| metrics.sum_by_name(name).map(|value| value.as_usize()));
    assert_eq!(found, [Some(3), Some(2), Some(2), Some(2)]);
}
