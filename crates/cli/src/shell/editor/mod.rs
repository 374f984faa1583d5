//! The line editor of a terminal: history, completion and colours.

mod completion;
mod highlight;
mod history;
mod keywords;
mod names;

use std::borrow::Cow;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use tarn::Session;

use super::failure::Failure;
use super::terminal::{Input, Typed, is_finished};
use crate::print::Paint;
pub use history::History;

/// Reads what somebody types.
pub struct LineEditor {
    editor: Editor<Assistant, FileHistory>,
    history: History,
}

impl LineEditor {
    /// An editor that completes names of the session.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn new(session: Session, paint: Paint, history: History) -> Result<Self, Failure> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .history_ignore_space(true)
            .max_history_size(history::MAX_ENTRIES)
            .map_err(unusable)?
            .build();
        let mut editor = Editor::with_config(config).map_err(unusable)?;
        editor.set_helper(Some(Assistant { session, paint }));
        if let Some(file) = history.file() {
            // There is none before the first session.
            let _ = editor.load_history(file);
        }
        Ok(LineEditor { editor, history })
    }
}

fn unusable(e: ReadlineError) -> Failure {
    Failure::Other(format!("the terminal cannot be read: {e}"))
}

impl Input for LineEditor {
    fn read(&mut self, prompt: &str) -> Result<Typed, Failure> {
        match self.editor.readline(prompt) {
            Ok(text) => {
                if history::is_kept(&text) {
                    // An entry that is lost is no reason to stop.
                    let _ = self.editor.add_history_entry(text.as_str());
                }
                Ok(Typed::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Dropped),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(e) => Err(unusable(e)),
        }
    }

    fn finish(&mut self) {
        self.history.save(self.editor.history_mut());
    }
}

/// What helps while somebody types.
struct Assistant {
    session: Session,
    paint: Paint,
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_finished(context.input(), &self.session.dialect()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        highlight::highlighted(line, &self.session.dialect(), self.paint)
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.paint.bold(prompt))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.paint == Paint::On && kind != CmdKind::MoveCursor
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let place = completion::place(line, pos, &self.session.dialect());
        let candidates = names::candidates(&self.session, &place);
        let pairs = candidates.into_iter().map(|candidate| Pair {
            display: candidate.shown,
            replacement: candidate.inserted,
        });
        Ok((place.start, pairs.collect()))
    }
}
