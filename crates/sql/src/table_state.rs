//! Which state of a table is meant by what follows its name, by AS OF, and by read options.

use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::snapshot::{MAIN_BRANCH, RefKind};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, Result};

use crate::names::{Suffix, unknown_suffix};
use crate::near_names::did_you_mean;
use crate::planner::RelationVersion;
use crate::read_options::StateOption;

/// The places where a query can say which state it reads.
#[derive(Debug, Clone)]
pub(crate) struct WantedState<'a> {
    /// What follows the table's name.
    pub(crate) suffix: &'a Suffix,
    /// AS OF
    pub(crate) version: Option<RelationVersion>,
    /// Read options.
    pub(crate) option: Option<StateOption>,
}

/// The state that is wanted; at most one place may say so.
///
/// # Errors
/// `InvalidInput` when several places do; `NotFound` for a ref that is not there.
pub(crate) fn selector(metadata: &TableMetadata, wanted: WantedState<'_>) -> Result<SnapshotSelector> {
    let by_name = by_suffix(metadata, wanted.suffix)?;
    match (by_name, wanted.version, wanted.option) {
        (None, None, None) => Ok(SnapshotSelector::Current),
        (Some(selector), None, None) => Ok(selector),
        (None, Some(version), None) => Ok(as_of(metadata, version)),
        (None, None, Some(option)) => by_option(metadata, option),
        // A branch may be given twice, when it is the same one (Java: `SparkReadConf.branch`).
        (Some(SnapshotSelector::Ref(name)), None, Some(StateOption::Branch(option))) if name == option => {
            Ok(SnapshotSelector::Ref(name))
        }
        (Some(_), Some(_), _) => Err(Error::invalid(
            "a version is given both in the table's name and by AS OF: leave one out",
        )),
        (Some(_), None, Some(_)) => Err(Error::invalid(
            "a version is given both in the table's name and by options: leave one out",
        )),
        (None, Some(_), Some(_)) => Err(Error::invalid(
            "a version is given both by AS OF and by options: leave one out",
        )),
    }
}

fn by_suffix(metadata: &TableMetadata, suffix: &Suffix) -> Result<Option<SnapshotSelector>> {
    match suffix {
        Suffix::None => Ok(None),
        Suffix::Branch(name) => named(metadata, name, RefKind::Branch).map(Some),
        Suffix::Tag(name) => named(metadata, name, RefKind::Tag).map(Some),
        Suffix::SnapshotId(id) => Ok(Some(SnapshotSelector::Id(*id))),
        Suffix::AtTimestamp(ms) => Ok(Some(SnapshotSelector::AsOf(*ms))),
        Suffix::Metadata(kind, _) => Err(Error::invalid(format!("{kind} is no choice of a state"))),
        Suffix::Other(name) => Err(unknown_suffix(name)),
    }
}

fn by_option(metadata: &TableMetadata, option: StateOption) -> Result<SnapshotSelector> {
    match option {
        StateOption::Snapshot(id) => Ok(SnapshotSelector::Id(id)),
        StateOption::AsOf(ms) => Ok(SnapshotSelector::AsOf(ms)),
        StateOption::Branch(name) => named(metadata, &name, RefKind::Branch),
        StateOption::Tag(name) => named(metadata, &name, RefKind::Tag),
    }
}

/// VERSION AS OF a text is a snapshot, when the text is one's id, before it is a ref (the reference, "Time travel").
fn as_of(metadata: &TableMetadata, version: RelationVersion) -> SnapshotSelector {
    match version {
        RelationVersion::Snapshot(id) => SnapshotSelector::Id(id),
        RelationVersion::TimestampMs(ms) => SnapshotSelector::AsOf(ms),
        RelationVersion::Ref(text) => match text.parse() {
            Ok(id) if metadata.snapshot_by_id(id).is_some() || !metadata.refs.contains_key(&text) => {
                SnapshotSelector::Id(id)
            }
            _ => SnapshotSelector::Ref(text),
        },
    }
}

/// `branch_x` never reads a tag, and `tag_x` never a branch.
fn named(metadata: &TableMetadata, name: &str, kind: RefKind) -> Result<SnapshotSelector> {
    match metadata.refs.get(name) {
        Some(reference) if reference.kind == kind => Ok(SnapshotSelector::Ref(name.to_string())),
        // A table without snapshots has its main branch all the same.
        None if kind == RefKind::Branch && name == MAIN_BRANCH => Ok(SnapshotSelector::Ref(name.to_string())),
        Some(reference) => Err(Error::not_found(format!(
            "the table has no {kind} '{name}': that is a {}",
            reference.kind
        ))),
        None => {
            let of_kind = metadata.refs.iter().filter(|(_, r)| r.kind == kind);
            let hint = did_you_mean(name, of_kind.map(|(n, _)| n.as_str()));
            Err(Error::not_found(format!("the table has no {kind} '{name}'{hint}")))
        }
    }
}
