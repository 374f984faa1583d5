//! The `tarn` command: arguments in, results or one line of error out.

mod arguments;
mod catalog_option;
mod inspect;
mod log;
mod preferences;
mod print;
mod report;
mod shell;
mod startup;

use std::io::{ErrorKind as IoErrorKind, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use arguments::{Arguments, Command};
use report::Report;

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

fn main() -> ExitCode {
    let matches = Arguments::command().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(e) => e.exit(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => return fail(&format!("no threads can be started: {e}")),
    };
    match arguments.command {
        Some(Command::Inspect(arguments)) => {
            let format = arguments.format();
            match runtime.block_on(inspect::run(arguments)) {
                Ok(report) => print(&report, format),
                Err(error) => fail(&error.to_string()),
            }
        }
        None => match log::begin(arguments.shell.log) {
            Ok(()) => startup::run(&runtime, &arguments.shell, &matches),
            Err(message) => fail(&message),
        },
    }
}

/// One line on stderr. Nothing can be done when that is gone too.
fn fail(message: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr().lock(), "tarn: {message}");
    ExitCode::FAILURE
}

/// Prints a report. A reader that went away (`tarn … | head`) is no failure.
fn print(report: &Report, format: Format) -> ExitCode {
    let text = match format {
        Format::Text => report.to_text(),
        Format::Json => format!("{:#}\n", report.to_json()),
    };
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) if e.kind() == IoErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
