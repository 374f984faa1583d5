//! The settings that mean something, and the values they take.

use tarn_format::{Error, Result};

use super::{
    AGGREGATE_PUSH_DOWN, CASE_SENSITIVE, DOUBLE_QUOTED, MERGE_SCHEMA, PARTITION_OVERWRITE_MODE, TIME_ZONE, WAP_BRANCH,
    WAP_ID,
};
use crate::near_names::did_you_mean;

/// A setting that SET shows and that is checked when it is set.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its value when nothing is set; `None` is no value.
    pub default: Option<&'static str>,
    /// What it does.
    pub description: &'static str,
    values: Values,
}

/// Which values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// `true` or `false`.
    Switch,
    /// One of these, in any case.
    OneOf(&'static [&'static str]),
    /// A whole number.
    Number,
    /// A zone's name or offset.
    TimeZone,
    /// Any text.
    Text,
}

/// A setting whose other values would change results, and are refused because they are not obeyed.
pub(super) struct Fixed {
    pub(super) name: &'static str,
    /// The one value that is obeyed.
    pub(super) value: &'static str,
}

pub(super) const FIXED: &[Fixed] = &[
    Fixed {
        name: "spark.sql.storeAssignmentPolicy",
        value: "ANSI",
    },
    Fixed {
        name: "spark.sql.ansi.enabled",
        value: "false",
    },
];

/// The settings that mean something. Others are kept and shown, because scripts set many that only matter elsewhere.
pub const KNOWN: &[Known] = &[
    Known {
        name: CASE_SENSITIVE,
        default: Some("false"),
        description: "Whether names that differ in case are different names.",
        values: Values::Switch,
    },
    Known {
        name: TIME_ZONE,
        default: Some("UTC"),
        description: "The zone in which timestamps are read from text and shown.",
        values: Values::TimeZone,
    },
    Known {
        name: DOUBLE_QUOTED,
        default: Some("false"),
        description: "Whether \"x\" is an identifier instead of a string.",
        values: Values::Switch,
    },
    Known {
        name: AGGREGATE_PUSH_DOWN,
        default: Some("true"),
        description: "Whether counts and bounds are answered from metadata.",
        values: Values::Switch,
    },
    Known {
        name: PARTITION_OVERWRITE_MODE,
        default: Some("static"),
        description: "What INSERT OVERWRITE replaces: what PARTITION names (static), or the partitions that get rows (dynamic).",
        values: Values::OneOf(&["static", "dynamic"]),
    },
    Known {
        name: WAP_BRANCH,
        default: None,
        description: "The branch that tables with write.wap.enabled are read from and written to.",
        values: Values::Text,
    },
    Known {
        name: WAP_ID,
        default: None,
        description: "The id under which changes of tables with write.wap.enabled are staged.",
        values: Values::Text,
    },
    Known {
        name: MERGE_SCHEMA,
        default: Some("false"),
        description: "Whether rows bring columns into tables with write.spark.accept-any-schema.",
        values: Values::Switch,
    },
    Known {
        name: "spark.sql.iceberg.check-nullability",
        default: Some("true"),
        description: "Taken and not needed: values are checked, whatever rows declare.",
        values: Values::Switch,
    },
    Known {
        name: "spark.sql.iceberg.check-ordering",
        default: Some("true"),
        description: "Taken and not needed: columns that go by name go in any order.",
        values: Values::Switch,
    },
    Known {
        name: "spark.sql.iceberg.distribution-mode",
        default: None,
        description: "How rows are brought together before they are written: none, hash or range.",
        values: Values::OneOf(&["none", "hash", "range"]),
    },
    Known {
        name: "spark.sql.iceberg.compression-codec",
        default: None,
        description: "How data files are compressed.",
        values: Values::OneOf(&["zstd", "gzip", "snappy", "lz4", "brotli", "uncompressed"]),
    },
    Known {
        name: "spark.sql.iceberg.compression-level",
        default: None,
        description: "How hard data files are compressed.",
        values: Values::Number,
    },
];

/// Iceberg's settings that steer Spark's own machinery (Java: `SparkSQLProperties`): taken, and of no effect here.
const WITHOUT_EFFECT: &[&str] = &[
    "spark.sql.iceberg.advisory-partition-size",
    "spark.sql.iceberg.async-micro-batch-planning-enabled",
    "spark.sql.iceberg.compression-strategy",
    "spark.sql.iceberg.data-planning-mode",
    "spark.sql.iceberg.delete-planning-mode",
    "spark.sql.iceberg.executor-cache.delete-files.enabled",
    "spark.sql.iceberg.executor-cache.enabled",
    "spark.sql.iceberg.executor-cache.locality.enabled",
    "spark.sql.iceberg.executor-cache.max-entry-size",
    "spark.sql.iceberg.executor-cache.max-total-size",
    "spark.sql.iceberg.executor-cache.timeout",
    "spark.sql.iceberg.locality.enabled",
    "spark.sql.iceberg.parquet.reader-type",
    "spark.sql.iceberg.planning.preserve-data-grouping",
    "spark.sql.iceberg.read.adaptive-split-size.enabled",
    "spark.sql.iceberg.read.adaptive-split-size.parallelism",
    "spark.sql.iceberg.read.split-size",
    "spark.sql.iceberg.report-column-stats",
    "spark.sql.iceberg.vectorization.enabled",
];

/// Followed by a name, an entry of the summaries of new snapshots.
const SNAPSHOT_PROPERTY: &str = "spark.sql.iceberg.snapshot-property.";

/// Beginnings of the names that are ours: unknown ones are typos.
const OURS: [&str; 2] = ["spark.sql.iceberg.", "tarn."];

/// Checks a setting's name and value.
///
/// # Errors
/// `InvalidInput` for a name that looks like Iceberg's or Tarn's and is none, and for a value that the setting cannot
/// have; `Unsupported` for values that are not obeyed.
pub(super) fn check(key: &str, value: &str) -> Result<()> {
    if let Some(fixed) = FIXED.iter().find(|f| f.name == key) {
        if value.trim().eq_ignore_ascii_case(fixed.value) {
            return Ok(());
        }
        return Err(Error::unsupported(format!(
            "setting {key} can only be {} so far, not '{value}'",
            fixed.value
        )));
    }
    if let Some(known) = KNOWN.iter().find(|k| k.name == key) {
        return known.values.check(key, value);
    }
    let is_ours = OURS.iter().any(|o| key.to_ascii_lowercase().starts_with(o));
    if !is_ours || WITHOUT_EFFECT.contains(&key) || key.starts_with(SNAPSHOT_PROPERTY) {
        return Ok(());
    }
    let known = KNOWN.iter().map(|k| k.name).chain(FIXED.iter().map(|f| f.name));
    let hint = did_you_mean(key, known.chain(WITHOUT_EFFECT.iter().copied()));
    Err(Error::invalid(format!("there is no setting {key}{hint}")))
}

impl Values {
    fn check(self, key: &str, value: &str) -> Result<()> {
        let word = value.trim().to_ascii_lowercase();
        let expected = match self {
            Values::Text => return Ok(()),
            Values::TimeZone => return check_time_zone(value),
            Values::Switch if matches!(word.as_str(), "true" | "false") => return Ok(()),
            Values::Switch => "true or false".to_string(),
            Values::OneOf(words) if words.contains(&word.as_str()) => return Ok(()),
            Values::OneOf(words) => format!("one of {}", words.join(", ")),
            Values::Number if word.parse::<i64>().is_ok() => return Ok(()),
            Values::Number => "a whole number".to_string(),
        };
        Err(Error::invalid(format!(
            "setting {key} must be {expected}, not '{value}'"
        )))
    }
}

fn check_time_zone(value: &str) -> Result<()> {
    let parsed: std::result::Result<datafusion::arrow::array::timezone::Tz, _> = value.parse();
    parsed.map(drop).map_err(|e| {
        Error::invalid(format!(
            "'{value}' is no time zone; zones are UTC, +02:00 or names like Europe/Oslo"
        ))
        .with_source(e)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_like_icebergs_must_be_known() {
        for (key, value) in [
            ("spark.sql.iceberg.vectorization.enabled", "false"),
            ("spark.sql.iceberg.snapshot-property.team", "x"),
            ("spark.sql.iceberg.distribution-mode", "HASH"),
            ("spark.sql.shuffle.partitions", "8"),
        ] {
            assert!(check(key, value).is_ok(), "{key}");
        }
        let told = |key: &str, value: &str| check(key, value).unwrap_err().to_string();
        assert!(
            told("spark.sql.iceberg.distribution-mod", "hash")
                .contains("did you mean spark.sql.iceberg.distribution-mode?")
        );
        assert!(told("tarn.colour", "x").contains("there is no setting tarn.colour"));
        assert!(told("spark.sql.iceberg.distribution-mode", "hsh").contains("must be one of none, hash, range"));
        assert!(told("spark.sql.iceberg.compression-level", "high").contains("must be a whole number"));
    }
}
