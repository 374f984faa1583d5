//! Events of the crates beneath as lines on stderr.

use clap::ValueEnum;
use tracing_subscriber::filter::LevelFilter;

use crate::arguments::LogLevel;

/// Says the level where the command line does not.
const VARIABLE: &str = "TARN_LOG";

/// Begins to log.
///
/// # Errors
/// When the variable names no level.
pub fn begin(asked: Option<LogLevel>) -> Result<(), String> {
    let variable = std::env::var(VARIABLE).ok().filter(|v| !v.is_empty());
    let level = match (asked, variable) {
        (Some(level), _) => level,
        (None, Some(name)) => LogLevel::from_str(&name, true)
            .map_err(|_| format!("{VARIABLE} is error, warn, info, debug or trace, not '{name}'"))?,
        (None, None) => return Ok(()),
    };
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .init();
    Ok(())
}
