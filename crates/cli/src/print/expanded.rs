//! One line per value: for rows too wide for a table.

use std::io::{self, Write};

use tarn::datafusion::arrow::array::RecordBatch;
use tarn::datafusion::arrow::datatypes::SchemaRef;

use super::layout::{cell_lines, width};
use super::{Paint, Printer, Style, Values};

/// Writes records.
#[derive(Debug)]
pub struct ExpandedPrinter {
    values: Values,
    paint: Paint,
    names: Vec<String>,
    name_width: usize,
    records: u64,
}

impl ExpandedPrinter {
    pub fn new(style: &Style, schema: &SchemaRef) -> Self {
        let names: Vec<String> = schema.fields().iter().map(|f| cell_lines(f.name()).join(" ")).collect();
        ExpandedPrinter {
            values: style.values,
            paint: style.paint,
            name_width: names.iter().map(|n| width(n)).max().unwrap_or(0),
            names,
            records: 0,
        }
    }

    fn record(&self, batch: &RecordBatch, row: usize) -> String {
        let title = format!("─[ {} ]", self.records);
        let rule = "─".repeat((self.name_width + 2).saturating_sub(width(&title)).max(1));
        let mut text = self.paint.dim(&format!("{title}{rule}")) + "\n";
        for (column, name) in self.names.iter().enumerate() {
            let pad = " ".repeat(self.name_width - width(name));
            let mut head = format!("{}{pad} {} ", self.paint.bold(name), self.paint.dim("│"));
            match self.values.text(batch, column, row) {
                None => text.push_str(&format!("{head}{}\n", self.paint.dim("NULL"))),
                Some(value) => {
                    for line in cell_lines(&value) {
                        text.push_str(format!("{head}{line}").trim_end());
                        text.push('\n');
                        head = format!("{} {} ", " ".repeat(self.name_width), self.paint.dim("│"));
                    }
                }
            }
        }
        text
    }
}

impl Printer for ExpandedPrinter {
    fn rows(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            self.records += 1;
            out.write_all(self.record(batch, row).as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<Option<String>> {
        Ok(None)
    }
}
