//! Names that are near an unknown one.

use tarn_format::Error;

use crate::near_names::most_alike;

/// The error for a column that nothing has, with the names that are near it. `known` are pairs of relation and column.
pub(crate) fn unknown_column(parts: &[String], known: &[(String, String)]) -> Error {
    let wanted = parts.join(".");
    let candidates = known.iter().map(|(qualifier, column)| match parts.len() {
        0 | 1 => column.clone(),
        _ => format!("{qualifier}.{column}"),
    });
    let near = most_alike(&wanted, candidates);
    let message = format!("column '{wanted}' does not exist");
    if near.is_empty() {
        return Error::invalid(message);
    }
    Error::invalid(format!("{message}; did you mean {}?", near.join(", ")))
}
