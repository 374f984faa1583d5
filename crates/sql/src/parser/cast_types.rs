//! Nested types in CAST, which sqlparser reads for other dialects only: `CAST(x AS map<string, array<int>>)`.
//!
//! Their tokens are put into one quoted word, from which the planner reads the type with the grammar of DDL.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Word};
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use super::tokens::is_word;
use super::types::data_type;
use crate::ast::DataType;
use crate::dialect::TarnDialect;

/// Begins words that are types: no user's type has a line break.
const MARKER: &str = "\ntype ";

/// The type that a word stands for; `None` for words of users.
///
/// # Errors
/// `InvalidInput` for text that is no type.
pub(crate) fn marked_type(word: &str) -> Option<Result<DataType>> {
    let text = word.strip_prefix(MARKER)?;
    Some(type_of_text(text))
}

/// A type as DDL writes it.
///
/// # Errors
/// `InvalidInput` for text that is none.
pub(crate) fn type_of_text(text: &str) -> Result<DataType> {
    let dialect = TarnDialect::default();
    let tokens = Tokenizer::new(&dialect, text).tokenize_with_location();
    let tokens = tokens.map_err(|e| Error::invalid(format!("'{text}' is no type: {e}")))?;
    let tokens = tokens.into_iter().filter(|t| t.token != Token::EOF).collect();
    let mut cursor = Cursor::new(&dialect, tokens);
    let parsed = data_type(&mut cursor)?;
    cursor.expect_end()?;
    Ok(parsed)
}

/// Puts the nested types of casts into words.
pub(crate) fn mark_nested_types(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if !tokens.iter().any(|t| begins_nested(&t.token)) {
        return tokens;
    }
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut casts = OpenCasts::default();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let at_type = casts.sees(&token.token);
        let is_space = matches!(token.token, Token::Whitespace(_));
        out.push(token);
        if !(at_type || is_space && casts.expects_type) {
            continue;
        }
        casts.expects_type = true;
        if rest.peek().is_some_and(|t| begins_nested(&t.token)) {
            casts.expects_type = false;
            let span = out
                .last()
                .map(|t| t.span)
                .unwrap_or_else(sqlparser::tokenizer::Span::empty);
            let text = type_text(&mut rest);
            let word = Word {
                value: format!("{MARKER}{text}"),
                quote_style: Some('`'),
                keyword: Keyword::NoKeyword,
            };
            out.push(TokenWithSpan::new(Token::Word(word), span));
        } else if !rest.peek().is_some_and(|t| matches!(t.token, Token::Whitespace(_))) {
            casts.expects_type = false;
        }
    }
    out
}

fn begins_nested(token: &Token) -> bool {
    ["ARRAY", "MAP", "STRUCT"].iter().any(|w| is_word(token, w))
}

/// The parentheses of CASTs that are open.
#[derive(Default)]
struct OpenCasts {
    depth: usize,
    /// Depths inside a CAST's parentheses.
    open: Vec<usize>,
    /// The last word was CAST.
    after_cast: bool,
    /// A type comes next.
    expects_type: bool,
}

impl OpenCasts {
    /// Takes a token; whether a type follows it.
    fn sees(&mut self, token: &Token) -> bool {
        let was_cast = self.after_cast;
        match token {
            Token::Whitespace(_) => return false,
            Token::LParen => {
                self.depth += 1;
                if was_cast {
                    self.open.push(self.depth);
                }
            }
            Token::RParen => {
                if self.open.last() == Some(&self.depth) {
                    self.open.pop();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
        self.after_cast = is_word(token, "CAST") || is_word(token, "TRY_CAST");
        let in_cast = self.open.last() == Some(&self.depth);
        *token == Token::DoubleColon || (in_cast && is_word(token, "AS"))
    }
}

/// The text of a type: its name, and all up to the closing of its brackets.
fn type_text(rest: &mut std::iter::Peekable<std::vec::IntoIter<TokenWithSpan>>) -> String {
    let mut text = String::new();
    let mut depth = 0_usize;
    while let Some(token) = rest.peek() {
        match &token.token {
            Token::Lt => depth += 1,
            Token::Gt => depth = depth.saturating_sub(1),
            Token::ShiftRight => depth = depth.saturating_sub(2),
            Token::RParen | Token::EOF if depth == 0 => return text,
            _ => {}
        }
        let closes = matches!(token.token, Token::Gt | Token::ShiftRight) && depth == 0;
        text.push_str(&token.token.to_string());
        rest.next();
        if closes {
            return text;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use tarn_format::spec::types::PrimitiveType;

    use super::*;

    fn marked(sql: &str) -> Vec<String> {
        let tokens = Tokenizer::new(&TarnDialect::default(), sql)
            .tokenize_with_location()
            .unwrap();
        let words = mark_nested_types(tokens).into_iter().filter_map(|t| match t.token {
            Token::Word(w) => w.value.strip_prefix(MARKER).map(str::to_string),
            _ => None,
        });
        words.collect()
    }

    #[test]
    fn only_types_of_casts_are_marked() {
        assert_eq!(
            marked("SELECT CAST(f(CAST(a AS int)) AS MAP<STRING, ARRAY<INT>>), array(1) AS array"),
            ["MAP<STRING, ARRAY<INT>>"]
        );
        assert_eq!(
            marked("SELECT try_cast(x AS struct<a: int, b: array<int>>)"),
            ["struct<a: int, b: array<int>>"]
        );
        assert_eq!(marked("SELECT x :: array<int> , y"), ["array<int>"]);
        assert!(marked("SELECT array(1) AS map, struct(a) FROM t").is_empty());
        assert!(marked("SELECT CAST(map('a', 1)['a'] AS int)").is_empty());
    }

    #[test]
    fn words_are_read_as_types() {
        let int = DataType::Primitive(PrimitiveType::Int);
        let read = marked_type(&format!("{MARKER}array<int>")).unwrap().unwrap();
        assert_eq!(read, DataType::Array(Box::new(int)));
        assert!(marked_type("array").is_none());
        assert!(marked_type(&format!("{MARKER}array<int")).unwrap().is_err());
    }
}
