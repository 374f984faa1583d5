//! Where reports go.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use super::MetricsReport;

/// Takes reports. Must be quick: it is called on the thread that planned or committed.
pub trait MetricsReporter: Debug + Send + Sync {
    /// Whether a report would be taken: where it would not, none is made.
    fn is_listening(&self) -> bool {
        true
    }

    /// Takes one report. Failures stay inside: a report never fails the operation it tells of.
    fn report(&self, report: &MetricsReport);
}

/// Writes reports to the log (Java: `LoggingMetricsReporter`).
#[derive(Debug, Clone, Copy, Default)]
pub struct LoggingReporter;

impl MetricsReporter for LoggingReporter {
    fn is_listening(&self) -> bool {
        tracing::enabled!(target: "tarn::metrics", tracing::Level::INFO)
    }

    fn report(&self, report: &MetricsReport) {
        match serde_json::to_string(report) {
            Ok(json) => tracing::info!(target: "tarn::metrics", report = %json, "metrics report"),
            Err(error) => tracing::warn!(target: "tarn::metrics", %error, "metrics report has no JSON form"),
        }
    }
}

/// Drops reports.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoReporter;

impl MetricsReporter for NoReporter {
    fn is_listening(&self) -> bool {
        false
    }

    fn report(&self, _report: &MetricsReport) {}
}

/// Keeps reports in memory until they are taken (Java: `InMemoryMetricsReporter`).
#[derive(Debug, Default)]
pub struct CollectingReporter {
    reports: Mutex<Vec<MetricsReport>>,
}

impl CollectingReporter {
    /// All reports since the last call, oldest first.
    pub fn take(&self) -> Vec<MetricsReport> {
        std::mem::take(&mut self.reports.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl MetricsReporter for CollectingReporter {
    fn report(&self, report: &MetricsReport) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push(report.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collected_reports_are_taken_once() {
        let reporter = CollectingReporter::default();
        reporter.report(&MetricsReport::Unknown);
        reporter.report(&MetricsReport::Unknown);
        assert_eq!(reporter.take().len(), 2);
        assert!(reporter.take().is_empty());
    }
}
