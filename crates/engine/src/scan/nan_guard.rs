//! Floating-point columns that may hold NaN, hidden from pruning by Parquet's own statistics.
//!
//! Parquet's minimum and maximum leave NaN out, but in comparisons NaN is greater than every number. A row group of 1.5
//! and NaN says that its maximum is 1.5: pruning by it would lose rows for `d > 2`, and take all rows to fulfil `d < 2`.
//! Manifests count NaNs; where they count none, pruning stays possible.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, Schema as ArrowSchema};
use arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;

/// A value that is its input's and that pruning cannot look through.
#[derive(Debug, Clone)]
pub(crate) struct NanGuard {
    input: Arc<dyn PhysicalExpr>,
}

impl NanGuard {
    pub(crate) fn new(input: Arc<dyn PhysicalExpr>) -> Self {
        NanGuard { input }
    }
}

impl PartialEq for NanGuard {
    fn eq(&self, other: &Self) -> bool {
        self.input.eq(&other.input)
    }
}

impl Eq for NanGuard {}

impl Hash for NanGuard {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.input.hash(state);
    }
}

impl fmt::Display for NanGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "maybe_nan({})", self.input)
    }
}

impl PhysicalExpr for NanGuard {
    fn data_type(&self, input_schema: &ArrowSchema) -> Result<DataType> {
        self.input.data_type(input_schema)
    }

    fn nullable(&self, input_schema: &ArrowSchema) -> Result<bool> {
        self.input.nullable(input_schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.input.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.input]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        let [input] = <[Arc<dyn PhysicalExpr>; 1]>::try_from(children)
            .map_err(|_| DataFusionError::Internal("one child was expected".to_string()))?;
        Ok(Arc::new(NanGuard { input }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.input.fmt_sql(f)
    }
}
