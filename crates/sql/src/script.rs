//! A text of many statements, taken one by one.
//!
//! Statements are split where the tokenizer sees a semicolon, so those inside strings, comments and quoted names do not
//! count. Each is tokenized by the dialect of its time: a SET may change what `"x"` is for those after it. A line that
//! begins with a backslash where a statement could begin is a command for whoever runs the text.

use std::collections::VecDeque;

use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use tarn_format::{Error, Result};

use crate::dialect::{DoubleQuotes, TarnDialect};

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

impl Position {
    /// Where a text begins.
    pub const START: Position = Position { line: 1, column: 1 };
}

/// A part of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// What it is.
    pub kind: PieceKind,
    /// Its text, without semicolon and surrounding white space.
    pub text: &'a str,
    /// Where it begins.
    pub position: Position,
}

/// What a part of a script is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// A statement that a semicolon ends.
    Statement,
    /// A statement that the text's end ends.
    LastStatement,
    /// A line that begins with a backslash.
    Command,
}

/// What a text lacks until it can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// It holds nothing but space and comments.
    Blank,
    /// Its last statement, string or comment is open.
    Open,
    /// Nothing.
    Complete,
}

/// A text of statements and commands, read from its beginning.
#[derive(Debug)]
pub struct Script<'a> {
    walker: Walker<'a>,
    /// Parts that were found already.
    ahead: VecDeque<Bounds>,
    /// What the text is refused for after them.
    failure: Option<Error>,
    /// How they were found.
    quotes: Option<DoubleQuotes>,
}

/// Where a part begins and ends.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    kind: PieceKind,
    start: Position,
    /// `None` is the text's end.
    end: Option<Position>,
}

impl<'a> Script<'a> {
    /// A script at its beginning.
    pub fn new(text: &'a str) -> Self {
        Script::starting_at(text, Position::START)
    }

    /// A script that is part of a longer text and begins there at `position`.
    pub fn starting_at(text: &'a str, position: Position) -> Self {
        Script {
            walker: Walker {
                position,
                ..Walker::new(text)
            },
            ahead: VecDeque::new(),
            failure: None,
            quotes: None,
        }
    }

    /// The next part, or the error that the text cannot be split any further (which ends it).
    pub fn next(&mut self, dialect: &TarnDialect) -> Option<Result<Piece<'a>>> {
        if self.quotes != Some(dialect.double_quotes) || (self.ahead.is_empty() && self.failure.is_none()) {
            self.look_ahead(dialect);
        }
        let Some(bounds) = self.ahead.pop_front() else {
            let failure = self.failure.take();
            self.walker.go_to_end();
            return failure.map(Err);
        };
        self.walker.go_to(bounds.start);
        let from = self.walker.at;
        match bounds.end {
            Some(end) => self.walker.go_to(end),
            None => self.walker.go_to_end(),
        }
        let text = self.walker.text[from..self.walker.at].trim_end();
        // The semicolon itself.
        if bounds.kind == PieceKind::Statement {
            self.walker.step();
        }
        Some(Ok(Piece {
            kind: bounds.kind,
            text,
            position: bounds.start,
        }))
    }

    /// Finds the parts from here to the next command.
    fn look_ahead(&mut self, dialect: &TarnDialect) {
        self.quotes = Some(dialect.double_quotes);
        self.ahead.clear();
        let origin = self.walker.position;
        let mut tokens = Vec::new();
        let mut tokenizer = Tokenizer::new(dialect, &self.walker.text[self.walker.at..]);
        let outcome = tokenizer.tokenize_with_location_into_buf(&mut tokens);
        self.failure = outcome.err().map(|e| {
            let at = shifted(e.location, origin);
            Error::invalid(format!(
                "syntax error at line {}, column {}: {}",
                at.line, at.column, e.message
            ))
        });
        let mut start = None;
        for TokenWithSpan { token, span } in &tokens {
            let at = shifted(span.start, origin);
            match (token, start) {
                (Token::Whitespace(_) | Token::EOF, _) => {}
                (Token::SemiColon, None) => {}
                (Token::SemiColon, Some(from)) => {
                    self.ahead.push_back(Bounds {
                        kind: PieceKind::Statement,
                        start: from,
                        end: Some(at),
                    });
                    start = None;
                }
                (Token::Backslash, None) => {
                    // What follows in the line is not SQL: whatever the tokenizer made of it does not count.
                    self.failure = None;
                    self.ahead.push_back(Bounds {
                        kind: PieceKind::Command,
                        start: at,
                        end: Some(Position {
                            line: at.line + 1,
                            column: 1,
                        }),
                    });
                    return;
                }
                (_, None) => start = Some(at),
                (_, Some(_)) => {}
            }
        }
        if let (Some(from), None) = (start, &self.failure) {
            self.ahead.push_back(Bounds {
                kind: PieceKind::LastStatement,
                start: from,
                end: None,
            });
        }
    }
}

/// A place in the rest of a text as a place in the whole.
pub(crate) fn shifted(at: Location, origin: Position) -> Position {
    let line = at.line.max(1);
    Position {
        line: line + origin.line - 1,
        column: if line == 1 {
            at.column.max(1) + origin.column - 1
        } else {
            at.column
        },
    }
}

/// Whether a text can be run as it is. Open strings and comments, as open statements, wait for more.
pub fn completeness(text: &str, dialect: &TarnDialect) -> Completeness {
    let mut script = Script::new(text);
    let mut found = Completeness::Blank;
    while let Some(piece) = script.next(dialect) {
        found = match piece {
            Ok(piece) if piece.kind == PieceKind::LastStatement => Completeness::Open,
            Ok(_) => Completeness::Complete,
            Err(e) if is_open(e.message()) => Completeness::Open,
            Err(_) => Completeness::Complete,
        };
    }
    found
}

/// Whether the tokenizer met the end where something had to be closed.
fn is_open(message: &str) -> bool {
    message.contains("Unterminated") || message.contains("EOF")
}

/// A byte offset and the position that it is at.
#[derive(Debug)]
pub(crate) struct Walker<'a> {
    text: &'a str,
    at: usize,
    position: Position,
}

impl<'a> Walker<'a> {
    /// At the beginning.
    pub(crate) fn new(text: &'a str) -> Self {
        Walker {
            text,
            at: 0,
            position: Position::START,
        }
    }

    /// The byte offset.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes to a position not before this one.
    pub(crate) fn go_to(&mut self, to: Position) {
        while (self.position.line, self.position.column) < (to.line, to.column) && self.step() {}
    }

    fn go_to_end(&mut self) {
        while self.step() {}
    }

    /// Goes over one character, as the tokenizer counts them; whether there was one.
    fn step(&mut self) -> bool {
        let Some(c) = self.text[self.at..].chars().next() else {
            return false;
        };
        self.at += c.len_utf8();
        if c == '\n' {
            self.position = Position {
                line: self.position.line + 1,
                column: 1,
            };
        } else {
            self.position.column += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests;
