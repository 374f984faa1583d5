//! `rollback_to_snapshot` (Java: `RollbackToSnapshotProcedure`).

use datafusion::common::ScalarValue;
use tarn_format::Result;
use tarn_format::update::current_snapshot::roll_back_to;

use super::target::TABLE;
use super::{Call, OutputColumn, Parameter, ParameterType, Procedure, Rows};

const SNAPSHOT_ID: Parameter = Parameter::required(
    "snapshot_id",
    ParameterType::Long,
    "The snapshot to go back to, an ancestor of the current one",
);

/// The procedure.
pub(super) static PROCEDURE: Procedure = Procedure {
    name: "rollback_to_snapshot",
    description: "Makes an ancestor of the current snapshot the current one.",
    parameters: &[TABLE, SNAPSHOT_ID],
    output: &[
        OutputColumn::long("previous_snapshot_id", "The current snapshot before"),
        OutputColumn::long("current_snapshot_id", "The current snapshot now"),
    ],
};

/// Runs it.
pub(super) async fn call(call: Call<'_>) -> Result<Rows> {
    let found = call.table().await?;
    let snapshot_id = call.arguments.long(&SNAPSHOT_ID)?;
    let moved = call
        .move_main(&found, move |base| roll_back_to(base, snapshot_id))
        .await?;
    Ok(vec![vec![
        ScalarValue::Int64(moved.previous),
        ScalarValue::from(moved.current),
    ]])
}
