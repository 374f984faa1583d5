//! Reads one file of position deletes, or one deletion vector, in batches.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, StringViewArray};
use arrow::compute::{cast, filter_record_batch, is_not_null};
use arrow::datatypes::{DataType, FieldRef, SchemaRef as ArrowSchemaRef};
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::cache::cache_manager::FileMetadataCache;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::io::FileIo;
use tarn_format::manifest::data_file::{DataFile, FileFormat};
use tarn_format::spec::schema::SchemaRef;
use tarn_format::spec::types::FieldId;
use tarn_format::{Error, Result, ResultExt};

use super::stored_columns::StoredFile;
use crate::arrow::schema::field_id;
use crate::scan::adapt_array::adapt;
use crate::scan::reader_factory::TableReaderFactory;

/// Reserved ids of the columns of position delete files (spec, "Reserved Field IDs").
pub(crate) const FILE_PATH_ID: FieldId = i32::MAX - 101;
pub(crate) const POS_ID: FieldId = i32::MAX - 102;
pub(crate) const ROW_ID: FieldId = i32::MAX - 103;

/// Some deleted positions.
#[derive(Debug)]
pub(crate) struct DeletedRows {
    /// Locations of data files, without nulls.
    pub(crate) paths: ArrayRef,
    /// Positions in them, without nulls.
    pub(crate) positions: ArrayRef,
    /// The deleted rows, where they are asked for and stored.
    pub(crate) rows: Option<ArrayRef>,
}

impl DeletedRows {
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }
}

/// What is read besides paths and positions.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The deleted rows; `None` when they are not asked for.
    pub(crate) row: Option<WantedRow>,
    pub(crate) batch_size: usize,
}

/// How deleted rows are given.
#[derive(Debug, Clone)]
pub(crate) struct WantedRow {
    /// As this field.
    pub(crate) field: FieldRef,
    /// The schema that it is of.
    pub(crate) schema: SchemaRef,
}

/// Opens delete files of a table.
pub(crate) struct DeleteFileReader {
    pub(crate) io: FileIo,
    pub(crate) footers: Arc<FileMetadataCache>,
    pub(crate) metrics: ExecutionPlanMetricsSet,
}

impl fmt::Debug for DeleteFileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeleteFileReader").finish_non_exhaustive()
    }
}

impl DeleteFileReader {
    /// The deleted positions of a file in its order.
    ///
    /// # Errors
    /// Those of reading, naming the file; `Unsupported` for formats that are not read yet.
    pub(crate) async fn open(
        &self,
        file: Arc<DataFile>,
        wanted: Wanted,
    ) -> Result<BoxStream<'static, EngineResult<DeletedRows>>> {
        match file.file_format {
            FileFormat::Puffin => self.deletion_vector(&file, wanted.batch_size).await,
            _ => self.rows(Arc::clone(&file), wanted).await,
        }
        .context("delete file", file.file_path.as_ref())
    }

    async fn deletion_vector(
        &self,
        file: &DataFile,
        batch_size: usize,
    ) -> Result<BoxStream<'static, EngineResult<DeletedRows>>> {
        let vector = DeletionVector::read(&self.io, file).await?;
        let Some(path) = file.referenced_data_file.clone() else {
            return Err(Error::corrupt("the deletion vector names no data file"));
        };
        let batches = std::iter::successors(batch_from(&vector, 0, batch_size), {
            let vector = vector.clone();
            move |last: &Vec<i64>| batch_from(&vector, *last.last()? as u64 + 1, batch_size)
        });
        let rows = batches.map(move |positions| {
            let paths = std::iter::repeat_n(path.as_ref(), positions.len());
            Ok(DeletedRows {
                paths: Arc::new(StringViewArray::from_iter_values(paths)),
                positions: Arc::new(Int64Array::from(positions)),
                rows: None,
            })
        });
        Ok(stream::iter(rows).boxed())
    }

    async fn rows(&self, file: Arc<DataFile>, wanted: Wanted) -> Result<BoxStream<'static, EngineResult<DeletedRows>>> {
        let factory = TableReaderFactory {
            io: self.io.clone(),
            footers: Arc::clone(&self.footers),
        };
        let opened = StoredFile::open(&factory, &file, &self.metrics).await?;
        let columns = StoredColumns::find(opened.schema(), wanted.row.as_ref())?;
        let mut indexes: Vec<usize> = columns.indexes().collect();
        indexes.sort_unstable();
        let batches = opened.batches(&indexes, wanted.batch_size)?;
        let rows = batches.map(move |batch| {
            let named = |e: DataFusionError| e.context(format!("delete file {}", file.file_path));
            batch.and_then(|batch| columns.rows(&batch, &wanted)).map_err(named)
        });
        Ok(rows.boxed())
    }
}

/// Positions from `start` on; `None` when there are none.
fn batch_from(vector: &DeletionVector, start: u64, len: usize) -> Option<Vec<i64>> {
    let mut positions = vector.as_treemap().iter();
    positions.advance_to(start);
    let batch: Vec<i64> = positions.take(len).filter_map(|p| i64::try_from(p).ok()).collect();
    (!batch.is_empty()).then_some(batch)
}

/// The columns of a file by their ids, or by their names where a writer left the ids out.
struct StoredColumns {
    path: usize,
    pos: usize,
    row: Option<usize>,
}

impl StoredColumns {
    fn find(stored: &ArrowSchemaRef, row: Option<&WantedRow>) -> Result<Self> {
        let find = |id: FieldId, name: &str| {
            let by_id = stored.fields().iter().position(|f| field_id(f) == Some(id));
            by_id.or_else(|| {
                stored
                    .fields()
                    .iter()
                    .position(|f| field_id(f).is_none() && f.name() == name)
            })
        };
        let required = |id: FieldId, name: &str| {
            find(id, name).ok_or_else(|| Error::corrupt(format!("the file has no column '{name}' of position deletes")))
        };
        Ok(StoredColumns {
            path: required(FILE_PATH_ID, "file_path")?,
            pos: required(POS_ID, "pos")?,
            row: row.and_then(|_| find(ROW_ID, "row")),
        })
    }

    fn indexes(&self) -> impl Iterator<Item = usize> {
        [Some(self.path), Some(self.pos), self.row].into_iter().flatten()
    }

    /// The rows of a batch that has the columns of [`Self::indexes`], without those that name no file or position.
    fn rows(&self, batch: &RecordBatch, wanted: &Wanted) -> EngineResult<DeletedRows> {
        // A batch keeps the order of the file.
        let place = |index: usize| self.indexes().filter(|other| *other < index).count();
        let (path, pos) = (place(self.path), place(self.pos));
        let nulls = batch.column(path).null_count() + batch.column(pos).null_count();
        let filtered;
        let batch = if nulls == 0 {
            batch
        } else {
            let keep = arrow::compute::and(&is_not_null(batch.column(path))?, &is_not_null(batch.column(pos))?)?;
            filtered = filter_record_batch(batch, &keep)?;
            &filtered
        };
        let row = match (self.row, &wanted.row) {
            (Some(index), Some(row)) => {
                let at = place(index);
                let stored = batch.schema_ref().field(at);
                Some(adapt(batch.column(at), stored, &row.field, &row.schema)?)
            }
            _ => None,
        };
        Ok(DeletedRows {
            paths: cast(batch.column(path), &DataType::Utf8View)?,
            positions: cast(batch.column(pos), &DataType::Int64)?,
            rows: row,
        })
    }
}
