//! What an append makes of the table: one snapshot, its summary, sequence numbers and row ids.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::prelude::SessionContext;
use tarn_format::ErrorKind;
use tarn_format::spec::snapshot::Operation;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType};
use tarn_format::transform::Transform;

use super::{Making, Site, WriteTarget, append_plan, ours};

fn columns() -> Vec<NestedField> {
    vec![NestedField::optional(1, "id", PrimitiveType::Int)]
}

fn ids(range: std::ops::Range<i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(range))
}

#[tokio::test]
async fn each_execution_commits_one_snapshot() {
    for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        let site = Site::new(columns(), Making::new().version(version)).await;
        for i in 0..3 {
            let report = site
                .append(site.batch(vec![ids(i * 10..i * 10 + 10)]).await)
                .await
                .unwrap();
            let table = site.table().await;
            let snapshot = table.metadata.current_snapshot().unwrap();
            assert_eq!(report.snapshot_id, Some(snapshot.snapshot_id));
            assert_eq!(table.metadata.snapshots.len(), i as usize + 1);
            let expected = if version == FormatVersion::V1 {
                0
            } else {
                i64::from(i) + 1
            };
            assert_eq!(snapshot.sequence_number, expected, "{version:?}");
            let summary = |key: &str| snapshot.summary.get(key).map(String::as_str);
            let total = ((i + 1) * 10).to_string();
            assert_eq!(snapshot.operation, Some(Operation::Append));
            assert_eq!(summary("added-data-files"), Some("1"));
            assert_eq!(summary("added-records"), Some("10"));
            assert_eq!(summary("total-records"), Some(total.as_str()));
            assert_eq!(summary("changed-partition-count"), Some("1"));
            let bytes = report.bytes.to_string();
            assert_eq!(summary("added-files-size"), Some(bytes.as_str()));
        }
        assert_eq!(site.rows("id").await, site.batch(vec![ids(0..30)]).await);
    }
}

/// Spec, "Row Lineage": v3 gives every row a number, in order of the commits.
#[tokio::test]
async fn rows_of_v3_tables_are_numbered() {
    let site = Site::new(columns(), Making::new().version(FormatVersion::V3)).await;
    for i in 0..3 {
        site.append(site.batch(vec![ids(i * 10..i * 10 + 10)]).await)
            .await
            .unwrap();
    }
    assert_eq!(site.table().await.metadata.next_row_id, 30);
    let mut first: Vec<Option<i64>> = site.files().await.iter().map(|f| f.first_row_id).collect();
    first.sort();
    assert_eq!(first, [Some(0), Some(10), Some(20)]);
}

#[tokio::test]
async fn a_plan_that_is_not_executed_changes_nothing() {
    let site = Site::new(columns(), Making::new()).await;
    let before = site.table().await;
    let files = site.stored_files().await;
    let batch = site.batch(vec![ids(0..5)]).await;
    let input = MemorySourceConfig::try_new_exec(&[vec![batch.clone()]], batch.schema(), None).unwrap();
    let target = WriteTarget::new(Arc::clone(&site.catalog), site.table().await).unwrap();
    let plan = append_plan(input, target).unwrap();
    let explained = datafusion::physical_plan::displayable(plan.as_ref())
        .indent(true)
        .to_string();
    assert!(explained.contains("table=db.t"), "{explained}");
    drop(plan);
    assert_eq!(site.table().await.metadata, before.metadata);
    assert_eq!(site.stored_files().await, files);
}

#[tokio::test]
async fn a_plan_executed_twice_appends_twice() {
    let site = Site::new(columns(), Making::new()).await;
    let batch = site.batch(vec![ids(0..5)]).await;
    let input = MemorySourceConfig::try_new_exec(&[vec![batch.clone()]], batch.schema(), None).unwrap();
    let target = WriteTarget::new(Arc::clone(&site.catalog), site.table().await).unwrap();
    let plan = append_plan(input, target).unwrap();
    for _ in 0..2 {
        let context = SessionContext::new().task_ctx();
        datafusion::physical_plan::collect(Arc::clone(&plan), context)
            .await
            .unwrap();
    }
    assert_eq!(site.rows("id").await.num_rows(), 10);
    assert_eq!(site.table().await.metadata.snapshots.len(), 2);
}

#[tokio::test]
async fn rows_that_others_appended_meanwhile_stay() {
    let site = Site::new(columns(), Making::new()).await;
    let stale = site.table().await;
    site.append(site.batch(vec![ids(0..5)]).await).await.unwrap();
    let batch = site.batch(vec![ids(5..9)]).await;
    let input = MemorySourceConfig::try_new_exec(&[vec![batch.clone()]], batch.schema(), None).unwrap();
    let plan = append_plan(input, WriteTarget::new(Arc::clone(&site.catalog), stale).unwrap()).unwrap();
    datafusion::physical_plan::collect(plan, SessionContext::new().task_ctx())
        .await
        .unwrap();
    assert_eq!(site.rows("id").await, site.batch(vec![ids(0..9)]).await);
}

#[tokio::test]
async fn branches_that_do_not_exist_are_refused() {
    let site = Site::new(columns(), Making::new()).await;
    let batch = site.batch(vec![ids(0..5)]).await;
    let input = MemorySourceConfig::try_new_exec(&[vec![batch.clone()]], batch.schema(), None).unwrap();
    let mut target = WriteTarget::new(Arc::clone(&site.catalog), site.table().await).unwrap();
    target.branch = Some("nowhere".to_string());
    let error = ours(append_plan(input, target).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("'nowhere'"), "{error}");
}

#[tokio::test]
async fn changed_partitions_are_counted() {
    let making = Making::new().partitioned_by(1, Transform::Truncate(10));
    let site = Site::new(columns(), making).await;
    site.append(site.batch(vec![ids(0..35)]).await).await.unwrap();
    let table = site.table().await;
    let summary = &table.metadata.current_snapshot().unwrap().summary;
    assert_eq!(summary.get("changed-partition-count").map(String::as_str), Some("4"));
    assert_eq!(summary.get("added-data-files").map(String::as_str), Some("4"));
}
