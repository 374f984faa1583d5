//! Commands of the shell, which begin with a backslash.

use std::path::{Path, PathBuf};

use tarn::sql::names::nearest;
use tarn::sql::script::Position;

use super::failure::Failure;
use super::sink::Sink;
use super::{Flow, Interaction, Shell, syntax};
use crate::arguments::parse_max_rows;
use crate::print::Format;

/// Deepest nesting of files that run each other.
const MAX_INCLUDES: usize = 16;

/// A command as it is listed.
struct Listed {
    names: &'static [&'static str],
    arguments: &'static str,
    description: &'static str,
}

const fn listed(names: &'static [&'static str], arguments: &'static str, description: &'static str) -> Listed {
    Listed {
        names,
        arguments,
        description,
    }
}

/// The commands. The first name is the one that is listed.
const COMMANDS: &[Listed] = &[
    listed(&["?", "help"], "", "this list"),
    listed(
        &["h"],
        "[WORD…]",
        "how statements are written: all, or those that begin so",
    ),
    listed(
        &["d"],
        "[NAME]",
        "tables of the current namespace, or a table's columns and properties",
    ),
    listed(&["dn"], "[CATALOG]", "namespaces"),
    listed(&["dv"], "[NAMESPACE]", "views"),
    listed(&["ds"], "TABLE", "snapshots of a table, with branches and tags"),
    listed(&["l"], "", "catalogs"),
    listed(
        &["format"],
        "[table|expanded|csv|json|markdown]",
        "how results are written",
    ),
    listed(&["x"], "", "one line per value (expanded), and back"),
    listed(
        &["max-rows"],
        "[N|all]",
        "rows of a result that are shown on a terminal",
    ),
    listed(&["timing"], "[on|off]", "show how long statements take"),
    listed(&["set"], "[KEY [VALUE]]", "settings of the session"),
    listed(
        &["let"],
        "NAME QUERY",
        "keep a query's first value for ${NAME} in later statements",
    ),
    listed(&["i"], "FILE", "run a file of statements"),
    listed(&["o"], "[FILE]", "write results to a file, or to the terminal again"),
    listed(&["q", "quit", "exit"], "", "leave"),
];

/// The names that are listed.
pub(super) fn command_names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter_map(|c| c.names.first().copied())
}

impl Shell {
    /// Runs a command line.
    pub(super) async fn command(&mut self, line: &str) -> Result<Flow, Failure> {
        let line = line.trim().trim_start_matches('\\').trim_end_matches(';').trim_end();
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim();
        let given = Some(argument).filter(|a| !a.is_empty());
        match name {
            "?" | "help" => self.list_commands()?,
            "h" => self.say(&syntax::described(argument).map_err(Failure::Other)?)?,
            "q" | "quit" | "exit" => return Ok(Flow::Quit),
            "d" => {
                let sql = given.map_or_else(|| "SHOW TABLES".to_string(), |name| format!("DESCRIBE EXTENDED {name}"));
                self.statement(&sql, Position::START).await?;
            }
            "dn" => {
                let sql = given.map_or_else(
                    || "SHOW NAMESPACES".to_string(),
                    |name| format!("SHOW NAMESPACES IN {name}"),
                );
                self.statement(&sql, Position::START).await?;
            }
            "dv" => {
                let sql = given.map_or_else(|| "SHOW VIEWS".to_string(), |name| format!("SHOW VIEWS IN {name}"));
                self.statement(&sql, Position::START).await?;
            }
            "ds" => {
                self.statement(&format!("SHOW SNAPSHOTS {argument}"), Position::START)
                    .await?;
            }
            "l" => self.statement("SHOW CATALOGS", Position::START).await?,
            "set" => {
                let (key, value) = argument.split_once([' ', '=']).unwrap_or((argument, ""));
                let assigned = if value.is_empty() {
                    String::new()
                } else {
                    format!(" = {value}")
                };
                self.statement(&format!("SET {key}{assigned}"), Position::START).await?;
            }
            "let" => self.let_variable(argument).await?,
            "format" => self.format(given)?,
            "x" => {
                let toggled = match self.preferences.format {
                    Format::Expanded => Format::Table,
                    _ => Format::Expanded,
                };
                self.format(Some(toggled.name()))?;
            }
            "max-rows" => self.max_rows(given)?,
            "timing" => self.timing(given)?,
            "i" => return self.include(given).await,
            "o" => self.output_to(given)?,
            _ => return Err(unknown(name)),
        }
        Ok(Flow::Continue)
    }

    fn list_commands(&mut self) -> Result<(), Failure> {
        let head = |c: &Listed| format!("\\{} {}", c.names.first().unwrap_or(&""), c.arguments);
        let width = COMMANDS.iter().map(|c| head(c).chars().count()).max().unwrap_or(0);
        let mut text = String::from("Statements end with a semicolon. Commands:\n");
        for command in COMMANDS {
            text.push_str(&format!("  {:width$}  {}\n", head(command), command.description));
        }
        self.say(text.trim_end())
    }

    fn format(&mut self, given: Option<&str>) -> Result<(), Failure> {
        if let Some(name) = given {
            let Some(format) = Format::ALL.into_iter().find(|f| f.name().eq_ignore_ascii_case(name)) else {
                let names = Format::ALL.map(Format::name);
                let near = nearest(name, names).map(|n| format!("; did you mean {n}?"));
                let near = near.unwrap_or_default();
                let message = format!("unknown format '{name}': formats are {}{near}", names.join(", "));
                return Err(Failure::Other(message));
            };
            self.preferences.format = format;
        }
        self.say(&format!("format is {}", self.preferences.format.name()))
    }

    fn max_rows(&mut self, given: Option<&str>) -> Result<(), Failure> {
        if let Some(text) = given {
            self.preferences.max_rows = parse_max_rows(text).map_err(Failure::Other)?.0;
        }
        let shown = self
            .preferences
            .max_rows
            .map_or_else(|| "all".to_string(), |n| n.to_string());
        self.say(&format!("max-rows is {shown}"))
    }

    fn timing(&mut self, given: Option<&str>) -> Result<(), Failure> {
        let timing = match given {
            None => !self.is_timing(),
            Some("on") => true,
            Some("off") => false,
            Some(other) => return Err(Failure::Other(format!("timing is on or off, not '{other}'"))),
        };
        self.preferences.timing = Some(timing);
        let shown = if timing { "on" } else { "off" };
        self.say(&format!("timing is {shown}"))
    }

    /// Whether times are shown.
    pub(super) fn is_timing(&self) -> bool {
        let by_default = self.interaction == Interaction::Terminal;
        self.preferences.timing.unwrap_or(by_default)
    }

    async fn include(&mut self, given: Option<&str>) -> Result<Flow, Failure> {
        let Some(path) = given else {
            return Err(Failure::Other("\\i needs the name of a file".to_string()));
        };
        if self.including.len() >= MAX_INCLUDES {
            return Err(Failure::Other(format!("\\i {path}: files run each other too deeply")));
        }
        let path = PathBuf::from(path.trim_matches(['\'', '"']));
        Box::pin(self.run_file(&path)).await
    }

    fn output_to(&mut self, given: Option<&str>) -> Result<(), Failure> {
        use std::io::Write;
        self.sink.flush().map_err(Failure::writing)?;
        self.sink = match given.map(|path| path.trim_matches(['\'', '"'])) {
            None => Sink::stdout(),
            Some(path) => {
                let made = Sink::file(Path::new(path));
                made.map_err(|e| Failure::Other(format!("{path} cannot be written: {e}")))?
            }
        };
        Ok(())
    }
}

fn unknown(name: &str) -> Failure {
    let names = COMMANDS.iter().flat_map(|c| c.names.iter().copied());
    let near = nearest(name, names).map(|n| format!("; did you mean \\{n}?"));
    Failure::Other(format!(
        "unknown command \\{name}{} (\\? lists them)",
        near.unwrap_or_default()
    ))
}
