//! `fast_forward` (Java: `FastForwardBranchProcedure`).

use std::sync::Arc;

use datafusion::common::ScalarValue;
use tarn_format::commit::Transaction;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::update::refs::RefsUpdate;
use tarn_format::{Error, Result, ResultExt};

use super::target::TABLE;
use super::{Call, OutputColumn, Parameter, ParameterType, Procedure, Rows};
use crate::relations::full_name;

const BRANCH: Parameter = Parameter::required(
    "branch",
    ParameterType::String,
    "The branch that moves; made when it is missing",
);

const TO: Parameter = Parameter::required(
    "to",
    ParameterType::String,
    "The branch or tag whose snapshot it moves to",
);

/// The procedure.
pub(super) static PROCEDURE: Procedure = Procedure {
    name: "fast_forward",
    description: "Moves a branch to the snapshot of another ref that descends from its own.",
    parameters: &[TABLE, BRANCH, TO],
    output: &[
        OutputColumn::text("branch_updated", "The branch"),
        OutputColumn::long_or_null("previous_ref", "Its snapshot before; NULL when it was made"),
        OutputColumn::long("updated_ref", "Its snapshot now"),
    ],
};

/// Runs it.
pub(super) async fn call(call: Call<'_>) -> Result<Rows> {
    let found = call.table().await?;
    let branch = call.arguments.string(&BRANCH)?.to_string();
    let to = call.arguments.string(&TO)?.to_string();
    let head = |metadata: &TableMetadata| metadata.refs.get(&branch).map(|r| r.snapshot_id);
    let previous = head(&found.table.metadata);
    let moved = branch.clone();
    let transaction = Transaction::of(&found.table).update(move |base| {
        let mut refs = RefsUpdate::new(&Arc::new(base.clone()));
        refs.fast_forward(&moved, &to)?;
        Ok(refs.finish().0)
    });
    let outcome = transaction
        .commit(found.entry.catalog.as_ref(), &call.commit_options())
        .await
        .context("table", full_name(&found).to_string())?;
    let updated = head(&outcome.table.metadata);
    let updated = updated.ok_or_else(|| Error::corrupt(format!("branch '{branch}' is missing after it moved")))?;
    Ok(vec![vec![
        ScalarValue::from(branch),
        ScalarValue::Int64(previous),
        ScalarValue::from(updated),
    ]])
}
