//! Running statements and commands, wherever they come from.

mod commands;
mod editor;
mod failure;
mod interrupts;
mod progress;
mod sink;
mod statement;
mod syntax;
mod terminal;
mod variables;

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use tarn::Session;
use tarn::sql::script::{Completeness, PieceKind, Position, Script, completeness};

use crate::preferences::Preferences;
use crate::print::Paint;
pub use editor::History;
use editor::LineEditor;
use failure::Failure;
use interrupts::Interrupts;
use sink::Sink;
use terminal::Input as _;
use variables::Variables;

/// Where statements come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The command line.
    Command(String),
    /// A file.
    File(PathBuf),
    /// Standard input.
    StandardInput,
    /// Standard input, typed by somebody.
    Terminal,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Command(_) => f.write_str("-c"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::StandardInput | Source::Terminal => f.write_str("stdin"),
        }
    }
}

/// Who is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interaction {
    /// Somebody types.
    Terminal,
    /// Nobody: the first failure ends the run.
    Script,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything ran.
    Done,
    /// Something failed; stderr tells what.
    Failed,
    /// Ctrl-C ended it.
    Interrupted,
}

/// Whether there is more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Continue,
    Quit,
}

/// A shell: a session, and where its results go.
#[derive(Debug)]
pub struct Shell {
    session: Session,
    preferences: Preferences,
    interaction: Interaction,
    sink: Sink,
    interrupts: Interrupts,
    variables: Variables,
    /// Files that are being run, outermost first.
    including: Vec<PathBuf>,
    has_failed: bool,
}

impl Shell {
    /// A shell on a session, writing to stdout.
    pub fn new(session: Session, preferences: Preferences, interaction: Interaction) -> Self {
        Shell {
            session,
            preferences,
            interaction,
            sink: Sink::stdout(),
            interrupts: Interrupts::default(),
            variables: Variables::default(),
            including: Vec::new(),
            has_failed: false,
        }
    }

    /// From here on Ctrl-C cancels statements instead of ending the process.
    pub async fn watch_interrupts(&mut self) {
        self.interrupts.watch();
    }

    /// Runs everything that the sources hold.
    pub async fn run(&mut self, sources: &[Source]) -> Outcome {
        for source in sources {
            let ran = match source {
                Source::Command(text) => self.run_text(source, text, Position::START).await,
                Source::File(path) => self.run_file(path).await,
                Source::StandardInput => self.run_input(io::stdin().lock()).await,
                Source::Terminal => self.run_editor().await,
            };
            match ran {
                Ok(Flow::Continue) => {}
                Ok(Flow::Quit) => break,
                Err(failure) => return self.ended_by(&failure),
            }
        }
        match self.sink.flush() {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => self.ended_by(&Failure::writing(e)),
            // Whoever types has seen what failed.
            _ if self.has_failed && self.interaction == Interaction::Script => Outcome::Failed,
            _ => Outcome::Done,
        }
    }

    /// Runs what somebody types.
    async fn run_editor(&mut self) -> Result<Flow, Failure> {
        self.say(terminal::GREETING)?;
        let paint = if self.preferences.colors() {
            Paint::On
        } else {
            Paint::Off
        };
        let history = History::find(self.preferences.history.as_deref());
        let mut editor = LineEditor::new(self.session.clone(), paint, history)?;
        let ran = self.run_terminal(&mut editor).await;
        editor.finish();
        ran
    }

    fn ended_by(&mut self, failure: &Failure) -> Outcome {
        // The results before it come first.
        let _ = self.sink.flush();
        match failure {
            Failure::ReaderGone if self.has_failed => Outcome::Failed,
            Failure::ReaderGone => Outcome::Done,
            Failure::Interrupted => Outcome::Interrupted,
            Failure::Reported => Outcome::Failed,
            Failure::Other(message) => {
                self.complain(message);
                Outcome::Failed
            }
        }
    }

    async fn run_file(&mut self, path: &PathBuf) -> Result<Flow, Failure> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|e| Failure::Other(format!("{} cannot be read: {e}", path.display())))?;
        self.including.push(path.clone());
        let ran = Box::pin(self.run_text(&Source::File(path.clone()), &text, Position::START)).await;
        self.including.pop();
        ran
    }

    /// Runs standard input as it comes: a program that writes a statement gets its result before it writes the next.
    async fn run_input(&mut self, mut input: impl BufRead) -> Result<Flow, Failure> {
        let mut pending = String::new();
        let mut line = 1;
        let mut next_line = 1;
        loop {
            let before = pending.len();
            let read = input.read_line(&mut pending);
            let read = read.map_err(|e| Failure::Other(format!("stdin cannot be read: {e}")))?;
            next_line += 1;
            if read > 0 && !self.is_complete(&pending, before) {
                continue;
            }
            let text = std::mem::take(&mut pending);
            let position = Position { line, column: 1 };
            let flow = self.run_text(&Source::StandardInput, &text, position).await?;
            if flow == Flow::Quit || read == 0 {
                return Ok(flow);
            }
            self.sink.flush().map_err(Failure::writing)?;
            line = next_line;
        }
    }

    /// Whether the text that somebody gave can be run, of which this is new from a place on.
    fn is_complete(&self, text: &str, new_from: usize) -> bool {
        let added = &text[new_from..];
        let may_end = added.contains(';') || added.trim_start().starts_with('\\');
        may_end && completeness(text, &self.session.dialect()) == Completeness::Complete
    }

    /// Runs the statements and commands of a text.
    async fn run_text(&mut self, source: &Source, text: &str, position: Position) -> Result<Flow, Failure> {
        let mut script = Script::starting_at(text, position);
        loop {
            let piece = match script.next(&self.session.dialect()) {
                None => return Ok(Flow::Continue),
                Some(Ok(piece)) => piece,
                Some(Err(e)) => {
                    let failure = self.failed(source, position, &e.to_string());
                    failure?;
                    continue;
                }
            };
            let ran = match piece.kind {
                PieceKind::Command => Box::pin(self.command(piece.text)).await,
                PieceKind::Statement | PieceKind::LastStatement => {
                    let ran = self.statement(piece.text, piece.position).await;
                    ran.map(|()| Flow::Continue)
                }
            };
            match ran {
                Ok(Flow::Continue) => {}
                Ok(Flow::Quit) => return Ok(Flow::Quit),
                Err(Failure::Other(message)) => self.failed(source, piece.position, &message)?,
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Tells what failed and where; the error ends the run, unless there is reason to go on.
    fn failed(&mut self, source: &Source, position: Position, message: &str) -> Result<(), Failure> {
        self.sink.flush().map_err(Failure::writing)?;
        let (message, place) = failure::split_place(message);
        let line = place.map_or(position.line, |p| p.line);
        match (source, line) {
            (Source::Terminal, 1) => self.complain(&message),
            (Source::Terminal, line) => self.complain(&format!("line {line}: {message}")),
            _ => self.complain(&format!("{source}:{line}: {message}")),
        }
        self.has_failed = true;
        if self.preferences.keep_going || self.interaction == Interaction::Terminal {
            Ok(())
        } else {
            Err(Failure::Reported)
        }
    }

    /// One line on stderr. Nothing can be done when that is gone too.
    fn complain(&self, message: &str) {
        let line = message.replace('\n', " ");
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Tells people what a statement did: in between the results where people read these, else on stderr.
    fn say(&mut self, line: &str) -> Result<(), Failure> {
        if self.preferences.format.is_for_people() {
            writeln!(self.sink, "{line}").map_err(Failure::writing)
        } else {
            self.complain(line);
            Ok(())
        }
    }

    /// Columns of the terminal that results go to; `None` when they go elsewhere.
    fn terminal_width(&self) -> Option<usize> {
        if !self.sink.is_stdout() || !io::stdout().is_terminal() {
            return None;
        }
        let given = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        let asked = || {
            let mut table = comfy_table::Table::new();
            table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
            table.width().map(usize::from)
        };
        Some(given.or_else(asked).unwrap_or(80))
    }
}
