//! The golden scenarios: what Spark with Iceberg answers, recorded, as the contract of Tarn's SQL. Rules:
//! `golden/README.md`.
//!
//! Every record of every combination runs. What fails must stand in the list of [`known`] failures, and nothing else may.
//! `TARN_GOLDEN_FAILURES=1` prints every failure with its SQL, `TARN_GOLDEN_UPDATE=1` writes the list anew: entries that
//! somebody wrote stay while they hold, the others get the reason that [`reasons`] finds, and a failure without one is
//! left out and fails the run.

mod known;
mod reasons;
mod self_test;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Failed, Trial};

use crate::slt::run::{Outcome, run};
use crate::slt::scenario::Scenario;
use crate::slt::{files, is_set, matrix};
use crate::tally::Tally;
use known::{Entry, Reason};

/// The folder of golden files and what was counted in it.
pub struct Suite {
    root: PathBuf,
    /// Where the lists of expected failures are.
    lists: PathBuf,
    report: Arc<Report>,
}

/// What the trials found.
#[derive(Default)]
struct Report {
    tally: Tally,
    /// By file (`folder/file.slt`): its entries, as this run would write them.
    entries: Mutex<BTreeMap<String, Vec<Entry>>>,
}

impl Suite {
    /// The folder `TARN_GOLDEN`, or the copy in the tree.
    pub fn find() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        Suite {
            root: std::env::var_os("TARN_GOLDEN").map_or_else(|| here.join("golden"), PathBuf::from),
            lists: here.join("golden-known"),
            report: Arc::default(),
        }
    }

    /// One trial per file, and the tests of the list itself.
    pub fn trials(&self) -> Vec<Trial> {
        let mut trials = self_test::trials();
        let files = files(&self.root);
        if files.is_empty() {
            let root = self.root.display().to_string();
            trials.push(Trial::test("golden/folder", move || {
                Err(Failed::from(format!(
                    "no golden file below {root}: set TARN_GOLDEN or run sql-tests/sync-golden.sh"
                )))
            }));
        }
        let (lists, names) = (self.lists.clone(), files.iter().map(|(_, name)| name.clone()).collect());
        trials.push(Trial::test("golden/lists", move || {
            orphans(&lists, &names).map_err(Failed::from)
        }));
        for (path, name) in files {
            let (report, lists) = (Arc::clone(&self.report), self.lists.clone());
            trials.push(Trial::test(format!("golden/{name}"), move || {
                let listed = listed(&lists, &name)?;
                let problems = check(&path, &name, &listed, &report)?;
                if problems.is_empty() {
                    Ok(())
                } else {
                    Err(Failed::from(problems.join("\n")))
                }
            }));
        }
        trials
    }

    /// Prints the records by folder and the expected failures, and writes the lists where that is asked for. Nothing when
    /// these trials were filtered out.
    pub fn finish(&self) {
        let entries = self.report.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.is_empty() {
            return;
        }
        if is_set("TARN_GOLDEN_UPDATE") {
            for problem in update(&self.lists, &entries) {
                println!("golden: {problem}");
            }
        }
        for (name, entries) in entries.iter() {
            let folder = name.split('/').next().unwrap_or_default();
            for entry in entries {
                println!("golden-known: {folder}/{entry}");
            }
        }
        let tally = &self.report.tally;
        for line in tally.lines() {
            println!("golden:{line}");
        }
        println!("golden: in total {}", tally.total());
    }
}

/// The entries of one file, `folder/file.slt`.
fn listed(lists: &Path, name: &str) -> Result<Vec<Entry>, String> {
    let (folder, file) = name.split_once('/').unwrap_or(("", name));
    let all = read_list(&lists.join(format!("{folder}.txt")))?;
    Ok(all.into_iter().filter(|entry| entry.file == file).collect())
}

/// A list; a file that does not exist has no entries.
fn read_list(path: &Path) -> Result<Vec<Entry>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(format!("{}: {e}", path.display())),
    };
    let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| Entry::parse(line).map_err(|e| format!("{}: {e}", path.display())))
        .collect()
}

/// Fails when a list names a file that is not there: its entries would never be looked at.
fn orphans(lists: &Path, names: &BTreeSet<String>) -> Result<(), String> {
    let mut orphans = Vec::new();
    for list in fs::read_dir(lists).map_err(|e| format!("{}: {e}", lists.display()))? {
        let path = list.map_err(|e| e.to_string())?.path();
        let folder = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let entries = read_list(&path)?
            .into_iter()
            .map(|entry| format!("{folder}/{}", entry.file));
        orphans.extend(entries.filter(|name| !names.contains(name)));
    }
    match orphans.as_slice() {
        [] => Ok(()),
        names => Err(format!("listed, but not there: {}", names.join(", "))),
    }
}

/// Runs a file and says what is not as listed, one line each.
fn check(path: &Path, name: &str, listed: &[Entry], report: &Report) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let scenario = Scenario::parse(name, &text, &matrix::GOLDEN)?;
    let folder = name.split('/').next().unwrap_or(name);
    let updating = is_set("TARN_GOLDEN_UPDATE");
    let mut problems = Vec::new();
    let mut used = vec![false; listed.len()];
    let mut runs = Vec::new();
    report.tally.add(folder, "files", 1);
    for combination in scenario.combinations() {
        let mut ran: BTreeMap<u32, Reason> = BTreeMap::new();
        let mut root = reasons::Root::default();
        for outcome in run(&scenario, &combination)? {
            let at = format!("{name}:{} [{combination}]", outcome.line);
            let entry = listed.iter().position(|e| e.covers(outcome.line, &combination));
            let entry = entry.inspect(|i| used[*i] = true).map(|i| &listed[i]);
            let Some(failure) = &outcome.failure else {
                report.tally.add(folder, "passed", 1);
                if let Some(entry) = entry.filter(|e| !updating && !e.may_pass()) {
                    problems.push(format!("{at} passes, but is listed: {entry}"));
                }
                // What may pass stays on the list when it is written anew.
                let kept = entry.filter(|e| e.may_pass()).map(|e| e.reason.clone());
                ran.insert(outcome.line, kept);
                continue;
            };
            let reason = reason(entry, failure, &root);
            root.note(&outcome, reason.as_deref());
            let is_expected = entry.is_some() || (updating && reason.is_some());
            report
                .tally
                .add(folder, if is_expected { "failed as listed" } else { "failed" }, 1);
            let shown = shown(&at, &outcome, failure);
            if !is_expected {
                problems.push(shown);
            } else if is_set("TARN_GOLDEN_FAILURES") {
                println!("{shown}");
            }
            ran.insert(outcome.line, reason);
        }
        runs.push((combination, ran));
    }
    if !updating {
        let unused = listed.iter().zip(&used).filter(|(_, used)| !**used);
        problems.extend(unused.map(|(entry, _)| format!("{folder}/{entry}: covers no record")));
    }
    let file = name.split_once('/').map_or(name, |(_, file)| file);
    let entries = if updating {
        known::compress(file, &runs)
    } else {
        listed.to_vec()
    };
    let mut all = report.entries.lock().unwrap_or_else(PoisonError::into_inner);
    all.insert(name.to_string(), entries);
    Ok(problems)
}

/// A written reason, else the one that can be found.
fn reason(entry: Option<&Entry>, failure: &str, root: &reasons::Root) -> Reason {
    match entry {
        Some(entry) if !reasons::is_found(&entry.reason) => Some(entry.reason.clone()),
        _ => reasons::from_text(failure).or_else(|| root.cascade()),
    }
}

fn shown(at: &str, outcome: &Outcome, failure: &str) -> String {
    let sql = outcome.sql.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{at} {failure}\n    {sql}")
}

/// Writes the lists of all folders of which a file ran; what can't be written, one line each.
fn update(lists: &Path, entries: &BTreeMap<String, Vec<Entry>>) -> Vec<String> {
    let mut folders: BTreeMap<&str, Vec<(&str, &Vec<Entry>)>> = BTreeMap::new();
    for (name, entries) in entries {
        let (folder, file) = name.split_once('/').unwrap_or(("", name));
        folders.entry(folder).or_default().push((file, entries));
    }
    let write = |(folder, ran): (&str, Vec<(&str, &Vec<Entry>)>)| -> Result<(), String> {
        let path = lists.join(format!("{folder}.txt"));
        let mut all = read_list(&path)?;
        all.retain(|entry| ran.iter().all(|(file, _)| *file != entry.file));
        all.extend(ran.iter().flat_map(|(_, entries)| entries.iter().cloned()));
        all.sort_by(|a, b| (&a.file, a.first).cmp(&(&b.file, b.first)));
        if all.is_empty() {
            return match fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {e}", path.display())),
                _ => Ok(()),
            };
        }
        let lines: Vec<String> = all.iter().map(Entry::to_string).collect();
        let head = format!(
            "# Records of golden/{folder} that fail, and why: tests/golden/known.rs says how to read it, and\n\
             # TARN_GOLDEN_UPDATE=1 cargo test --manifest-path sql-tests/Cargo.toml -- golden/{folder}/ writes it anew.\n"
        );
        fs::create_dir_all(lists)
            .and_then(|()| fs::write(&path, format!("{head}{}\n", lines.join("\n"))))
            .map_err(|e| format!("{}: {e}", path.display()))
    };
    folders.into_iter().filter_map(|folder| write(folder).err()).collect()
}
