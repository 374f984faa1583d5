//! `refs`: branches and tags (Java `RefsTable`).

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array};
use arrow::datatypes::Field;
use datafusion::error::Result;
use tarn_format::spec::snapshot::RefKind;
use tarn_format::spec::types::{NestedField, PrimitiveType};

use super::exec::RowSource;
use super::state::TableState;
use super::static_rows::{StaticRows, no_such_column, text};

pub(super) fn fields() -> Vec<NestedField> {
    vec![
        NestedField::required(1, "name", PrimitiveType::String),
        NestedField::required(2, "type", PrimitiveType::String),
        NestedField::required(3, "snapshot_id", PrimitiveType::Long),
        NestedField::optional(4, "max_reference_age_in_ms", PrimitiveType::Long),
        NestedField::optional(5, "min_snapshots_to_keep", PrimitiveType::Int),
        NestedField::optional(6, "max_snapshot_age_in_ms", PrimitiveType::Long),
    ]
}

pub(super) fn source(state: &Arc<TableState>) -> Arc<dyn RowSource> {
    Arc::new(StaticRows {
        len: state.metadata().refs.len(),
        state: Arc::clone(state),
        column,
    })
}

fn column(state: &TableState, field: &Field) -> Result<ArrayRef> {
    let refs = &state.metadata().refs;
    let retentions = refs.values().map(|r| &r.retention);
    Ok(match field.name().as_str() {
        "name" => text(field.data_type(), refs.keys().map(|name| Some(name.as_str()))),
        "type" => {
            let kinds = refs.values().map(|r| match r.kind {
                RefKind::Branch => "BRANCH",
                RefKind::Tag => "TAG",
            });
            text(field.data_type(), kinds.map(Some))
        }
        "snapshot_id" => Arc::new(Int64Array::from_iter_values(refs.values().map(|r| r.snapshot_id))),
        "max_reference_age_in_ms" => Arc::new(Int64Array::from_iter(retentions.map(|r| r.max_ref_age_ms))),
        "min_snapshots_to_keep" => Arc::new(Int32Array::from_iter(retentions.map(|r| r.min_snapshots_to_keep))),
        "max_snapshot_age_in_ms" => Arc::new(Int64Array::from_iter(retentions.map(|r| r.max_snapshot_age_ms))),
        _ => return no_such_column(field),
    })
}
