//! Names and texts as SQL that means them.

/// A name, in backticks where it needs them.
pub(crate) fn identifier(name: &str) -> String {
    let begins_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if begins_plain && is_plain {
        name.to_string()
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}

/// A text as a literal.
pub(crate) fn string(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        for (name, written) in [
            ("a_1", "a_1"),
            ("_x", "_x"),
            ("", "``"),
            ("1a", "`1a`"),
            ("a b", "`a b`"),
            ("a`b", "`a``b`"),
            ("größe", "`größe`"),
        ] {
            assert_eq!(identifier(name), written);
        }
    }

    #[test]
    fn quotes_and_backslashes_in_texts_are_escaped() {
        assert_eq!(string(r"it's a \"), r"'it\'s a \\'");
    }
}
