//! A TOML document as a flat list of keys and text values, each with its line.

use tarn_format::{Error, Result};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::variables::expand;

/// A key and its value.
#[derive(Debug)]
pub struct Entry {
    keys: Vec<String>,
    /// The value as text, variables replaced.
    pub value: String,
    line: usize,
}

impl Entry {
    /// The parts of the key.
    pub fn path(&self) -> Vec<&str> {
        self.keys.iter().map(String::as_str).collect()
    }

    /// The error that this entry must not be.
    pub fn invalid(&self, message: &str) -> Error {
        at_line(self.line, message)
    }
}

/// All entries of a document.
#[derive(Debug)]
pub struct Document {
    entries: Vec<Entry>,
}

impl Document {
    /// Reads TOML.
    ///
    /// # Errors
    /// `InvalidInput` with the line.
    pub fn parse(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Document> {
        // The parser's own text shows the line, which may hold a secret.
        let table = DeTable::parse(text).map_err(|e| {
            let line = e.span().map_or(1, |span| line_of(text, span.start));
            at_line(line, e.message())
        })?;
        let mut reader = Reader {
            text,
            variable,
            entries: Vec::new(),
        };
        reader.table(&mut Vec::new(), table.get_ref())?;
        Ok(Document {
            entries: reader.entries,
        })
    }

    /// Key by key, in the order of their names.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

struct Reader<'a> {
    text: &'a str,
    variable: &'a dyn Fn(&str) -> Option<String>,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn table(&mut self, keys: &mut Vec<String>, table: &DeTable<'_>) -> Result<()> {
        for (key, value) in table {
            keys.push(key.get_ref().to_string());
            match value.get_ref() {
                DeValue::Table(inner) => self.table(keys, inner)?,
                _ => self.value(keys, value)?,
            }
            keys.pop();
        }
        Ok(())
    }

    fn value(&mut self, keys: &[String], value: &Spanned<DeValue<'_>>) -> Result<()> {
        let line = line_of(self.text, value.span().start);
        let text = match value.get_ref() {
            DeValue::String(text) => expand(text, self.variable).map_err(|e| at_line(line, e.message()))?,
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Integer(value) if value.radix() == 10 => value.as_str().replace('_', ""),
            DeValue::Float(value) => value.as_str().replace('_', ""),
            other => {
                let message = format!(
                    "{} is of type {}: write it as a string, number or boolean",
                    keys.join("."),
                    other.type_str()
                );
                return Err(at_line(line, &message));
            }
        };
        self.entries.push(Entry {
            keys: keys.to_vec(),
            value: text,
            line,
        });
        Ok(())
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}

fn at_line(line: usize, message: &str) -> Error {
    // One line, whatever the parser says.
    Error::invalid(format!("line {line}: {}", message.replace('\n', ", ")))
}
