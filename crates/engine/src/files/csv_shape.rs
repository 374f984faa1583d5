//! What the beginning of a CSV file tells of its separator and header.

/// Separators that are looked for, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Lines that are looked at.
const LINES: usize = 100;

/// Whether the first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// It does.
    Present,
    /// It is a row.
    Absent,
}

/// How a CSV file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CsvShape {
    pub(super) delimiter: u8,
    pub(super) header: Header,
}

/// The layout that the beginning of a file suggests. `delimiter` is the one that is known already.
///
/// The first line is a header when one of its values is of another kind than the values below it, or when everything is
/// text, which leaves nothing to tell by. A first line with a number or an empty value is none.
pub(super) fn sniff(beginning: &str, delimiter: Option<u8>, quote: u8) -> CsvShape {
    let delimiter = delimiter.unwrap_or_else(|| likely_delimiter(beginning, quote));
    let mut records = records(beginning, delimiter, quote);
    let Some(first) = records.next() else {
        return CsvShape {
            delimiter,
            header: Header::Absent,
        };
    };
    let rows: Vec<Vec<String>> = records.take(LINES).collect();
    let is_name = |value: &String| kind(value) == Kind::Text;
    let header = if first.iter().all(is_name) {
        Header::Present
    } else {
        Header::Absent
    };
    let all_text_below = rows
        .iter()
        .flatten()
        .all(|v| matches!(kind(v), Kind::Text | Kind::Empty));
    let differs = rows.iter().any(|row| {
        row.iter()
            .zip(&first)
            .any(|(v, name)| kind(v) != kind(name) && kind(v) != Kind::Empty)
    });
    match header {
        Header::Present if differs || all_text_below => CsvShape { delimiter, header },
        _ => CsvShape {
            delimiter,
            header: Header::Absent,
        },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Empty,
    Number,
    Boolean,
    Time,
    Text,
}

fn kind(value: &str) -> Kind {
    let value = value.trim();
    if value.is_empty() {
        return Kind::Empty;
    }
    if value.parse::<f64>().is_ok() {
        return Kind::Number;
    }
    if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") {
        return Kind::Boolean;
    }
    let date: Vec<&str> = value.get(..10).unwrap_or_default().split('-').collect();
    let is_date = matches!(date.as_slice(), [y, m, d]
        if [y.len(), m.len(), d.len()] == [4, 2, 2] && date.iter().all(|p| p.bytes().all(|b| b.is_ascii_digit())));
    if is_date { Kind::Time } else { Kind::Text }
}

/// The separator that occurs in the first line, and equally often in every line.
fn likely_delimiter(beginning: &str, quote: u8) -> u8 {
    let widths = |delimiter: u8| -> Vec<usize> {
        let lines = records(beginning, delimiter, quote).take(LINES);
        lines.map(|l| l.len()).collect()
    };
    let fits = |delimiter: &u8| {
        let widths = widths(*delimiter);
        widths
            .first()
            .is_some_and(|w| *w > 1 && widths.iter().all(|other| other == w))
    };
    let occurs = |delimiter: &u8| widths(*delimiter).first().is_some_and(|w| *w > 1);
    let even = DELIMITERS.iter().find(|d| fits(d));
    even.or_else(|| DELIMITERS.iter().find(|d| occurs(d)))
        .copied()
        .unwrap_or(b',')
}

/// The whole records of a text; the last one may be cut off and is left out unless it ends the text.
fn records(text: &str, delimiter: u8, quote: u8) -> impl Iterator<Item = Vec<String>> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (record, length) = record(rest, delimiter, quote)?;
        rest = rest.get(length..).unwrap_or_default();
        Some(record)
    })
    .filter(|r: &Vec<String>| r.len() > 1 || r.first().is_some_and(|v| !v.is_empty()))
}

fn record(text: &str, delimiter: u8, quote: u8) -> Option<(Vec<String>, usize)> {
    let mut values = vec![String::new()];
    let mut quoted = false;
    for (i, c) in text.char_indices() {
        if c == char::from(quote) {
            quoted = !quoted;
        } else if !quoted && c == '\n' {
            return Some((values, i + 1));
        } else if !quoted && c == char::from(delimiter) {
            values.push(String::new());
        } else if c != '\r'
            && let Some(last) = values.last_mut()
        {
            last.push(c);
        }
    }
    // The text may have been cut inside the last line; a single line is all there is.
    (!quoted).then_some((values, text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> (char, Header) {
        let shape = sniff(text, None, b'"');
        (char::from(shape.delimiter), shape.header)
    }

    #[test]
    fn headers_are_told_by_the_values_below() {
        assert_eq!(shape("id,name\n1,a\n2,b\n"), (',', Header::Present));
        assert_eq!(shape("1,a\n2,b\n"), (',', Header::Absent));
        assert_eq!(shape("name,city\na,Oslo\n"), (',', Header::Present), "all text");
        assert_eq!(shape("a,,c\n1,2,3\n"), (',', Header::Absent), "a column without a name");
        assert_eq!(shape("day\n2024-01-31\n"), (',', Header::Present));
        assert_eq!(shape("ok\ntrue\n"), (',', Header::Present));
        assert_eq!(shape(""), (',', Header::Absent));
    }

    #[test]
    fn separators_are_those_that_fit_every_line() {
        assert_eq!(shape("a;b\n1,5;2\n"), (';', Header::Present));
        assert_eq!(shape("a\tb\n1\t2\n").0, '\t');
        assert_eq!(shape("a|b\n1|2\n").0, '|');
        assert_eq!(
            shape("a,b\n\"x,y\n z\",2\n"),
            (',', Header::Present),
            "quoted separators and lines"
        );
    }
}
