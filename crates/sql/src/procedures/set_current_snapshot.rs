//! `set_current_snapshot` (Java: `SetCurrentSnapshotProcedure`).

use datafusion::common::ScalarValue;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::update::current_snapshot::set_current_snapshot;
use tarn_format::{Error, Result};

use super::target::TABLE;
use super::{Call, OutputColumn, Parameter, ParameterType, Procedure, Rows};

const SNAPSHOT_ID: Parameter = Parameter::optional("snapshot_id", ParameterType::Long, "The snapshot, or give ref");

const REF: Parameter = Parameter::optional(
    "ref",
    ParameterType::String,
    "The branch or tag that points to the snapshot, or give snapshot_id",
);

/// The procedure.
pub(super) static PROCEDURE: Procedure = Procedure {
    name: "set_current_snapshot",
    description: "Makes any snapshot of a table the current one.",
    parameters: &[TABLE, SNAPSHOT_ID, REF],
    output: &[
        OutputColumn::long_or_null(
            "previous_snapshot_id",
            "The current snapshot before; NULL for an empty table",
        ),
        OutputColumn::long("current_snapshot_id", "The current snapshot now"),
    ],
};

/// Runs it.
pub(super) async fn call(call: Call<'_>) -> Result<Rows> {
    let wanted = match (
        call.arguments.optional_long(&SNAPSHOT_ID),
        call.arguments.optional_string(&REF),
    ) {
        (Some(id), None) => Wanted::Snapshot(id),
        (None, Some(name)) => Wanted::Ref(name.to_string()),
        _ => return Err(Error::invalid("give either snapshot_id or ref, one of the two")),
    };
    let found = call.table().await?;
    let choose = move |base: &_| set_current_snapshot(base, wanted.snapshot_id(base)?);
    let moved = call.move_main(&found, choose).await?;
    Ok(vec![vec![
        ScalarValue::Int64(moved.previous),
        ScalarValue::from(moved.current),
    ]])
}

/// The snapshot that is wanted.
enum Wanted {
    Snapshot(i64),
    Ref(String),
}

impl Wanted {
    fn snapshot_id(&self, base: &TableMetadata) -> Result<i64> {
        match self {
            Wanted::Snapshot(id) => Ok(*id),
            Wanted::Ref(name) => {
                let reference = base.refs.get(name);
                let reference =
                    reference.ok_or_else(|| Error::not_found(format!("branch or tag '{name}' does not exist")))?;
                Ok(reference.snapshot_id)
            }
        }
    }
}
