//! One JSON object per row and line (newline-delimited JSON): rows can be written as they come, and read as well.

use std::collections::HashSet;
use std::io::{self, Write};

use tarn::datafusion::arrow::array::RecordBatch;
use tarn::datafusion::arrow::datatypes::SchemaRef;

use super::value::{Notation, quoted};
use super::{Printer, Values};

/// Writes JSON lines.
#[derive(Debug)]
pub struct JsonPrinter {
    values: Values,
    /// The columns' names as JSON, colon included.
    keys: Vec<String>,
}

impl JsonPrinter {
    pub fn new(values: Values, schema: &SchemaRef) -> Self {
        let names = schema.fields().iter().map(|f| f.name().as_str());
        let key = |name: String| {
            let mut key = String::new();
            quoted(&mut key, &name, Notation::Json);
            key + ":"
        };
        JsonPrinter {
            values,
            keys: distinct(names).into_iter().map(key).collect(),
        }
    }
}

/// Columns of one name would hide each other in an object: those after the first get a number.
fn distinct<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let given: HashSet<&str> = names.clone().collect();
    let mut used = HashSet::new();
    let mut distinct = Vec::new();
    for name in names {
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let mut candidates = std::iter::once(name.to_string()).chain(numbered.filter(|n| !given.contains(n.as_str())));
        let free = candidates
            .find(|c| !used.contains(c))
            .unwrap_or_else(|| name.to_string());
        used.insert(free.clone());
        distinct.push(free);
    }
    distinct
}

impl Printer for JsonPrinter {
    fn rows(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            text.push('{');
            for (column, key) in self.keys.iter().enumerate() {
                if column > 0 {
                    text.push(',');
                }
                text.push_str(key);
                self.values.json(&mut text, batch, column, row);
            }
            text.push_str("}\n");
        }
        out.write_all(text.as_bytes())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<Option<String>> {
        Ok(None)
    }
}
