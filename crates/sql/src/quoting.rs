//! Names and texts as SQL that means them.

use sqlparser::keywords::{
    ALL_KEYWORDS, ALL_KEYWORDS_INDEX, Keyword, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_IDENTIFIER,
    RESERVED_FOR_TABLE_ALIAS,
};

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

/// A name as a statement that defines something takes it: in backticks also where it is a word of SQL's own.
pub(crate) fn defined_name(name: &str) -> String {
    let word = name.to_ascii_uppercase();
    let keyword = ALL_KEYWORDS
        .binary_search(&word.as_str())
        .map(|i| ALL_KEYWORDS_INDEX[i]);
    let is_reserved = keyword.is_ok_and(|keyword| {
        [
            RESERVED_FOR_COLUMN_ALIAS,
            RESERVED_FOR_TABLE_ALIAS,
            RESERVED_FOR_IDENTIFIER,
            &RESERVED_HERE,
        ]
        .iter()
        .any(|reserved| reserved.contains(&keyword))
    });
    match is_reserved {
        true => format!("`{name}`"),
        false => identifier(name),
    }
}

/// Words that would begin something else where a column or a value is expected.
const RESERVED_HERE: [Keyword; 9] = [
    Keyword::CASE,
    Keyword::CAST,
    Keyword::CHECK,
    Keyword::CONSTRAINT,
    Keyword::FALSE,
    Keyword::NOT,
    Keyword::NULL,
    Keyword::TABLE,
    Keyword::TRUE,
];

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
    fn words_of_sql_are_quoted_where_names_are_defined() {
        for (name, written) in [
            ("id", "id"),
            ("name", "name"),
            ("Order", "`Order`"),
            ("select", "`select`"),
            ("null", "`null`"),
            ("a b", "`a b`"),
        ] {
            assert_eq!(defined_name(name), written);
        }
    }

    #[test]
    fn quotes_and_backslashes_in_texts_are_escaped() {
        assert_eq!(string(r"it's a \"), r"'it\'s a \\'");
    }
}
