//! `cherrypick_snapshot` (Java: `CherrypickSnapshotProcedure`).

use datafusion::common::ScalarValue;
use tarn_format::commit::cherry_pick::cherry_pick;
use tarn_format::{Error, Result, ResultExt};

use super::target::TABLE;
use super::{Call, OutputColumn, Parameter, ParameterType, Procedure, Rows};
use crate::names::FoundTable;
use crate::relations::full_name;

const SNAPSHOT_ID: Parameter = Parameter::required(
    "snapshot_id",
    ParameterType::Long,
    "The snapshot whose changes are wanted: an append or an overwrite of partitions",
);

/// The procedure.
pub(super) static PROCEDURE: Procedure = Procedure {
    name: "cherrypick_snapshot",
    description: "Brings the changes of a snapshot that is not part of the current state to it.",
    parameters: &[TABLE, SNAPSHOT_ID],
    output: &[
        OutputColumn::long("source_snapshot_id", "The snapshot that was picked"),
        OutputColumn::long("current_snapshot_id", "The current snapshot now"),
    ],
};

/// Runs it.
pub(super) async fn call(call: Call<'_>) -> Result<Rows> {
    let found = call.table().await?;
    let snapshot_id = call.arguments.long(&SNAPSHOT_ID)?;
    pick(&call, &found, snapshot_id).await
}

/// Picks a snapshot; the row that tells of it.
///
/// # Errors
/// As [`cherry_pick`].
pub(super) async fn pick(call: &Call<'_>, found: &FoundTable, snapshot_id: i64) -> Result<Rows> {
    let options = call.commit_options();
    let picked = cherry_pick(found.entry.catalog.as_ref(), &found.table, snapshot_id, &options)
        .await
        .context("table", full_name(found).to_string())?;
    let current = picked.metadata.current_snapshot_id;
    let current = current.ok_or_else(|| Error::corrupt("the table has no current snapshot after a cherry-pick"))?;
    Ok(vec![vec![ScalarValue::from(snapshot_id), ScalarValue::from(current)]])
}
