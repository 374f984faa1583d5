//! Row lineage as rows are read: what a file does not store is inherited from its manifest entry (spec, "Row Lineage").

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, IsNotNullExpr, Literal};
use tarn_format::scan::FileScanTask;
use tarn_format::spec::types::FieldId;

use super::metadata_columns::MetadataColumn;

/// What the rows of one file inherit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InheritedLineage {
    /// `_row_id` of the file's first row; `None` where it was given none.
    pub(crate) first_row_id: Option<i64>,
    /// The file's data sequence number.
    pub(crate) sequence_number: i64,
}

impl InheritedLineage {
    pub(crate) fn of(task: &FileScanTask) -> Self {
        InheritedLineage {
            first_row_id: task.first_row_id(),
            sequence_number: task.sequence_number(),
        }
    }

    /// What rows inherit in a column; `None` for columns that are not inherited. Without a first row id, neither id nor
    /// sequence number is (Java: `ValueReaders.rowIds`, `lastUpdated`).
    pub(crate) fn of_column(
        self,
        id: FieldId,
        position: impl FnOnce() -> Result<Arc<dyn PhysicalExpr>>,
    ) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let number = |n: Option<i64>| -> Arc<dyn PhysicalExpr> { Arc::new(Literal::new(ScalarValue::Int64(n))) };
        let is = |column: MetadataColumn| column.field_id() == id;
        Ok(match self.first_row_id {
            None if MetadataColumn::LINEAGE.into_iter().any(is) => Some(number(None)),
            Some(_) if is(MetadataColumn::LastUpdatedSequenceNumber) => Some(number(Some(self.sequence_number))),
            Some(first) if is(MetadataColumn::RowId) => Some(Arc::new(BinaryExpr::new(
                number(Some(first)),
                Operator::Plus,
                position()?,
            ))),
            _ => None,
        })
    }
}

/// What a file stores, and where that is null or nothing, what its rows inherit.
pub(crate) fn inherited_where_null(
    stored: Option<Arc<dyn PhysicalExpr>>,
    inherited: Arc<dyn PhysicalExpr>,
) -> Result<Arc<dyn PhysicalExpr>> {
    let Some(stored) = stored else { return Ok(inherited) };
    let is_stored: Arc<dyn PhysicalExpr> = Arc::new(IsNotNullExpr::new(Arc::clone(&stored)));
    let case = CaseExpr::try_new(None, vec![(is_stored, stored)], Some(inherited))?;
    Ok(Arc::new(case))
}
