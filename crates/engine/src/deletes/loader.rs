//! Loads the deletes of data files.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use datafusion::execution::cache::cache_manager::FileMetadataCache;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::{StreamExt, TryStreamExt, stream};
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::deletes::{DeleteKind, DeleteTask};
use tarn_format::io::FileIo;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::name_mapping::NameMapping;
use tarn_format::{Error, Result, ResultExt};

use super::cache::{DeleteCache, DeleteKey, Loaded, vector_size_bytes};
use super::file_positions::FilePositions;
use super::key_file;
use super::key_set::KeySet;
use super::key_table::KeyTable;
use super::position_reader::{DeleteFileReader, Wanted};
use crate::caches::Caches;
use crate::format_error;
use crate::scan::reader_factory::TableReaderFactory;

/// Rows that are read at a time.
const BATCH_ROWS: usize = 8192;
/// Files of keys that are opened ahead.
const OPEN_AHEAD: usize = 8;

/// Loads deletes of a table's data files. Cheap to clone.
#[derive(Clone)]
pub struct DeleteLoader {
    io: FileIo,
    footers: Arc<FileMetadataCache>,
    cache: DeleteCache,
    /// Rows that a statement takes away, by the location of their file.
    more: Arc<BTreeMap<Arc<str>, DeletionVector>>,
}

impl fmt::Debug for DeleteLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeleteLoader")
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

impl DeleteLoader {
    /// A loader of files that `io` reaches.
    pub fn new(io: FileIo, caches: &Caches) -> Self {
        DeleteLoader {
            io,
            footers: Arc::clone(&caches.footers),
            cache: caches.deletes.clone(),
            more: Arc::default(),
        }
    }

    /// The loader with further rows that are deleted, by the location of their file as manifests spell it.
    #[must_use]
    pub(crate) fn with_more(mut self, more: BTreeMap<Arc<str>, DeletionVector>) -> Self {
        self.more = Arc::new(more);
        self
    }

    /// Whether further rows of the file are deleted, see [`Self::with_more`].
    pub(crate) fn has_more(&self, task: &FileScanTask) -> bool {
        self.more.contains_key(task.path())
    }

    /// The positions of a data file that its deletion vector or position deletes delete; `None` when it has none of them.
    /// Positions may lie beyond the file's last row. Equality deletes don't count here.
    ///
    /// # Errors
    /// Those of reading a delete file, naming it; `Corrupt` when a deletion vector is not what its manifest says;
    /// `Unsupported` for formats of delete files that are not read yet; `ResourcesExhausted` when deletes don't fit into
    /// the budget of [`Caches::deletes`].
    pub async fn deleted_positions(&self, task: &FileScanTask) -> Result<Option<Arc<DeletionVector>>> {
        let mut found: Option<Arc<DeletionVector>> = None;
        let mut add = |vector: Arc<DeletionVector>| match &mut found {
            None => found = Some(vector),
            Some(found) => Arc::make_mut(found).union_with(&vector),
        };
        for delete in task.deletes().iter() {
            match delete.kind() {
                DeleteKind::Equality => {}
                DeleteKind::DeletionVector => {
                    let vector = self.vector(delete).await;
                    add(vector.context("data file", task.path())?);
                }
                // A file without a row of this data file deletes nothing, but is one of its deletes.
                DeleteKind::Position => add(Arc::new(self.positions_of(task, delete).await?)),
            }
        }
        if let Some(more) = self.more.get(task.path()) {
            add(Arc::new(more.clone()));
        }
        Ok(found)
    }

    /// The positions of a data file that one file of position deletes deletes.
    ///
    /// # Errors
    /// As [`Self::deleted_positions`].
    pub(crate) async fn positions_of(&self, task: &FileScanTask, delete: &DeleteTask) -> Result<DeletionVector> {
        let file = self.file(delete).await.context("data file", task.path())?;
        let mut positions = DeletionVector::new();
        file.of(task.path()).for_each(|vector| positions.union_with(vector));
        Ok(positions)
    }

    async fn vector(&self, delete: &DeleteTask) -> Result<Arc<DeletionVector>> {
        let (offset, length) = delete.blob().unwrap_or_default();
        let key = DeleteKey::Vector(self.io.object_id(delete.path())?, offset, length);
        let load = async {
            self.cache.check(usize::try_from(length).unwrap_or(usize::MAX))?;
            let vector = DeletionVector::read(&self.io, &delete.data_file()).await?;
            self.cache.check(vector_size_bytes(&vector))?;
            Ok(Loaded::Vector(Arc::new(vector)))
        };
        match self.cache.get(key, load).await? {
            Loaded::Vector(vector) => Ok(vector),
            _ => Err(misplaced(delete.path())),
        }
    }

    /// The keys of a set of equality deletes. `mapping` gives ids to files without any.
    ///
    /// # Errors
    /// As [`Self::deleted_positions`].
    pub(crate) async fn keys(&self, set: &KeySet, mapping: &NameMapping) -> Result<Arc<KeyTable>> {
        let key = DeleteKey::Keys(Arc::clone(&set.id));
        let load = async { Ok(Loaded::Keys(Arc::new(self.read_keys(set, mapping).await?))) };
        match self.cache.get(key, load).await? {
            Loaded::Keys(table) => Ok(table),
            _ => Err(misplaced(set.deletes.first().map_or("", DeleteTask::path))),
        }
    }

    async fn read_keys(&self, set: &KeySet, mapping: &NameMapping) -> Result<KeyTable> {
        let readers = TableReaderFactory {
            io: self.io.clone(),
            footers: Arc::clone(&self.footers),
        };
        let mut table = KeyTable::new(&set.columns).map_err(|e| format_error(e.into()))?;
        let open = |delete: DeleteTask| {
            let readers = &readers;
            async move {
                let file = delete.data_file();
                let opened = key_file::keys(readers, &file, &set.columns, mapping).await;
                Ok::<_, Error>((opened.context("delete file", delete.path())?, delete))
            }
        };
        let mut opened = stream::iter(set.deletes.iter().cloned()).map(open).buffered(OPEN_AHEAD);
        while let Some((mut batches, delete)) = opened.try_next().await? {
            while let Some(keys) = batches.next().await {
                let added = keys.and_then(|keys| Ok(table.add(&keys, delete.sequence_number())?));
                added.map_err(format_error).context("delete file", delete.path())?;
                self.cache
                    .check(table.size_bytes())
                    .context("delete file", delete.path())?;
            }
        }
        table.finish(self.cache.room_bytes(table.size_bytes()));
        Ok(table)
    }

    async fn file(&self, delete: &DeleteTask) -> Result<Arc<FilePositions>> {
        let key = DeleteKey::Positions(self.io.object_id(delete.path())?);
        let load = async {
            let reader = DeleteFileReader {
                io: self.io.clone(),
                footers: Arc::clone(&self.footers),
                metrics: ExecutionPlanMetricsSet::new(),
            };
            let wanted = Wanted {
                row: None,
                batch_size: BATCH_ROWS,
            };
            let rows = reader.open(Arc::new(delete.data_file()), wanted).await?;
            let positions = FilePositions::read(rows, &self.cache).await;
            Ok(Loaded::Positions(Arc::new(
                positions.context("delete file", delete.path())?,
            )))
        };
        match self.cache.get(key, load).await? {
            Loaded::Positions(positions) => Ok(positions),
            _ => Err(misplaced(delete.path())),
        }
    }
}

fn misplaced(path: &str) -> Error {
    Error::corrupt("the cache of deletes holds something else").with_context("delete file", path)
}
