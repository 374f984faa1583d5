//! Whether a chunk's own statistics give the metrics that the chunk would have if it was written anew.

use std::collections::BTreeMap;

use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::EnabledStatistics;
use parquet::file::statistics::Statistics;
use tarn_format::spec::types::{FieldId, NestedFieldRef, PrimitiveType, Type};

use super::super::metrics_mode::MetricsMode;
use super::super::parquet_file::ParquetFiles;

/// Writers whose statistics are whole although they do not say so.
const NEVER_TRUNCATES: &str = "parquet-mr";

/// What metrics of a column are made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricSource {
    /// None are kept.
    Nothing,
    /// Counts.
    Counts,
    /// Counts and bounds of at most so many code points or bytes.
    Bounds(usize),
    /// Values of floating point: bounds and NaN counts are taken while they are written.
    Values,
}

/// What is needed of each column, by field id. Columns that are not there need nothing.
#[derive(Debug, Default)]
pub(super) struct NeededStatistics {
    columns: BTreeMap<FieldId, MetricSource>,
}

impl NeededStatistics {
    pub(super) fn new(files: &ParquetFiles) -> Self {
        let mut needed = NeededStatistics::default();
        needed.fields(files.schema.fields(), files);
        // Where the writer keeps no statistics there are no metrics.
        for column in files.parquet.columns() {
            let info = column.self_type().get_basic_info();
            if info.has_id() && files.properties.statistics_enabled(column.path()) == EnabledStatistics::None {
                needed.columns.remove(&info.id());
            }
        }
        needed
    }

    /// Lists and maps have no metrics.
    fn fields(&mut self, fields: &[NestedFieldRef], files: &ParquetFiles) {
        for field in fields {
            match &field.field_type {
                Type::Primitive(p) => {
                    let source = source(p, files.metrics.mode(field.id));
                    self.columns.insert(field.id, source);
                }
                Type::Struct(s) => self.fields(&s.fields, files),
                Type::List(_) | Type::Map(_) | Type::Variant => {}
            }
        }
    }

    pub(super) fn of_chunk(&self, chunk: &ColumnChunkMetaData) -> MetricSource {
        let info = chunk.column_descr().self_type().get_basic_info();
        let known = info.has_id().then(|| self.columns.get(&info.id()));
        known.flatten().copied().unwrap_or(MetricSource::Nothing)
    }
}

fn source(p: &PrimitiveType, mode: MetricsMode) -> MetricSource {
    match (p, mode) {
        (_, MetricsMode::None) => MetricSource::Nothing,
        (PrimitiveType::Float | PrimitiveType::Double, _) => MetricSource::Values,
        // The order of WKB says nothing about places.
        (PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. }, _) => MetricSource::Counts,
        (_, mode) => mode.bound_length().map_or(MetricSource::Counts, MetricSource::Bounds),
    }
}

/// Whether the chunk's statistics are what a copy of it needs.
pub(super) fn suffice(chunk: &ColumnChunkMetaData, source: MetricSource, created_by: Option<&str>) -> bool {
    let Some(statistics) = chunk.statistics() else {
        return source == MetricSource::Nothing;
    };
    if statistics.is_min_max_deprecated() {
        // Their order is not known, and the new file's footer would say it is.
        return false;
    }
    let length = match source {
        MetricSource::Nothing => return true,
        MetricSource::Counts | MetricSource::Values => return statistics.null_count_opt().is_some(),
        MetricSource::Bounds(length) => length,
    };
    let Some(nulls) = statistics.null_count_opt() else {
        return false;
    };
    if i64::try_from(nulls) == Ok(chunk.num_values()) {
        return true;
    }
    let (Some(min), Some(max)) = (statistics.min_bytes_opt(), statistics.max_bytes_opt()) else {
        return false;
    };
    is_whole(chunk, statistics, created_by) || min.len().min(max.len()) >= code_points_bytes(length)
}

/// Whether minimum and maximum are values of the chunk, not cut ones.
fn is_whole(chunk: &ColumnChunkMetaData, statistics: &Statistics, created_by: Option<&str>) -> bool {
    let may_be_cut = matches!(
        chunk.column_type(),
        PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY
    );
    let says_so = statistics.min_is_exact() && statistics.max_is_exact();
    let fixed = usize::try_from(chunk.column_descr().type_length()).unwrap_or(0);
    let full = |bytes: Option<&[u8]>| bytes.is_some_and(|b| b.len() == fixed);
    let is_full = chunk.column_type() == PhysicalType::FIXED_LEN_BYTE_ARRAY
        && full(statistics.min_bytes_opt())
        && full(statistics.max_bytes_opt());
    !may_be_cut || says_so || is_full || created_by.is_some_and(|by| by.starts_with(NEVER_TRUNCATES))
}

/// Bytes in which so many code points, and one more, find room.
fn code_points_bytes(length: usize) -> usize {
    length.saturating_add(1).saturating_mul(4)
}
