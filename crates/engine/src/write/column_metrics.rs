//! Metrics of columns that are gathered from rows while they are written, where a format's library gives none (Java:
//! `OrcMetrics`).

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::error::ArrowError;
use datafusion::error::Result as EngineResult;
use datafusion::functions_aggregate::min_max::{MaxAccumulator, MinAccumulator};
use datafusion::logical_expr::Accumulator;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::types::{FieldId, PrimitiveType};
use tarn_format::spec::value::Value;

use super::float_metrics::FloatMetrics;
use super::metrics::{lower_bound, upper_bound};
use super::metrics_mode::{MetricsConfig, MetricsMode};
use crate::arrow::parent_nulls::masked_child;
use crate::arrow::value::from_scalar;

/// What is known of the columns so far.
#[derive(Debug)]
pub(super) struct ColumnMetrics {
    columns: Vec<Column>,
    floats: FloatMetrics,
    rows: usize,
}

#[derive(Debug)]
struct Column {
    id: FieldId,
    primitive: PrimitiveType,
    /// Its place among the rows' columns, then in the structs it is in.
    way: Vec<usize>,
    nulls: usize,
    /// Of columns whose bounds are told, once there are rows.
    bounds: Option<Bounds>,
}

#[derive(Debug)]
struct Bounds {
    least: MinAccumulator,
    greatest: MaxAccumulator,
}

impl Bounds {
    fn update(&mut self, array: &ArrayRef) -> EngineResult<()> {
        let values = std::slice::from_ref(array);
        self.least.update_batch(values)?;
        self.greatest.update_batch(values)
    }
}

impl ColumnMetrics {
    /// Of columns with the way to each: its place among the rows' columns, then in the structs that it is in.
    pub(super) fn new(columns: Vec<(FieldId, PrimitiveType, Vec<usize>)>) -> Self {
        let columns = columns.into_iter().map(|(id, primitive, way)| Column {
            id,
            primitive,
            way,
            nulls: 0,
            bounds: None,
        });
        ColumnMetrics {
            columns: columns.collect(),
            floats: FloatMetrics::default(),
            rows: 0,
        }
    }

    /// Takes the rows of a batch in.
    pub(super) fn update(&mut self, batch: &RecordBatch) -> EngineResult<()> {
        self.floats.update(batch);
        self.rows += batch.num_rows();
        for column in &mut self.columns {
            let Some(array) = array_at(batch, &column.way)? else {
                continue;
            };
            column.nulls += array.null_count();
            if !has_bounds(&column.primitive) {
                continue;
            }
            let bounds = match &mut column.bounds {
                Some(bounds) => bounds,
                none => none.insert(Bounds {
                    least: MinAccumulator::try_new(array.data_type())?,
                    greatest: MaxAccumulator::try_new(array.data_type())?,
                }),
            };
            bounds.update(&array)?;
        }
        Ok(())
    }

    /// Fills in counts and bounds.
    pub(super) fn fill_in(&mut self, file: &mut DataFile, config: &MetricsConfig) {
        for column in &mut self.columns {
            let mode = config.mode(column.id);
            if mode == MetricsMode::None {
                continue;
            }
            file.value_counts.insert(column.id, self.rows as i64);
            file.null_value_counts.insert(column.id, column.nulls as i64);
            if let Some(floats) = self.floats.get(column.id) {
                file.nan_value_counts.insert(column.id, floats.nan_count);
            }
            let (Some(length), Some((low, high))) = (mode.bound_length(), bounds(column, &self.floats)) else {
                continue;
            };
            let lower = lower_bound(&low, &column.primitive, length);
            let upper = upper_bound(&high, &column.primitive, length);
            file.lower_bounds.extend(lower.map(|bytes| (column.id, bytes)));
            file.upper_bounds.extend(upper.map(|bytes| (column.id, bytes)));
        }
    }
}

/// The array at the end of the way, null where a struct around it is.
fn array_at(batch: &RecordBatch, way: &[usize]) -> Result<Option<ArrayRef>, ArrowError> {
    let Some((first, rest)) = way.split_first() else {
        return Ok(None);
    };
    let mut found = batch.columns().get(*first).cloned();
    for index in rest {
        let child = found.as_ref().and_then(|a| masked_child(a.as_struct_opt()?, *index));
        found = child.transpose()?;
    }
    Ok(found)
}

/// Least and greatest value; `None` when there is none or they are not told.
fn bounds(column: &mut Column, floats: &FloatMetrics) -> Option<(Value, Value)> {
    match column.primitive {
        PrimitiveType::Float => {
            let (low, high) = floats.get(column.id)?.bounds?;
            Some((Value::Float(low as f32), Value::Float(high as f32)))
        }
        PrimitiveType::Double => {
            let (low, high) = floats.get(column.id)?.bounds?;
            Some((Value::Double(low), Value::Double(high)))
        }
        _ => {
            let bounds = column.bounds.as_mut()?;
            let low = from_scalar(&bounds.least.evaluate().ok()?, &column.primitive)?;
            let high = from_scalar(&bounds.greatest.evaluate().ok()?, &column.primitive)?;
            Some((low, high))
        }
    }
}

/// Whether bounds are told: of bytes Java tells none, and those of floating-point numbers are gathered apart.
fn has_bounds(primitive: &PrimitiveType) -> bool {
    use PrimitiveType as P;
    !matches!(
        primitive,
        P::Float
            | P::Double
            | P::Uuid
            | P::Fixed(_)
            | P::Binary
            | P::Unknown
            | P::Geometry { .. }
            | P::Geography { .. }
    )
}
