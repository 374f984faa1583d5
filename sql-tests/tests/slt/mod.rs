//! Runs sqllogictest files through a session: one file, in every combination of its matrix, every record, also after a
//! failure.
//!
//! The files are read by the `sqllogictest` crate. Running them is done here and not by its runner, which stops at the
//! first failure, substitutes `$name` by other rules (an unknown `$` is an error, shorter names go first), and cannot tell
//! an engine's refusal from a statement that is not implemented.

pub mod matrix;
pub mod place;
pub mod render;
pub mod run;
pub mod scenario;
pub mod self_test;

use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder of folders, sorted: path and name (`folder/file.slt`).
pub fn files(root: &Path) -> Vec<(PathBuf, String)> {
    let folders = fs::read_dir(root).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let name = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let mut found: Vec<(PathBuf, String)> = files
        .map(|f| f.path())
        .filter(|p| p.extension().is_some_and(|e| e == "slt"))
        .map(|p| (p.clone(), name(&p)))
        .collect();
    found.sort();
    found
}

/// Whether a switch such as `TARN_GOLDEN_UPDATE` is on.
pub fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}
