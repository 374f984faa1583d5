//! Files that belong to no table, as DataFusion tables: Parquet, CSV and JSON; one file, a directory or a pattern.
//!
//! Columns that Spark has no type for are read as Spark reads them, and timestamps with a zone in the session's. What is
//! listed when a table is opened is what it reads: later files are not seen.

mod columns;
mod csv_shape;
mod formats;
mod listing;
mod nan;
mod nullable;
mod partitions;
mod provider;

use std::sync::Arc;

use datafusion::catalog::Session;
use tarn_format::{Error, ErrorKind, Result};

pub use self::formats::FileOptions;
pub use self::provider::FilesTable;

use self::formats::make_format;
use self::listing::{Listing, list};
use self::partitions::PartitionColumns;
use self::provider::FilesParts;

/// What files hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataFormat {
    /// Parquet.
    Parquet,
    /// Values separated by commas or the like.
    Csv,
    /// JSON: an object a line, or an array of objects.
    Json,
}

impl DataFormat {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            DataFormat::Parquet => "parquet",
            DataFormat::Csv => "csv",
            DataFormat::Json => "json",
        }
    }

    /// The format of this name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [DataFormat::Parquet, DataFormat::Csv, DataFormat::Json];
        all.into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }

    /// The format that the ending of a file's name tells.
    pub fn of_file_name(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "parquet" | "parq" | "pq" => Some(DataFormat::Parquet),
            "csv" | "tsv" => Some(DataFormat::Csv),
            "json" | "jsonl" | "ndjson" => Some(DataFormat::Json),
            _ => None,
        }
    }
}

/// Opens a file, the files of a directory and those below it, or those that match a pattern of `*`, `?` and `[…]`. Names
/// that begin with `_` or `.` are left out, as Spark leaves them out. Directories named `column=value` become columns.
///
/// `path` is a path, relative to the working directory, or the URL of a store that the runtime knows.
///
/// # Errors
/// `NotFound` when there is no file; `Corrupt` naming a file that is not of the format; `Unsupported` for stores that
/// are not known.
pub async fn open_files(
    state: &dyn Session,
    path: &str,
    format: DataFormat,
    options: &FileOptions,
) -> Result<FilesTable> {
    let listing = list(state, path).await?;
    let files = listing.files_of(format);
    if files.is_empty() {
        return Err(Error::not_found(format!("no {} file matches '{path}'", format.name())));
    }
    let partitions = PartitionColumns::of(&listing.relative_paths(&files))?;
    let format = make_format(&listing, &files, format, options).await?;
    let described = describe(state, &listing, &files, format, path).await?;
    FilesTable::new(state, listing, files, described, partitions).await
}

async fn describe(
    state: &dyn Session,
    listing: &Listing,
    files: &[object_store::ObjectMeta],
    format: formats::Format,
    path: &str,
) -> Result<FilesParts> {
    let schema = format
        .reader
        .infer_schema(state, &listing.store, format.told_by(files))
        .await;
    let stored = schema.map_err(|e| {
        let kind = match e.find_root() {
            datafusion::error::DataFusionError::ObjectStore(_) | datafusion::error::DataFusionError::IoError(_) => {
                ErrorKind::Io
            }
            _ => ErrorKind::Corrupt,
        };
        let message = format!("'{path}' cannot be read as {}", format.name);
        Error::new(kind, message).with_source(e)
    })?;
    let zone = state.config_options().execution.time_zone.clone();
    let zone: Arc<str> = Arc::from(zone.as_deref().unwrap_or(crate::arrow::schema::UTC));
    Ok(FilesParts {
        columns: columns::as_spark_reads(&stored, &zone),
        stored,
        format: format.reader,
        name: format.name,
    })
}

/// What a directory holds, as far as the names in it tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryContents {
    /// An Iceberg table.
    IcebergTable,
    /// Files of one format.
    Files(DataFormat),
}

/// Looks into the directory or pattern of a path.
///
/// # Errors
/// `NotFound` when nothing is there; `InvalidInput` when the names tell no format, or several.
pub async fn look_into(state: &dyn Session, path: &str) -> Result<DirectoryContents> {
    let listing = list(state, path).await?;
    if listing.holds_iceberg_metadata() {
        return Ok(DirectoryContents::IcebergTable);
    }
    let mut formats: Vec<DataFormat> = Vec::new();
    for format in listing
        .files
        .iter()
        .filter_map(|f| DataFormat::of_file_name(f.location.as_ref()))
    {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    match formats.as_slice() {
        [one] => Ok(DirectoryContents::Files(*one)),
        [] => Err(Error::invalid(format!(
            "what '{path}' holds cannot be told from its name: name the format, as in parquet.`{path}`"
        ))),
        several => {
            let names: Vec<&str> = several.iter().map(|f| f.name()).collect();
            Err(Error::invalid(format!(
                "'{path}' holds files of several formats: name one, as in {}.`{path}`",
                names.join(" or ")
            )))
        }
    }
}
