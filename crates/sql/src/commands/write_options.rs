//! Options of one write, of the library's writer or in a hint: `INSERT INTO t /*+ OPTIONS('distribution-mode'='none') */
//! …`. Names are those of Spark's `DataFrameWriterV2` (Java: `SparkWriteOptions`).

use tarn_engine::write::ExistingRows;
use tarn_format::expr::Predicate;
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result};

use crate::ast::PropertyList;
use crate::near_names::did_you_mean;

/// Options that are obeyed.
const USED: [&str; 6] = [
    "write-format",
    "target-file-size-bytes",
    "fanout-enabled",
    "distribution-mode",
    "compression-codec",
    "compression-level",
];

/// Options that steer Spark's own machinery, or formats and statements they are not given to.
const WITHOUT_EFFECT: [&str; 3] = ["compression-strategy", "delete-granularity", "advisory-partition-size"];

/// Options of which one value is obeyed.
const FIXED: [(&str, &str); 2] = [("check-nullability", "true"), ("check-ordering", "true")];

/// Ask for columns of the rows that the table lacks.
const MERGE_SCHEMA: [&str; 2] = ["merge-schema", "mergeschema"];
/// The table's word that it takes them.
const ACCEPT_ANY_SCHEMA: &str = "write.spark.accept-any-schema";

/// Options of overwrites.
const OF_OVERWRITES: [&str; 3] = ["isolation-level", "validate-from-snapshot-id", OVERWRITE_MODE];
const OVERWRITE_MODE: &str = "overwrite-mode";

/// Followed by a name, an entry of the new snapshot's summary.
const SNAPSHOT_PROPERTY: &str = "snapshot-property.";

/// What a write does with the rows that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteKind {
    /// It adds to them.
    Adds,
    /// It takes their place.
    Overwrites,
}

/// The options of a write, checked by name; their values are checked where they are used.
///
/// # Errors
/// `InvalidInput` for unknown options and those of overwrites where rows are added, `Unsupported` for values that are not
/// obeyed.
pub(crate) fn write_options(given: &PropertyList, kind: WriteKind) -> Result<Properties> {
    let mut options = Properties::new();
    for (key, value) in given {
        let name = match key.get(..SNAPSHOT_PROPERTY.len()) {
            Some(prefix) if prefix.eq_ignore_ascii_case(SNAPSHOT_PROPERTY) => {
                format!("{SNAPSHOT_PROPERTY}{}", &key[SNAPSHOT_PROPERTY.len()..])
            }
            _ => key.to_ascii_lowercase(),
        };
        check(&name, value, kind)?;
        options.insert(name, value.clone());
    }
    Ok(options)
}

/// What becomes of columns that only the rows have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaMerge {
    /// They are refused.
    Refused,
    /// They come into the table.
    Wanted,
}

impl SchemaMerge {
    /// What the options of a write ask of a table (Java: `SparkWriteConf.mergeSchema`).
    ///
    /// # Errors
    /// `InvalidInput` for a value that is not true or false, and for tables that do not take any columns.
    pub(crate) fn of(options: &Properties, table: &Properties) -> Result<Self> {
        let Some((name, value)) = MERGE_SCHEMA.iter().find_map(|name| Some((name, options.get(*name)?))) else {
            return Ok(SchemaMerge::Refused);
        };
        match value.trim().to_ascii_lowercase().as_str() {
            "false" => return Ok(SchemaMerge::Refused),
            "true" => {}
            other => {
                return Err(Error::invalid(format!(
                    "{name} is '{other}', but must be true or false"
                )));
            }
        }
        match table.get(ACCEPT_ANY_SCHEMA) {
            Some(accepts) if accepts.trim().eq_ignore_ascii_case("true") => Ok(SchemaMerge::Wanted),
            _ => Err(Error::invalid(format!(
                "{name} needs a table that takes any columns: set '{ACCEPT_ANY_SCHEMA}'='true' first"
            ))),
        }
    }
}

/// What an overwrite of rows that match replaces. One of all rows replaces partitions instead where `overwrite-mode` is
/// `dynamic` (Java: `SparkWriteBuilder.overwrite`).
///
/// # Errors
/// `InvalidInput` for another mode than `static` and `dynamic`.
pub(crate) fn replaced_where(filter: Predicate, options: &Properties) -> Result<ExistingRows> {
    let mode = options.get(OVERWRITE_MODE).map(|mode| mode.trim().to_ascii_lowercase());
    match mode.as_deref() {
        Some("dynamic") if filter == Predicate::AlwaysTrue => Ok(ExistingRows::ReplacedByPartition),
        None | Some("static" | "dynamic") => Ok(ExistingRows::ReplacedWhere(filter)),
        Some(other) => Err(Error::invalid(format!(
            "{OVERWRITE_MODE} is '{other}', but must be static or dynamic"
        ))),
    }
}

fn check(name: &str, value: &str, kind: WriteKind) -> Result<()> {
    if USED.contains(&name)
        || MERGE_SCHEMA.contains(&name)
        || WITHOUT_EFFECT.contains(&name)
        || name.starts_with(SNAPSHOT_PROPERTY)
    {
        return Ok(());
    }
    if let Some((_, obeyed)) = FIXED.iter().find(|(fixed, _)| *fixed == name) {
        if value.trim().eq_ignore_ascii_case(obeyed) {
            return Ok(());
        }
        return Err(Error::unsupported(format!(
            "write option {name} can only be {obeyed} so far, not '{value}'"
        )));
    }
    if OF_OVERWRITES.contains(&name) {
        if kind == WriteKind::Overwrites {
            return Ok(());
        }
        return Err(Error::invalid(format!(
            "{name} is an option of overwrites: this adds rows"
        )));
    }
    let known = USED.into_iter().chain(FIXED.map(|(fixed, _)| fixed));
    let hint = did_you_mean(name, known);
    Err(Error::invalid(format!("there is no write option '{name}'{hint}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_by_name() {
        let checked =
            |key: &str, value: &str| write_options(&vec![(key.to_string(), value.to_string())], WriteKind::Adds);
        let options = checked("Snapshot-Property.Team", "x").unwrap();
        assert_eq!(options.get("snapshot-property.Team").map(String::as_str), Some("x"));
        assert!(
            checked("Fanout-Enabled", "true")
                .unwrap()
                .contains_key("fanout-enabled")
        );
        let told = |key: &str, value: &str| checked(key, value).unwrap_err().to_string();
        assert!(told("target-file-size", "1").contains("did you mean target-file-size-bytes?"));
        assert!(told("isolation-level", "snapshot").contains("an option of overwrites"));
        assert!(told("check-ordering", "false").contains("can only be true"));
    }
}
