//! Reports of what a scan or a commit did, in the form of Iceberg's REST `ReportMetricsRequest`.
//!
//! Names of metrics and fields are Java's (`org.apache.iceberg.metrics`). Reports carry no data values:
//! filters are sanitised before they are put in.

mod commit_report;
mod filter_json;
mod measure;
mod report;
mod reporter;
mod scan_report;

pub use commit_report::{CommitMetrics, CommitMetricsResult, CommitReport};
pub use filter_json::sanitized_filter;
pub use measure::{CounterResult, TimeUnit, TimerResult, Unit};
pub use report::MetricsReport;
pub use reporter::{CollectingReporter, LoggingReporter, MetricsReporter, NoReporter};
pub use scan_report::{ScanMetrics, ScanMetricsResult, ScanReport};
