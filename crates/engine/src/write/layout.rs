//! How rows must arrive at the writers: brought together and sorted so that files are few.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::Schema as ArrowSchema;
use datafusion::physical_expr::{
    Distribution, LexOrdering, LexRequirement, OrderingRequirements, PhysicalExpr, PhysicalSortExpr,
};
use tarn_format::Result;
use tarn_format::spec::sort::{NullOrder, SortDirection};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::transform::Transform;

use super::options::{DistributionMode, OpenFiles, TableLayout, WriteOptions};
use super::partition::{TransformedColumn, partition_columns};
use super::transform_expr::TransformExpr;

/// What a write asks of its input.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(super) distribution: Distribution,
    pub(super) ordering: Option<LexOrdering>,
}

impl Layout {
    /// What the table's spec, order and options ask for. `input` is the schema of the rows, the table's columns in order.
    ///
    /// Rows of one partition meet in one writer unless `write.distribution-mode` is `none`; each writer then sees them
    /// partition by partition (or holds a file open for each), in the table's sort order.
    pub(crate) fn new(metadata: &TableMetadata, options: &WriteOptions, input: &ArrowSchema) -> Result<Self> {
        if options.layout == TableLayout::Ignored {
            return Ok(Layout {
                distribution: Distribution::UnspecifiedDistribution,
                ordering: None,
            });
        }
        let schema = metadata.current_schema();
        let spec = options.spec(metadata);
        let mut keys: Vec<Arc<dyn PhysicalExpr>> = Vec::new();
        for column in partition_columns(spec, schema)? {
            if column.transform != Transform::Void {
                keys.push(TransformExpr::create(column, input));
            }
        }
        let mut order: Vec<PhysicalSortExpr> = Vec::new();
        if options.open_files == OpenFiles::Clustered {
            let ascending = SortOptions {
                descending: false,
                nulls_first: true,
            };
            order.extend(keys.iter().map(|key| PhysicalSortExpr::new(Arc::clone(key), ascending)));
        }
        let sort = &metadata.default_sort_order().fields;
        for field in sort {
            let column = TransformedColumn::new(schema, &field.source_ids, &field.transform)?;
            let direction = SortOptions {
                descending: field.direction == SortDirection::Desc,
                nulls_first: field.null_order == NullOrder::First,
            };
            order.push(PhysicalSortExpr::new(TransformExpr::create(column, input), direction));
        }
        let mode = options
            .distribution
            .unwrap_or(match (keys.is_empty(), sort.is_empty()) {
                (false, _) => DistributionMode::Hash,
                (true, false) => DistributionMode::Range,
                (true, true) => DistributionMode::None,
            });
        let distribution = match mode {
            DistributionMode::Hash | DistributionMode::Range if !keys.is_empty() => Distribution::KeyPartitioned(keys),
            DistributionMode::Range if !sort.is_empty() => Distribution::SinglePartition,
            _ => Distribution::UnspecifiedDistribution,
        };
        Ok(Layout {
            distribution,
            ordering: LexOrdering::new(order),
        })
    }

    /// The order as plan nodes ask for it.
    pub(super) fn required_ordering(&self) -> Option<OrderingRequirements> {
        let order = self.ordering.clone()?;
        Some(OrderingRequirements::new(LexRequirement::from(order)))
    }
}
