//! What somebody types, one input after another.

use std::io::Write as _;

use tarn::sql::dialect::TarnDialect;
use tarn::sql::script::{Completeness, Position, completeness};

use super::failure::Failure;
use super::{Flow, Shell, Source};

/// Stands before a statement.
const PROMPT: &str = "tarn> ";

/// What is told at the beginning.
pub const GREETING: &str = concat!(
    "Tarn ",
    env!("CARGO_PKG_VERSION"),
    ": statements end with a semicolon, \\? lists commands, \\h statements, Tab completes, Ctrl-D leaves"
);

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// Statements or a command, whole.
    Text(String),
    /// Something that was given up, by Ctrl-C.
    Dropped,
    /// No more.
    End,
}

/// Somebody who types.
pub trait Input {
    /// The next input.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&mut self, prompt: &str) -> Result<Typed, Failure>;

    /// There will be no more reading.
    fn finish(&mut self) {}
}

/// Whether a text that somebody types need not go on: Enter runs it.
pub fn is_finished(text: &str, dialect: &TarnDialect) -> bool {
    // Long texts are not cut into statements again for each of their lines.
    let last_line = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let may_be_open = !last_line.contains(';') && !text.trim_start().starts_with('\\') && !text.trim().is_empty();
    if may_be_open && !text.trim_start().starts_with("--") && !text.trim_start().starts_with("/*") {
        return false;
    }
    completeness(text, dialect) != Completeness::Open
}

impl Shell {
    /// Runs what is typed until its end or `\q`. What fails is told, and the next input is read.
    pub(super) async fn run_terminal(&mut self, input: &mut impl Input) -> Result<Flow, Failure> {
        loop {
            self.sink.flush().map_err(Failure::writing)?;
            let text = match input.read(PROMPT)? {
                Typed::Text(text) => text,
                Typed::Dropped => continue,
                // A statement without its semicolon is not run: nobody said that it is whole.
                Typed::End => return Ok(Flow::Quit),
            };
            match self.run_text(&Source::Terminal, &text, Position::START).await {
                Ok(Flow::Continue) => {}
                Err(Failure::Interrupted) => self.complain("interrupted"),
                ended => return ended,
            }
        }
    }
}

#[cfg(test)]
mod tests;
