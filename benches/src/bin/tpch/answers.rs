//! Whether two engines agree on a query's rows.

use tarn::datafusion::arrow::array::RecordBatch;
use tarn::datafusion::arrow::util::pretty::pretty_format_batches;

use crate::Failure;

/// The rows as text, sorted, a list of cells each.
fn rows(batches: &[RecordBatch]) -> Result<Vec<Vec<String>>, Failure> {
    let text = pretty_format_batches(batches)?.to_string();
    let lines = text.lines().filter(|l| l.starts_with('|')).skip(1);
    let cells = |line: &str| line.split('|').map(|c| c.trim().to_string()).collect();
    let mut rows: Vec<Vec<String>> = lines.map(cells).collect();
    rows.sort();
    Ok(rows)
}

/// The digits after a number's point.
fn decimals(text: &str) -> i32 {
    text.split_once('.').map_or(0, |(_, digits)| digits.len() as i32)
}

/// Whether two cells say the same. Averages and quotients may differ by a unit of the last digit that both print:
/// Spark rounds decimals where DataFusion cuts them off, and gives other scales.
fn agree(ours: &str, theirs: &str) -> bool {
    if ours == theirs {
        return true;
    }
    match (ours.parse::<f64>(), theirs.parse::<f64>()) {
        (Ok(a), Ok(b)) if ours.contains('.') && theirs.contains('.') => {
            let unit = 10f64.powi(-decimals(ours).min(decimals(theirs)));
            (a - b).abs() <= unit.max(b.abs() * 1e-12) * 1.000_001
        }
        _ => false,
    }
}

/// The number of rows both gave.
///
/// # Errors
/// When they differ: the first row that does.
pub fn compare(sql: &str, ours: &[RecordBatch], theirs: &[RecordBatch]) -> Result<usize, Failure> {
    let (ours, theirs) = (rows(ours)?, rows(theirs)?);
    if ours.len() != theirs.len() {
        return Err(format!("{sql}\ngives {} rows, on raw files {}", ours.len(), theirs.len()).into());
    }
    for (a, b) in ours.iter().zip(&theirs) {
        if a.len() != b.len() || !a.iter().zip(b).all(|(a, b)| agree(a, b)) {
            return Err(format!("{sql}\ngives {a:?}\non raw files {b:?}").into());
        }
    }
    Ok(ours.len())
}
