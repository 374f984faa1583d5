//! Parquet files of no table count no NaNs, so every floating-point column may hold some: see [`NanGuard`].

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr_adapter::{
    DefaultPhysicalExprAdapterFactory, PhysicalExprAdapter, PhysicalExprAdapterFactory,
};

use crate::scan::nan_guard::NanGuard;

/// DataFusion's matching by name, with floating-point columns hidden from pruning.
#[derive(Debug)]
pub(super) struct GuardedFactory;

impl PhysicalExprAdapterFactory for GuardedFactory {
    fn create(&self, logical: SchemaRef, physical: SchemaRef) -> Result<Arc<dyn PhysicalExprAdapter>> {
        let inner = DefaultPhysicalExprAdapterFactory.create(logical, Arc::clone(&physical))?;
        Ok(Arc::new(Guarded { inner, physical }))
    }
}

#[derive(Debug)]
struct Guarded {
    inner: Arc<dyn PhysicalExprAdapter>,
    physical: SchemaRef,
}

impl PhysicalExprAdapter for Guarded {
    fn rewrite(&self, expr: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        let adapted = self.inner.rewrite(expr)?;
        if adapted.is::<Column>() {
            return Ok(adapted);
        }
        adapted
            .transform(|e| {
                let is_floating = e.is::<Column>() && e.data_type(&self.physical)?.is_floating();
                Ok(match is_floating {
                    true => Transformed::yes(Arc::new(NanGuard::new(e)) as _),
                    false => Transformed::no(e),
                })
            })
            .data()
    }
}
