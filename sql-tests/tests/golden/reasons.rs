//! Why records fail that nobody has looked at yet: from what the engine says, or from what failed before.

use crate::slt::run::Outcome;

/// What a failure's text or a record's SQL holds, and the reason that follows from it. The first that fits counts.
const REASONS: &[(&str, &str)] = &[
    ("is not supported yet: SHOW PROCEDURES", "needs procedures"),
    ("DELETE is not supported yet", "needs DELETE (row-level changes)"),
    ("MERGE is not supported yet", "needs MERGE (row-level changes)"),
    ("UPDATE is not supported yet", "needs UPDATE (row-level changes)"),
    ("TRUNCATE is not supported yet", "needs TRUNCATE (row-level changes)"),
    ("INSERT OVERWRITE is not supported yet", "needs INSERT OVERWRITE"),
    ("views are not supported yet", "needs views"),
    (
        "cannot be written to ORC files yet",
        "needs ORC data files of nested types",
    ),
];

/// How reasons of records begin that fail because an earlier one did.
const CASCADE: &str = "cascades from line ";

/// Whether a reason is one that this module finds, and not one that somebody wrote.
pub fn is_found(reason: &str) -> bool {
    reason.starts_with(CASCADE) || REASONS.iter().any(|(_, known)| *known == reason)
}

/// The reason of a failure, when the engine itself says it.
pub fn from_text(failure: &str) -> Option<String> {
    let found = REASONS.iter().find(|(part, _)| failure.contains(part));
    found.map(|(_, reason)| (*reason).to_string())
}

/// The root that later failures cascade from: the last statement before that failed, and why, if that is known.
#[derive(Debug, Default)]
pub struct Root(Option<(u32, Option<String>)>);

impl Root {
    /// The reason of a failure of which the engine says nothing: the statement before that didn't happen.
    pub fn cascade(&self) -> Option<String> {
        let (line, reason) = self.0.as_ref()?;
        let reason = reason.as_ref()?;
        Some(format!("{CASCADE}{line}: {reason}"))
    }

    /// Takes note of a failure and its reason.
    pub fn note(&mut self, outcome: &Outcome, reason: Option<&str>) {
        let is_root = outcome.leaves_damage && !reason.is_some_and(|r| r.starts_with(CASCADE));
        if is_root {
            self.0 = Some((outcome.line, reason.map(str::to_string)));
        }
    }
}
