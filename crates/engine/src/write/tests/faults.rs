//! Every I/O of an append fails once, in every way: the table is then as before or as after, and reads either way.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Int32Array, RecordBatch, StringViewArray};
use tarn_format::io::fault::{Effect, Fault, Operation};
use tarn_format::spec::types::{NestedField, PrimitiveType};
use tarn_format::transform::Transform;
use tarn_format::{ErrorKind, Result};

use super::{AppendReport, Making, Site};

/// A partitioned table with small files: several data files, manifests of earlier appends, and no waits.
async fn site() -> Site {
    let columns = vec![
        NestedField::optional(1, "id", PrimitiveType::Int),
        NestedField::optional(2, "s", PrimitiveType::String),
    ];
    let making = Making::new()
        .partitioned_by(1, Transform::Bucket(2))
        .property("commit.retry.num-retries", 2)
        .property("commit.retry.min-wait-ms", 0)
        .property("commit.retry.max-wait-ms", 0)
        .property("commit.status-check.num-retries", 2)
        .property("commit.status-check.min-wait-ms", 0)
        .property("commit.status-check.max-wait-ms", 0);
    let site = Site::new(columns, making).await;
    site.append(batch(&site, 0..20).await).await.unwrap();
    site
}

async fn batch(site: &Site, ids: std::ops::Range<i32>) -> RecordBatch {
    let text: Vec<String> = ids.clone().map(|id| format!("row {id}")).collect();
    site.batch(vec![
        Arc::new(Int32Array::from_iter_values(ids)),
        Arc::new(StringViewArray::from(text)),
    ])
    .await
}

async fn data_files(site: &Site) -> BTreeSet<String> {
    let stored = site.stored_files().await;
    stored.into_iter().filter(|path| path.contains("/data/")).collect()
}

/// Appends with the fault set; `None` once the append has fewer operations than the fault's index.
async fn append_with(fault: Fault) -> Option<(Site, Result<AppendReport>)> {
    let site = site().await;
    let rows = batch(&site, 20..50).await;
    site.store.clear_records();
    site.store.set(fault);
    let outcome = site.append(rows).await;
    let was_hit = site.store.was_hit();
    site.store.heal();
    was_hit.then_some((site, outcome))
}

#[tokio::test]
async fn every_fault_leaves_the_table_as_before_or_as_after() {
    let mut tried = 0;
    for effect in [Effect::None, Effect::Done, Effect::Torn] {
        for make in [Fault::nth, Fault::killed_at] {
            let mut index = 0;
            while let Some((site, outcome)) = append_with(make(index).effect(effect)).await {
                let told = format!("operation {index}, {effect:?}: {outcome:?}");
                let rows = site.rows("id").await;
                let (before, after) = (batch(&site, 0..20).await, batch(&site, 0..50).await);
                match &outcome {
                    Ok(report) => assert_eq!((rows, report.rows), (after, 30), "{told}"),
                    Err(e) if e.kind() == ErrorKind::CommitStateUnknown => {
                        assert!(rows == before || rows == after, "{told}");
                    }
                    Err(_) => assert_eq!(rows, before, "{told}"),
                }
                // The table can be written again.
                site.append(batch(&site, 100..101).await).await.unwrap();
                tried += 1;
                index += 1;
            }
            assert!(index > 5, "an append has more than {index} operations");
        }
    }
    println!("{tried} faults tried");
}

#[tokio::test]
async fn a_failed_append_leaves_no_data_file() {
    let mut index = 0;
    while let Some((site, outcome)) = append_with(Fault::nth(index)).await {
        let listed: BTreeSet<String> = site.files().await.iter().map(|f| key(&f.file_path)).collect();
        if !matches!(&outcome, Err(e) if e.kind() == ErrorKind::CommitStateUnknown) {
            assert_eq!(data_files(&site).await, listed, "operation {index}: {outcome:?}");
        }
        index += 1;
    }
    assert!(index > 5);
}

#[tokio::test]
async fn an_error_names_the_table_and_the_file() {
    let fault = Fault::nth(0).only(&[Operation::Create, Operation::Write, Operation::UploadStart]);
    let (site, outcome) = append_with(fault).await.unwrap();
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    let shown = error.to_string();
    assert!(shown.contains("lake.db.t") && shown.contains("/data/"), "{shown}");
    assert_eq!(site.rows("id").await.num_rows(), 20);
}

/// The store's key of a location.
fn key(location: &str) -> String {
    location.trim_start_matches("s3://").to_string()
}
