//! Which metadata tables there are (Java `MetadataTableType`).

use std::fmt;

/// A metadata table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MetadataTableKind {
    AllDataFiles,
    AllDeleteFiles,
    AllEntries,
    AllFiles,
    AllManifests,
    DataFiles,
    DeleteFiles,
    Entries,
    Files,
    History,
    Manifests,
    MetadataLogEntries,
    Partitions,
    PositionDeletes,
    Refs,
    Snapshots,
}

impl MetadataTableKind {
    /// All of them, in the order of their names.
    pub const ALL: [MetadataTableKind; 16] = [
        MetadataTableKind::AllDataFiles,
        MetadataTableKind::AllDeleteFiles,
        MetadataTableKind::AllEntries,
        MetadataTableKind::AllFiles,
        MetadataTableKind::AllManifests,
        MetadataTableKind::DataFiles,
        MetadataTableKind::DeleteFiles,
        MetadataTableKind::Entries,
        MetadataTableKind::Files,
        MetadataTableKind::History,
        MetadataTableKind::Manifests,
        MetadataTableKind::MetadataLogEntries,
        MetadataTableKind::Partitions,
        MetadataTableKind::PositionDeletes,
        MetadataTableKind::Refs,
        MetadataTableKind::Snapshots,
    ];

    /// Its name, lower case.
    pub fn name(self) -> &'static str {
        match self {
            MetadataTableKind::AllDataFiles => "all_data_files",
            MetadataTableKind::AllDeleteFiles => "all_delete_files",
            MetadataTableKind::AllEntries => "all_entries",
            MetadataTableKind::AllFiles => "all_files",
            MetadataTableKind::AllManifests => "all_manifests",
            MetadataTableKind::DataFiles => "data_files",
            MetadataTableKind::DeleteFiles => "delete_files",
            MetadataTableKind::Entries => "entries",
            MetadataTableKind::Files => "files",
            MetadataTableKind::History => "history",
            MetadataTableKind::Manifests => "manifests",
            MetadataTableKind::MetadataLogEntries => "metadata_log_entries",
            MetadataTableKind::Partitions => "partitions",
            MetadataTableKind::PositionDeletes => "position_deletes",
            MetadataTableKind::Refs => "refs",
            MetadataTableKind::Snapshots => "snapshots",
        }
    }

    /// The metadata table of this name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// Whether it shows the state of one snapshot, which may then be chosen (Java
    /// `BaseMetadataTable.supportsTimeTravel`). The others show all snapshots, or what belongs to none.
    pub fn is_of_one_snapshot(self) -> bool {
        matches!(
            self,
            MetadataTableKind::Entries
                | MetadataTableKind::Files
                | MetadataTableKind::DataFiles
                | MetadataTableKind::DeleteFiles
                | MetadataTableKind::Manifests
                | MetadataTableKind::Partitions
                | MetadataTableKind::PositionDeletes
        )
    }
}

impl fmt::Display for MetadataTableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
