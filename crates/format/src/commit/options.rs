//! What the caller of a commit may choose besides the change itself.

use std::sync::Arc;

use super::retry::RetryPolicy;
use crate::manifest::cache::ManifestCache;
use crate::metrics::{LoggingReporter, MetricsReporter};
use crate::spec::snapshot::Properties;

/// Options of commits. Cheap to clone; a session keeps one.
#[derive(Debug, Clone)]
pub struct CommitOptions {
    /// Manifests read before.
    pub cache: ManifestCache,
    /// Replaces the table's `commit.retry.*`.
    pub retry: Option<RetryPolicy>,
    /// Added to the summary of every snapshot, such as `engine-name` and `engine-version`.
    pub environment: Properties,
    /// Takes a report of every committed snapshot.
    pub reporter: Arc<dyn MetricsReporter>,
}

impl Default for CommitOptions {
    fn default() -> Self {
        CommitOptions {
            cache: ManifestCache::default(),
            retry: None,
            environment: Properties::new(),
            reporter: Arc::new(LoggingReporter),
        }
    }
}
