//! `ancestors_of` (Java: `AncestorsOfProcedure`).

use datafusion::common::ScalarValue;
use tarn_format::scan::snapshots::{ancestors, find_snapshot};
use tarn_format::{Result, ResultExt};

use super::target::TABLE;
use super::{Call, OutputColumn, Parameter, ParameterType, Procedure, Rows};
use crate::relations::full_name;

const SNAPSHOT_ID: Parameter = Parameter::optional(
    "snapshot_id",
    ParameterType::Long,
    "The snapshot to begin with; the current one when it is left out",
);

/// The procedure.
pub(super) static PROCEDURE: Procedure = Procedure {
    name: "ancestors_of",
    description: "Lists a snapshot and its ancestors that are still kept, youngest first.",
    parameters: &[TABLE, SNAPSHOT_ID],
    output: &[
        OutputColumn::long("snapshot_id", "The snapshot"),
        OutputColumn::long("timestamp", "When it was committed, in milliseconds since 1970"),
    ],
};

/// Runs it.
pub(super) async fn call(call: Call<'_>) -> Result<Rows> {
    let found = call.table().await?;
    let metadata = &found.table.metadata;
    let given = call.arguments.optional_long(&SNAPSHOT_ID);
    let Some(first) = given.or(metadata.current_snapshot_id) else {
        return Ok(Rows::new());
    };
    find_snapshot(metadata, first).context("table", full_name(&found).to_string())?;
    let row = |id: i64, ms: i64| vec![ScalarValue::from(id), ScalarValue::from(ms)];
    Ok(ancestors(metadata, first)
        .map(|s| row(s.snapshot_id, s.timestamp_ms))
        .collect())
}
