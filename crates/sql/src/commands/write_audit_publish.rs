//! Write, audit, publish: where the rows of a statement go by `spark.wap.id` and `spark.wap.branch`.

use tarn_engine::write::{MissingBranch, WriteTarget};
use tarn_format::commit::Publication;
use tarn_format::{Error, Result};

use crate::config::Settings;
use crate::relations::is_wap_enabled;

/// Keys of snapshot summaries that hold the id of a staged and of a published change (Java: `SnapshotSummary`).
const STAGED_ID: &str = "wap.id";
const PUBLISHED_ID: &str = "published-wap-id";

/// Aims a write, unless its statement names a branch, at what the session's settings say for tables with
/// `write.wap.enabled`: a branch, made when it is missing, or a snapshot that no branch moves to (Java:
/// `SparkWriteConf.branch`, `SparkWrite.commitOperation`).
///
/// # Errors
/// `InvalidInput` for an id and a branch at once, for a branch named beside the session's, and for an id that is taken.
pub(super) fn aim(target: &mut WriteTarget, settings: &Settings) -> Result<()> {
    if !is_wap_enabled(&target.table.metadata.properties) {
        return Ok(());
    }
    match (settings.wap_id(), settings.wap_branch()) {
        (Some(_), Some(_)) => Err(Error::invalid(
            "spark.wap.id and spark.wap.branch are both set: RESET one of them",
        )),
        (None, Some(branch)) => {
            if let Some(named) = &target.branch {
                return Err(Error::invalid(format!(
                    "branch '{named}' is named while spark.wap.branch is '{branch}': RESET spark.wap.branch to write to it"
                )));
            }
            target.branch = Some(branch.to_string());
            target.missing_branch = MissingBranch::Create;
            Ok(())
        }
        (Some(id), None) => stage(target, id),
        (None, None) => Ok(()),
    }
}

fn stage(target: &mut WriteTarget, id: &str) -> Result<()> {
    let is_taken = target.table.metadata.snapshots.iter().any(|snapshot| {
        [STAGED_ID, PUBLISHED_ID]
            .iter()
            .any(|key| snapshot.summary.get(*key).is_some_and(|v| v == id))
    });
    if is_taken {
        return Err(Error::invalid(format!(
            "spark.wap.id '{id}' is taken by another change of the table: SET another"
        )));
    }
    target.publication = Publication::Staged;
    let properties = &mut target.options.snapshot_properties;
    properties.insert(STAGED_ID.to_string(), id.to_string());
    Ok(())
}
