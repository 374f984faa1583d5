//! `publish_changes` (Java: `PublishChangesProcedure`).

use tarn_format::{Error, Result};

use super::cherrypick_snapshot::pick;
use super::target::TABLE;
use super::{Call, OutputColumn, Parameter, ParameterType, Procedure, Rows};
use crate::relations::full_name;

const WAP_ID: Parameter = Parameter::required(
    "wap_id",
    ParameterType::String,
    "The id that spark.wap.id had when the changes were staged",
);

/// The key of that id in the summary of a staged snapshot (Java: `SnapshotSummary.STAGED_WAP_ID_PROP`).
const STAGED_WAP_ID: &str = "wap.id";

/// The procedure.
pub(super) static PROCEDURE: Procedure = Procedure {
    name: "publish_changes",
    description: "Brings changes that were staged under a WAP id to the current state, once.",
    parameters: &[TABLE, WAP_ID],
    output: &[
        OutputColumn::long("source_snapshot_id", "The snapshot that was staged"),
        OutputColumn::long("current_snapshot_id", "The current snapshot now"),
    ],
};

/// Runs it.
pub(super) async fn call(call: Call<'_>) -> Result<Rows> {
    let wap_id = call.arguments.string(&WAP_ID)?;
    let found = call.table().await?;
    let snapshots = &found.table.metadata.snapshots;
    let mut staged = snapshots
        .iter()
        .filter(|s| s.summary.get(STAGED_WAP_ID).is_some_and(|id| id == wap_id));
    let table = full_name(&found);
    let refused = |why: &str| Error::validation(format!("WAP id '{wap_id}' {why} in table {table}"));
    let Some(first) = staged.next() else {
        return Err(refused("has no staged snapshot"));
    };
    if staged.next().is_some() {
        return Err(refused("has several snapshots"));
    }
    pick(&call, &found, first.snapshot_id).await
}
