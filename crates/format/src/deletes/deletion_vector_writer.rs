//! Writing the deletion vectors of several data files into one puffin file (Java `BaseDVFileWriter`).

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::deletion_vector::DeletionVector;
use super::puffin::{Blob, BlobCodec, BlobMetadata, DELETION_VECTOR_V1, FooterCompression, PuffinWriter};
use crate::error::{Error, Result, ResultExt};
use crate::io::FileIo;
use crate::io::location::same_file;
use crate::io::location_map::LocationMap;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use crate::spec::types::FieldId;

/// Id of the reserved column of row positions.
const ROW_POSITION_ID: FieldId = 2_147_483_645;

/// Gathers deleted positions by data file.
#[derive(Debug)]
pub struct DeletionVectorWriter {
    io: FileIo,
    location: String,
    pending: BTreeMap<Arc<str>, Pending>,
    /// The spellings in `pending`: a data file has one vector.
    spellings: LocationMap<()>,
    replaced: Vec<DataFile>,
    /// Blobs already merged, by file and offset.
    merged: HashSet<(Arc<str>, Option<i64>)>,
}

#[derive(Debug)]
struct Pending {
    spec_id: i32,
    partition: PartitionTuple,
    vector: DeletionVector,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeletionVectorsWritten {
    /// The new delete files: one per data file, ordered by its location, all in one puffin file.
    pub added: Vec<DataFile>,
    /// Earlier delete files whose positions the new ones hold, to be removed in the same commit.
    pub replaced: Vec<DataFile>,
}

impl DeletionVectorWriter {
    /// A writer to a new file at `location`; nothing is written before [`DeletionVectorWriter::finish`].
    pub fn new(io: &FileIo, location: impl Into<String>) -> Self {
        DeletionVectorWriter {
            io: io.clone(),
            location: location.into(),
            pending: BTreeMap::new(),
            spellings: LocationMap::default(),
            replaced: Vec::new(),
            merged: HashSet::new(),
        }
    }

    /// The positions to be deleted from a data file, which may be added to. Of several spellings of its location the first
    /// is written.
    pub fn vector_of(&mut self, data_file: &DataFile) -> &mut DeletionVector {
        let (location, ()) = self.spellings.entry(&data_file.file_path);
        let pending = self.pending.entry(Arc::clone(location)).or_insert_with(|| Pending {
            spec_id: data_file.spec_id,
            partition: data_file.partition.clone(),
            vector: DeletionVector::new(),
        });
        &mut pending.vector
    }

    /// Adds the positions that an earlier deletion vector deletes from `data_file`, and marks that vector as replaced. A data
    /// file may have only one, so every earlier one must be merged. It may spell the data file's location in another
    /// way, see [`spelling`](crate::io::location::spelling); the new one spells it as `data_file` does.
    ///
    /// # Errors
    /// `InvalidInput` when it is no deletion vector or one of another data file; those of [`DeletionVector::read`].
    pub async fn merge_previous(&mut self, data_file: &DataFile, previous: &DataFile) -> Result<()> {
        let names = |path: &str| same_file(path, &data_file.file_path);
        if !previous.referenced_data_file.as_deref().is_some_and(names) {
            return Err(Error::invalid("deletion vector belongs to another data file"))
                .context("file", previous.file_path.as_ref())
                .context("data file", data_file.file_path.as_ref());
        }
        if !self
            .merged
            .insert((Arc::clone(&previous.file_path), previous.content_offset))
        {
            return Ok(());
        }
        let earlier = DeletionVector::read(&self.io, previous).await?;
        self.vector_of(data_file).union_with(&earlier);
        self.replaced.push(previous.clone());
        Ok(())
    }

    /// Adds positions read elsewhere (from a position delete file) and marks the file they came from as replaced where it
    /// deletes from `data_file` alone.
    pub fn merge_positions(&mut self, data_file: &DataFile, positions: &DeletionVector, from: Option<&DataFile>) {
        self.vector_of(data_file).union_with(positions);
        self.replaced.extend(from.cloned());
    }

    /// Writes the file. Without positions nothing is written. `file_size_in_bytes` is that of the shared file.
    pub async fn finish(self) -> Result<DeletionVectorsWritten> {
        let pending: Vec<_> = self.pending.into_iter().filter(|(_, p)| !p.vector.is_empty()).collect();
        if pending.is_empty() {
            return Ok(DeletionVectorsWritten::default());
        }
        let mut writer = PuffinWriter::new(&self.io, &self.location, FooterCompression::None)?;
        let mut added = Vec::with_capacity(pending.len());
        for (data_file, pending) in pending {
            let blob = write_blob(&mut writer, &data_file, &pending.vector).await?;
            added.push(delete_file(&self.location, data_file, pending, &blob)?);
        }
        let end = writer.finish().await?;
        let file_size = to_long(end.file_size)?;
        for file in &mut added {
            file.file_size_in_bytes = file_size;
        }
        Ok(DeletionVectorsWritten {
            added,
            replaced: self.replaced,
        })
    }
}

async fn write_blob(writer: &mut PuffinWriter, data_file: &str, vector: &DeletionVector) -> Result<BlobMetadata> {
    let data = vector.to_blob().context("data file", data_file)?;
    let properties = [
        ("referenced-data-file".to_string(), data_file.to_string()),
        ("cardinality".to_string(), vector.cardinality().to_string()),
    ];
    let blob = Blob {
        blob_type: DELETION_VECTOR_V1,
        fields: vec![ROW_POSITION_ID],
        // Both are inherited from the snapshot that commits the file.
        snapshot_id: -1,
        sequence_number: -1,
        data: &data,
        codec: BlobCodec::None,
        properties: properties.into(),
    };
    writer.add(&blob).await
}

fn delete_file(location: &str, data_file: Arc<str>, pending: Pending, blob: &BlobMetadata) -> Result<DataFile> {
    let mut file = DataFile::new(DataContent::PositionDeletes, location, FileFormat::Puffin);
    file.spec_id = pending.spec_id;
    file.partition = pending.partition;
    file.record_count = to_long(pending.vector.cardinality())?;
    file.referenced_data_file = Some(data_file);
    file.content_offset = Some(to_long(blob.offset)?);
    file.content_size_in_bytes = Some(to_long(blob.length)?);
    Ok(file)
}

fn to_long(value: u64) -> Result<i64> {
    i64::try_from(value).map_err(|_| Error::invalid(format!("{value} is above 2^63 - 1")))
}

#[cfg(test)]
mod tests;
