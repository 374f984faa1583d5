//! Comma-separated values as RFC 4180 has them, but with line feeds alone. NULL is nothing, the empty text is `""`.

use std::io::{self, Write};

use tarn::datafusion::arrow::array::RecordBatch;
use tarn::datafusion::arrow::datatypes::SchemaRef;

use super::{Printer, Values};

/// Writes CSV, the header first.
#[derive(Debug)]
pub struct CsvPrinter {
    values: Values,
    header: Option<String>,
}

impl CsvPrinter {
    pub fn new(values: Values, schema: &SchemaRef) -> Self {
        let names: Vec<String> = schema.fields().iter().map(|f| field(Some(f.name()))).collect();
        let header = Some(names.join(",") + "\n");
        CsvPrinter { values, header }
    }
}

impl Printer for CsvPrinter {
    fn rows(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        let mut text = self.header.take().unwrap_or_default();
        for row in 0..batch.num_rows() {
            for column in 0..batch.num_columns() {
                if column > 0 {
                    text.push(',');
                }
                text.push_str(&field(self.values.text(batch, column, row).as_deref()));
            }
            text.push('\n');
        }
        out.write_all(text.as_bytes())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<Option<String>> {
        out.write_all(self.header.take().unwrap_or_default().as_bytes())?;
        Ok(None)
    }
}

fn field(value: Option<&str>) -> String {
    match value {
        None => String::new(),
        Some(text) if text.is_empty() || text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Some(text) => text.to_string(),
    }
}
