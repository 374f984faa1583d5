//! Writes the manifests and manifest lists of one change and remembers all of them, for cleaning up.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;

use super::attempt::Attempt;
use super::change::AddedDeleteFile;
use crate::error::Result;
use crate::manifest::data_file::DataFile;
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use crate::spec::types::StructType;

/// How many entries are written between two looks at a manifest's size.
const ENTRIES_BETWEEN_ROLLS: usize = 250;

/// Writes manifests and lists under names that no other commit uses.
#[derive(Debug)]
pub(crate) struct ManifestOutput {
    commit_uuid: Uuid,
    snapshot_id: i64,
    manifests: u32,
    lists: u32,
    written: Vec<String>,
}

impl ManifestOutput {
    /// An output for the snapshot of this id.
    pub(crate) fn new(snapshot_id: i64) -> Self {
        ManifestOutput {
            commit_uuid: Uuid::new_v4(),
            snapshot_id,
            manifests: 0,
            lists: 0,
            written: Vec::new(),
        }
    }

    /// The snapshot that files are written for.
    pub(crate) fn snapshot_id(&self) -> i64 {
        self.snapshot_id
    }

    /// Everything written so far, or begun to be written.
    pub(crate) fn written(&self) -> &[String] {
        &self.written
    }

    /// A writer of a manifest in a spec of the table.
    pub(crate) fn writer(
        &self,
        attempt: &Attempt<'_>,
        spec_id: i32,
        content: ManifestContent,
    ) -> Result<ManifestWriter> {
        let options = ManifestWriterOptions::for_table(attempt.base, spec_id)?;
        ManifestWriter::new(options.with_content(content).with_snapshot_id(self.snapshot_id))
    }

    /// A writer of a manifest whose entries are copied from manifests of a spec; `partition_type` as
    /// [`Attempt::copied_type`] tells it.
    pub(crate) fn copier(
        &self,
        attempt: &Attempt<'_>,
        (spec_id, content): (i32, ManifestContent),
        partition_type: &StructType,
    ) -> Result<ManifestWriter> {
        let mut options = ManifestWriterOptions::for_table(attempt.base, spec_id)?;
        options.partition_type = partition_type.clone();
        ManifestWriter::new(options.with_content(content).with_snapshot_id(self.snapshot_id))
    }

    /// Finishes a manifest and writes its file.
    pub(crate) async fn store(&mut self, attempt: &Attempt<'_>, writer: ManifestWriter) -> Result<ManifestFile> {
        let location = attempt.metadata_location(&format!("{}-m{}.avro", self.commit_uuid, self.manifests));
        self.manifests += 1;
        let (bytes, manifest) = writer.finish(location.as_str())?;
        self.create(attempt, location, bytes).await?;
        Ok(manifest)
    }

    /// The name of the next manifest list.
    pub(crate) fn next_list_name(&mut self) -> String {
        self.lists += 1;
        format!("snap-{}-{}-{}.avro", self.snapshot_id, self.lists, self.commit_uuid)
    }

    /// Writes a new file.
    pub(crate) async fn create(&mut self, attempt: &Attempt<'_>, location: String, bytes: Bytes) -> Result<()> {
        // Remembered first: a failed write may have left something.
        self.written.push(location.clone());
        attempt.io.create(&location, bytes).await
    }

    /// Writes added data files of one spec as manifests of about the target size.
    pub(crate) async fn data_manifests(
        &mut self,
        attempt: &Attempt<'_>,
        spec_id: i32,
        files: &[Arc<DataFile>],
        data_sequence_number: Option<i64>,
    ) -> Result<Vec<ManifestFile>> {
        let entries = files.iter().map(|file| {
            let unassigned = match file.first_row_id {
                None => Cow::Borrowed(file.as_ref()),
                Some(_) => Cow::Owned(DataFile {
                    first_row_id: None,
                    ..file.as_ref().clone()
                }),
            };
            (unassigned, data_sequence_number)
        });
        self.rolled(attempt, (spec_id, ManifestContent::Data), entries).await
    }

    /// Writes added delete files of one spec as manifests of about the target size.
    pub(crate) async fn delete_manifests(
        &mut self,
        attempt: &Attempt<'_>,
        spec_id: i32,
        files: &[AddedDeleteFile],
    ) -> Result<Vec<ManifestFile>> {
        let entries = files
            .iter()
            .map(|added| (Cow::Borrowed(added.file.as_ref()), added.data_sequence_number));
        self.rolled(attempt, (spec_id, ManifestContent::Deletes), entries).await
    }

    async fn rolled(
        &mut self,
        attempt: &Attempt<'_>,
        (spec_id, content): (i32, ManifestContent),
        entries: impl Iterator<Item = (Cow<'_, DataFile>, Option<i64>)>,
    ) -> Result<Vec<ManifestFile>> {
        let mut manifests = Vec::new();
        let mut writer = self.writer(attempt, spec_id, content)?;
        let mut written = 0usize;
        for (file, data_sequence_number) in entries {
            if self.is_full(attempt, &writer, written) {
                let full = std::mem::replace(&mut writer, self.writer(attempt, spec_id, content)?);
                manifests.push(self.store(attempt, full).await?);
                written = 0;
            }
            writer.added(&file, data_sequence_number)?;
            written += 1;
        }
        if written > 0 {
            manifests.push(self.store(attempt, writer).await?);
        }
        Ok(manifests)
    }

    /// Whether a manifest with this many entries has reached its target size.
    pub(crate) fn is_full(&self, attempt: &Attempt<'_>, writer: &ManifestWriter, entries: usize) -> bool {
        entries > 0
            && entries.is_multiple_of(ENTRIES_BETWEEN_ROLLS)
            && writer.bytes_written() as u64 >= attempt.settings.manifest_target_size_bytes
    }
}
