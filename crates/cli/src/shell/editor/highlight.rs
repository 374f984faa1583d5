//! Colours of the text that is being typed.

use std::borrow::Cow;

use tarn::sql::dialect::TarnDialect;
use tarn::sql::lexemes::{LexemeKind, lexemes};

use crate::print::Paint;

/// The text with colours: keywords, strings, numbers and comments. Its width stays the same.
pub(super) fn highlighted<'l>(line: &'l str, dialect: &TarnDialect, paint: Paint) -> Cow<'l, str> {
    if paint == Paint::Off || line.trim_start().starts_with('\\') {
        return Cow::Borrowed(line);
    }
    let painted = lexemes(line, dialect).into_iter().map(|part| match part.kind {
        LexemeKind::Keyword => paint.keyword(part.text),
        LexemeKind::Text => paint.text(part.text),
        LexemeKind::Number => paint.number(part.text),
        LexemeKind::Comment => paint.dim(part.text),
        LexemeKind::Name | LexemeKind::Space | LexemeKind::Symbol | LexemeKind::Open => part.text.to_string(),
    });
    Cow::Owned(painted.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_all_that_is_added() {
        let line = "SELECT 'a;b' AS `from`, 12 -- why\nFROM t WHERE x = 'open";
        let dialect = TarnDialect::default();
        assert_eq!(highlighted(line, &dialect, Paint::Off), line);
        let painted = highlighted(line, &dialect, Paint::On);
        assert!(
            painted.starts_with("\x1b[1;34mSELECT\x1b[0m \x1b[32m'a;b'\x1b[0m "),
            "{painted}"
        );
        assert!(painted.ends_with("'open"));
        let mut plain = String::new();
        let mut rest = &*painted;
        while let Some(at) = rest.find('\x1b') {
            plain.push_str(&rest[..at]);
            rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
        }
        assert_eq!(plain + rest, line);
    }

    #[test]
    fn commands_are_not_painted() {
        assert_eq!(highlighted("\\d from", &TarnDialect::default(), Paint::On), "\\d from");
    }
}
