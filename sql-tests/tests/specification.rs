//! Tarn's own scenarios, `slt/FOLDER/FILE.slt`: what the SQL must do beyond what the golden ones pin, in the same format
//! and by the same runner, on every catalog and in every format version.
//!
//! Expected values follow from the reference documents and the specification. Everything passes: there is no list.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::slt::run::run;
use crate::slt::scenario::Scenario;
use crate::slt::{files, matrix};
use crate::tally::Tally;

/// The folder of scenarios and what was counted in it.
pub struct Suite {
    root: PathBuf,
    tally: Tally,
}

impl Suite {
    /// The folder in the tree.
    pub fn find() -> Self {
        Suite {
            root: Path::new(env!("CARGO_MANIFEST_DIR")).join("slt"),
            tally: Tally::default(),
        }
    }

    /// One trial per file.
    pub fn trials(&self) -> Vec<Trial> {
        let files = files(&self.root);
        if files.is_empty() {
            let missing = format!("no scenario below {}", self.root.display());
            return vec![Trial::test("slt/folder", move || Err(Failed::from(missing)))];
        }
        let trial = |(path, name): (PathBuf, String)| {
            let tally = self.tally.clone();
            Trial::test(format!("slt/{name}"), move || check(&path, &name, &tally))
        };
        files.into_iter().map(trial).collect()
    }

    /// Prints the records by folder. Nothing when these trials were filtered out.
    pub fn print_counts(&self) {
        for line in self.tally.lines() {
            println!("slt:{line}");
        }
        if !self.tally.lines().is_empty() {
            println!("slt: in total {}", self.tally.total());
        }
    }
}

fn check(path: &Path, name: &str, tally: &Tally) -> Result<(), Failed> {
    let scenario = Scenario::parse(name, &fs::read_to_string(path)?, &matrix::EVERYWHERE)?;
    let folder = name.split('/').next().unwrap_or(name);
    tally.add(folder, "files", 1);
    let mut problems = Vec::new();
    for combination in scenario.combinations() {
        for outcome in run(&scenario, &combination)? {
            match outcome.failure {
                None => tally.add(folder, "passed", 1),
                Some(failure) => {
                    tally.add(folder, "failed", 1);
                    let sql = outcome.sql.split_whitespace().collect::<Vec<_>>().join(" ");
                    problems.push(format!("{name}:{} [{combination}] {failure}\n    {sql}", outcome.line));
                }
            }
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Failed::from(problems.join("\n")))
    }
}
