//! A view's query as it is stored: text that means the same whatever a session's settings are.

use crate::dialect::{DoubleQuotes, TarnDialect};
use crate::lexemes::{LexemeKind, lexemes};

/// The text, with backticks around names that this dialect lets stand in double quotes: by default, in Spark too, `"x"` is a
/// string.
pub(crate) fn stored_text(sql: &str, dialect: &TarnDialect) -> String {
    if dialect.double_quotes == DoubleQuotes::String {
        return sql.to_string();
    }
    let quoted = |text: &str| {
        let name = text.strip_prefix('"')?.strip_suffix('"')?;
        Some(format!("`{}`", name.replace("\"\"", "\"").replace('`', "``")))
    };
    let parts = lexemes(sql, dialect).into_iter().map(|part| match part.kind {
        LexemeKind::Name => quoted(part.text).unwrap_or_else(|| part.text.to_string()),
        _ => part.text.to_string(),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_double_quotes_get_backticks() {
        let sql = "SELECT \"a\"\"b`c\", `d\"e`, 'x\"y\"' -- \"z\"\nFROM \"t\"";
        let stored = |double_quotes| stored_text(sql, &TarnDialect { double_quotes });
        assert_eq!(
            stored(DoubleQuotes::Identifier),
            "SELECT `a\"b``c`, `d\"e`, 'x\"y\"' -- \"z\"\nFROM `t`"
        );
        assert_eq!(stored(DoubleQuotes::String), sql);
    }
}
