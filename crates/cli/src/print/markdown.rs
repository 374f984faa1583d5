//! Markdown tables, as GitHub reads them.

use std::io::{self, Write};

use tarn::datafusion::arrow::array::RecordBatch;
use tarn::datafusion::arrow::datatypes::SchemaRef;

use super::value::{Alignment, alignment};
use super::{Printer, Values};

/// Writes a Markdown table, the header first.
#[derive(Debug)]
pub struct MarkdownPrinter {
    values: Values,
    header: Option<String>,
}

impl MarkdownPrinter {
    pub fn new(values: Values, schema: &SchemaRef) -> Self {
        let names = schema.fields().iter().map(|f| cell(f.name()));
        let rules = schema.fields().iter().map(|f| match alignment(f.data_type()) {
            Alignment::Right => "---:".to_string(),
            Alignment::Left => "---".to_string(),
        });
        MarkdownPrinter {
            values,
            header: Some(line(names) + &line(rules)),
        }
    }
}

impl Printer for MarkdownPrinter {
    fn rows(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        let mut text = self.header.take().unwrap_or_default();
        for row in 0..batch.num_rows() {
            let cells = (0..batch.num_columns()).map(|column| match self.values.text(batch, column, row) {
                Some(value) => cell(&value),
                None => "NULL".to_string(),
            });
            text.push_str(&line(cells));
        }
        out.write_all(text.as_bytes())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<Option<String>> {
        out.write_all(self.header.take().unwrap_or_default().as_bytes())?;
        Ok(None)
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let mut line = String::from("|");
    for cell in cells {
        line.push(' ');
        line.push_str(&cell);
        line.push_str(" |");
    }
    line + "\n"
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('|', "\\|");
    escaped.replace("\r\n", "<br>").replace(['\n', '\r'], "<br>")
}
