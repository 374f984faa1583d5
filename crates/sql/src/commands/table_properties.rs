//! Table properties as statements give them: reserved ones are refused, likely typos are told.

use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result};

use crate::ast::CreateTable;
use crate::near_names::nearest;
use crate::output::Output;

/// The property that says how data files are written.
const FORMAT: &str = "write.format.default";

/// Beginnings of names that belong to Iceberg.
const OURS: [&str; 8] = [
    "write.",
    "read.",
    "commit.",
    "history.",
    "compatibility.",
    "encryption.",
    "engine.",
    "gc.",
];

/// Names that end with that of a column.
const BY_COLUMN: [&str; 6] = [
    "write.metadata.metrics.column.",
    "write.parquet.bloom-filter-enabled.column.",
    "write.parquet.bloom-filter-fpp.column.",
    "write.parquet.bloom-filter-ndv.column.",
    "write.parquet.dict-encoding-enabled.column.",
    "write.parquet.stats-enabled.column.",
];

/// Names that Iceberg gives a meaning (Java: `TableProperties`).
const KNOWN: &str = "
comment commit.manifest-merge.enabled commit.manifest.min-count-to-merge commit.manifest.target-size-bytes
commit.retry.max-wait-ms commit.retry.min-wait-ms commit.retry.num-retries commit.retry.total-timeout-ms
commit.status-check.max-wait-ms commit.status-check.min-wait-ms commit.status-check.num-retries
commit.status-check.total-timeout-ms compatibility.snapshot-id-inheritance.enabled encryption.data-key-length
encryption.key-id engine.hive.enabled engine.hive.lock-enabled format-version gc.enabled history.expire.max-ref-age-ms
history.expire.max-snapshot-age-ms history.expire.min-snapshots-to-keep identifier-fields.rely read.data-planning-mode
read.delete-planning-mode read.orc.vectorization.batch-size read.orc.vectorization.enabled
read.parquet.vectorization.batch-size read.parquet.vectorization.enabled read.split.adaptive-size.enabled
read.split.metadata-target-size read.split.open-file-cost read.split.planning-lookback read.split.target-size
schema.name-mapping.default write.avro.compression-codec write.avro.compression-level write.data.path
write.delete.avro.compression-codec write.delete.avro.compression-level write.delete.distribution-mode
write.delete.format.default write.delete.granularity write.delete.isolation-level write.delete.mode
write.delete.orc.block-size-bytes write.delete.orc.compression-codec write.delete.orc.compression-strategy
write.delete.orc.stripe-size-bytes write.delete.orc.vectorized.batch-size write.delete.parquet.compression-codec
write.delete.parquet.compression-level write.delete.parquet.dict-size-bytes write.delete.parquet.page-row-limit
write.delete.parquet.page-size-bytes write.delete.parquet.page-version
write.delete.parquet.row-group-check-max-record-count write.delete.parquet.row-group-check-min-record-count
write.delete.parquet.row-group-size-bytes write.delete.target-file-size-bytes write.distribution-mode
write.folder-storage.path write.format.default write.location-provider.impl write.manifest.compression-codec
write.manifest.compression-level write.merge.distribution-mode write.merge.isolation-level write.merge.mode
write.metadata.compression-codec write.metadata.delete-after-commit.enabled write.metadata.metrics.default
write.metadata.metrics.max-inferred-column-defaults write.metadata.path write.metadata.previous-versions-max
write.object-storage.enabled write.object-storage.partitioned-paths write.object-storage.path
write.orc.block-size-bytes write.orc.bloom.filter.columns write.orc.bloom.filter.fpp write.orc.compression-codec
write.orc.compression-strategy write.orc.stripe-size-bytes write.orc.vectorized.batch-size
write.parquet.bloom-filter-adaptive-enabled write.parquet.bloom-filter-max-bytes write.parquet.compression-codec
write.parquet.compression-level write.parquet.dict-size-bytes write.parquet.page-row-limit
write.parquet.page-size-bytes write.parquet.page-version write.parquet.row-group-check-max-record-count
write.parquet.row-group-check-min-record-count write.parquet.row-group-size-bytes
write.parquet.row-group-size-track-uncompressed write.parquet.shred-variants
write.parquet.variant-inference-buffer-size write.spark.accept-any-schema write.spark.advisory-partition-size-bytes
write.spark.auto-schema-evolution.enabled write.spark.fanout.enabled write.summary.partition-limit
write.target-file-size-bytes write.update.distribution-mode write.update.isolation-level write.update.mode
write.upsert.enabled write.wap.enabled";

/// The properties of a new table: those given, its comment, and the file format that USING names.
///
/// # Errors
/// `InvalidInput` for names that a clause stands for, and for formats that Iceberg tables don't have.
pub(crate) fn creation_properties(create: &CreateTable) -> Result<Properties> {
    for (key, _) in &create.properties {
        refuse_clauses(key)?;
        refuse_statements(key)?;
    }
    let mut properties: Properties = create.properties.iter().cloned().collect();
    if let Some(comment) = &create.comment {
        properties.insert("comment".to_string(), comment.clone());
    }
    let provider = create.provider.as_deref().unwrap_or("iceberg").to_ascii_lowercase();
    match provider.as_str() {
        "iceberg" => {}
        "parquet" | "avro" | "orc" => drop(properties.insert(FORMAT.to_string(), provider)),
        _ => {
            return Err(Error::invalid(format!(
                "USING {provider}: tables are iceberg, with parquet, avro or orc files"
            )));
        }
    }
    Ok(properties)
}

/// Refuses property names that CREATE TABLE has clauses for.
fn refuse_clauses(key: &str) -> Result<()> {
    let instead = match key {
        "provider" => "use the USING clause",
        "location" => "use the LOCATION clause",
        "owner" => "it is the user who creates the table",
        "external" => "a LOCATION makes a table external",
        _ => return Ok(()),
    };
    Err(Error::invalid(format!(
        "property '{key}' is reserved and cannot be set: {instead}"
    )))
}

/// Refuses property names that ALTER TABLE has statements for.
///
/// # Errors
/// `InvalidInput` naming the statement.
pub(crate) fn refuse_statements(key: &str) -> Result<()> {
    let instead = match key.to_ascii_lowercase().as_str() {
        "sort-order" => "ALTER TABLE … WRITE ORDERED BY",
        "identifier-fields" => "ALTER TABLE … SET IDENTIFIER FIELDS",
        _ => return Ok(()),
    };
    Err(Error::invalid(format!(
        "property '{key}' is reserved and cannot be set: use {instead}"
    )))
}

/// What is to be told of these property names, a line each.
pub(crate) fn warnings<'a>(keys: impl Iterator<Item = &'a str>) -> Vec<String> {
    keys.filter_map(warning).collect()
}

/// A line that says what was done, with warnings behind it.
pub(crate) fn done(line: String, warnings: &[String]) -> Output {
    Output::Done(warnings.iter().fold(line, |line, w| format!("{line}; warning: {w}")))
}

/// A name is told when it looks like one of Iceberg's, but is none: then it does nothing.
fn warning(key: &str) -> Option<String> {
    let known = || KNOWN.split_whitespace();
    if known().any(|k| k == key) || BY_COLUMN.iter().any(|k| key.starts_with(k)) {
        return None;
    }
    let lower = key.to_ascii_lowercase();
    let ours = OURS.iter().any(|o| lower.starts_with(o));
    let near = nearest(key, known()).filter(|near| ours || near.len() > SHORTEST_TYPO);
    match (near, ours) {
        (Some(near), _) => Some(format!("unknown property '{key}', did you mean '{near}'?")),
        (None, true) => Some(format!("unknown property '{key}' has no effect")),
        (None, false) => None,
    }
}

/// Short names of users' own are easily near to others by chance.
const SHORTEST_TYPO: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_of_known_names_are_told_and_users_own_names_are_not() {
        let told = |key: &str| warning(key).unwrap_or_default();
        assert!(told("write.fromat.default").contains("did you mean 'write.format.default'?"));
        assert!(told("formatversion").contains("did you mean 'format-version'?"));
        assert!(told("write.something.entirely.else").contains("has no effect"));
        for known in [
            "write.parquet.compression-codec",
            "write.metadata.metrics.column.a.b",
            "owner-team",
            "k",
            "comments",
        ] {
            assert_eq!(told(known), "", "{known}");
        }
    }
}
