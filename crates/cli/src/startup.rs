//! From arguments to a session, what it is to run, and an exit code.

use std::io::{IsTerminal, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ArgMatches;
use tarn::format::catalog::Namespace;
use tarn::{Config, MemoryLimit, Result, Session};
use tokio::runtime::Runtime;

use crate::arguments::{SessionArguments, ShellArguments};
use crate::preferences::Preferences;
use crate::shell::{Interaction, Outcome, Shell, Source};

/// Exit code of a run that was interrupted, as shells have it for SIGINT.
const INTERRUPTED: u8 = 130;

/// What is left is for the rest of the process, what is not accounted for, and the file cache.
const DEFAULT_MEMORY_LIMIT: MemoryLimit = MemoryLimit::Percent(70);

/// Runs what the arguments ask for.
pub fn run(runtime: &Runtime, arguments: &ShellArguments, matches: &ArgMatches) -> ExitCode {
    let (session, preferences) = match runtime.block_on(prepare(arguments)) {
        Ok(prepared) => prepared,
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
    let mut shell = Shell::new(session, preferences, interaction);
    runtime.block_on(shell.watch_interrupts());
    let outcome = match interaction {
        Interaction::Script if sources.is_empty() => runtime.block_on(shell.run(&[Source::StandardInput])),
        Interaction::Script => runtime.block_on(shell.run(&sources)),
        Interaction::Terminal => runtime.block_on(shell.run(&[Source::Terminal])),
    };
    match outcome {
        Outcome::Done => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::FAILURE,
        Outcome::Interrupted => ExitCode::from(INTERRUPTED),
    }
}

/// The session and what the shell is to look like.
async fn prepare(arguments: &ShellArguments) -> Result<(Session, Preferences)> {
    let file = arguments.session.config.clone().or_else(Config::find);
    let config = file.map_or_else(|| Ok(Config::default()), |file| Config::read(&file))?;
    let preferences = Preferences::new(&config.shell, arguments)?;
    let session = session(&arguments.session, config).await?;
    Ok((session, preferences))
}

async fn session(arguments: &SessionArguments, config: Config) -> Result<Session> {
    let limit = arguments.memory_limit.or(config.memory_limit);
    let mut builder = Session::builder().memory_limit(limit.unwrap_or(DEFAULT_MEMORY_LIMIT));
    let catalogs = arguments.catalogs.iter().flat_map(|c| &c.settings);
    for (key, value) in catalogs.chain(&arguments.settings) {
        builder = builder.setting(key, value);
    }
    if let Some(name) = &arguments.begin_in {
        let (catalog, namespace) = name.split_once('.').unwrap_or((name, ""));
        builder = builder.default_catalog(catalog);
        if !namespace.is_empty() {
            builder = builder.namespace(Namespace::new(namespace.split('.')));
        }
    }
    if let Some(home) = &arguments.home {
        builder = builder.home(home);
    }
    if let Some(directory) = &arguments.spill_directory {
        builder = builder.spill_directory(directory);
    }
    if let Some(n) = arguments.parallelism {
        builder = builder.parallelism(usize::from(n));
    }
    builder.config(config).build().await
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
