//! NaN counts and bounds of float and double columns, gathered while rows are written: the footer has no NaN counts, and
//! its bounds lose the sign of zero (Java `FloatFieldMetrics`, `DoubleFieldMetrics`).

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use tarn_format::spec::types::FieldId;

use crate::arrow::schema::field_id;

/// What is known of one column so far. Both bounds leave NaN out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FloatColumn {
    pub(super) nan_count: i64,
    pub(super) bounds: Option<(f64, f64)>,
}

/// What is known of all columns that are in no list or map.
#[derive(Debug, Default)]
pub(super) struct FloatMetrics {
    columns: BTreeMap<FieldId, FloatColumn>,
}

impl FloatMetrics {
    /// Takes the rows of a batch in.
    pub(super) fn update(&mut self, batch: &RecordBatch) {
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            self.column(field_id(field), array, None);
        }
    }

    /// The columns by id.
    pub(super) fn get(&self, id: FieldId) -> Option<FloatColumn> {
        self.columns.get(&id).copied()
    }

    /// Takes in what is known of further rows of a column.
    pub(super) fn add(&mut self, id: FieldId, rows: FloatColumn) {
        let column = self.columns.entry(id).or_insert(FloatColumn {
            nan_count: 0,
            bounds: None,
        });
        column.nan_count += rows.nan_count;
        if let Some((low, high)) = rows.bounds {
            column.add(low);
            column.add(high);
        }
    }

    /// Takes in what is known of further rows.
    pub(super) fn merge(&mut self, rows: FloatMetrics) {
        for (id, column) in rows.columns {
            self.add(id, column);
        }
    }

    fn column(&mut self, id: Option<FieldId>, array: &ArrayRef, parent: Option<&NullBuffer>) {
        match array.data_type() {
            DataType::Float32 => {
                let array = array.as_primitive::<Float32Type>();
                let nulls = NullBuffer::union(parent, array.nulls());
                self.values(id, array.values().iter().map(|v| f64::from(*v)), nulls);
            }
            DataType::Float64 => {
                let array = array.as_primitive::<Float64Type>();
                let nulls = NullBuffer::union(parent, array.nulls());
                self.values(id, array.values().iter().copied(), nulls);
            }
            DataType::Struct(fields) => {
                let array = array.as_struct();
                let nulls = NullBuffer::union(parent, array.nulls());
                for (field, child) in fields.iter().zip(array.columns()) {
                    self.column(field_id(field), child, nulls.as_ref());
                }
            }
            _ => {}
        }
    }

    fn values(&mut self, id: Option<FieldId>, values: impl Iterator<Item = f64>, nulls: Option<NullBuffer>) {
        let Some(id) = id else { return };
        let column = self.columns.entry(id).or_insert(FloatColumn {
            nan_count: 0,
            bounds: None,
        });
        match nulls.filter(|n| n.null_count() > 0) {
            None => values.for_each(|v| column.add(v)),
            Some(nulls) => values
                .zip(nulls.iter())
                .filter(|(_, valid)| *valid)
                .for_each(|(v, _)| column.add(v)),
        }
    }
}

impl FloatColumn {
    #[inline]
    fn add(&mut self, v: f64) {
        if v.is_nan() {
            self.nan_count += 1;
            return;
        }
        match &mut self.bounds {
            None => self.bounds = Some((v, v)),
            Some((low, high)) => {
                if v.total_cmp(low).is_lt() {
                    *low = v;
                }
                if v.total_cmp(high).is_gt() {
                    *high = v;
                }
            }
        }
    }
}
