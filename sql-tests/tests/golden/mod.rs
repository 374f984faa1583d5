//! The golden scenarios: what Spark with Iceberg answers, recorded, as the specification of Tarn's SQL.
//!
//! There is no SQL engine yet. Until it is plugged in, a trial proves that its file follows the format
//! (`golden/README.md`), and the records of all its combinations are counted as *not run*, never as passed.

mod matrix;
mod scenario;
mod self_test;

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::tally::Tally;
use scenario::Scenario;

/// The folder of golden files and what was counted in it.
pub struct Suite {
    root: PathBuf,
    tally: Tally,
}

impl Suite {
    /// The folder `TARN_GOLDEN`, or the copy in the tree.
    pub fn find() -> Self {
        let root = match std::env::var_os("TARN_GOLDEN") {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"),
        };
        Suite {
            root,
            tally: Tally::default(),
        }
    }

    /// One trial per file, and the tests of the reader itself.
    pub fn trials(&self) -> Vec<Trial> {
        let mut trials = self_test::trials();
        let files = scenario_files(&self.root);
        if files.is_empty() {
            let root = self.root.display().to_string();
            trials.push(Trial::test("golden/folder", move || {
                Err(Failed::from(format!(
                    "no golden file below {root}: set TARN_GOLDEN or run sql-tests/sync-golden.sh"
                )))
            }));
        }
        for file in files {
            let name = file.strip_prefix(&self.root).unwrap_or(&file).display().to_string();
            let tally = self.tally.clone();
            trials.push(Trial::test(format!("golden/format/{name}"), move || {
                count_waiting(&file, &name, &tally)
            }));
        }
        trials
    }

    /// Prints the records by folder, and that none was run. Nothing when these trials were filtered out.
    pub fn print_counts(&self) {
        if self.tally.lines().is_empty() {
            return;
        }
        for line in self.tally.lines() {
            println!("golden:{line}");
        }
        println!("golden:  in total {}", self.tally.total());
        let waiting = self.tally.sum("records not run");
        println!("golden: 0 passed, {waiting} not run (waiting for the SQL engine)");
    }
}

/// Reads one file and counts what an engine would have to run.
fn count_waiting(file: &Path, name: &str, tally: &Tally) -> Result<(), Failed> {
    let scenario = Scenario::parse(name, &fs::read_to_string(file)?)?;
    let folder = name.split('/').next().unwrap_or(name);
    tally.add(folder, "files", 1);
    for combination in scenario.combinations() {
        let records = scenario.records_of(&combination);
        if records == 0 {
            return Err(Failed::from(format!("no record runs for {combination}")));
        }
        tally.add(folder, "combinations", 1);
        tally.add(folder, "records not run", records as u64);
    }
    Ok(())
}

/// The scenario files below a folder, sorted.
fn scenario_files(root: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(root).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let mut found: Vec<PathBuf> = files
        .map(|f| f.path())
        .filter(|p| p.extension().is_some_and(|e| e == "slt"))
        .collect();
    found.sort();
    found
}
