//! Plans, as EXPLAIN gives them: text, not cells.

use std::io::{self, Write};

use tarn::datafusion::arrow::array::RecordBatch;
use tarn::datafusion::arrow::datatypes::SchemaRef;

use super::layout::cell_lines;
use super::{Paint, Printer, Style, Values};

/// Writes plans one below the other.
#[derive(Debug)]
pub struct PlanPrinter {
    values: Values,
    paint: Paint,
}

impl PlanPrinter {
    pub fn new(style: &Style) -> Self {
        PlanPrinter {
            values: style.values,
            paint: style.paint,
        }
    }
}

/// Whether these are the columns of EXPLAIN.
pub fn is_plan(schema: &SchemaRef) -> bool {
    let names = schema.fields().iter().map(|f| f.name().as_str());
    names.eq(["plan_type", "plan"])
}

impl Printer for PlanPrinter {
    fn rows(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            let text = |column| self.values.text(batch, column, row).unwrap_or_default();
            let title = self.paint.bold(&text(0).replace('_', " "));
            writeln!(out, "{title}")?;
            for line in cell_lines(&text(1)) {
                writeln!(out, "  {line}")?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<Option<String>> {
        Ok(None)
    }
}
