//! A walk over the tokens of one statement: sqlparser's own for queries and expressions, plain words for the rest.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{Expr, Query, TableFactor, With};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tarn_format::{Error, Result};

use super::hints::{self, Hint};
use super::tokens::{is_word, offset};
use crate::ast::{Name, PropertyList};
use crate::script::Position;

/// Deepest nesting of expressions and queries.
const RECURSION_LIMIT: usize = 128;

/// The tokens of one statement.
pub(crate) struct Cursor<'a> {
    parser: Parser<'a>,
    /// Hints that no table has taken yet.
    hints: Vec<Hint>,
    /// The text that the tokens come from, and where that begins in a larger one.
    text: (&'a str, Position),
    /// Where the statement ends.
    end: Location,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(dialect: &'a dyn sqlparser::dialect::Dialect, tokens: Vec<TokenWithSpan>) -> Self {
        let parser = Parser::new(dialect)
            .with_recursion_limit(RECURSION_LIMIT)
            .with_tokens_with_locations(tokens);
        Cursor {
            parser,
            hints: Vec::new(),
            text: ("", Position::START),
            end: Location { line: 0, column: 0 },
        }
    }

    /// The statement with the hints that stand in it.
    pub(crate) fn with_hints(mut self, hints: Vec<Hint>) -> Self {
        self.hints = hints;
        self
    }

    /// The statement with the text that it was made from.
    pub(crate) fn with_text(mut self, text: (&'a str, Position), end: Location) -> Self {
        self.text = text;
        self.end = end;
        self
    }

    /// The statement from the next token on, as it is written.
    pub(crate) fn rest_of_text(&self) -> String {
        let (text, origin) = self.text;
        let begin = offset(text, self.parser.peek_token_ref().span.start, origin);
        let end = offset(text, self.end, origin);
        let written = begin.zip(end).and_then(|(begin, end)| text.get(begin..end));
        written.unwrap_or_default().to_string()
    }

    /// The token `n` places ahead.
    pub(crate) fn peek(&self, n: usize) -> &Token {
        &self.parser.peek_nth_token_ref(n).token
    }

    /// Whether the next tokens are these words.
    pub(crate) fn at(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(n, w)| is_word(self.peek(n), w))
    }

    /// Takes the next tokens if they are these words.
    pub(crate) fn eat(&mut self, words: &[&str]) -> bool {
        let found = self.at(words);
        if found {
            for _ in words {
                self.parser.next_token();
            }
        }
        found
    }

    /// Takes the next word if it is one of these.
    pub(crate) fn eat_any(&mut self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().copied().find(|w| self.eat(&[w]))
    }

    /// Takes these words.
    pub(crate) fn expect(&mut self, words: &[&str]) -> Result<()> {
        if self.eat(words) {
            Ok(())
        } else {
            Err(self.unexpected(&words.join(" ")))
        }
    }

    /// Takes a punctuation token if it is next.
    pub(crate) fn eat_token(&mut self, token: &Token) -> bool {
        self.parser.consume_token(token)
    }

    /// Takes a punctuation token.
    pub(crate) fn expect_token(&mut self, token: &Token) -> Result<()> {
        if self.eat_token(token) {
            Ok(())
        } else {
            Err(self.unexpected(&token.to_string()))
        }
    }

    /// Takes any token.
    pub(crate) fn next(&mut self) -> Token {
        self.parser.next_token().token
    }

    /// Whether nothing is left.
    pub(crate) fn at_end(&self) -> bool {
        *self.peek(0) == Token::EOF
    }

    /// Fails unless nothing is left.
    pub(crate) fn expect_end(&self) -> Result<()> {
        if !self.at_end() {
            return Err(self.unexpected("the end of the statement"));
        }
        match self.hints.first() {
            None => Ok(()),
            Some(hint) => Err(hints::refused(hint)),
        }
    }

    /// The error that something else was expected here.
    pub(crate) fn unexpected(&self, expected: &str) -> Error {
        let found = self.parser.peek_token_ref();
        let at = found.span.start;
        let found_text = match &found.token {
            Token::EOF => "the end of the statement".to_string(),
            token => format!("'{token}'"),
        };
        let place = if at.line == 0 {
            String::new()
        } else {
            format!(" at line {}, column {}", at.line, at.column)
        };
        Error::invalid(format!("syntax error{place}: expected {expected}, found {found_text}"))
    }

    /// An identifier, quoted or not. Reserved words are identifiers here: the places that take one are unambiguous.
    pub(crate) fn identifier(&mut self) -> Result<String> {
        match self.peek(0) {
            Token::Word(w) => {
                let value = w.value.clone();
                self.parser.next_token();
                Ok(value)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// A dotted name.
    pub(crate) fn name(&mut self) -> Result<Name> {
        let mut parts = vec![self.identifier()?];
        while self.eat_token(&Token::Period) {
            parts.push(self.identifier()?);
        }
        Ok(Name(parts))
    }

    /// A string literal.
    pub(crate) fn string(&mut self) -> Result<String> {
        match self.peek(0).clone() {
            Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) => {
                self.parser.next_token();
                Ok(s)
            }
            _ => Err(self.unexpected("a string")),
        }
    }

    /// An unsigned whole number.
    pub(crate) fn integer(&mut self) -> Result<u64> {
        if let Token::Number(digits, _) = self.peek(0)
            && let Ok(n) = digits.parse()
        {
            self.parser.next_token();
            return Ok(n);
        }
        Err(self.unexpected("a whole number"))
    }

    /// A whole number with a sign or without.
    pub(crate) fn signed_integer(&mut self) -> Result<i64> {
        let negative = *self.peek(0) == Token::Minus;
        let Token::Number(digits, _) = self.peek(usize::from(negative)) else {
            return Err(self.unexpected("a whole number"));
        };
        let sign = if negative { "-" } else { "" };
        let Ok(n) = format!("{sign}{digits}").parse() else {
            return Err(self.unexpected("a whole number"));
        };
        if negative {
            self.next();
        }
        self.next();
        Ok(n)
    }

    /// Items separated by commas.
    pub(crate) fn comma_separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_token(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Items separated by commas, in parentheses; at least one.
    pub(crate) fn parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let items = self.comma_separated(item)?;
        self.expect_token(&Token::RParen)?;
        Ok(items)
    }

    /// `('key' = 'value', key.part = value, …)`
    pub(crate) fn properties(&mut self) -> Result<PropertyList> {
        self.parenthesized(|c| {
            let key = c.property_key()?;
            c.eat_token(&Token::Eq);
            Ok((key, c.property_value()?))
        })
    }

    /// A property's key: a string, or words joined by dots and dashes.
    pub(crate) fn property_key(&mut self) -> Result<String> {
        if matches!(
            self.peek(0),
            Token::SingleQuotedString(_) | Token::DoubleQuotedString(_)
        ) {
            return self.string();
        }
        let mut key = self.identifier()?;
        loop {
            if self.eat_token(&Token::Period) {
                key.push('.');
            } else if self.eat_token(&Token::Minus) {
                key.push('-');
            } else {
                return Ok(key);
            }
            key.push_str(&self.identifier()?);
        }
    }

    fn property_value(&mut self) -> Result<String> {
        match self.peek(0).clone() {
            Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) => self.string(),
            Token::Minus => {
                self.next();
                match self.next() {
                    Token::Number(n, _) => Ok(format!("-{n}")),
                    _ => Err(self.unexpected("a value")),
                }
            }
            Token::Number(n, _) => {
                self.next();
                Ok(n)
            }
            Token::Word(w) => {
                self.next();
                Ok(w.value)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// A query.
    pub(crate) fn query(&mut self) -> Result<Box<Query>> {
        let begin = self.parser.peek_token_ref().span.start;
        let mut query = self.parser.parse_query().map_err(syntax)?;
        if !self.hints.is_empty() {
            hints::attach(&mut query, begin, &mut self.hints)?;
        }
        Ok(query)
    }

    /// The options of hints that were passed over already, which no table takes any more.
    pub(crate) fn hints_before_here(&mut self) -> PropertyList {
        hints::before(self.parser.peek_token_ref().span.start, &mut self.hints)
    }

    /// The WITH clause of a statement that is no query, where the next tokens are one: its WITH is followed by this word
    /// outside of parentheses.
    pub(crate) fn with_before(&mut self, words: &[&'static str]) -> Result<Option<With>> {
        if !self.at(&["WITH"]) {
            return Ok(None);
        }
        let mut depth = 0_usize;
        for n in 1.. {
            match self.peek(n) {
                Token::EOF => return Ok(None),
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                token if depth == 0 && ["SELECT", "VALUES", "TABLE", "FROM"].iter().any(|w| is_word(token, w)) => {
                    return Ok(None);
                }
                token if depth == 0 && words.iter().any(|w| is_word(token, w)) => break,
                _ => {}
            }
        }
        let with_token = AttachedToken(self.parser.next_token());
        let recursive = self.eat(&["RECURSIVE"]);
        let cte_tables = self.comma_separated(|c| c.parser.parse_cte().map_err(syntax))?;
        Ok(Some(With {
            with_token,
            recursive,
            cte_tables,
        }))
    }

    /// A table, subquery or VALUES with its alias.
    pub(crate) fn table_factor(&mut self) -> Result<TableFactor> {
        self.parser.parse_table_factor().map_err(syntax)
    }

    /// An expression.
    pub(crate) fn expression(&mut self) -> Result<Expr> {
        self.parser.parse_expr().map_err(syntax)
    }
}

fn syntax(e: sqlparser::parser::ParserError) -> Error {
    use sqlparser::parser::ParserError;
    match e {
        ParserError::TokenizerError(m) | ParserError::ParserError(m) => {
            let mut message = m;
            if let Some(rest) = message.strip_prefix("Expected: ") {
                message = format!("expected {rest}");
            }
            Error::invalid(format!("syntax error: {message}"))
        }
        ParserError::RecursionLimitExceeded => Error::invalid("the statement is nested too deeply"),
    }
}
