//! DataFusion's reader of a format, set up for the files at hand.

use std::sync::Arc;

use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use object_store::{GetOptions, GetRange, ObjectMeta};
use tarn_format::{Error, ErrorKind, Result};

use super::DataFormat;
use super::csv_shape::{Header, sniff};
use super::listing::Listing;

/// Bytes of a text file that are looked at to tell its layout.
const BEGINNING_BYTES: u64 = 64 * 1024;

/// Records of text files that are looked at to tell types.
const TYPED_RECORDS: usize = 20_000;

/// How files are read; everything that is not given is told by the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileOptions {
    /// CSV: whether the first line names the columns.
    pub header: Option<bool>,
    /// CSV: what separates values.
    pub delimiter: Option<u8>,
    /// CSV: what encloses values with separators in them; `"` when not given.
    pub quote: Option<u8>,
    /// CSV: what makes the next character ordinary.
    pub escape: Option<u8>,
    /// CSV: begins lines that are left out.
    pub comment: Option<u8>,
    /// CSV: whether types are told by the values; otherwise everything is text.
    pub infer_types: Option<bool>,
}

impl FileOptions {
    /// The options' names, in the words of Spark's readers.
    pub const NAMES: [&'static str; 6] = ["header", "delimiter", "quote", "escape", "comment", "infer-schema"];

    /// Sets an option.
    ///
    /// # Errors
    /// `InvalidInput` for a value that the option cannot have; `NotFound` for a name that is none.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "header" => self.header = Some(switch(name, value)?),
            "delimiter" | "sep" | "delim" => self.delimiter = Some(character(name, value)?),
            "quote" => self.quote = Some(character(name, value)?),
            "escape" => self.escape = Some(character(name, value)?),
            "comment" => self.comment = Some(character(name, value)?),
            "infer-schema" | "inferschema" => self.infer_types = Some(switch(name, value)?),
            _ => return Err(Error::not_found(format!("there is no option '{name}'"))),
        }
        Ok(())
    }
}

fn switch(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::invalid(format!(
            "option {name} must be true or false, not '{value}'"
        ))),
    }
}

fn character(name: &str, value: &str) -> Result<u8> {
    match value.as_bytes() {
        [one] => Ok(*one),
        b"\\t" => Ok(b'\t'),
        _ => Err(Error::invalid(format!(
            "option {name} takes one ASCII character, not '{value}'"
        ))),
    }
}

/// A reader, and whose files tell the schema.
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) reader: Arc<dyn FileFormat>,
    columns_by: ColumnsBy,
}

/// How columns of several files belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnsBy {
    /// By name: the schema is that of all files together.
    Name,
    /// By position: the first file tells.
    Position,
}

impl Format {
    pub(super) fn told_by<'f>(&self, files: &'f [ObjectMeta]) -> &'f [ObjectMeta] {
        match self.columns_by {
            ColumnsBy::Name => files,
            ColumnsBy::Position => files.get(..1).unwrap_or(files),
        }
    }
}

/// The reader of these files.
pub(super) async fn make_format(
    listing: &Listing,
    files: &[ObjectMeta],
    format: DataFormat,
    options: &FileOptions,
) -> Result<Format> {
    let name = format.name();
    Ok(match format {
        DataFormat::Parquet => Format {
            name,
            reader: Arc::new(ParquetFormat::new()),
            columns_by: ColumnsBy::Name,
        },
        DataFormat::Csv => Format {
            name,
            reader: Arc::new(csv(listing, files, options).await?),
            columns_by: ColumnsBy::Position,
        },
        DataFormat::Json => {
            let beginning = beginning(listing, files).await?;
            let is_array = beginning.trim_start().starts_with('[');
            Format {
                name,
                reader: Arc::new(
                    JsonFormat::default()
                        .with_schema_infer_max_rec(TYPED_RECORDS)
                        .with_newline_delimited(!is_array),
                ),
                columns_by: ColumnsBy::Name,
            }
        }
    })
}

async fn csv(listing: &Listing, files: &[ObjectMeta], options: &FileOptions) -> Result<CsvFormat> {
    let quote = options.quote.unwrap_or(b'"');
    let is_tsv = files
        .first()
        .is_some_and(|f| f.location.as_ref().to_ascii_lowercase().ends_with(".tsv"));
    let known = options.delimiter.or(is_tsv.then_some(b'\t'));
    let beginning = beginning(listing, files).await?;
    let mut shape = sniff(&beginning, known, quote);
    if let Some(header) = options.header {
        shape.header = if header { Header::Present } else { Header::Absent };
    }
    let records = match options.infer_types {
        Some(false) => 0,
        _ => TYPED_RECORDS,
    };
    Ok(CsvFormat::default()
        .with_has_header(shape.header == Header::Present)
        .with_delimiter(shape.delimiter)
        .with_quote(quote)
        .with_escape(options.escape)
        .with_comment(options.comment)
        .with_newlines_in_values(spans_lines(&beginning, quote))
        .with_schema_infer_max_rec(records))
}

/// Whether a quoted value at the beginning of the file holds a line break: such files cannot be cut at line breaks.
fn spans_lines(beginning: &str, quote: u8) -> bool {
    let mut quoted = false;
    beginning.bytes().any(|b| {
        if b == quote {
            quoted = !quoted;
        }
        quoted && b == b'\n'
    })
}

/// The beginning of the first file that is not empty, as text.
async fn beginning(listing: &Listing, files: &[ObjectMeta]) -> Result<String> {
    let Some(file) = files.iter().find(|f| f.size > 0) else {
        return Ok(String::new());
    };
    let options = GetOptions {
        range: Some(GetRange::Bounded(0..file.size.min(BEGINNING_BYTES))),
        ..GetOptions::default()
    };
    let read = async { listing.store.get_opts(&file.location, options).await?.bytes().await };
    let bytes = read.await.map_err(|e| {
        Error::new(ErrorKind::Io, "a file cannot be read")
            .with_context("file", file.location.to_string())
            .with_source(e)
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
