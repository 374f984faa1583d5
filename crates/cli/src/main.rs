//! The `tarn` command: arguments in, one report or one line of error out.

mod inspect;
mod report;

use std::io::{ErrorKind as IoErrorKind, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use report::Report;

/// An Apache Iceberg lakehouse in one binary.
#[derive(Debug, Parser)]
#[command(name = "tarn", version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows what a table, view, manifest list, manifest or puffin file holds
    Inspect(inspect::InspectArguments),
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Command::Inspect(arguments) = Arguments::parse().command;
    let format = arguments.format();
    match inspect::run(arguments).await {
        Ok(report) => print(&report, format),
        Err(error) => {
            let mut stderr = std::io::stderr().lock();
            // Nothing can be done when stderr is gone too.
            let _ = writeln!(stderr, "tarn: {error}");
            ExitCode::FAILURE
        }
    }
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
