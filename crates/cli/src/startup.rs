//! From arguments to a session, what it is to run, and an exit code.

use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ArgMatches;
use tarn::{Result, Session};
use tokio::runtime::Runtime;

use crate::arguments::{SessionArguments, ShellArguments, When};
use crate::print::Format;
use crate::shell::{Interaction, Outcome, Preferences, Shell, Source};

/// Exit code of a run that was interrupted, as shells have it for SIGINT.
const INTERRUPTED: u8 = 130;

/// Rows that are shown on a terminal.
const DEFAULT_MAX_ROWS: usize = 100;

/// Runs what the arguments ask for.
pub fn run(runtime: &Runtime, arguments: &ShellArguments, matches: &ArgMatches) -> ExitCode {
    let session = match runtime.block_on(session(&arguments.session)) {
        Ok(session) => session,
        Err(e) => {
            crate::fail(&e.to_string());
            return ExitCode::from(2);
        }
    };
    let sources = sources(arguments, matches);
    let interaction = if sources.is_empty() && stdin().is_terminal() {
        Interaction::Terminal
    } else {
        Interaction::Script
    };
    let mut shell = Shell::new(session, preferences(arguments, interaction), interaction);
    runtime.block_on(shell.watch_interrupts());
    let outcome = match interaction {
        Interaction::Script if sources.is_empty() => runtime.block_on(shell.run(&[Source::StandardInput])),
        Interaction::Script | Interaction::Terminal => runtime.block_on(shell.run(&sources)),
    };
    match outcome {
        Outcome::Done => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::FAILURE,
        Outcome::Interrupted => ExitCode::from(INTERRUPTED),
    }
}

async fn session(arguments: &SessionArguments) -> Result<Session> {
    let mut builder = Session::builder();
    for (key, value) in &arguments.settings {
        builder = builder.setting(key, value);
    }
    if let Some(home) = &arguments.home {
        builder = builder.home(home);
    }
    builder.build().await
}

/// What -c and -f give, in the order of the command line.
fn sources(arguments: &ShellArguments, matches: &ArgMatches) -> Vec<Source> {
    let places = |id| matches.indices_of(id).into_iter().flatten();
    let commands = arguments.commands.iter().map(|sql| Source::Command(sql.clone()));
    let file = |path: &PathBuf| match path.to_str() {
        Some("-") => Source::StandardInput,
        _ => Source::File(path.clone()),
    };
    let files = arguments.files.iter().map(file);
    let mut all: Vec<(usize, Source)> = places("commands").zip(commands).collect();
    all.extend(places("files").zip(files));
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, source)| source).collect()
}

fn preferences(arguments: &ShellArguments, interaction: Interaction) -> Preferences {
    let colors = match arguments.color.unwrap_or(When::Auto) {
        When::Always => true,
        When::Never => false,
        When::Auto => stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    };
    Preferences {
        format: arguments.format.unwrap_or(Format::Table),
        max_rows: arguments.max_rows.map_or(Some(DEFAULT_MAX_ROWS), |m| m.0),
        timing: arguments.timing || interaction == Interaction::Terminal,
        colors,
        keep_going: arguments.keep_going,
    }
}
