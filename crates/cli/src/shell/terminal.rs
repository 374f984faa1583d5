//! Lines that somebody types, one statement after another.

use std::io::{BufRead, Write};

use tarn::sql::script::{Completeness, Position, completeness};

use super::failure::Failure;
use super::{Flow, Shell, Source};

/// Stands before the first line of a statement.
const PROMPT: &str = "tarn> ";

/// Stands before its further lines.
const CONTINUED: &str = "    > ";

const GREETING: &str = concat!(
    "Tarn ",
    env!("CARGO_PKG_VERSION"),
    ": statements end with a semicolon, \\? lists commands, Ctrl-D leaves"
);

impl Shell {
    /// Runs what is typed until its end or `\q`. What fails is told, and the next line is read.
    pub(super) async fn run_terminal(
        &mut self,
        mut input: impl BufRead,
        prompts: &mut impl Write,
    ) -> Result<Flow, Failure> {
        writeln!(prompts, "{GREETING}").map_err(Failure::writing)?;
        let mut pending = String::new();
        loop {
            self.sink.flush().map_err(Failure::writing)?;
            let prompt = if pending.is_empty() { PROMPT } else { CONTINUED };
            write!(prompts, "{prompt}").map_err(Failure::writing)?;
            prompts.flush().map_err(Failure::writing)?;
            let before = pending.len();
            let read = input.read_line(&mut pending);
            let read = read.map_err(|e| Failure::Other(format!("the terminal cannot be read: {e}")))?;
            if read == 0 {
                // The next prompt of whatever called begins a line.
                writeln!(prompts).map_err(Failure::writing)?;
                // A statement without its semicolon is not run: nobody said that it is whole.
                return Ok(Flow::Quit);
            }
            if completeness(&pending, &self.session.dialect()) == Completeness::Blank {
                pending.clear();
                continue;
            }
            if !self.is_complete(&pending, before) {
                continue;
            }
            let text = std::mem::take(&mut pending);
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
