//! Columns side by side, made to fit the terminal.
//!
//! Widths are those of the first rows. On a terminal, values that are too long are cut (or broken over lines, when the
//! result is one row or one column), and columns that have no room are left out; a hint says so. Elsewhere everything is
//! written in full.

use std::io::{self, Write};

use tarn::datafusion::arrow::array::RecordBatch;
use tarn::datafusion::arrow::datatypes::SchemaRef;

use super::layout::{Shrink, Widths, cell_lines, share, truncate, width, wrap};
use super::value::{Alignment, alignment};
use super::{Paint, Printer, Style, Values};

/// Rows by which widths are decided.
const MEASURED_ROWS: usize = 1000;

/// What a column takes besides its width: a space on both sides and a border.
const GAP: usize = 3;

/// What becomes of tables that are wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// They are made to fit into so many columns.
    Terminal(usize),
    /// Nothing.
    Full,
}

/// What becomes of values that are longer than their column is wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overlong {
    Cut,
    Broken,
    Kept,
}

/// A cell's lines; `None` is NULL.
type Cell = Option<Vec<String>>;

/// Writes a table.
#[derive(Debug)]
pub struct TablePrinter {
    values: Values,
    paint: Paint,
    fit: Fit,
    names: Vec<String>,
    alignments: Vec<Alignment>,
    kept: Vec<Vec<Cell>>,
    layout: Option<(Widths, Overlong)>,
    was_cut: bool,
}

impl TablePrinter {
    pub fn new(style: &Style, schema: &SchemaRef) -> Self {
        let fields = schema.fields();
        TablePrinter {
            values: style.values,
            paint: style.paint,
            fit: style.fit,
            names: fields.iter().map(|f| cell_lines(f.name()).join(" ")).collect(),
            alignments: fields.iter().map(|f| alignment(f.data_type())).collect(),
            kept: Vec::new(),
            layout: None,
            was_cut: false,
        }
    }

    /// Decides on widths and writes the header and what was kept.
    fn settle(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut wanted: Vec<usize> = self.names.iter().map(|n| width(n)).collect();
        for row in &self.kept {
            for (wanted, cell) in wanted.iter_mut().zip(row) {
                let lines = cell.iter().flatten().map(|l| width(l));
                *wanted = lines
                    .chain([if cell.is_none() { 4 } else { 0 }, *wanted])
                    .max()
                    .unwrap_or(0);
            }
        }
        let (widths, overlong) = match self.fit {
            Fit::Full => (
                Widths {
                    widths: wanted,
                    hidden: 0,
                },
                Overlong::Kept,
            ),
            Fit::Terminal(total) => {
                let shrink: Vec<Shrink> = self.alignments.iter().map(|a| shrink(*a)).collect();
                // The last column has no border.
                let widths = share(&wanted, &shrink, GAP, total + 1);
                let overlong = if self.kept.len() <= 1 || self.names.len() == 1 {
                    Overlong::Broken
                } else {
                    Overlong::Cut
                };
                (widths, overlong)
            }
        };
        self.layout = Some((widths, overlong));
        let names = self.names.iter().map(|n| Some(vec![n.clone()])).collect();
        let (header, rule) = (self.line(names, Role::Header), self.rule());
        out.write_all((header + &rule).as_bytes())?;
        for row in std::mem::take(&mut self.kept) {
            let line = self.line(row, Role::Values);
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn rule(&self) -> String {
        let Some((widths, _)) = &self.layout else {
            return String::new();
        };
        let mut parts: Vec<String> = widths.widths.iter().map(|w| "─".repeat(w + 2)).collect();
        if widths.hidden > 0 {
            parts.push("───".to_string());
        }
        self.paint.dim(&parts.join("┼")) + "\n"
    }

    /// The lines of a row, or of the header.
    fn line(&mut self, cells: Vec<Cell>, role: Role) -> String {
        let Some((layout, overlong)) = &self.layout else {
            return String::new();
        };
        let fitted: Vec<Cell> = cells
            .into_iter()
            .zip(&layout.widths)
            .map(|(cell, max)| fitted(cell, *max, *overlong, &mut self.was_cut))
            .collect();
        let height = fitted.iter().map(|c| c.as_ref().map_or(1, Vec::len)).max().unwrap_or(1);
        let border = self.paint.dim("│");
        let mut text = String::new();
        for i in 0..height {
            let mut line = String::new();
            for (column, cell) in fitted.iter().enumerate() {
                if column > 0 {
                    line.push_str(&border);
                }
                let is_last = column + 1 == fitted.len() && layout.hidden == 0;
                let value = match (cell, i) {
                    (None, 0) => "NULL",
                    (None, _) => "",
                    (Some(lines), i) => lines.get(i).map_or("", String::as_str),
                };
                let pad = " ".repeat(layout.widths[column].saturating_sub(width(value)));
                let painted = match (role, cell) {
                    (Role::Header, _) => self.paint.bold(value),
                    (Role::Values, None) => self.paint.dim(value),
                    (Role::Values, Some(_)) => value.to_string(),
                };
                match self.alignments[column] {
                    Alignment::Right => line.push_str(&format!(" {pad}{painted} ")),
                    Alignment::Left if is_last => line.push_str(&format!(" {painted}")),
                    Alignment::Left => line.push_str(&format!(" {painted}{pad} ")),
                }
            }
            if layout.hidden > 0 {
                line.push_str(&format!("{border} {}", self.paint.dim("…")));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn hint(&self) -> Option<String> {
        let hidden = self.layout.as_ref().map_or(0, |(w, _)| w.hidden);
        match (hidden, self.was_cut) {
            (0, false) => None,
            (0, true) => Some("long values are cut".to_string()),
            (n, _) => {
                let shown = self.names.len() - n;
                Some(format!("{shown} of {} columns shown", self.names.len()))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Header,
    Values,
}

fn shrink(alignment: Alignment) -> Shrink {
    match alignment {
        Alignment::Right => Shrink::Forbidden,
        Alignment::Left => Shrink::Allowed,
    }
}

fn fitted(cell: Cell, max: usize, overlong: Overlong, was_cut: &mut bool) -> Cell {
    let lines = cell?;
    Some(match overlong {
        Overlong::Kept => lines,
        Overlong::Broken => lines.iter().flat_map(|l| wrap(l, max)).collect(),
        Overlong::Cut => {
            *was_cut |= lines.iter().any(|l| width(l) > max);
            lines.iter().map(|l| truncate(l, max)).collect()
        }
    })
}

impl Printer for TablePrinter {
    fn rows(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            let cell = |column| self.values.text(batch, column, row).map(|text| cell_lines(&text));
            let cells: Vec<Cell> = (0..batch.num_columns()).map(cell).collect();
            if self.layout.is_some() {
                let line = self.line(cells, Role::Values);
                out.write_all(line.as_bytes())?;
                continue;
            }
            self.kept.push(cells);
            if self.kept.len() >= MEASURED_ROWS {
                self.settle(out)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<Option<String>> {
        if self.layout.is_none() {
            self.settle(out)?;
        }
        Ok(self.hint())
    }
}

#[cfg(test)]
mod tests;
