//! Finding out whether a commit whose answer was lost has happened (`commit.status-check.*`; Java:
//! `BaseMetastoreOperations.checkCommitStatus`).

use std::future::Future;
use std::time::Instant;

use tarn_format::commit::settings::CommitSettings;
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, ErrorKind, Result};

/// Asks `committed` until it answers, as often as the table's properties allow.
///
/// Only a yes is certain: a write that is still on its way may land later, so a no ends in `CommitStateUnknown`, as a
/// check that always fails does. Nothing the commit wrote may be deleted then.
pub(crate) async fn check<F, Fut>(properties: &Properties, cause: Error, committed: F) -> Result<()>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<bool>>,
{
    let policy = CommitSettings::from_properties(properties).status_check;
    let begun = Instant::now();
    let mut attempt = 1;
    loop {
        match committed().await {
            Ok(true) => return Ok(()),
            Ok(false) => break,
            Err(error) => tracing::warn!(attempt, %error, "the outcome of a commit could not be checked"),
        }
        if !policy.allows_another(attempt, begun.elapsed()) {
            break;
        }
        tokio::time::sleep(policy.wait(attempt)).await;
        attempt += 1;
    }
    Err(Error::new(
        ErrorKind::CommitStateUnknown,
        "the commit may or may not have happened: look at the table before trying again",
    )
    .with_source(cause))
}
