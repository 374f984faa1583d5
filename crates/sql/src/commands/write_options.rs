//! Options of one write, of the library's writer or in a hint: `INSERT INTO t /*+ OPTIONS('distribution-mode'='none') */
//! …`. Names are those of Spark's `DataFrameWriterV2` (Java: `SparkWriteOptions`).

use tarn_engine::write::ExistingRows;
use tarn_format::expr::Predicate;
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result};

use super::schema_merge;
use crate::ast::PropertyList;
use crate::near_names::did_you_mean;

/// Options that are obeyed; `merge-schema` by [`super::schema_merge`].
const USED: [&str; 10] = [
    "write-format",
    "target-file-size-bytes",
    "fanout-enabled",
    "distribution-mode",
    "use-table-distribution-and-ordering",
    OUTPUT_SPEC_ID,
    "compression-codec",
    "compression-level",
    "delete-granularity",
    "merge-schema",
];

/// The partition spec that files are written with.
const OUTPUT_SPEC_ID: &str = "output-spec-id";

/// Options that steer Spark's own machinery, or how hard an encoder tries that is not used.
const WITHOUT_EFFECT: [&str; 2] = ["compression-strategy", "advisory-partition-size"];

/// Switches that take off checks of what a DataFrame declares. Neither is needed: columns that go by name go in any order,
/// and it is the values that must not be NULL, whatever is declared.
const CHECKS: [&str; 2] = ["check-nullability", "check-ordering"];

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
    /// It changes them.
    Merges,
}

/// The options of a write, checked by name; their values are checked where they are used.
///
/// # Errors
/// `InvalidInput` for unknown options and those of overwrites where rows are added.
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

/// What a switch among the options says.
///
/// # Errors
/// `InvalidInput` for what is neither true nor false.
pub(super) fn switch(name: &str, value: &str) -> Result<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(Error::invalid(format!(
            "{name} is '{other}', but must be true or false"
        ))),
    }
}

fn check(name: &str, value: &str, kind: WriteKind) -> Result<()> {
    if kind == WriteKind::Merges && name == OUTPUT_SPEC_ID {
        return Err(Error::unsupported(format!(
            "{name} is an option of appends and overwrites: a merge writes with the table's spec"
        )));
    }
    if USED.contains(&name)
        || schema_merge::is_option(name)
        || WITHOUT_EFFECT.contains(&name)
        || name.starts_with(SNAPSHOT_PROPERTY)
    {
        return Ok(());
    }
    if CHECKS.contains(&name) {
        return switch(name, value).map(|_| ());
    }
    if OF_OVERWRITES.contains(&name) {
        if kind == WriteKind::Overwrites {
            return Ok(());
        }
        return Err(Error::invalid(format!(
            "{name} is an option of overwrites: this adds or changes rows"
        )));
    }
    let known = USED.into_iter().chain(CHECKS).chain(OF_OVERWRITES);
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
        assert!(checked("check-ordering", "False").is_ok());
        assert!(told("check-nullability", "perhaps").contains("must be true or false"));
    }
}
