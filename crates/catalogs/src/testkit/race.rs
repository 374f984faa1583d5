//! Writers that commit to one table at the same time, and the proof that none of their commits was lost or doubled.

use std::collections::HashSet;
use std::time::Duration;

use tarn_format::catalog::{Catalog, Table, TableIdent};
use tarn_format::{Error, ErrorKind, Result};

use super::fixture::append_snapshot;
use super::{CaseResult, Failure, ensure, equal};

/// Tries before a writer gives up: losing this often in a row means that nobody makes progress.
const MAX_TRIES: u32 = 10_000;

/// The id of the `i`-th snapshot of a writer: unique over all writers.
pub fn snapshot_id(writer: u32, i: u32) -> i64 {
    i64::from(writer) * 1_000_000 + i64::from(i) + 1
}

/// Puts `commits` snapshots on the table, each tried until it lands.
///
/// # Errors
/// Any error of the catalog but a conflict.
pub async fn append_all(catalog: &dyn Catalog, ident: &TableIdent, writer: u32, commits: u32) -> Result<()> {
    for i in 0..commits {
        append_one(catalog, ident, snapshot_id(writer, i), writer).await?;
    }
    Ok(())
}

/// Puts one snapshot on the table, tried until it lands.
///
/// # Errors
/// Any error of the catalog but a conflict.
pub async fn append_one(catalog: &dyn Catalog, ident: &TableIdent, id: i64, writer: u32) -> Result<()> {
    for attempt in 0..MAX_TRIES {
        let base = catalog.load_table(ident).await?;
        match catalog.commit_table(append_snapshot(ident, &base.metadata, id)).await {
            Ok(_) => return Ok(()),
            Err(e) if e.kind() == ErrorKind::Conflict => {
                // Spread by writer, so that equal writers do not keep step.
                let wait_ms = u64::from((attempt % 8 + 1) * (writer % 5 + 1));
                tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            }
            Err(e) => return Err(e),
        }
    }
    Err(Error::conflict(format!("snapshot {id} lost every race")))
}

/// Checks that the table holds the snapshots of all writers once each, as one line of ancestors.
///
/// # Errors
/// A failure naming what is missing or too many.
pub fn check_all_landed(table: &Table, writers: u32, commits: u32) -> CaseResult {
    let metadata = &table.metadata;
    let expected: HashSet<i64> = (0..writers)
        .flat_map(|w| (0..commits).map(move |i| snapshot_id(w, i)))
        .collect();
    let found: Vec<i64> = metadata.snapshots.iter().map(|s| s.snapshot_id).collect();
    let distinct: HashSet<i64> = found.iter().copied().collect();
    equal(distinct.len(), found.len(), "distinct snapshots")?;
    ensure(distinct == expected, || {
        let lost: Vec<_> = expected.difference(&distinct).take(5).collect();
        let foreign: Vec<_> = distinct.difference(&expected).take(5).collect();
        format!(
            "{} of {} snapshots; lost {lost:?}, unexpected {foreign:?}",
            found.len(),
            expected.len()
        )
    })?;
    let head = metadata
        .current_snapshot_id
        .ok_or_else(|| Failure("no current snapshot".to_owned()))?;
    equal(
        metadata.ancestors_of(head).len(),
        expected.len(),
        "snapshots in one line of ancestors",
    )?;
    equal(
        metadata.last_sequence_number,
        i64::from(writers * commits),
        "last sequence number",
    )
}
