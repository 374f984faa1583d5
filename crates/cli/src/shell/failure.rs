//! What ends a statement, or the run, early.

use std::io;

use tarn::sql::script::Position;

/// Why a statement did not come to its end.
#[derive(Debug)]
pub enum Failure {
    /// Whoever reads the results went away.
    ReaderGone,
    /// Ctrl-C.
    Interrupted,
    /// It has been told already.
    Reported,
    /// To be told in one line.
    Other(String),
}

impl Failure {
    /// Writing results failed.
    pub fn writing(e: io::Error) -> Self {
        match e.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Other(format!("results cannot be written: {e}")),
        }
    }
}

impl From<tarn::Error> for Failure {
    fn from(e: tarn::Error) -> Self {
        Failure::Other(e.to_string())
    }
}

/// Takes the place out of a message of the parser: it stands before the message already.
pub fn split_place(message: &str) -> (String, Option<Position>) {
    for (head, between) in [(" at line ", ", column "), (" at Line: ", ", Column: ")] {
        let Some(at) = message.find(head) else {
            continue;
        };
        let rest = &message[at + head.len()..];
        let Some((line, rest)) = number(rest) else {
            continue;
        };
        let Some((column, rest)) = rest.strip_prefix(between).and_then(number) else {
            continue;
        };
        let position = Position { line, column };
        return (format!("{}{rest}", &message[..at]), Some(position));
    }
    (message.to_string(), None)
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_taken_out_of_messages() {
        let (message, place) = split_place("syntax error at line 12, column 3: expected a name, found ')'");
        assert_eq!(message, "syntax error: expected a name, found ')'");
        assert_eq!(place, Some(Position { line: 12, column: 3 }));
        let (message, place) = split_place("syntax error: expected an expression, found: ) at Line: 2, Column: 14");
        assert_eq!(message, "syntax error: expected an expression, found: )");
        assert_eq!(place, Some(Position { line: 2, column: 14 }));
        for plain in [
            "no table",
            "at line x, column y",
            " at line 99999999999999999999999, column 1",
        ] {
            assert_eq!(split_place(plain), (plain.to_string(), None));
        }
    }
}
