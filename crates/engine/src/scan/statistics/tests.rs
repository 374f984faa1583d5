use arrow::array::{Int64Array, StringViewArray};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::prelude::SessionContext;
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::types::NestedField;

use super::*;
use crate::write::tests::{Making, Site};
use crate::{Caches, IcebergTable};

/// 1,000 rows of 8 bytes and of text.
async fn told_of(columns: &[&str]) -> Arc<Statistics> {
    let fields = vec![
        NestedField::required(1, "id", PrimitiveType::Long),
        NestedField::required(2, "word", PrimitiveType::String),
    ];
    let site = Site::new(fields, Making::new()).await;
    let ids = Int64Array::from_iter_values(0..1000);
    let words = StringViewArray::from_iter_values((0..1000).map(|i| format!("word {i}")));
    let rows = site.batch(vec![Arc::new(ids), Arc::new(words)]).await;
    site.append(rows).await.unwrap();
    let table = IcebergTable::new(site.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
    let frame = SessionContext::new().read_table(Arc::new(table)).unwrap();
    let plan = frame.select_columns(columns).unwrap().create_physical_plan().await;
    let told = StatisticsContext::new().compute(plan.unwrap().as_ref(), &StatisticsArgs::new());
    told.unwrap()
}

/// Joins choose their sides and modes by sizes first.
#[tokio::test]
async fn a_columns_size_is_not_that_of_the_file() {
    let told = told_of(&["id"]).await;
    assert_eq!(told.total_byte_size, Precision::Exact(8 * 1000));
    let told = told_of(&["word"]).await;
    assert_eq!(told.total_byte_size, Precision::Absent);
    assert_eq!(told.num_rows, Precision::Exact(1000));
}
