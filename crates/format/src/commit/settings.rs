//! Table properties that steer commits (`commit.*`, `write.summary.partition-limit`), parsed once per attempt.

use std::str::FromStr;

use super::retry::RetryPolicy;
use crate::spec::snapshot::Properties;

/// Whether existing manifests are merged with the new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestMerging {
    /// Never: a fast append, or `commit.manifest-merge.enabled=false`.
    Off,
    /// As the table's `commit.manifest.*` properties say.
    ByTable,
}

/// What a commit needs to know of the table's properties.
#[derive(Debug, Clone)]
pub struct CommitSettings {
    /// How commits that lost a race are tried again (`commit.retry.*`).
    pub retry: RetryPolicy,
    /// How an unknown outcome is looked into (`commit.status-check.*`).
    pub status_check: RetryPolicy,
    /// `commit.manifest.target-size-bytes`.
    pub manifest_target_size_bytes: u64,
    /// `commit.manifest.min-count-to-merge`.
    pub min_manifests_to_merge: usize,
    /// `commit.manifest-merge.enabled`.
    pub manifest_merging: ManifestMerging,
    /// `write.summary.partition-limit`: most changed partitions for which the summary has one line each.
    pub partition_summary_limit: usize,
}

impl CommitSettings {
    /// Reads the properties. A value that does not parse is reported in the log and its default taken, so that a
    /// mistyped property cannot make a table read-only.
    pub fn from_properties(properties: &Properties) -> Self {
        CommitSettings {
            retry: RetryPolicy {
                num_retries: number(properties, "commit.retry.num-retries", 4),
                min_wait_ms: number(properties, "commit.retry.min-wait-ms", 100),
                max_wait_ms: number(properties, "commit.retry.max-wait-ms", 60_000),
                total_timeout_ms: number(properties, "commit.retry.total-timeout-ms", 1_800_000),
            },
            status_check: RetryPolicy {
                num_retries: number(properties, "commit.status-check.num-retries", 3),
                min_wait_ms: number(properties, "commit.status-check.min-wait-ms", 1_000),
                max_wait_ms: number(properties, "commit.status-check.max-wait-ms", 60_000),
                total_timeout_ms: number(properties, "commit.status-check.total-timeout-ms", 1_800_000),
            },
            manifest_target_size_bytes: number(properties, "commit.manifest.target-size-bytes", 8 << 20),
            min_manifests_to_merge: number(properties, "commit.manifest.min-count-to-merge", 100),
            manifest_merging: match properties.get("commit.manifest-merge.enabled") {
                Some(text) if !text.eq_ignore_ascii_case("true") => ManifestMerging::Off,
                _ => ManifestMerging::ByTable,
            },
            partition_summary_limit: number(properties, "write.summary.partition-limit", 0),
        }
    }
}

fn number<T: FromStr>(properties: &Properties, key: &str, default: T) -> T {
    let Some(text) = properties.get(key) else {
        return default;
    };
    text.trim().parse().unwrap_or_else(|_| {
        tracing::warn!(property = key, value = %text, "not a usable number, the default is taken");
        default
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_table_property_reference() {
        let settings = CommitSettings::from_properties(&Properties::new());
        assert_eq!(settings.retry.num_retries, 4);
        assert_eq!(settings.retry.min_wait_ms, 100);
        assert_eq!(settings.retry.max_wait_ms, 60_000);
        assert_eq!(settings.retry.total_timeout_ms, 1_800_000);
        assert_eq!(settings.status_check.num_retries, 3);
        assert_eq!(settings.status_check.min_wait_ms, 1_000);
        assert_eq!(settings.manifest_target_size_bytes, 8 * 1024 * 1024);
        assert_eq!(settings.min_manifests_to_merge, 100);
        assert_eq!(settings.manifest_merging, ManifestMerging::ByTable);
        assert_eq!(settings.partition_summary_limit, 0);
    }

    #[test]
    fn unusable_values_fall_back() {
        let properties = Properties::from([
            ("commit.retry.num-retries".to_string(), "-1".to_string()),
            ("commit.manifest.min-count-to-merge".to_string(), " 3 ".to_string()),
            ("commit.manifest-merge.enabled".to_string(), "FALSE".to_string()),
        ]);
        let settings = CommitSettings::from_properties(&properties);
        assert_eq!(settings.retry.num_retries, 4);
        assert_eq!(settings.min_manifests_to_merge, 3);
        assert_eq!(settings.manifest_merging, ManifestMerging::Off);
    }
}
