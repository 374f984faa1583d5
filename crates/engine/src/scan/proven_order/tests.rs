use arrow::array::{AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use datafusion::physical_plan::displayable;
use datafusion::prelude::{SessionConfig, SessionContext};
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::types::NestedField;

use super::*;
use crate::write::tests::{Making, Site};
use crate::{Caches, IcebergTable};

const SORT: &str = "SortExec";

async fn site(primitive: PrimitiveType, direction: SortDirection) -> Site {
    let columns = vec![
        NestedField::optional(1, "a", primitive),
        NestedField::optional(2, "b", PrimitiveType::Long),
    ];
    Site::new(columns, Making::new().sorted_by(1, direction)).await
}

async fn append(site: &Site, values: &[Option<i64>]) {
    let own = site.batch_types().await;
    let values: arrow::array::ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
    let columns = own.iter().map(|t| arrow::compute::cast(&values, t).unwrap());
    let batch: RecordBatch = site.batch(columns.collect()).await;
    site.append(batch).await.unwrap();
}

/// The plan of a query in one partition, and the values of its first column, which are the same in several.
async fn query(site: &Site, sql: &str) -> (String, Vec<Option<i64>>) {
    let (plan, rows) = query_in(1, site, sql).await;
    for partitions in 2..5 {
        assert_eq!(
            query_in(partitions, site, sql).await.1,
            rows,
            "{sql} in {partitions} partitions"
        );
    }
    (plan, rows)
}

async fn query_in(partitions: usize, site: &Site, sql: &str) -> (String, Vec<Option<i64>>) {
    let table = IcebergTable::new(site.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
    context.register_table("t", Arc::new(table)).unwrap();
    let frame = context.sql(sql).await.unwrap();
    let plan = frame.clone().create_physical_plan().await.unwrap();
    let shown = displayable(plan.as_ref()).indent(false).to_string();
    let batches = frame.collect().await.unwrap();
    let values = batches.iter().flat_map(|batch| {
        let column = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Int64).unwrap();
        column.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
    });
    (shown, values.collect())
}

fn some(values: impl IntoIterator<Item = i64>) -> Vec<Option<i64>> {
    values.into_iter().map(Some).collect()
}

#[tokio::test]
async fn files_that_follow_each_other_need_no_sort() {
    let site = site(PrimitiveType::Long, SortDirection::Asc).await;
    append(&site, &some([9, 7, 8])).await;
    append(&site, &some([3, 1, 2])).await;
    append(&site, &some([6, 5, 4, 7])).await;
    let (plan, rows) = query(&site, "SELECT a FROM t ORDER BY a NULLS FIRST").await;
    assert!(!plan.contains(SORT), "{plan}");
    assert_eq!(rows, some([1, 2, 3, 4, 5, 6, 7, 7, 8, 9]));
    let (plan, rows) = query(&site, "SELECT a FROM t ORDER BY a NULLS FIRST LIMIT 4").await;
    assert!(!plan.contains(SORT), "{plan}");
    assert_eq!(rows, some([1, 2, 3, 4]));
    let (_, rows) = query(&site, "SELECT a FROM t ORDER BY a DESC LIMIT 3").await;
    assert_eq!(rows, some([9, 8, 7]));
    // The second column stands in no order.
    let (plan, _) = query(&site, "SELECT b FROM t ORDER BY b NULLS FIRST").await;
    assert!(plan.contains(SORT), "{plan}");
}

#[tokio::test]
async fn descending_orders_are_used_too() {
    let site = site(PrimitiveType::Long, SortDirection::Desc).await;
    append(&site, &some([1, 3, 2])).await;
    append(&site, &some([7, 9, 8])).await;
    let (plan, rows) = query(&site, "SELECT a FROM t ORDER BY a DESC NULLS LAST").await;
    assert!(!plan.contains(SORT), "{plan}");
    assert_eq!(rows, some([9, 8, 7, 3, 2, 1]));
}

#[tokio::test]
async fn files_that_overlap_or_have_nulls_are_sorted() {
    let overlapping = site(PrimitiveType::Long, SortDirection::Asc).await;
    append(&overlapping, &some([1, 5])).await;
    append(&overlapping, &some([4, 9])).await;
    let (plan, rows) = query(&overlapping, "SELECT a FROM t ORDER BY a NULLS FIRST").await;
    assert!(plan.contains(SORT), "{plan}");
    assert_eq!(rows, some([1, 4, 5, 9]));
    let nulls = site(PrimitiveType::Long, SortDirection::Asc).await;
    append(&nulls, &some([1, 2])).await;
    append(&nulls, &[Some(3), None]).await;
    let (plan, rows) = query(&nulls, "SELECT a FROM t ORDER BY a NULLS FIRST").await;
    assert!(plan.contains(SORT), "{plan}");
    assert_eq!(rows, [None, Some(1), Some(2), Some(3)]);
}

/// Engines differ on the order of zeros and NaN.
#[tokio::test]
async fn floating_point_numbers_are_sorted() {
    let site = site(PrimitiveType::Double, SortDirection::Asc).await;
    append(&site, &some([3, 1])).await;
    append(&site, &some([9, 7])).await;
    let (plan, rows) = query(&site, "SELECT a FROM t ORDER BY a NULLS FIRST").await;
    assert!(plan.contains(SORT), "{plan}");
    assert_eq!(rows, some([1, 3, 7, 9]));
}

/// Files without an order among those with one.
#[tokio::test]
async fn one_unsorted_file_is_enough() {
    let site = site(PrimitiveType::Long, SortDirection::Asc).await;
    append(&site, &some([1, 2])).await;
    let mut file = site.file().await;
    file.sort_order_id = None;
    file.file_path = format!("{}.copy", file.file_path).into();
    let table = site.table().await;
    let bytes = table.io.read(&site.file().await.file_path).await.unwrap();
    table.io.write(&file.file_path, bytes).await.unwrap();
    let change = tarn_format::commit::append::fast_append([Arc::new(file)]);
    let options = tarn_format::commit::CommitOptions::default();
    tarn_format::commit::commit(site.catalog.as_ref(), &table, change, &options)
        .await
        .unwrap();
    let (plan, rows) = query(&site, "SELECT a FROM t ORDER BY a NULLS FIRST").await;
    assert!(plan.contains(SORT), "{plan}");
    assert_eq!(rows, some([1, 1, 2, 2]));
}
