//! Reads the keys of one file of equality deletes.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use datafusion::error::Result as EngineResult;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::StreamExt;
use futures::stream::BoxStream;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::name_mapping::NameMapping;
use tarn_format::{Error, Result};

use super::key_column::KeyColumn;
use super::stored_columns::StoredFile;
use crate::arrow::schema::field_id;
use crate::scan::adapt_array::adapt;
use crate::scan::name_mapping::assign_ids;
use crate::scan::reader_factory::TableReaderFactory;

/// Rows that are read at a time.
const BATCH_ROWS: usize = 8192;

/// The keys of a file, batch by batch: an array per key column.
///
/// # Errors
/// Those of reading; `Corrupt` when the file lacks a key column.
pub(super) async fn keys(
    readers: &TableReaderFactory,
    file: &DataFile,
    columns: &[KeyColumn],
    mapping: &NameMapping,
) -> Result<BoxStream<'static, EngineResult<Vec<ArrayRef>>>> {
    let opened = StoredFile::open(readers, file, &ExecutionPlanMetricsSet::new()).await?;
    let stored = StoredKeys::find(&assign_ids(opened.schema(), mapping), columns)?;
    let batches = opened.batches(&stored.roots, BATCH_ROWS)?;
    Ok(batches.map(move |batch| stored.keys(&batch?)).boxed())
}

/// Where a file has the key columns.
struct StoredKeys {
    /// The file's schema, with ids.
    schema: ArrowSchemaRef,
    /// Top-level columns that are read, ascending: what a batch has.
    roots: Vec<usize>,
    columns: Vec<(usize, KeyColumn)>,
}

impl StoredKeys {
    fn find(schema: &ArrowSchemaRef, columns: &[KeyColumn]) -> Result<Self> {
        let place = |column: &KeyColumn| {
            let id = field_id(&column.field);
            let place = schema.fields().iter().position(|f| id.is_some() && field_id(f) == id);
            let missing = || {
                Error::corrupt(format!(
                    "equality deletes lack their key column of field id {}",
                    column.id
                ))
            };
            place.map(|place| (place, column.clone())).ok_or_else(missing)
        };
        let columns: Vec<(usize, KeyColumn)> = columns.iter().map(place).collect::<Result<_>>()?;
        let mut roots: Vec<usize> = columns.iter().map(|(place, _)| *place).collect();
        roots.sort_unstable();
        roots.dedup();
        Ok(StoredKeys {
            schema: ArrowSchemaRef::clone(schema),
            roots,
            columns,
        })
    }

    fn keys(&self, batch: &RecordBatch) -> EngineResult<Vec<ArrayRef>> {
        let values = |(place, column): &(usize, KeyColumn)| {
            let index = self.roots.partition_point(|root| root < place);
            let stored = self.schema.field(*place);
            let values = adapt(batch.column(index), stored, &column.field, &column.schema)?;
            Ok(column.values(&values)?)
        };
        self.columns.iter().map(values).collect()
    }
}
