//! The columns of Parquet files of no table. They count no NaNs, so every floating-point column may hold some: see
//! [`NanGuard`]. And children of their structs may be required: see [`Nullable`].

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr_adapter::{
    DefaultPhysicalExprAdapterFactory, PhysicalExprAdapter, PhysicalExprAdapterFactory,
};

use super::nullable::{Nullable, all_nullable};
use crate::scan::nan_guard::NanGuard;

/// DataFusion's matching by name, with floating-point columns hidden from pruning.
#[derive(Debug)]
pub(super) struct GuardedFactory;

impl PhysicalExprAdapterFactory for GuardedFactory {
    fn create(&self, logical: SchemaRef, physical: SchemaRef) -> Result<Arc<dyn PhysicalExprAdapter>> {
        let inner = DefaultPhysicalExprAdapterFactory.create(logical, all_nullable(&physical))?;
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
        // A projected column is no comparison.
        let compared = !adapted.is::<Column>();
        adapted
            .transform_up(|e| {
                if !e.is::<Column>() {
                    return Ok(Transformed::no(e));
                }
                let stored = e.data_type(&self.physical)?;
                Ok(match Nullable::of(&e, &stored) {
                    Some(nullable) => Transformed::yes(Arc::new(nullable) as _),
                    None if compared && stored.is_floating() => Transformed::yes(Arc::new(NanGuard::new(e)) as _),
                    None => Transformed::no(e),
                })
            })
            .data()
    }
}
