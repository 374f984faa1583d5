//! Whether the rows of a scan are so few that other columns are better decoded for these alone.
//!
//! Filtering while decoding costs time for every run of rows that is left out; it pays where next to nothing is kept, as
//! when a row is looked up by its key.

use std::sync::Arc;

use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Statistics};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::intervals::utils::check_support;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{AnalysisContext, ExprBoundaries, PhysicalExpr, analyze, conjunction};

/// Filtering while decoding pays below this part of the rows.
const FEW: f64 = 0.005;

/// Whether filters keep few rows, as far as the bounds of columns tell: values are taken to lie evenly between these.
/// `statistics` are of the columns of `schema`, `columns` is how many are read. Filters that bounds tell nothing of, such as
/// those of texts, are taken to keep every row.
pub(super) fn keeps_few_rows(
    state: &dyn Session,
    filters: &[Expr],
    (schema, statistics): (&ArrowSchemaRef, &Statistics),
    columns: usize,
) -> bool {
    if filters.is_empty() {
        return false;
    }
    let Ok(named) = DFSchema::try_from(schema.as_ref().clone()) else {
        return false;
    };
    let filters = filters.iter().filter_map(|filter| {
        let filter = state.create_physical_expr(filter.clone(), &named).ok()?;
        check_support(&filter, schema).then_some(filter)
    });
    let filter = conjunction(filters.collect::<Vec<_>>());
    let filtered = collect_columns(&filter).len();
    if filtered == 0 || filtered >= columns {
        return false;
    }
    kept_part(&filter, schema, statistics).is_some_and(|part| part < FEW)
}

/// The part of all rows that a filter keeps, between 0 and 1; `None` where it cannot be told.
fn kept_part(filter: &Arc<dyn PhysicalExpr>, schema: &ArrowSchemaRef, statistics: &Statistics) -> Option<f64> {
    let mut bounds = Vec::new();
    for column in collect_columns(filter) {
        let known = statistics.column_statistics.get(column.index())?;
        bounds.push(ExprBoundaries::try_from_column(schema, known, column.index()).ok()?);
    }
    analyze(filter, AnalysisContext::new(bounds), schema).ok()?.selectivity
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::stats::Precision;
    use datafusion::common::{ColumnStatistics, ScalarValue};
    use datafusion::logical_expr::{col, lit};
    use datafusion::prelude::SessionContext;

    use super::*;

    /// `id` from 1 to 100,000, `day` of four years, `name` between two letters, `free` without bounds.
    fn few(filters: &[Expr], columns: usize) -> bool {
        let field = |name, data_type| Field::new(name, data_type, true);
        let schema: ArrowSchemaRef = Arc::new(Schema::new(vec![
            field("id", DataType::Int64),
            field("day", DataType::Date32),
            field("name", DataType::Utf8),
            field("free", DataType::Int64),
        ]));
        let between = |min: ScalarValue, max: ScalarValue| ColumnStatistics {
            min_value: Precision::Inexact(min),
            max_value: Precision::Inexact(max),
            ..ColumnStatistics::new_unknown()
        };
        let statistics = Statistics {
            num_rows: Precision::Exact(100_000),
            total_byte_size: Precision::Absent,
            column_statistics: vec![
                between(ScalarValue::from(1_i64), ScalarValue::from(100_000_i64)),
                between(ScalarValue::Date32(Some(10_000)), ScalarValue::Date32(Some(11_460))),
                between(ScalarValue::from("a"), ScalarValue::from("z")),
                ColumnStatistics::new_unknown(),
            ],
        };
        let state = SessionContext::new().state();
        keeps_few_rows(&state, filters, (&schema, &statistics), columns)
    }

    fn day(days: i32) -> Expr {
        lit(ScalarValue::Date32(Some(days)))
    }

    #[test]
    fn keys_and_narrow_ranges_keep_few_rows() {
        assert!(few(&[col("id").eq(lit(7_i64))], 4));
        assert!(few(&[col("id").gt(lit(10_i64)), col("id").lt(lit(90_i64))], 4));
        assert!(few(&[col("day").eq(day(10_100))], 4));
        // What is known of one column is enough.
        assert!(few(
            &[
                col("id").eq(lit(7_i64)),
                col("name").eq(lit("k")),
                col("free").eq(lit(1_i64))
            ],
            4
        ));
        // Outside of the bounds there is nothing.
        assert!(few(&[col("id").eq(lit(700_000_i64))], 4));
    }

    #[test]
    fn wide_ranges_and_what_bounds_do_not_tell_keep_every_row() {
        assert!(!few(&[], 4));
        assert!(!few(&[col("id").gt(lit(10_i64))], 4));
        assert!(!few(&[col("day").gt_eq(day(10_100)), col("day").lt(day(10_465))], 4));
        assert!(!few(&[col("name").eq(lit("k"))], 4));
        assert!(!few(&[col("free").eq(lit(1_i64))], 4));
        assert!(!few(&[col("missing").eq(lit(1_i64))], 4));
        // Nothing else is read.
        assert!(!few(&[col("id").eq(lit(7_i64))], 1));
    }
}
