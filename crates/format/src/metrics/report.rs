//! A report of any kind and its JSON form (REST specification, `ReportMetricsRequest`).

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{CommitReport, ScanReport};
use crate::error::{Error, Result};

/// A report of any kind. Its JSON is the report's fields and a `report-type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "report-type", rename_all = "kebab-case")]
pub enum MetricsReport {
    /// Of a planned scan.
    #[serde(rename = "scan-report")]
    Scan(ScanReport),
    /// Of a commit.
    #[serde(rename = "commit-report")]
    Commit(CommitReport),
    /// Of a kind this version does not know.
    Unknown,
}

impl MetricsReport {
    /// The body of a REST `ReportMetricsRequest`.
    ///
    /// # Errors
    /// None in practice: every report has a JSON form.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|e| Error::invalid("report has no JSON form").with_source(e))
    }

    /// Reads the body of a REST `ReportMetricsRequest`. Unknown kinds are [`MetricsReport::Unknown`].
    ///
    /// # Errors
    /// `Corrupt` for anything else than a report.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let corrupt = |e: serde_json::Error| Error::corrupt("not a metrics report").with_source(e);
        let mut json: Json = serde_json::from_slice(bytes).map_err(corrupt)?;
        let kind = match json.as_object_mut().and_then(|fields| fields.remove("report-type")) {
            Some(Json::String(kind)) => kind,
            _ => return Err(Error::corrupt("metrics report has no report-type")),
        };
        match kind.as_str() {
            "scan-report" => Ok(MetricsReport::Scan(ScanReport::deserialize(json).map_err(corrupt)?)),
            "commit-report" => Ok(MetricsReport::Commit(CommitReport::deserialize(json).map_err(corrupt)?)),
            _ => Ok(MetricsReport::Unknown),
        }
    }
}

#[cfg(test)]
mod tests;
