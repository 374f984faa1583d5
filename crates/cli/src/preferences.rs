//! What people choose: by options, commands, and the `[shell]` table of `tarn.toml`.

use std::collections::BTreeMap;
use std::io::{IsTerminal, stdout};

use clap::ValueEnum;
use tarn::sql::names::nearest;
use tarn::{Error, Result};

use crate::arguments::{ShellArguments, When, parse_max_rows};
use crate::print::Format;

/// Rows that are shown on a terminal.
const DEFAULT_MAX_ROWS: usize = 100;

/// What people may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preferences {
    /// How results are written.
    pub format: Format,
    /// Rows that are shown on a terminal.
    pub max_rows: Option<usize>,
    /// Whether times are shown; by default where somebody types.
    pub timing: Option<bool>,
    /// When there are colours.
    pub color: When,
    /// The file that keeps what was typed, or `off`.
    pub history: Option<String>,
    /// Whether statements run after one that failed.
    pub keep_going: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Preferences {
            format: Format::Table,
            max_rows: Some(DEFAULT_MAX_ROWS),
            timing: None,
            color: When::Auto,
            history: None,
            keep_going: false,
        }
    }
}

impl Preferences {
    /// What the file and then the options say.
    ///
    /// # Errors
    /// `InvalidInput` for keys and values of the file that make no sense.
    pub fn new(file: &BTreeMap<String, String>, arguments: &ShellArguments) -> Result<Self> {
        let mut preferences = Preferences::default();
        for (key, value) in file {
            preferences.take(key, value)?;
        }
        if let Some(format) = arguments.format {
            preferences.format = format;
        }
        if let Some(max_rows) = arguments.max_rows {
            preferences.max_rows = max_rows.0;
        }
        if arguments.timing {
            preferences.timing = Some(true);
        }
        if let Some(color) = arguments.color {
            preferences.color = color;
        }
        preferences.keep_going = arguments.keep_going;
        Ok(preferences)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<()> {
        const KEYS: [&str; 5] = ["format", "max-rows", "timing", "color", "history"];
        let wrong = |allowed: &str| {
            Error::invalid(format!(
                "[shell] {key} = '{value}' in the configuration file: {key} is {allowed}"
            ))
        };
        match key {
            "format" => {
                let format = Format::from_str(value, true);
                self.format = format.map_err(|_| wrong(&Format::ALL.map(Format::name).join(", ")))?;
            }
            "max-rows" => {
                self.max_rows = parse_max_rows(value)
                    .map_err(|_| wrong("a number above 0, or 'all'"))?
                    .0
            }
            "timing" => self.timing = Some(value.parse().map_err(|_| wrong("true or false"))?),
            "color" => self.color = When::from_str(value, true).map_err(|_| wrong("auto, always or never"))?,
            "history" => self.history = Some(value.to_string()),
            _ => {
                let near = nearest(key, KEYS).map(|n| format!("did you mean {n}?"));
                let hint = near.unwrap_or_else(|| format!("known are {}", KEYS.join(", ")));
                return Err(Error::invalid(format!(
                    "[shell] {key} in the configuration file is not known; {hint}"
                )));
            }
        }
        Ok(())
    }

    /// Whether what goes to stdout is coloured.
    pub fn colors(&self) -> bool {
        match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::Arguments;

    fn chosen(file: &[(&str, &str)], arguments: &[&str]) -> Result<Preferences> {
        let arguments = Arguments::parse_from([&["tarn"], arguments].concat()).shell;
        let file = file.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Preferences::new(&file, &arguments)
    }

    #[test]
    fn options_come_before_the_file() {
        let file = [
            ("format", "CSV"),
            ("max-rows", "7"),
            ("timing", "false"),
            ("color", "never"),
        ];
        let both = chosen(&file, &["--format", "json", "--timing"]).unwrap();
        let expected = Preferences {
            format: Format::Json,
            max_rows: Some(7),
            timing: Some(true),
            color: When::Never,
            history: None,
            keep_going: false,
        };
        assert_eq!(both, expected);
        assert_eq!(chosen(&[], &["--max-rows", "all"]).unwrap().max_rows, None);
    }

    #[test]
    fn the_files_mistakes_are_told() {
        let refusal = |key, value| chosen(&[(key, value)], &[]).unwrap_err().to_string();
        assert!(refusal("formt", "csv").ends_with("did you mean format?"));
        assert!(refusal("format", "xml").contains("table, expanded, csv, json, markdown"));
        assert!(refusal("max-rows", "0").contains("a number above 0"));
        assert!(refusal("timing", "yes").contains("true or false"));
    }
}
