//! Results on their way out: rows in one of five formats, as they come.

mod csv;
mod expanded;
mod json;
mod layout;
mod markdown;
mod paint;
mod plan;
mod table;
mod time;
pub mod value;

use std::io::{self, Write};

use tarn::datafusion::arrow::array::RecordBatch;
use tarn::datafusion::arrow::datatypes::SchemaRef;

pub use paint::Paint;
pub use table::Fit;
pub use value::Values;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Columns side by side, for people
    Table,
    /// One line per value, for wide rows
    Expanded,
    /// Comma-separated values with a header (RFC 4180)
    Csv,
    /// One JSON object per row and line
    Json,
    /// A Markdown table
    Markdown,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [
        Format::Table,
        Format::Expanded,
        Format::Csv,
        Format::Json,
        Format::Markdown,
    ];

    /// Its name in options and commands.
    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Expanded => "expanded",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Markdown => "markdown",
        }
    }

    /// Whether people read it: what statements did, and how many rows there were, is told in between.
    pub fn is_for_people(self) -> bool {
        matches!(self, Format::Table | Format::Expanded)
    }
}

/// How results are written.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// The format.
    pub format: Format,
    /// Values.
    pub values: Values,
    /// Colours.
    pub paint: Paint,
    /// What becomes of tables wider than the terminal.
    pub fit: Fit,
    /// Rows after which the rest is only counted, in formats for people.
    pub max_rows: Option<usize>,
}

/// Writes the rows of one result.
pub trait Printer {
    /// Writes, or keeps until the widths are known, some rows.
    ///
    /// # Errors
    /// Those of writing.
    fn rows(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()>;

    /// Writes what was kept. The hint, if any, tells what was left out for want of space.
    ///
    /// # Errors
    /// Those of writing.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<Option<String>>;
}

/// The printer of a format.
pub fn printer(style: &Style, schema: &SchemaRef) -> Box<dyn Printer> {
    match style.format {
        format if format.is_for_people() && plan::is_plan(schema) => Box::new(plan::PlanPrinter::new(style)),
        Format::Table => Box::new(table::TablePrinter::new(style, schema)),
        Format::Expanded => Box::new(expanded::ExpandedPrinter::new(style, schema)),
        Format::Csv => Box::new(csv::CsvPrinter::new(style.values, schema)),
        Format::Json => Box::new(json::JsonPrinter::new(style.values, schema)),
        Format::Markdown => Box::new(markdown::MarkdownPrinter::new(style.values, schema)),
    }
}
