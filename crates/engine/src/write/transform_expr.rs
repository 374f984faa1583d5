//! A partition transform as a physical expression, so that DataFusion distributes and sorts rows by it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use tarn_format::transform::Transform;

use super::partition::TransformedColumn;

/// The transformed values of a column.
#[derive(Debug, Clone)]
pub(super) struct TransformExpr {
    /// The top-level column.
    column: Arc<dyn PhysicalExpr>,
    transformed: TransformedColumn,
}

impl TransformExpr {
    /// The expression over rows of `schema`. An identity transform of a top-level column is that column, so that known
    /// orders and distributions are recognised.
    pub(super) fn create(transformed: TransformedColumn, schema: &Schema) -> Arc<dyn PhysicalExpr> {
        let root = transformed.root();
        let name = schema.fields().get(root).map_or("", |f| f.name().as_str());
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, root));
        if transformed.transform == Transform::Identity && transformed.path.len() == 1 {
            return column;
        }
        Arc::new(TransformExpr { column, transformed })
    }
}

impl PartialEq for TransformExpr {
    fn eq(&self, other: &Self) -> bool {
        self.transformed == other.transformed && self.column.eq(&other.column)
    }
}

impl Eq for TransformExpr {}

impl Hash for TransformExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.transformed.hash(state);
        self.column.hash(state);
    }
}

impl fmt::Display for TransformExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.transformed.transform, self.column)
    }
}

fn external(e: tarn_format::Error) -> DataFusionError {
    DataFusionError::External(Box::new(e))
}

impl PhysicalExpr for TransformExpr {
    fn data_type(&self, _input_schema: &Schema) -> Result<DataType> {
        self.transformed.data_type().map_err(external)
    }

    fn nullable(&self, _input_schema: &Schema) -> Result<bool> {
        Ok(true)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let column = self.column.evaluate(batch)?.into_array(batch.num_rows())?;
        let values = self.transformed.evaluate(&column).map_err(external)?;
        Ok(ColumnarValue::Array(values))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.column]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        match (children.pop(), children.is_empty()) {
            (Some(column), true) => Ok(Arc::new(TransformExpr {
                column,
                transformed: self.transformed.clone(),
            })),
            _ => Err(DataFusionError::Internal("a transform has one child".to_string())),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.transformed.transform)?;
        self.column.fmt_sql(f)?;
        f.write_str(")")
    }
}
