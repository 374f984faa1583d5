//! A change of a table's files as data: what is added, what is removed, on which branch, and what must not have
//! happened meanwhile. `super::producer` applies any of them; the builders beside it ([`super::append`],
//! [`super::overwrite`], …) only fill one in with the defaults and validations of their operation.

use std::fmt;
use std::sync::Arc;

use super::rewrite_manifests::ManifestRewrite;
use super::settings::ManifestMerging;
use crate::expr::{CaseSensitivity, Predicate};
use crate::manifest::data_file::{DataFile, PartitionTuple};
use crate::spec::snapshot::{MAIN_BRANCH, Operation, Properties};

/// The kind of a change: it decides the snapshot's operation and a few rules of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeKind {
    /// Adds data files (Java: `FastAppend`, `MergeAppend`).
    Append,
    /// Adds and removes data files (Java: `BaseOverwriteFiles`).
    Overwrite,
    /// Removes data files (Java: `StreamingDelete`).
    Delete,
    /// Replaces the partitions that its data files belong to (Java: `BaseReplacePartitions`).
    ReplacePartitions,
    /// Adds data files and row-level deletes (Java: `BaseRowDelta`).
    RowDelta,
    /// Replaces files by others that hold the same rows (Java: `BaseRewriteFiles`).
    RewriteFiles,
    /// Replaces manifests, no files (Java: `BaseRewriteManifests`).
    RewriteManifests(ManifestRewrite),
}

/// A delete file to add.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedDeleteFile {
    /// The file; content position or equality deletes.
    pub file: Arc<DataFile>,
    /// The data sequence number it keeps; `None`: that of the new snapshot.
    pub data_sequence_number: Option<i64>,
}

/// What a change adds. A file that is named twice is added once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddedFiles {
    /// Data files. Their `first_row_id` is ignored: the commit gives new ones.
    pub data: Vec<Arc<DataFile>>,
    /// The data sequence number that all added data files get, so that newer equality deletes still apply to
    /// rewritten rows; `None`: that of the new snapshot.
    pub data_sequence_number: Option<i64>,
    /// Delete files.
    pub deletes: Vec<AddedDeleteFile>,
}

/// What a change removes. Data files match by location, delete files by location and blob offset; a location in every
/// spelling that is surely the same file ([`Spelling::SameStore`](crate::io::location::Spelling)).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RemovedFiles {
    /// Data files, with their partitions, so that few manifests must be read.
    pub data: Vec<Arc<DataFile>>,
    /// Locations of data files. Every manifest is read to find them.
    pub paths: Vec<Arc<str>>,
    /// Delete files, such as deletion vectors that are being replaced.
    pub deletes: Vec<Arc<DataFile>>,
    /// Rows to remove by whole files: a file of which only some rows match makes the commit fail.
    pub row_filter: Option<Predicate>,
    /// Partitions to drop, by spec id.
    pub partitions: Vec<(i32, PartitionTuple)>,
}

impl RemovedFiles {
    /// Whether data files may be removed.
    pub fn removes_data(&self) -> bool {
        !self.data.is_empty() || !self.paths.is_empty() || self.row_filter.is_some() || !self.partitions.is_empty()
    }

    /// Whether delete files may be removed, other than those that nothing needs any more.
    pub fn removes_deletes(&self) -> bool {
        !self.deletes.is_empty() || self.row_filter.is_some() || !self.partitions.is_empty()
    }
}

/// The rows or partitions that a validation looks at.
#[derive(Debug, Clone, PartialEq)]
pub enum Scope {
    /// Everything.
    Table,
    /// Files that may hold rows which match.
    Filter(Predicate),
    /// Files of these partitions, by spec id.
    Partitions(Vec<(i32, PartitionTuple)>),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Table => f.write_str("true"),
            Scope::Filter(filter) => write!(f, "{filter}"),
            Scope::Partitions(partitions) => write!(f, "{} replaced partitions", partitions.len()),
        }
    }
}

/// Which removals of a needed data file are conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalsSeen {
    /// All.
    All,
    /// Those of overwrites and rewrites: rows that a `delete` snapshot removed are gone either way.
    SkipDeletes,
}

/// What must hold, of the change itself or of the snapshots that others added after the base snapshot.
/// Isolation levels are made of these: serializable adds [`Validation::NoNewDataFiles`] to what snapshot isolation has.
#[derive(Debug, Clone, PartialEq)]
pub enum Validation {
    /// All rows of the added data files match the row filter (Java: `validateAddedFilesMatchOverwriteFilter`).
    AddedFilesMatchFilter,
    /// Nobody added data files in the scope (Java: `validateAddedDataFiles`).
    NoNewDataFiles(Scope),
    /// Nobody removed data files in the scope (Java: `validateDeletedDataFiles`).
    NoRemovedDataFiles(Scope),
    /// Nobody added delete files in the scope (Java: `validateNoNewDeleteFiles`).
    NoNewDeleteFiles(Scope),
    /// Nobody added deletes that apply to the data files being removed (Java: `validateNoNewDeletesForDataFiles`).
    NoNewDeletesForRemovedFiles(Scope),
    /// These data files are still there (Java: `validateDataFilesExist`).
    DataFilesExist {
        /// Locations.
        paths: Vec<Arc<str>>,
        /// Which removals count.
        removals: RemovalsSeen,
        /// Only files that may match are looked at.
        scope: Scope,
    },
    /// Nobody added a deletion vector for a data file that gets one here (Java: `validateAddedDVs`).
    NoNewDeletionVectors(Scope),
    /// Every file named for removal is found (Java: `failMissingDeletePaths`).
    RemovedFilesExist,
    /// Nothing is removed after all (Java: `failAnyDelete`).
    NothingRemoved,
}

/// What becomes of the new snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Publication {
    /// The target branch moves to it.
    #[default]
    Branch,
    /// It is added to the table but no branch moves (write, audit, publish).
    Staged,
}

/// A change of a table's files. See the module's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Kind.
    pub kind: ChangeKind,
    /// The branch to change. One that does not exist is created from the current snapshot.
    pub target_ref: String,
    /// The snapshot the change was computed from; validations look at what came after. `None`: at all history.
    pub base_snapshot: Option<i64>,
    /// What is added.
    pub added: AddedFiles,
    /// What is removed.
    pub removed: RemovedFiles,
    /// How column names in filters are matched.
    pub case: CaseSensitivity,
    /// What must hold.
    pub validations: Vec<Validation>,
    /// Whether manifests may be merged.
    pub merging: ManifestMerging,
    /// What becomes of the snapshot.
    pub publication: Publication,
    /// Further properties of the snapshot's summary (`snapshot-property.*` without the prefix, engine, `wap.id`).
    pub summary: Properties,
}

impl Change {
    /// An empty change of `main`.
    pub fn new(kind: ChangeKind) -> Self {
        Change {
            kind,
            target_ref: MAIN_BRANCH.to_string(),
            base_snapshot: None,
            added: AddedFiles::default(),
            removed: RemovedFiles::default(),
            case: CaseSensitivity::Sensitive,
            validations: Vec::new(),
            merging: ManifestMerging::ByTable,
            publication: Publication::Branch,
            summary: Properties::new(),
        }
    }

    /// The snapshot's operation.
    pub fn operation(&self) -> Operation {
        let adds_data = !self.added.data.is_empty();
        match self.kind {
            ChangeKind::Append => Operation::Append,
            ChangeKind::Delete => Operation::Delete,
            ChangeKind::Overwrite => match (self.removed.removes_data(), adds_data) {
                (true, false) => Operation::Delete,
                (false, true) => Operation::Append,
                _ => Operation::Overwrite,
            },
            ChangeKind::RowDelta if !self.added.deletes.is_empty() && !adds_data => Operation::Delete,
            ChangeKind::ReplacePartitions | ChangeKind::RowDelta => Operation::Overwrite,
            ChangeKind::RewriteFiles | ChangeKind::RewriteManifests(_) => Operation::Replace,
        }
    }

    /// Whether `validation` is asked for.
    pub(crate) fn validates(&self, validation: &Validation) -> bool {
        self.validations.contains(validation)
    }

    /// Commits to this branch instead of `main`.
    #[must_use]
    pub fn on_branch(mut self, branch: impl Into<String>) -> Self {
        self.target_ref = branch.into();
        self
    }

    /// Adds a property to the snapshot's summary.
    #[must_use]
    pub fn with_summary(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.summary.insert(key.into(), value.into());
        self
    }

    /// Adds the snapshot without moving a branch.
    #[must_use]
    pub fn staged(mut self) -> Self {
        self.publication = Publication::Staged;
        self
    }

    /// Matches column names in filters without regard to case.
    #[must_use]
    pub fn ignoring_case(mut self) -> Self {
        self.case = CaseSensitivity::Insensitive;
        self
    }
}
