//! Rows of files that an UPDATE writes anew as a whole: all of them, in their order, with new values where there are some.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{cast, interleave, nullif};
use arrow::datatypes::{DataType, Int64Type, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::StreamExt;
use tarn_format::scan::ScanPlan;
use tarn_format::spec::schema::Schema;

use super::changed_rows::RowsByFile;
use super::gather::plan_of;
use super::placed_rows::{PlacedRows, RowsInPlace};
use super::statement::Statement;
use super::target::RowTarget;
use crate::scan::MetadataColumn;
use crate::write::row_lineage::RowLineage;

impl Statement<'_> {
    /// The rows of files with the new values that `rows` has for them, which are taken: those of updated columns alone.
    pub(super) fn updated_rows(&self, files: &ScanPlan, rows: &mut PlacedRows) -> Result<Arc<dyn ExecutionPlan>> {
        let mut columns = vec![MetadataColumn::File, MetadataColumn::Pos];
        if self.target.lineage() == RowLineage::Stored {
            columns.extend(MetadataColumn::LINEAGE);
        }
        let old = self.rows_of_files(files, &columns, RowsByFile::new())?;
        let mut updates = Updates::new(&old.schema(), self.target)?;
        for task in &files.tasks {
            if let Some(rows) = rows.take(task.path())? {
                updates.add(task.path(), rows, &old.schema())?;
            }
        }
        let updates = Arc::new(updates);
        let mut streams = Vec::new();
        for partition in 0..old.output_partitioning().partition_count() {
            let stream = old.execute(partition, Arc::clone(self.context))?;
            let own = Arc::clone(&updates);
            let rows = stream.map(move |batch| own.apply(&batch?));
            let rows = RecordBatchStreamAdapter::new(Arc::clone(&updates.schema), rows);
            streams.push(Box::pin(rows) as _);
        }
        plan_of(&updates.schema, streams)
    }
}

/// New values of rows, by file.
#[derive(Debug)]
struct Updates {
    /// The table's columns, and lineage behind them.
    schema: ArrowSchemaRef,
    /// Where these columns come from.
    columns: Vec<ColumnSource>,
    /// Where the rows' file and position stand.
    file: usize,
    position: usize,
    rows: HashMap<String, NewRows>,
}

/// New values for rows of one file.
#[derive(Debug)]
struct NewRows {
    /// Ascending.
    positions: Vec<u64>,
    /// For each updated column its values, in the type that is read.
    columns: Vec<ArrayRef>,
}

#[derive(Debug)]
struct ColumnSource {
    /// Its index among the columns that are read.
    at: usize,
    new: NewValue,
}

/// What an updated row gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NewValue {
    /// What it had.
    Old,
    /// The new column of this index.
    Given(usize),
    /// None: the commit's number, which is to come.
    Inherited,
}

impl Updates {
    fn new(read: &ArrowSchema, target: &RowTarget) -> Result<Self> {
        let given = given_columns(target.write.table.metadata.current_schema(), target);
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        for (at, field) in read.fields().iter().enumerate() {
            let new = match MetadataColumn::from_name(field.name()).filter(|_| at >= given.len()) {
                None => given.get(at).copied().flatten().map_or(NewValue::Old, NewValue::Given),
                Some(MetadataColumn::RowId) => NewValue::Old,
                Some(MetadataColumn::LastUpdatedSequenceNumber) => NewValue::Inherited,
                Some(_) => continue,
            };
            columns.push(ColumnSource { at, new });
            // NULLs are the writer's business.
            fields.push(Arc::new(field.as_ref().clone().with_nullable(true)));
        }
        Ok(Updates {
            schema: Arc::new(ArrowSchema::new(fields)),
            columns,
            file: read.index_of(MetadataColumn::File.name())?,
            position: read.index_of(MetadataColumn::Pos.name())?,
            rows: HashMap::new(),
        })
    }

    fn add(&mut self, file: &str, rows: RowsInPlace, read: &ArrowSchema) -> Result<()> {
        let given = self.columns.iter().filter_map(|column| match column.new {
            NewValue::Given(at) => Some((at, read.field(column.at).data_type())),
            NewValue::Old | NewValue::Inherited => None,
        });
        let columns = given.map(|(at, own)| Ok(cast(rows.rows.column(at), own)?));
        let rows = NewRows {
            columns: columns.collect::<Result<_>>()?,
            positions: rows.positions,
        };
        self.rows.insert(file.to_string(), rows);
        Ok(())
    }

    /// The rows of a batch with their new values.
    fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let replaced = self.replaced(batch)?;
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let old = batch.column(column.at);
            columns.push(match column.new {
                NewValue::Given(at) if !replaced.from.is_empty() => replaced.column(old, at)?,
                NewValue::Inherited if !replaced.from.is_empty() => nullif(old, &replaced.mask())?,
                _ => Arc::clone(old),
            });
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    fn replaced(&self, batch: &RecordBatch) -> Result<Replaced<'_>> {
        let files = cast(batch.column(self.file), &DataType::Utf8View)?;
        let files = files.as_string_view();
        let positions = batch.column(self.position).as_primitive_opt::<Int64Type>();
        let positions = positions.ok_or_else(|| DataFusionError::Internal("rows have no positions".to_string()))?;
        let mut replaced = Replaced {
            from: Vec::new(),
            indices: (0..batch.num_rows()).map(|row| (0, row)).collect(),
        };
        let mut current: Option<(&str, Option<&NewRows>)> = None;
        for row in 0..batch.num_rows() {
            let file = files.value(row);
            let rows = match current {
                Some((same, rows)) if same == file => rows,
                _ => {
                    let rows = self.rows.get(file);
                    replaced.from.extend(rows);
                    rows
                }
            };
            current = Some((file, rows));
            let Some(rows) = rows else { continue };
            if let Ok(position) = u64::try_from(positions.value(row))
                && let Ok(at) = rows.positions.binary_search(&position)
            {
                replaced.indices[row] = (replaced.from.len(), at);
            }
        }
        Ok(replaced)
    }
}

/// For each column of the table its index among the updated ones.
fn given_columns(schema: &Schema, target: &RowTarget) -> Vec<Option<usize>> {
    let mut next = 0;
    let is_updated = |id| target.updated_columns.as_ref().is_none_or(|ids| ids.contains(&id));
    let given = schema.fields().iter().map(|field| {
        is_updated(field.id).then(|| {
            next += 1;
            next - 1
        })
    });
    given.collect()
}

/// Which rows of a batch get new values, and from where.
struct Replaced<'a> {
    from: Vec<&'a NewRows>,
    /// For each row: 0 and itself, or the place of its new values, counted from 1, and the row there.
    indices: Vec<(usize, usize)>,
}

impl Replaced<'_> {
    fn column(&self, old: &ArrayRef, at: usize) -> Result<ArrayRef> {
        let new = self.from.iter().map(|rows| rows.columns[at].as_ref());
        let sources: Vec<&dyn Array> = std::iter::once(old.as_ref()).chain(new).collect();
        Ok(interleave(&sources, &self.indices)?)
    }

    fn mask(&self) -> BooleanArray {
        self.indices.iter().map(|(from, _)| Some(*from > 0)).collect()
    }
}
