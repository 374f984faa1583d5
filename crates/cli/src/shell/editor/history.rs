//! What was typed in earlier sessions.

use std::path::{Path, PathBuf};

use rustyline::history::{FileHistory, History as _};
use tarn::sql::config::{is_secret, redacted};

/// Statements that are remembered.
pub(super) const MAX_ENTRIES: usize = 10_000;

/// Names the file, or `off`.
const VARIABLE: &str = "TARN_HISTORY";

/// Where statements are remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    file: Option<PathBuf>,
}

impl History {
    /// What `$TARN_HISTORY` names, else what the configuration file does, else `tarn/history` in the user's directory for
    /// state (`$XDG_STATE_HOME`, else `~/.local/state`). `off` keeps nothing.
    pub fn find(configured: Option<&str>) -> Self {
        let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let named = variable(VARIABLE).or_else(|| configured.map(PathBuf::from));
        let file = match named {
            Some(off) if off.as_os_str() == "off" => None,
            Some(file) => Some(file),
            None => {
                let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
                state.map(|directory| directory.join("tarn/history"))
            }
        };
        History { file }
    }

    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Writes down what is new. A history that cannot be kept is no reason to complain.
    pub(super) fn save(&self, entries: &mut FileHistory) {
        let Some(file) = &self.file else { return };
        if entries.is_empty() {
            return;
        }
        if let Some(directory) = file.parent() {
            let _ = std::fs::create_dir_all(directory);
        }
        let _ = entries.append(file);
    }
}

/// Whether a text may be remembered: not when it seems to hold a secret.
pub(super) fn is_kept(text: &str) -> bool {
    if text.trim().is_empty() {
        return false;
    }
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '=' | '(' | ')' | ',' | ';' | '\'' | '"'));
    // A key beside whose value it stands, or a location with a password inside.
    !words.any(|word| {
        (word.contains(['.', '-', '_']) || text.contains('=')) && is_secret(word) || redacted("", word) != word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_remembered() {
        for text in [
            "SET spark.sql.catalog.prod.s3.secret-access-key = abc;",
            "\\set x.token abc",
            "CREATE CATALOG c OPTIONS ('type' = 'sqlite', 'password' = 'pw');",
            "CREATE CATALOG c WITH ('uri' = 'postgres://me:pw@host/db');",
            " ",
        ] {
            assert!(!is_kept(text), "{text}");
        }
        for text in [
            "SELECT a, b FROM t WHERE c = 'x';",
            "SET spark.sql.session.timeZone = 'Europe/Oslo';",
            "\\d trips",
            "SELECT * FROM 'https://host/x.parquet';",
        ] {
            assert!(is_kept(text), "{text}");
        }
    }

    #[test]
    fn what_was_typed_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let history = History {
            file: Some(directory.path().join("state/tarn/history")),
        };
        let mut first = FileHistory::new();
        history.save(&mut first);
        assert!(!directory.path().join("state").exists(), "nothing was typed");
        first.add("SELECT 1,\n2;").unwrap();
        history.save(&mut first);
        let mut second = FileHistory::new();
        second.load(history.file().unwrap()).unwrap();
        assert_eq!(second.iter().collect::<Vec<_>>(), ["SELECT 1,\n2;"]);
    }
}
