//! Which crate may see which, as a test: dependencies and imports against the table in [`rules`].

mod imports;
mod manifest;
mod rules;
mod self_test;

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

/// Lines from which a source file is worth a remark.
const LONG_FILE_LINES: usize = 600;

/// One trial per crate that exists, and the test of this test.
pub fn trials(repository: &Path) -> Vec<Trial> {
    let mut trials = vec![
        Trial::test(
            "layering/self_test/forbidden_imports_and_dependencies_are_found",
            self_test::run,
        ),
        Trial::test("layering/self_test/lexer", self_test::lexer),
    ];
    for folder in crate_folders(repository) {
        let name = format!("layering/{}", folder_name(&folder));
        trials.push(Trial::test(name, move || {
            let found = violations(&folder)?;
            if found.is_empty() {
                Ok(())
            } else {
                Err(Failed::from(found.join("\n")))
            }
        }));
    }
    trials
}

/// Prints source files that grew too long. Only a remark: the limit is a habit, not a rule of correctness.
pub fn warn_of_long_files(repository: &Path) {
    for folder in crate_folders(repository) {
        for file in rust_files(&folder.join("src")) {
            let lines = fs::read_to_string(&file).map(|text| text.lines().count()).unwrap_or(0);
            if lines > LONG_FILE_LINES {
                let shown = file.strip_prefix(repository).unwrap_or(&file);
                println!(
                    "note: {} has {lines} lines; split it by the nouns in it",
                    shown.display()
                );
            }
        }
    }
}

/// The crates of a repository, sorted.
fn crate_folders(repository: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository.join("crates")).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|e| e.path())
        .filter(|p| p.join("Cargo.toml").is_file())
        .collect();
    folders.sort();
    folders
}

fn folder_name(folder: &Path) -> String {
    folder
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// What a crate sees against its rule, one line each.
fn violations(folder: &Path) -> Result<Vec<String>, Failed> {
    let name = folder_name(folder);
    let Some(rule) = rules::RULES.iter().find(|rule| rule.folder == name) else {
        return Ok(vec![format!(
            "crates/{name} has no row in the layering table: say in rules.rs what it may see"
        )]);
    };
    let mut found = Vec::new();
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
    for dependency in manifest::dependencies(&manifest)? {
        if let Some(reason) = rule.forbids(&dependency) {
            found.push(format!("crates/{name}/Cargo.toml depends on '{dependency}': {reason}"));
        }
    }
    let files = rust_files(&folder.join("src"));
    if files.is_empty() {
        found.push(format!("crates/{name}/src holds no source file: nothing was checked"));
    }
    for file in files {
        for import in imports::of(&fs::read_to_string(&file)?) {
            if let Some(reason) = rule.forbids(&import.krate.replace('_', "-")) {
                let shown = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
                found.push(format!(
                    "crates/{name}/{shown}:{} names '{}': {reason}",
                    import.line, import.krate
                ));
            }
        }
    }
    Ok(found)
}

/// Source files below `folder` that are not tests, sorted.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            if is_test {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
