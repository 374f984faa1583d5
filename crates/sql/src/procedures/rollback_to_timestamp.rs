//! `rollback_to_timestamp` (Java: `RollbackToTimestampProcedure`).

use datafusion::common::ScalarValue;
use tarn_format::Result;
use tarn_format::update::current_snapshot::{ancestor_before, roll_back_to};

use super::target::TABLE;
use super::{Call, OutputColumn, Parameter, ParameterType, Procedure, Rows};

const TIMESTAMP: Parameter = Parameter::required(
    "timestamp",
    ParameterType::Timestamp,
    "The time before which the snapshot was committed that becomes current",
);

/// The procedure.
pub(super) static PROCEDURE: Procedure = Procedure {
    name: "rollback_to_timestamp",
    description: "Makes the last ancestor of the current snapshot that was committed before a time the current one.",
    parameters: &[TABLE, TIMESTAMP],
    output: &[
        OutputColumn::long("previous_snapshot_id", "The current snapshot before"),
        OutputColumn::long("current_snapshot_id", "The current snapshot now"),
    ],
};

/// Runs it.
pub(super) async fn call(call: Call<'_>) -> Result<Rows> {
    let found = call.table().await?;
    let before_ms = call.arguments.timestamp_ms(&TIMESTAMP)?;
    let choose = move |base: &_| roll_back_to(base, ancestor_before(base, before_ms)?);
    let moved = call.move_main(&found, choose).await?;
    Ok(vec![vec![
        ScalarValue::Int64(moved.previous),
        ScalarValue::from(moved.current),
    ]])
}
