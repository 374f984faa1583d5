//! Per-file statistics from manifests, for DataFusion's planner and for answers from metadata.
//!
//! Exact means that answers may be given from it (DESIGN §5): row counts without deletes, or with deletion vectors, whose
//! cardinality is taken off; without any deletes minimum and maximum of types
//! whose bounds are never truncated, of floats only where NaNs are counted and there are none.

use std::sync::Arc;

use arrow::datatypes::{Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use tarn_format::manifest::data_file::FileFormat;
use tarn_format::scan::FileScanTask;
use tarn_format::scan::task::ColumnStatistics as IcebergStatistics;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{PrimitiveType, Type};
use tarn_format::spec::value_binary::from_bytes;

use super::deleted_rows::DeletedRows;
use crate::arrow::schema::field_id;
use crate::arrow::value::to_scalar;

/// The statistics of one file over the columns of the scan's schema.
pub(super) fn file_statistics(
    task: &FileScanTask,
    arrow: &ArrowSchemaRef,
    schema: &Schema,
    deleted: DeletedRows,
) -> Arc<Statistics> {
    let counted = task.deletes().is_empty() || deleted == DeletedRows::LeftOut;
    let live = task.live_record_count().filter(|_| counted);
    let live = live.and_then(|rows| usize::try_from(rows).ok());
    let num_rows = match live {
        Some(rows) => Precision::Exact(rows),
        None => Precision::Inexact(usize::try_from(task.record_count()).unwrap_or(0)),
    };
    let exact = live.is_some() && task.deletes().is_empty();
    let column_statistics = columns(task, arrow, schema, exact);
    Arc::new(Statistics {
        num_rows,
        // The file's size would be kept for a few of its columns too, and make small sides of joins look large. Without it
        // DataFusion reckons with widths and rows.
        total_byte_size: Precision::Absent,
        column_statistics,
    })
}

fn columns(task: &FileScanTask, arrow: &ArrowSchema, schema: &Schema, exact: bool) -> Vec<ColumnStatistics> {
    let column = |field: &arrow::datatypes::FieldRef| {
        let id = field_id(field)?;
        let Type::Primitive(primitive) = schema.type_by_id(id)? else {
            return None;
        };
        let mut statistics = column_statistics(&task.statistics(id)?, primitive)?;
        in_type_of(field, &mut statistics);
        let exact = exact && !is_rounded(task.file_format(), primitive);
        Some(if exact { statistics } else { statistics.to_inexact() })
    };
    let fields = arrow.fields().iter();
    fields
        .map(|f| column(f).unwrap_or_else(ColumnStatistics::new_unknown))
        .collect()
}

/// Whether bounds may lie beyond the values: old writers of ORC keep statistics of timestamps in
/// milliseconds, from which Java takes the bounds.
fn is_rounded(format: FileFormat, primitive: &PrimitiveType) -> bool {
    use PrimitiveType as P;
    format == FileFormat::Orc
        && matches!(
            primitive,
            P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs
        )
}

/// Instants in the zone of the scan's column.
fn in_type_of(field: &arrow::datatypes::Field, statistics: &mut ColumnStatistics) {
    for bound in [&mut statistics.min_value, &mut statistics.max_value] {
        let is_other = bound.get_value().is_some_and(|v| v.data_type() != *field.data_type());
        if is_other {
            *bound = bound.cast_to(field.data_type()).unwrap_or(Precision::Absent);
        }
    }
}

fn column_statistics(of: &IcebergStatistics<'_>, primitive: &PrimitiveType) -> Option<ColumnStatistics> {
    let mut statistics = ColumnStatistics::new_unknown();
    if let Some(nulls) = of.null_count().and_then(|n| usize::try_from(n).ok()) {
        statistics.null_count = Precision::Exact(nulls);
    }
    if let Some(size) = of.column_size().and_then(|n| usize::try_from(n).ok()) {
        statistics.byte_size = Precision::Inexact(size);
    }
    let certainty = certainty(of, primitive)?;
    let bound = |bytes: Option<&[u8]>| {
        let value = from_bytes(bytes?, primitive).ok()?;
        to_scalar(Some(&value), &Type::Primitive(primitive.clone())).ok()
    };
    statistics.min_value = certainty.of(bound(of.lower_bound()));
    statistics.max_value = certainty.of(bound(of.upper_bound()));
    Some(statistics)
}

/// Whether bounds are the minimum and maximum themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Exact,
    Inexact,
}

impl Certainty {
    fn of(self, value: Option<ScalarValue>) -> Precision<ScalarValue> {
        match (self, value) {
            (_, None) => Precision::Absent,
            (Certainty::Exact, Some(v)) => Precision::Exact(v),
            (Certainty::Inexact, Some(v)) => Precision::Inexact(v),
        }
    }
}

/// `None` for types whose bounds say nothing of values.
fn certainty(of: &IcebergStatistics<'_>, primitive: &PrimitiveType) -> Option<Certainty> {
    Some(match primitive {
        PrimitiveType::Boolean
        | PrimitiveType::Int
        | PrimitiveType::Long
        | PrimitiveType::Decimal { .. }
        | PrimitiveType::Date
        | PrimitiveType::Time
        | PrimitiveType::Timestamp
        | PrimitiveType::Timestamptz
        | PrimitiveType::TimestampNs
        | PrimitiveType::TimestamptzNs => Certainty::Exact,
        PrimitiveType::Float | PrimitiveType::Double if of.nan_count() == Some(0) => Certainty::Exact,
        PrimitiveType::String => Certainty::Inexact,
        // With NaNs or without their count, the bounds leave out values that compare greatest.
        PrimitiveType::Float | PrimitiveType::Double => return None,
        PrimitiveType::Uuid
        | PrimitiveType::Fixed(_)
        | PrimitiveType::Binary
        | PrimitiveType::Unknown
        | PrimitiveType::Geometry { .. }
        | PrimitiveType::Geography { .. } => return None,
    })
}

#[cfg(test)]
mod tests;
