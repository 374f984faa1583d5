//! The list of expected failures: `golden-known/FOLDER.txt`, one entry a line.
//!
//! ```text
//! file.slt:12-80 needs MERGE (row-level changes)
//! file.slt:95 [catalog=sqlite mode=merge-on-read] cascades from line 90: needs MERGE (row-level changes)
//! ```
//!
//! An entry covers the records whose directives stand on these lines, in every combination that has all of its labels.
//! Every one of them must fail. A failing record that no entry covers fails the run, and so does an entry that covers a
//! passing record, or none. Only one whose reason begins with `order of ties:` may pass, as it then does by chance.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::slt::matrix::Combination;

/// An entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name of the file in its folder.
    pub file: String,
    /// First line.
    pub first: u32,
    /// Last line, included.
    pub last: u32,
    /// Labels that a combination must have.
    pub labels: Vec<String>,
    /// Why.
    pub reason: String,
}

impl Entry {
    /// Whether the record's outcome depends on the order of rows that its query leaves open.
    pub fn may_pass(&self) -> bool {
        self.reason.starts_with("order of ties:")
    }

    /// Reads a line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let broken = || format!("not 'file.slt:FIRST-LAST [LABEL…] REASON': {text}");
        let (place, rest) = text.split_once(' ').ok_or_else(broken)?;
        let (file, lines) = place.split_once(':').ok_or_else(broken)?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let (labels, reason) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once("] ").ok_or_else(broken)?,
            None => ("", rest),
        };
        if reason.trim().is_empty() {
            return Err(broken());
        }
        Ok(Entry {
            file: file.to_string(),
            first: first.parse().map_err(|_| broken())?,
            last: last.parse().map_err(|_| broken())?,
            labels: labels.split_whitespace().map(str::to_string).collect(),
            reason: reason.to_string(),
        })
    }

    /// Whether it speaks of a record.
    pub fn covers(&self, line: u32, combination: &Combination) -> bool {
        (self.first..=self.last).contains(&line) && self.labels.iter().all(|label| combination.has(label))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.first)?;
        if self.last != self.first {
            write!(f, "-{}", self.last)?;
        }
        if !self.labels.is_empty() {
            write!(f, " [{}]", self.labels.join(" "))?;
        }
        write!(f, " {}", self.reason)
    }
}

/// What one record did in one combination: `Some` with the reason when it failed.
pub type Reason = Option<String>;

/// The shortest entries that cover the failures of a file and nothing else.
///
/// `runs` holds, per combination, the lines that ran and the reason of each failure.
pub fn compress(file: &str, runs: &[(Combination, BTreeMap<u32, Reason>)]) -> Vec<Entry> {
    let lines: BTreeSet<u32> = runs.iter().flat_map(|(_, ran)| ran.keys().copied()).collect();
    let mut entries: Vec<Entry> = Vec::new();
    // The entries that the next line may extend.
    let mut open: Vec<Entry> = Vec::new();
    for line in lines {
        let ran: Vec<(&Combination, &Reason)> = runs
            .iter()
            .filter_map(|(combination, ran)| Some((combination, ran.get(&line)?)))
            .collect();
        let mut wanted = selections(&ran);
        // Without a record on this line in its combinations, an open entry may still grow over it.
        open.retain_mut(|entry| {
            let speaks = ran.iter().any(|(c, _)| entry.labels.iter().all(|label| c.has(label)));
            let position = wanted
                .iter()
                .position(|(labels, reason)| *labels == entry.labels && *reason == entry.reason);
            match position {
                Some(position) => {
                    wanted.remove(position);
                    entry.last = line;
                    true
                }
                None if !speaks => true,
                None => {
                    entries.push(entry.clone());
                    false
                }
            }
        });
        open.extend(wanted.into_iter().map(|(labels, reason)| Entry {
            file: file.to_string(),
            first: line,
            last: line,
            labels,
            reason,
        }));
    }
    entries.extend(open);
    entries.sort_by(|a, b| (a.first, a.last, &a.labels).cmp(&(b.first, b.last, &b.labels)));
    entries
}

/// Labels and reason for each group of combinations in which a record failed for one reason.
fn selections(ran: &[(&Combination, &Reason)]) -> Vec<(Vec<String>, String)> {
    let reasons: BTreeSet<&String> = ran.iter().filter_map(|(_, reason)| reason.as_ref()).collect();
    let mut found = Vec::new();
    for reason in reasons {
        let failed = |r: &Reason| r.as_ref() == Some(reason);
        let mut left: Vec<&Combination> = ran.iter().filter(|(_, r)| failed(r)).map(|(c, _)| *c).collect();
        if left.len() == ran.len() {
            found.push((Vec::new(), reason.clone()));
            continue;
        }
        let single: BTreeSet<String> = left.iter().flat_map(|c| c.shown_labels()).collect();
        for label in single {
            let only_failures = ran.iter().all(|(c, r)| !c.has(&label) || failed(r));
            if only_failures && left.iter().any(|c| c.has(&label)) {
                left.retain(|c| !c.has(&label));
                found.push((vec![label], reason.clone()));
            }
        }
        found.extend(left.iter().map(|c| (c.shown_labels(), reason.clone())));
    }
    found
}
