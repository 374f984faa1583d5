//! `history`: which snapshot became current when (Java `HistoryTable`).

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array};
use arrow::datatypes::Field;
use datafusion::error::Result;
use tarn_format::spec::types::{NestedField, PrimitiveType};

use super::exec::RowSource;
use super::state::TableState;
use super::static_rows::{StaticRows, no_such_column, times};

pub(super) fn fields() -> Vec<NestedField> {
    vec![
        NestedField::required(1, "made_current_at", PrimitiveType::Timestamptz),
        NestedField::required(2, "snapshot_id", PrimitiveType::Long),
        NestedField::optional(3, "parent_id", PrimitiveType::Long),
        NestedField::required(4, "is_current_ancestor", PrimitiveType::Boolean),
    ]
}

pub(super) fn source(state: &Arc<TableState>) -> Arc<dyn RowSource> {
    Arc::new(StaticRows {
        len: state.metadata().snapshot_log.len(),
        state: Arc::clone(state),
        column,
    })
}

fn column(state: &TableState, field: &Field) -> Result<ArrayRef> {
    let metadata = state.metadata();
    let log = metadata.snapshot_log.iter();
    Ok(match field.name().as_str() {
        "made_current_at" => times(log.map(|e| Some(e.timestamp_ms))),
        "snapshot_id" => Arc::new(Int64Array::from_iter_values(log.map(|e| e.snapshot_id))),
        "parent_id" => {
            let parents = super::snapshots::parents(metadata);
            Arc::new(Int64Array::from_iter(
                log.map(|e| parents.get(&e.snapshot_id).copied().flatten()),
            ))
        }
        "is_current_ancestor" => {
            let current = metadata.current_snapshot_id;
            let ancestors = current.map(|id| metadata.ancestors_of(id)).unwrap_or_default();
            let ancestors: HashSet<i64> = ancestors.iter().map(|s| s.snapshot_id).collect();
            let flags = log.map(|e| Some(ancestors.contains(&e.snapshot_id)));
            Arc::new(flags.collect::<BooleanArray>())
        }
        _ => return no_such_column(field),
    })
}
