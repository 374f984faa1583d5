//! Counts by folder, gathered while trials run on several threads and printed once at the end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Named counts of one folder, such as `tables` and `rows`.
type Counts = BTreeMap<&'static str, u64>;

/// Counts by folder. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    folders: Arc<Mutex<BTreeMap<String, Counts>>>,
}

impl Tally {
    /// Adds to one count of a folder.
    pub fn add(&self, folder: &str, what: &'static str, count: u64) {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        *folders.entry(folder.to_string()).or_default().entry(what).or_default() += count;
    }

    /// One line per folder, sorted by name.
    pub fn lines(&self) -> Vec<String> {
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let width = folders.keys().map(String::len).max().unwrap_or(0);
        let line = |(folder, counts): (&String, &Counts)| format!("  {folder:width$}  {}", render(counts));
        folders.iter().map(line).collect()
    }

    /// The sum over all folders, as one line.
    pub fn total(&self) -> String {
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = Counts::new();
        for (what, count) in folders.values().flatten() {
            *sum.entry(what).or_default() += count;
        }
        render(&sum)
    }
}

fn render(counts: &Counts) -> String {
    let parts: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    parts.join(", ")
}
