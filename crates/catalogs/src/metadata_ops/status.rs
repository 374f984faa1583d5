//! Finding out whether a commit whose answer was lost has happened (`commit.status-check.*`; Java:
//! `BaseMetastoreOperations.checkCommitStatus`).

use std::future::Future;
use std::time::{Duration, Instant};

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
    let policy = StatusChecks::of(properties);
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

/// How often and how long an outcome is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatusChecks {
    num_retries: u32,
    min_wait_ms: u64,
    max_wait_ms: u64,
    total_timeout_ms: u64,
}

impl StatusChecks {
    /// Reads `commit.status-check.*`; what does not parse is taken as the default.
    pub(crate) fn of(properties: &Properties) -> Self {
        let number = |key: &str, default: u64| {
            let text = properties.get(&format!("commit.status-check.{key}"));
            text.and_then(|t| t.trim().parse().ok()).unwrap_or(default)
        };
        StatusChecks {
            num_retries: u32::try_from(number("num-retries", 3)).unwrap_or(u32::MAX),
            min_wait_ms: number("min-wait-ms", 1_000),
            max_wait_ms: number("max-wait-ms", 60_000),
            total_timeout_ms: number("total-timeout-ms", 1_800_000),
        }
    }

    /// Whether another look may follow the `attempt`-th (from 1), `elapsed` after the first began.
    pub(crate) fn allows_another(&self, attempt: u32, elapsed: Duration) -> bool {
        attempt <= self.num_retries && elapsed <= Duration::from_millis(self.total_timeout_ms)
    }

    /// How long to wait after the `attempt`-th look failed: twice as long each time.
    pub(crate) fn wait(&self, attempt: u32) -> Duration {
        let factor = 1u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
        Duration::from_millis(self.min_wait_ms.saturating_mul(factor).min(self.max_wait_ms))
    }
}
