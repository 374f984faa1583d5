//! A data file's metrics, from the Parquet footer just written and what was counted on the way (Java `ParquetMetrics`).

use std::collections::BTreeMap;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{FieldId, NestedFieldRef, PrimitiveType, Type};
use tarn_format::spec::value::Value;
use tarn_format::spec::value_binary::{decimal_from_bytes, from_bytes, to_bytes};
use tarn_format::spec::value_order::compare;

use super::bounds::{bytes_lower, bytes_upper, text_lower, text_upper};
use super::float_metrics::FloatMetrics;
use super::metrics_mode::{MetricsConfig, MetricsMode};

/// Longest minimum and maximum that the footer keeps, in bytes, where bounds are cut to `length` code points: one more
/// code point, so that it shows whether something was cut.
pub(super) fn footer_bound_bytes(config: &MetricsConfig, schema: &Schema) -> Option<usize> {
    const AT_LEAST: usize = 64;
    let mut longest = AT_LEAST;
    for id in schema.field_ids() {
        match config.mode(id) {
            MetricsMode::Full => return None,
            MetricsMode::Truncate(length) => longest = longest.max(length.checked_add(1)?.checked_mul(4)?),
            MetricsMode::None | MetricsMode::Counts => {}
        }
    }
    Some(longest)
}

/// Fills in row count, column metrics and split offsets.
pub(super) fn fill_in(
    file: &mut DataFile,
    footer: &ParquetMetaData,
    floats: &FloatMetrics,
    schema: &Schema,
    config: &MetricsConfig,
) {
    file.record_count = footer.row_groups().iter().map(|g| g.num_rows()).sum();
    file.split_offsets = split_offsets(footer);
    let chunks = chunks_by_id(footer);
    for (id, chunks) in &chunks {
        if config.mode(*id) != MetricsMode::None {
            let size = chunks.iter().map(|c| c.compressed_size()).sum();
            file.column_sizes.insert(*id, size);
        }
    }
    let mut visitor = Visitor {
        file,
        chunks: &chunks,
        floats,
        config,
    };
    visitor.fields(schema.fields());
}

/// Where row groups begin.
fn split_offsets(footer: &ParquetMetaData) -> Vec<i64> {
    let starts = footer.row_groups().iter().filter_map(|group| {
        let starts = group.columns().iter().map(|c| c.byte_range().0);
        i64::try_from(starts.min()?).ok()
    });
    let mut offsets: Vec<i64> = starts.collect();
    offsets.sort_unstable();
    offsets
}

fn chunks_by_id(footer: &ParquetMetaData) -> BTreeMap<FieldId, Vec<&ColumnChunkMetaData>> {
    let mut chunks: BTreeMap<FieldId, Vec<&ColumnChunkMetaData>> = BTreeMap::new();
    for chunk in footer.row_groups().iter().flat_map(|g| g.columns()) {
        let info = chunk.column_descr().self_type().get_basic_info();
        if info.has_id() {
            chunks.entry(info.id()).or_default().push(chunk);
        }
    }
    chunks
}

struct Visitor<'a> {
    file: &'a mut DataFile,
    chunks: &'a BTreeMap<FieldId, Vec<&'a ColumnChunkMetaData>>,
    floats: &'a FloatMetrics,
    config: &'a MetricsConfig,
}

impl Visitor<'_> {
    /// Structs are entered; what is repeated has no metrics.
    fn fields(&mut self, fields: &[NestedFieldRef]) {
        for field in fields {
            match &field.field_type {
                Type::Primitive(p) => self.primitive(field.id, p),
                Type::Struct(s) => self.fields(&s.fields),
                Type::List(_) | Type::Map(_) | Type::Variant => {}
            }
        }
    }

    fn primitive(&mut self, id: FieldId, p: &PrimitiveType) {
        let mode = self.config.mode(id);
        let Some(chunks) = self.chunks.get(&id).filter(|_| mode != MetricsMode::None) else {
            return;
        };
        let Some(nulls) = null_count(chunks) else { return };
        let values = chunks.iter().map(|c| c.num_values()).sum();
        self.file.value_counts.insert(id, values);
        self.file.null_value_counts.insert(id, nulls);
        if let Some(floats) = self.floats.get(id) {
            self.file.nan_value_counts.insert(id, floats.nan_count);
        }
        let Some(length) = mode.bound_length() else { return };
        if let Some((lower, upper)) = self.bounds(id, p, chunks) {
            if let Some(bytes) = lower_bound(&lower, p, length) {
                self.file.lower_bounds.insert(id, bytes);
            }
            if let Some(bytes) = upper_bound(&upper, p, length) {
                self.file.upper_bounds.insert(id, bytes);
            }
        }
    }

    fn bounds(&self, id: FieldId, p: &PrimitiveType, chunks: &[&ColumnChunkMetaData]) -> Option<(Value, Value)> {
        match p {
            PrimitiveType::Float => {
                let (low, high) = self.floats.get(id)?.bounds?;
                Some((Value::Float(low as f32), Value::Float(high as f32)))
            }
            PrimitiveType::Double => {
                let (low, high) = self.floats.get(id)?.bounds?;
                Some((Value::Double(low), Value::Double(high)))
            }
            // The order of WKB says nothing about places.
            PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. } | PrimitiveType::Unknown => None,
            _ => footer_bounds(p, chunks),
        }
    }
}

fn null_count(chunks: &[&ColumnChunkMetaData]) -> Option<i64> {
    let counts = chunks.iter().map(|c| c.statistics()?.null_count_opt());
    let nulls: Option<u64> = counts.sum();
    i64::try_from(nulls?).ok()
}

fn footer_bounds(p: &PrimitiveType, chunks: &[&ColumnChunkMetaData]) -> Option<(Value, Value)> {
    let mut bounds: Option<(Value, Value)> = None;
    for chunk in chunks {
        let statistics = chunk.statistics()?;
        let all_null = i64::try_from(statistics.null_count_opt()?).ok()? == chunk.num_values();
        let (Some(min), Some(max)) = (statistics.min_bytes_opt(), statistics.max_bytes_opt()) else {
            // Without values there is nothing to bound; otherwise the bounds are not known.
            if all_null {
                continue;
            }
            return None;
        };
        let (min, max) = (footer_value(min, p)?, footer_value(max, p)?);
        bounds = Some(match bounds {
            None => (min, max),
            Some((low, high)) => (
                if compare(&min, &low, p).is_lt() { min } else { low },
                if compare(&max, &high, p).is_gt() { max } else { high },
            ),
        });
    }
    bounds
}

/// Parquet's plain encoding is Iceberg's, but for decimals in integers.
fn footer_value(bytes: &[u8], p: &PrimitiveType) -> Option<Value> {
    match (p, bytes.len()) {
        (PrimitiveType::Decimal { precision: 0..=9, .. }, 4) => {
            Some(Value::Decimal(i32::from_le_bytes(bytes.try_into().ok()?).into()))
        }
        (PrimitiveType::Decimal { precision: 10..=18, .. }, 8) => {
            Some(Value::Decimal(i64::from_le_bytes(bytes.try_into().ok()?).into()))
        }
        (PrimitiveType::Decimal { .. }, _) => decimal_from_bytes(bytes).map(Value::Decimal),
        _ => from_bytes(bytes, p).ok(),
    }
}

pub(super) fn lower_bound(value: &Value, p: &PrimitiveType, length: usize) -> Option<Vec<u8>> {
    match (p, value) {
        (PrimitiveType::String, Value::String(s)) => Some(text_lower(s, length).as_bytes().to_vec()),
        (PrimitiveType::Binary, Value::Binary(b)) => Some(bytes_lower(b, length).to_vec()),
        _ => to_bytes(value, p).ok(),
    }
}

pub(super) fn upper_bound(value: &Value, p: &PrimitiveType, length: usize) -> Option<Vec<u8>> {
    match (p, value) {
        (PrimitiveType::String, Value::String(s)) => text_upper(s, length).map(String::into_bytes),
        (PrimitiveType::Binary, Value::Binary(b)) => bytes_upper(b, length),
        _ => to_bytes(value, p).ok(),
    }
}
