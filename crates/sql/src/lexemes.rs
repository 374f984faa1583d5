//! A text cut into its lexical parts, for whoever shows or completes it. Text that is still open is one part at the end.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Whitespace};

use crate::dialect::TarnDialect;
use crate::script::{Position, Walker};

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexemeKind {
    /// A word of the language; it may be a name all the same.
    Keyword,
    /// A name, without quotes or with.
    Name,
    /// A string.
    Text,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// White space.
    Space,
    /// Punctuation and operators.
    Symbol,
    /// What the text ends in the middle of: a string, a quoted name or a comment that nothing closes.
    Open,
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lexeme<'a> {
    /// What it is.
    pub kind: LexemeKind,
    /// Its text.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
}

impl Lexeme<'_> {
    /// Whether it is this word, unquoted, in any case.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.kind, LexemeKind::Keyword | LexemeKind::Name) && self.text.eq_ignore_ascii_case(word)
    }
}

/// All parts of a text, which together are the text.
pub fn lexemes<'a>(text: &'a str, dialect: &TarnDialect) -> Vec<Lexeme<'a>> {
    let mut tokens = Vec::new();
    // What cannot be tokenized is the open part.
    let _ = Tokenizer::new(dialect, text).tokenize_with_location_into_buf(&mut tokens);
    let mut walker = Walker::new(text);
    let mut parts = Vec::with_capacity(tokens.len());
    for TokenWithSpan { token, span } in &tokens {
        let start = walker.at();
        walker.go_to(Position {
            line: span.end.line,
            column: span.end.column,
        });
        let end = walker.at();
        if end > start {
            let text = &text[start..end];
            parts.push(Lexeme {
                kind: kind(token),
                text,
                start,
            });
        }
    }
    if walker.at() < text.len() {
        parts.push(Lexeme {
            kind: LexemeKind::Open,
            text: &text[walker.at()..],
            start: walker.at(),
        });
    }
    parts
}

fn kind(token: &Token) -> LexemeKind {
    match token {
        Token::Word(word) if word.quote_style.is_none() && word.keyword != Keyword::NoKeyword => LexemeKind::Keyword,
        Token::Word(_) => LexemeKind::Name,
        Token::Number(..) => LexemeKind::Number,
        Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::NationalStringLiteral(_)
        | Token::HexStringLiteral(_)
        | Token::SingleQuotedRawStringLiteral(_)
        | Token::DoubleQuotedRawStringLiteral(_) => LexemeKind::Text,
        Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)) => {
            LexemeKind::Comment
        }
        Token::Whitespace(_) => LexemeKind::Space,
        _ => LexemeKind::Symbol,
    }
}

#[cfg(test)]
mod tests {
    use super::LexemeKind::*;
    use super::*;

    fn cut(text: &str) -> Vec<(LexemeKind, &str)> {
        let parts = lexemes(text, &TarnDialect::default());
        let together: String = parts.iter().map(|p| p.text).collect();
        assert_eq!(together, text);
        assert!(parts.iter().all(|p| text[p.start..].starts_with(p.text)));
        let parts = parts.into_iter().filter(|p| p.kind != Space);
        parts.map(|p| (p.kind, p.text)).collect()
    }

    #[test]
    fn parts_are_the_whole_text() {
        let expected = [
            (Keyword, "Select"),
            (Name, "`ä b`"),
            (Symbol, ","),
            (Text, "'x\ny'"),
            (Symbol, "+"),
            (Number, "1.5"),
            (Comment, "-- note\n"),
            (Keyword, "FROM"),
            (Name, "trips"),
            (Symbol, "."),
            (Name, "ö"),
            (Comment, "/* c */"),
            (Symbol, ";"),
        ];
        assert_eq!(
            cut("Select `ä b`, 'x\ny' + 1.5 -- note\n FROM trips.ö /* c */;"),
            expected
        );
    }

    #[test]
    fn what_is_open_is_one_part() {
        for open in ["'it", "\"it", "`it", "/* it"] {
            let text = format!("SELECT 1, {open} is ; open");
            let last = cut(&text).pop().unwrap();
            assert_eq!(last, (Open, format!("{open} is ; open").as_str()));
        }
        assert_eq!(cut(""), []);
    }
}
