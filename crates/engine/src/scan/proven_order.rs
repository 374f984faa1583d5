//! The order of rows that files prove: by the sort order that they were written with, and bounds that follow each other.
//!
//! "If a sort order ID is missing or unknown, then the order is assumed to be unsorted" (spec, "Data File Fields"): what is
//! said counts. Only order is used whose comparison leaves no doubt: no floating-point numbers (engines differ on zeros
//! and NaN), no uuids (Java compared them as signed), no nulls.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::Schema as ArrowSchema;
use datafusion::common::ScalarValue;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use tarn_format::scan::FileScanTask;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::sort::{NullOrder, SortDirection, SortField};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{PrimitiveType, Type};
use tarn_format::transform::Transform;

use crate::arrow::schema::field_id;

/// The order of the rows of every file, over the columns of `arrow`; `None` when there is none. Whether files follow each
/// other is another question.
pub(super) fn order_of_files(
    tasks: &[FileScanTask],
    metadata: &TableMetadata,
    (arrow, schema): (&ArrowSchema, &Schema),
) -> Option<LexOrdering> {
    let id = tasks.first()?.sort_order_id()?;
    if tasks.iter().any(|task| task.sort_order_id() != Some(id)) {
        return None;
    }
    let order = metadata.sort_orders.iter().find(|order| order.order_id == id)?;
    let exprs = order
        .fields
        .iter()
        .map_while(|field| sort_expr(field, tasks, (arrow, schema)));
    LexOrdering::new(exprs)
}

fn sort_expr(
    field: &SortField,
    tasks: &[FileScanTask],
    (arrow, schema): (&ArrowSchema, &Schema),
) -> Option<PhysicalSortExpr> {
    let [id] = field.source_ids.as_slice() else {
        return None;
    };
    let is_certain = match schema.type_by_id(*id)? {
        Type::Primitive(primitive) => has_one_order(primitive),
        _ => false,
    };
    let no_nulls = |task: &FileScanTask| task.statistics(*id).and_then(|s| s.null_count()) == Some(0);
    if field.transform != Transform::Identity || !is_certain || !tasks.iter().all(no_nulls) {
        return None;
    }
    let index = arrow.fields().iter().position(|f| field_id(f) == Some(*id))?;
    let options = SortOptions {
        descending: field.direction == SortDirection::Desc,
        nulls_first: field.null_order == NullOrder::First,
    };
    let column = Column::new(arrow.field(index).name(), index);
    Some(PhysicalSortExpr::new(Arc::new(column), options))
}

fn has_one_order(primitive: &PrimitiveType) -> bool {
    use PrimitiveType as P;
    matches!(
        primitive,
        P::Boolean
            | P::Int
            | P::Long
            | P::Decimal { .. }
            | P::Date
            | P::Time
            | P::Timestamp
            | P::Timestamptz
            | P::TimestampNs
            | P::TimestamptzNs
            | P::String
    )
}

/// Puts files in this order by the bounds of its first column, so that those that are read one after the other follow each
/// other.
pub(super) fn arrange(files: &mut [PartitionedFile], order: &LexOrdering) {
    let first = order.first();
    let Some(column) = first.expr.downcast_ref::<Column>() else {
        return;
    };
    let bound = |file: &PartitionedFile| -> Option<ScalarValue> {
        let statistics = file.statistics.as_ref()?.column_statistics.get(column.index())?;
        let bound = match first.options.descending {
            true => &statistics.max_value,
            false => &statistics.min_value,
        };
        bound.get_value().cloned()
    };
    let compare = |a: &Option<ScalarValue>, b: &Option<ScalarValue>| {
        let order = a.partial_cmp(b).unwrap_or(Ordering::Equal);
        match first.options.descending {
            true => order.reverse(),
            false => order,
        }
    };
    files.sort_by(|a, b| compare(&bound(a), &bound(b)));
}

#[cfg(test)]
mod tests;
