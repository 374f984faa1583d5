//! The columns that files are read with: those of the table and its metadata columns, then key columns of equality deletes,
//! then positions, which the reader makes and puts last. Only the first are seen by the query.

use std::sync::Arc;

use arrow::datatypes::{FieldRef, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use datafusion::datasource::table_schema::TableSchema;

use super::equality_deletes::EqualityDeletes;
use super::metadata_columns::MetadataColumn;
use crate::provider::IcebergTable;

/// Whether rows' positions are needed where the query does not ask for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Positions {
    Needed,
    AsAskedFor,
}

/// What a reader may be asked for.
#[derive(Debug)]
pub(super) struct ScanColumns {
    pub(super) table_schema: TableSchema,
    /// How many columns the table shows.
    shown: usize,
}

impl ScanColumns {
    pub(super) fn new(table: &IcebergTable, keys: &EqualityDeletes, positions: Positions) -> Self {
        let shown = table.arrow_schema().fields();
        let is_position = |f: &FieldRef| f.name() == MetadataColumn::Pos.name();
        let (mut made, mut stored): (Vec<FieldRef>, Vec<FieldRef>) = shown.iter().cloned().partition(is_position);
        if positions == Positions::Needed && made.is_empty() {
            made.push(MetadataColumn::Pos.arrow_field(&table.table().metadata));
        }
        stored.extend(keys.columns().iter().map(|column| Arc::clone(&column.field)));
        let builder = TableSchema::builder(Arc::new(ArrowSchema::new(stored)));
        let table_schema = match made.is_empty() {
            true => builder.build(),
            false => builder.with_virtual_columns(made).build(),
        };
        ScanColumns {
            table_schema,
            shown: shown.len(),
        }
    }

    /// All columns.
    pub(super) fn all(&self) -> &ArrowSchemaRef {
        self.table_schema.table_schema()
    }

    /// The projection of the table's columns as one of these; `None` when they are the same.
    pub(super) fn projection(&self, table: &IcebergTable, projection: Option<&Vec<usize>>) -> Option<Vec<usize>> {
        let all = self.all();
        if projection.is_none() && all.fields().len() == self.shown {
            return None;
        }
        let shown = table.arrow_schema().fields();
        let place = |index: usize| all.index_of(shown.get(index)?.name()).ok();
        Some(match projection {
            Some(projection) => projection.iter().filter_map(|index| place(*index)).collect(),
            None => (0..self.shown).filter_map(place).collect(),
        })
    }
}
