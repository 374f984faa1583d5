//! How rows are changed: mode, isolation and granularity (`write.{delete,update,merge}.*`).

use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadata};
use tarn_format::{Error, Result};

use super::target::RowStatement;

/// How a changed file is stored (`write.*.mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLevelMode {
    /// The file is written again.
    CopyOnWrite,
    /// The file stays; deletes are written beside it.
    MergeOnRead,
}

/// What others may have committed meanwhile (`write.*.isolation-level`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolationLevel {
    /// Nothing that the statement would have seen.
    Serializable,
    /// Anything but changes of the rows that the statement changes.
    Snapshot,
}

impl IsolationLevel {
    /// The level of a name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "serializable" => Some(IsolationLevel::Serializable),
            "snapshot" => Some(IsolationLevel::Snapshot),
            _ => None,
        }
    }
}

/// How position deletes are spread over files (`write.delete.granularity`). Deletion vectors are always per data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteGranularity {
    /// A file for each data file, which takes the place of earlier ones.
    File,
    /// A file for each partition.
    Partition,
}

const GRANULARITY_OPTION: &str = "delete-granularity";
const GRANULARITIES: [(&str, DeleteGranularity); 2] = [
    ("file", DeleteGranularity::File),
    ("partition", DeleteGranularity::Partition),
];

/// Which files copy-on-write takes apart, so that what does not change in them is copied as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patching {
    /// None: all are written anew as a whole.
    Never,
    /// Those where it pays: small files that can be written anew as one file, or together with new rows, are.
    WhereUseful,
    /// All that can be.
    Always,
}

/// How a statement changes rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLevelOptions {
    /// How changed files are stored.
    pub mode: RowLevelMode,
    /// What conflicts.
    pub isolation: IsolationLevel,
    /// How position deletes are spread.
    pub granularity: DeleteGranularity,
    /// Which files are taken apart.
    pub patching: Patching,
}

impl RowLevelOptions {
    /// What the options of one statement say instead (Java: `SparkWriteConf.deleteGranularity`).
    ///
    /// # Errors
    /// `InvalidInput` naming the option whose value is unknown.
    pub fn with_options(mut self, options: &Properties) -> Result<Self> {
        if options.contains_key(GRANULARITY_OPTION) {
            self.granularity = choice(options, GRANULARITY_OPTION, &GRANULARITIES)?;
        }
        Ok(self)
    }

    /// What the table's properties say for a statement. A v1 table has no deletes: it is always copied.
    ///
    /// # Errors
    /// `InvalidInput` naming the property whose value is unknown.
    pub fn of_table(metadata: &TableMetadata, statement: RowStatement) -> Result<Self> {
        let properties = &metadata.properties;
        let word = statement.property_word();
        let mode = choice(
            properties,
            &format!("write.{word}.mode"),
            &[
                ("copy-on-write", RowLevelMode::CopyOnWrite),
                ("merge-on-read", RowLevelMode::MergeOnRead),
            ],
        )?;
        let isolation = choice(
            properties,
            &format!("write.{word}.isolation-level"),
            &[
                ("serializable", IsolationLevel::Serializable),
                ("snapshot", IsolationLevel::Snapshot),
            ],
        )?;
        let granularity = choice(properties, "write.delete.granularity", &GRANULARITIES)?;
        Ok(RowLevelOptions {
            mode: match metadata.format_version {
                FormatVersion::V1 => RowLevelMode::CopyOnWrite,
                _ => mode,
            },
            isolation,
            granularity,
            patching: Patching::WhereUseful,
        })
    }
}

/// The value of a property among those it may have, the first of which is the default.
fn choice<T: Copy>(properties: &Properties, name: &str, choices: &[(&str, T); 2]) -> Result<T> {
    let [first, second] = choices;
    let Some(text) = properties.get(name) else {
        return Ok(first.1);
    };
    let chosen = choices.iter().find(|(word, _)| text.trim().eq_ignore_ascii_case(word));
    chosen.map(|(_, value)| *value).ok_or_else(|| {
        Error::invalid(format!(
            "property '{name}' is '{text}', but must be {} or {}",
            first.0, second.0
        ))
    })
}
