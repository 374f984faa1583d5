//! How a table is written: statement options over session settings over table properties over Iceberg's defaults.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::sync::Arc;

use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, Result};

use super::avro_options;
use super::metrics_mode::MetricsConfig;
use super::orc_options::{self, OrcOptions};
use super::parquet_options::ParquetOptions;
use crate::rowlevel::{IsolationLevel, RowStatement};

const TARGET_FILE_SIZE_BYTES: Setting = Setting {
    statement: "target-file-size-bytes",
    session: "",
    table: "write.target-file-size-bytes",
};
const FORMAT: Setting = Setting {
    statement: "write-format",
    session: "",
    table: "write.format.default",
};
const DISTRIBUTION_MODE: Setting = Setting {
    statement: "distribution-mode",
    session: "spark.sql.iceberg.distribution-mode",
    table: "write.distribution-mode",
};
/// [`DISTRIBUTION_MODE`] of statements that change rows (Java: `SparkWriteConf.deleteDistributionMode`, …).
const ROW_DISTRIBUTION_MODES: [(&str, &str); 3] = [
    ("delete", "write.delete.distribution-mode"),
    ("update", "write.update.distribution-mode"),
    ("merge", "write.merge.distribution-mode"),
];
/// What an overwrite has in the way of others' commits; only statements say.
const ISOLATION_LEVEL: &str = "isolation-level";
const VALIDATE_FROM_SNAPSHOT_ID: &str = "validate-from-snapshot-id";
/// Of statements only.
const OUTPUT_SPEC_ID: &str = "output-spec-id";
const USE_LAYOUT: &str = "use-table-distribution-and-ordering";
const FANOUT: Setting = Setting {
    statement: "fanout-enabled",
    session: "",
    table: "write.spark.fanout.enabled",
};
const ENCRYPTION_KEY_ID: &str = "encryption.key-id";
const SNAPSHOT_PROPERTY: &str = "snapshot-property.";
const SESSION_SNAPSHOT_PROPERTY: &str = "spark.sql.iceberg.snapshot-property.";

const DEFAULT_TARGET_FILE_SIZE_BYTES: u64 = 512 * 1024 * 1024;

/// The names one setting has at each level; empty where a level has none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    pub(super) statement: &'static str,
    pub(super) session: &'static str,
    pub(super) table: &'static str,
}

/// Where options come from, strongest first.
#[derive(Debug, Clone, Copy)]
pub struct OptionSources<'a> {
    /// Options of the statement (`fanout-enabled`, `snapshot-property.x`, …), as Spark's writer names them.
    pub statement: &'a Properties,
    /// Session settings (`spark.sql.iceberg.*`).
    pub session: &'a Properties,
}

/// All levels together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<'a> {
    sources: OptionSources<'a>,
    pub(super) table: &'a Properties,
}

impl<'a> Settings<'a> {
    /// The strongest value, with the name of the property that gives it.
    pub(super) fn get(&self, setting: Setting) -> Option<(&'static str, &'a str)> {
        let find = |properties: &'a Properties, name: &'static str| Some((name, properties.get(name)?.as_str()));
        find(self.sources.statement, setting.statement)
            .or_else(|| find(self.sources.session, setting.session))
            .or_else(|| find(self.table, setting.table))
    }

    /// What the table alone says.
    fn of_table(&self) -> Settings<'a> {
        static NONE: Properties = Properties::new();
        let none = OptionSources {
            statement: &NONE,
            session: &NONE,
        };
        Settings { sources: none, ..*self }
    }

    /// A number of at least 1.
    pub(super) fn positive<N>(&self, setting: Setting, default: N) -> Result<N>
    where
        N: FromStr + PartialOrd + Default,
    {
        match self.get(setting) {
            None => Ok(default),
            Some((name, text)) => match text.trim().parse::<N>() {
                Ok(number) if number > N::default() => Ok(number),
                _ => Err(invalid(name, text, "a whole number above 0")),
            },
        }
    }

    pub(super) fn table_property(&self, table: &'static str) -> Setting {
        Setting {
            statement: table,
            session: table,
            table,
        }
    }
}

pub(super) fn invalid(name: impl Display, text: &str, expected: &str) -> Error {
    Error::invalid(format!("property '{name}' is '{text}', but must be {expected}"))
}

/// `true` or `false`, in any case.
pub(super) fn boolean(name: impl Display, text: &str) -> Result<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid(name, text, "true or false")),
    }
}

/// How rows are brought together before they are written (`write.distribution-mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistributionMode {
    /// Not at all.
    None,
    /// Rows of one partition meet in one writer.
    Hash,
    /// As `Hash` for partitioned tables; a table with a sort order only is sorted as a whole.
    Range,
}

/// How many files a writer holds open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenFiles {
    /// One: rows are sorted by partition before.
    Clustered,
    /// One per partition: nothing is sorted, at the price of memory (`write.spark.fanout.enabled`).
    Fanout,
}

/// Whether rows are brought into the table's distribution and order (Java: `SparkWriteConf.writeRequirements`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableLayout {
    /// They are.
    Obeyed,
    /// They are written as they come.
    Ignored,
}

/// What an overwrite does not put up with (Java: `SparkWriteConf.isolationLevel`, `validateFromSnapshotId`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OverwriteChecks {
    /// What others must not have done to the rows that go; `None` overwrites whatever there is.
    pub isolation: Option<IsolationLevel>,
    /// The snapshot after which it counts; `None` counts all history.
    pub from_snapshot: Option<i64>,
}

/// The format of data files (`write.format.default`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFormat {
    /// Parquet, by [`WriteOptions::parquet`].
    Parquet,
    /// Avro, its blocks compressed so.
    Avro(Codec),
    /// ORC.
    Orc(OrcOptions),
}

impl fmt::Display for WriteFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WriteFormat::Parquet => "parquet",
            WriteFormat::Avro(_) => "avro",
            WriteFormat::Orc(_) => "orc",
        })
    }
}

/// How a table is written.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// The format of data files. Delete files are Parquet.
    pub format: WriteFormat,
    /// Size at which a file is closed and the next begun, in bytes.
    pub target_file_size_bytes: u64,
    /// How rows are distributed. `None` where neither statement, session nor table say.
    pub distribution: Option<DistributionMode>,
    /// Whether rows are distributed and sorted at all.
    pub layout: TableLayout,
    /// The partition spec of data files; `None` is the table's.
    pub spec_id: Option<i32>,
    /// Files open at a time.
    pub open_files: OpenFiles,
    /// How Parquet files are written.
    pub parquet: ParquetOptions,
    /// Which column metrics are kept.
    pub metrics: MetricsConfig,
    /// Added to the snapshot's summary.
    pub snapshot_properties: Properties,
    /// What an overwrite does not put up with.
    pub overwrite: OverwriteChecks,
}

impl WriteOptions {
    /// The options for writing a table.
    ///
    /// # Errors
    /// `InvalidInput` naming the property whose value is unknown; `Unsupported` for formats that cannot be written yet and
    /// for encrypted tables.
    pub fn new(metadata: &TableMetadata, sources: OptionSources<'_>) -> Result<Self> {
        let settings = Settings {
            sources,
            table: &metadata.properties,
        };
        let format = write_format(&settings)?;
        check_encryption(metadata)?;
        let layout = layout(sources.statement)?;
        let schema = metadata.current_schema();
        Ok(WriteOptions {
            format,
            target_file_size_bytes: settings.positive(TARGET_FILE_SIZE_BYTES, DEFAULT_TARGET_FILE_SIZE_BYTES)?,
            distribution: distribution(&settings, DISTRIBUTION_MODE)?,
            layout,
            spec_id: output_spec(sources.statement, metadata)?,
            open_files: open_files(&settings, layout)?,
            parquet: match format {
                WriteFormat::Parquet => ParquetOptions::new(&settings, schema)?,
                // What a statement says of compression is meant for the other format.
                WriteFormat::Avro(_) | WriteFormat::Orc(_) => ParquetOptions::new(&settings.of_table(), schema)?,
            },
            metrics: MetricsConfig::new(&metadata.properties, schema, metadata.default_sort_order())?,
            snapshot_properties: snapshot_properties(sources),
            overwrite: overwrite_checks(sources.statement)?,
        })
    }

    /// Takes the distribution from `write.{delete,update,merge}.distribution-mode` instead of `write.distribution-mode`.
    /// Where neither that nor the session says, a deletion or update brings partitions together, and a MERGE does what
    /// other writes do.
    ///
    /// # Errors
    /// `InvalidInput` naming the property whose value is unknown.
    pub fn for_row_changes(
        mut self,
        metadata: &TableMetadata,
        sources: OptionSources<'_>,
        statement: RowStatement,
    ) -> Result<Self> {
        let word = statement.property_word();
        let Some((_, table)) = ROW_DISTRIBUTION_MODES.iter().find(|(of, _)| *of == word) else {
            return Ok(self);
        };
        let settings = Settings {
            sources,
            table: &metadata.properties,
        };
        let own = distribution(
            &settings,
            Setting {
                table,
                ..DISTRIBUTION_MODE
            },
        )?;
        self.distribution = match (own, statement) {
            (Some(own), _) => Some(own),
            (None, RowStatement::Delete | RowStatement::Update) => Some(DistributionMode::Hash),
            (None, _) if self.spec(metadata).is_unpartitioned() => self.distribution,
            (None, _) => Some(DistributionMode::Hash),
        };
        Ok(self)
    }

    /// The partition spec that data files are written with.
    pub(crate) fn spec<'m>(&self, metadata: &'m TableMetadata) -> &'m Arc<PartitionSpec> {
        let other = self.spec_id.and_then(|id| metadata.spec_by_id(id));
        other.unwrap_or_else(|| metadata.default_spec())
    }

    /// The order that data files have; 0 is none.
    pub(super) fn sort_order_id(&self, metadata: &TableMetadata) -> i32 {
        match self.layout {
            TableLayout::Obeyed => metadata.default_sort_order().order_id,
            TableLayout::Ignored => 0,
        }
    }

    /// The options that the table's properties give.
    ///
    /// # Errors
    /// As [`WriteOptions::new`].
    pub fn of_table(metadata: &TableMetadata) -> Result<Self> {
        let none = Properties::new();
        Self::new(
            metadata,
            OptionSources {
                statement: &none,
                session: &none,
            },
        )
    }
}

fn write_format(settings: &Settings<'_>) -> Result<WriteFormat> {
    let Some((name, text)) = settings.get(FORMAT) else {
        return Ok(WriteFormat::Parquet);
    };
    match FileFormat::from_name(text.trim()) {
        Some(FileFormat::Parquet) => Ok(WriteFormat::Parquet),
        Some(FileFormat::Avro) => Ok(WriteFormat::Avro(avro_options::codec(settings)?)),
        Some(FileFormat::Orc) => Ok(WriteFormat::Orc(orc_options::options(settings)?)),
        _ => Err(invalid(name, text, "parquet, avro or orc")),
    }
}

/// Files of an encrypted table must not lie there in plain text.
fn check_encryption(metadata: &TableMetadata) -> Result<()> {
    if !metadata.properties.contains_key(ENCRYPTION_KEY_ID) && metadata.encryption_keys.is_empty() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "writing encrypted tables is not supported yet (property '{ENCRYPTION_KEY_ID}')"
    )))
}

fn distribution(settings: &Settings<'_>, setting: Setting) -> Result<Option<DistributionMode>> {
    let Some((name, text)) = settings.get(setting) else {
        return Ok(None);
    };
    match text.trim().to_ascii_lowercase().as_str() {
        "none" => Ok(Some(DistributionMode::None)),
        "hash" => Ok(Some(DistributionMode::Hash)),
        "range" => Ok(Some(DistributionMode::Range)),
        _ => Err(invalid(name, text, "none, hash or range")),
    }
}

fn overwrite_checks(statement: &Properties) -> Result<OverwriteChecks> {
    let isolation = statement.get(ISOLATION_LEVEL).map(|text| {
        let level = IsolationLevel::from_name(text);
        level.ok_or_else(|| invalid(ISOLATION_LEVEL, text, "serializable or snapshot"))
    });
    let from_snapshot = statement.get(VALIDATE_FROM_SNAPSHOT_ID).map(|text| {
        let id = text.trim().parse::<i64>();
        id.map_err(|_| invalid(VALIDATE_FROM_SNAPSHOT_ID, text, "the id of a snapshot"))
    });
    Ok(OverwriteChecks {
        isolation: isolation.transpose()?,
        from_snapshot: from_snapshot.transpose()?,
    })
}

fn open_files(settings: &Settings<'_>, layout: TableLayout) -> Result<OpenFiles> {
    match (settings.get(FANOUT), layout) {
        (Some((name, text)), TableLayout::Obeyed) => Ok(match boolean(name, text)? {
            true => OpenFiles::Fanout,
            false => OpenFiles::Clustered,
        }),
        (None, TableLayout::Obeyed) => Ok(OpenFiles::Clustered),
        // Rows of a partition may come at any time.
        (_, TableLayout::Ignored) => Ok(OpenFiles::Fanout),
    }
}

fn layout(statement: &Properties) -> Result<TableLayout> {
    match statement.get(USE_LAYOUT) {
        Some(text) if !boolean(USE_LAYOUT, text)? => Ok(TableLayout::Ignored),
        _ => Ok(TableLayout::Obeyed),
    }
}

fn output_spec(statement: &Properties, metadata: &TableMetadata) -> Result<Option<i32>> {
    let Some(text) = statement.get(OUTPUT_SPEC_ID) else {
        return Ok(None);
    };
    let known = || {
        let ids = metadata.partition_specs.iter().map(|spec| spec.spec_id.to_string());
        ids.collect::<Vec<_>>().join(", ")
    };
    match text.trim().parse::<i32>() {
        Ok(id) if metadata.spec_by_id(id).is_some() => Ok(Some(id)),
        _ => Err(invalid(
            OUTPUT_SPEC_ID,
            text,
            &format!("the id of a partition spec of the table ({})", known()),
        )),
    }
}

fn snapshot_properties(sources: OptionSources<'_>) -> Properties {
    let taken = |properties: &Properties, prefix: &str| -> Properties {
        let with_prefix = properties.iter().filter_map(|(key, value)| {
            let key = key.strip_prefix(prefix)?;
            Some((key.to_string(), value.clone()))
        });
        with_prefix.collect()
    };
    let mut all = taken(sources.session, SESSION_SNAPSHOT_PROPERTY);
    all.extend(taken(sources.statement, SNAPSHOT_PROPERTY));
    all
}
