//! `tarn.toml`: catalogs, settings, limits and what the shell prefers.
//!
//! ```toml
//! default-catalog = "prod"
//! default-namespace = "sales"
//! memory-limit = "4GiB"            # bytes, or a share of the machine's memory such as "50%"
//! spill-directory = "/var/tmp"
//! parallelism = 8
//! home = "lake"                    # the directory of the catalog `lake`
//!
//! [catalog.prod]
//! type = "hadoop"
//! warehouse = "warehouse"
//!
//! [settings]
//! spark.sql.session.timeZone = "Europe/Oslo"
//!
//! [shell]
//! format = "table"
//! history = "off"                  # or the file that keeps what was typed
//! ```
//!
//! Strings may hold `${VARIABLE}` and `${VARIABLE:-default}`, so that secrets stay outside. Paths are relative to the
//! file. Unknown keys are errors, except in catalogs, settings and the shell, which check their own.

mod document;
mod variables;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use tarn_format::catalog::Namespace;
use tarn_format::{Error, Result, ResultExt};
use tarn_sql::config::redacted;

use crate::memory::MemoryLimit;
use document::{Document, Entry};

/// Names the file; it must exist then.
pub const CONFIG_VARIABLE: &str = "TARN_CONFIG";

/// The file in the working directory.
const FILE_NAME: &str = "tarn.toml";

/// The keys outside of tables.
const KEYS: [&str; 6] = [
    "default-catalog",
    "default-namespace",
    "memory-limit",
    "spill-directory",
    "parallelism",
    "home",
];

/// The tables.
const TABLES: [&str; 3] = ["catalog", "settings", "shell"];

/// Properties of catalogs that may be paths.
const PATHS: [&str; 2] = ["warehouse", "uri"];

/// What a `tarn.toml` holds.
#[derive(Clone, Default, PartialEq)]
pub struct Config {
    /// Properties of catalogs by their names.
    pub catalogs: BTreeMap<String, BTreeMap<String, String>>,
    /// The catalog to begin in.
    pub default_catalog: Option<String>,
    /// The namespace to begin in.
    pub default_namespace: Option<Namespace>,
    /// Settings, as SET makes them.
    pub settings: BTreeMap<String, String>,
    /// The directory of the catalog `lake`.
    pub home: Option<PathBuf>,
    /// The most memory that queries may use.
    pub memory_limit: Option<MemoryLimit>,
    /// Where queries spill to.
    pub spill_directory: Option<PathBuf>,
    /// How many partitions of a query run at a time.
    pub parallelism: Option<usize>,
    /// What the shell prefers, unchecked.
    pub shell: BTreeMap<String, String>,
}

/// Without the values of properties that hold secrets.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |map: &BTreeMap<String, String>| -> BTreeMap<String, String> {
            map.iter().map(|(k, v)| (k.clone(), redacted(k, v))).collect()
        };
        let catalogs: BTreeMap<_, _> = self.catalogs.iter().map(|(n, p)| (n, hidden(p))).collect();
        f.debug_struct("Config")
            .field("catalogs", &catalogs)
            .field("default_catalog", &self.default_catalog)
            .field("default_namespace", &self.default_namespace)
            .field("settings", &hidden(&self.settings))
            .field("home", &self.home)
            .field("memory_limit", &self.memory_limit)
            .field("spill_directory", &self.spill_directory)
            .field("parallelism", &self.parallelism)
            .field("shell", &self.shell)
            .finish()
    }
}

impl Config {
    /// The file that applies when none is named: `$TARN_CONFIG`, `./tarn.toml`, or `tarn/tarn.toml` in the user's
    /// configuration directory (`$XDG_CONFIG_HOME`, else `~/.config`).
    pub fn find() -> Option<PathBuf> {
        let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(named) = variable(CONFIG_VARIABLE) {
            return Some(named);
        }
        let user = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
        let user = user.map(|directory| directory.join("tarn").join(FILE_NAME));
        [Some(PathBuf::from(FILE_NAME)), user]
            .into_iter()
            .flatten()
            .find(|file| file.is_file())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// `NotFound` and `Io` when it cannot be read; `InvalidInput` with the line for what it must not hold. Values are
    /// never part of a message.
    pub fn read(path: &Path) -> Result<Config> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| {
            let error = match e.kind() {
                std::io::ErrorKind::NotFound => Error::not_found("the configuration file does not exist"),
                _ => Error::new(tarn_format::ErrorKind::Io, "the configuration file cannot be read").with_source(e),
            };
            error.with_context("file", shown.as_str())
        })?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let directory = absolute.parent().unwrap_or(Path::new("."));
        let variable = |name: &str| std::env::var(name).ok();
        Config::parse(&text, directory, &variable).context("file", shown)
    }

    /// Understands the text of a file in `directory`.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(text: &str, directory: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Result<Config> {
        let mut config = Config::default();
        for entry in Document::parse(text, variable)?.entries() {
            config.take(entry, directory)?;
        }
        Ok(config)
    }

    fn take(&mut self, entry: &Entry, directory: &Path) -> Result<()> {
        let value = || entry.value.clone();
        match entry.path().as_slice() {
            ["catalog", name, key @ ..] if !key.is_empty() => {
                if name.contains('.') {
                    return Err(entry.invalid(&format!("the catalog's name '{name}' must not hold a dot")));
                }
                let key = key.join(".");
                let value = match PATHS.contains(&key.as_str()) {
                    true => below(directory, &entry.value),
                    false => value(),
                };
                self.catalogs.entry((*name).to_string()).or_default().insert(key, value);
            }
            ["catalog", ..] => return Err(entry.invalid("a catalog is a table, such as [catalog.NAME]")),
            ["settings", key @ ..] if !key.is_empty() => {
                self.settings.insert(key.join("."), value());
            }
            ["shell", key] => {
                self.shell.insert((*key).to_string(), value());
            }
            ["default-catalog"] => self.default_catalog = Some(value()),
            ["default-namespace"] => self.default_namespace = Some(Namespace::new(entry.value.split('.'))),
            ["memory-limit"] => {
                let limit = MemoryLimit::parse(&entry.value);
                self.memory_limit = Some(limit.map_err(|e| entry.invalid(e.message()))?);
            }
            ["spill-directory"] => self.spill_directory = Some(directory.join(&entry.value)),
            ["home"] => self.home = Some(directory.join(&entry.value)),
            ["parallelism"] => match entry.value.parse() {
                Ok(n) if n > 0 => self.parallelism = Some(n),
                _ => return Err(entry.invalid("parallelism is a whole number above 0")),
            },
            [first, ..] => return Err(unknown(entry, first)),
            [] => {}
        }
        Ok(())
    }
}

/// A path that is relative in the file, below its directory. URIs and absolute paths stay.
fn below(directory: &Path, value: &str) -> String {
    let is_relative_path = !value.contains(':') && !value.is_empty() && Path::new(value).is_relative();
    match is_relative_path {
        true => directory.join(value).to_string_lossy().into_owned(),
        false => value.to_string(),
    }
}

fn unknown(entry: &Entry, key: &str) -> Error {
    let near = tarn_sql::names::nearest(key, KEYS.into_iter().chain(TABLES));
    let hint = match near {
        Some(near) if TABLES.contains(&near) => format!("did you mean [{near}]?"),
        Some(near) => format!("did you mean {near}?"),
        None => format!("known are {}, and the tables {}", KEYS.join(", "), TABLES.join(", ")),
    };
    entry.invalid(&format!("'{key}' is not known here; {hint}"))
}

#[cfg(test)]
mod tests;
