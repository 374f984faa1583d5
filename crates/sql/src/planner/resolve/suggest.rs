//! Names that are near an unknown one.

use tarn_format::Error;

/// How many names are suggested.
const SUGGESTIONS: usize = 5;

/// The error for a column that nothing has, with the names that are near it. `known` are pairs of relation and column.
pub(crate) fn unknown_column(parts: &[String], known: &[(String, String)]) -> Error {
    let wanted = parts.join(".");
    let candidates = known.iter().map(|(qualifier, column)| match parts.len() {
        0 | 1 => column.clone(),
        _ => format!("{qualifier}.{column}"),
    });
    let near = nearest(&wanted, candidates);
    let message = format!("column '{wanted}' does not exist");
    if near.is_empty() {
        return Error::invalid(message);
    }
    Error::invalid(format!("{message}; did you mean {}?", near.join(", ")))
}

/// The names nearest to `wanted`, nearest first.
pub fn nearest(wanted: &str, known: impl IntoIterator<Item = String>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let mut ranked: Vec<(usize, String)> = known
        .into_iter()
        .map(|name| (edit_distance(&wanted, &name.to_lowercase()), name))
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}

/// Insertions, removals and replacements between two names (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let cost = diagonal + usize::from(x != *y);
            diagonal = *above;
            left = cost.min(left + 1).min(*above + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", ""), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("größe", "grösse"), 2);
    }

    #[test]
    fn nearest_come_first() {
        let known = ["region", "item", "qty"].map(str::to_string);
        assert_eq!(nearest("itme", known)[0], "item");
    }
}
