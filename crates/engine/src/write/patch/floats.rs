//! NaN counts and bounds of floating-point columns that are copied: from the table's metrics and the footer where those
//! tell all, else from the values.

use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use tarn_format::scan::FileScanTask;

use super::super::float_metrics::FloatColumn;

/// What is known of a chunk without reading it. The footer neither counts NaN nor keeps the sign of zero.
pub(super) fn known(chunk: &ColumnChunkMetaData, task: &FileScanTask) -> Option<FloatColumn> {
    let statistics = chunk.statistics()?;
    let nulls = i64::try_from(statistics.null_count_opt()?).ok()?;
    if nulls == chunk.num_values() {
        return Some(FloatColumn {
            nan_count: 0,
            bounds: None,
        });
    }
    let info = chunk.column_descr().self_type().get_basic_info();
    if !info.has_id() || task.statistics(info.id())?.nan_count()? != 0 {
        return None;
    }
    let (low, high) = match statistics {
        Statistics::Float(s) => (f64::from(*s.min_opt()?), f64::from(*s.max_opt()?)),
        Statistics::Double(s) => (*s.min_opt()?, *s.max_opt()?),
        _ => return None,
    };
    let tells = |bound: f64| bound != 0.0 && !bound.is_nan();
    (tells(low) && tells(high)).then_some(FloatColumn {
        nan_count: 0,
        bounds: Some((low, high)),
    })
}
