//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use tarn::MemoryLimit;

use crate::catalog_option::{self, CatalogOption};
use crate::inspect::InspectArguments;
use crate::print::Format;

/// An Apache Iceberg lakehouse in one binary: SQL on Iceberg tables.
///
/// Without -c or -f it reads statements from the terminal, or from standard input. Tables are kept in the catalog `lake`,
/// in ./tarn-lake, unless another home or other catalogs are given. Nothing is on disk before the first write.
#[derive(Debug, Parser)]
#[command(name = "tarn", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub shell: ShellArguments,
}

const EXAMPLES: &str = "\
Examples:
  tarn                                               a shell on the tables in ./tarn-lake
  tarn -c 'SELECT 1'                                 one statement
  tarn -f report.sql --format csv > report.csv       a file of statements, results as CSV
  echo 'SHOW TABLES' | tarn                          statements from standard input
  tarn --catalog prod=hadoop:/data/warehouse --use prod.sales -c 'SHOW TABLES'
  tarn --memory-limit 2GiB --spill-directory /fast/tmp -f heavy.sql

A configuration file, tarn.toml, saves typing:
  default-catalog = \"prod\"
  [catalog.prod]
  type = \"hadoop\"
  warehouse = \"/data/warehouse\"
  [settings]
  spark.sql.session.timeZone = \"Europe/Oslo\"
  [shell]
  format = \"table\"

Exit codes: 0 done, 1 a statement failed (file, line and reason on stderr), 2 wrong usage, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows what a table, view, manifest list, manifest or puffin file holds
    Inspect(InspectArguments),
}

/// What the shell runs, and how.
#[derive(Debug, Args)]
pub struct ShellArguments {
    /// Run these statements and leave; may be repeated, in order with --file
    #[arg(short = 'c', long = "command", value_name = "SQL")]
    pub commands: Vec<String>,
    /// Run the statements of a file and leave ('-' is standard input); may be repeated
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Go on after a statement that failed; the exit code still tells
    #[arg(long)]
    pub keep_going: bool,
    /// How results are written
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Rows of a result that are shown on a terminal, 'all' for no limit [default: 100]
    #[arg(long, value_name = "N", value_parser = parse_max_rows)]
    pub max_rows: Option<MaxRows>,
    /// Show how long each statement took
    #[arg(long)]
    pub timing: bool,
    /// When to use colours (NO_COLOR switches them off, too)
    #[arg(long, value_enum, value_name = "WHEN")]
    pub color: Option<When>,
    /// What is told on stderr while statements run: warnings, metrics of scans and commits (info), and more [default: $TARN_LOG, else nothing]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub log: Option<LogLevel>,
    #[command(flatten)]
    pub session: SessionArguments,
}

/// The least serious events that are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// What failed
    Error,
    /// What may be wrong
    Warn,
    /// What was done, with the metrics of each scan and commit
    Info,
    /// How it was done
    Debug,
    /// Everything
    Trace,
}

/// What the session is made of. Each option comes before what the configuration file says.
#[derive(Debug, Args)]
#[command(next_help_heading = "Session")]
pub struct SessionArguments {
    /// Configuration file [default: $TARN_CONFIG, ./tarn.toml or ~/.config/tarn/tarn.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Directory of the catalog `lake` [default: $TARN_HOME, else ./tarn-lake]
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// A catalog (prod=hadoop:/data/warehouse) or a property of one (prod.warehouse=/data); may be repeated
    #[arg(long = "catalog", value_name = "NAME=TYPE:LOCATION", value_parser = catalog_option::parse)]
    pub catalogs: Vec<CatalogOption>,
    /// Catalog, or catalog and namespace, to begin in
    #[arg(long = "use", value_name = "CATALOG[.NAMESPACE]")]
    pub begin_in: Option<String>,
    /// A setting, as SET makes it; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub settings: Vec<(String, String)>,
    /// The most memory for queries, such as 2GiB, 50% or unlimited; beyond it they spill to disk where they can, else fail [default: 70%]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory_limit)]
    pub memory_limit: Option<MemoryLimit>,
    /// Where queries spill to [default: the system's directory for temporary files]
    #[arg(long, value_name = "DIR")]
    pub spill_directory: Option<PathBuf>,
    /// Threads that work on a query [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub parallelism: Option<u16>,
}

/// Rows that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxRows(pub Option<usize>);

/// When to do something that only helps people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `N`, or `all`.
pub fn parse_max_rows(text: &str) -> Result<MaxRows, String> {
    match text {
        "all" => Ok(MaxRows(None)),
        _ => match text.parse() {
            Ok(n) if n > 0 => Ok(MaxRows(Some(n))),
            _ => Err("expected a number of rows above 0, or 'all'".to_string()),
        },
    }
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_string(), value.trim().to_string())),
        _ => Err("expected KEY=VALUE, such as spark.sql.session.timeZone=Europe/Oslo".to_string()),
    }
}

fn parse_memory_limit(text: &str) -> Result<MemoryLimit, String> {
    MemoryLimit::parse(text).map_err(|e| e.message().to_string())
}
