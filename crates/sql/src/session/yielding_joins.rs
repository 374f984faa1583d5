//! Joins that let others run, so that a query can be cancelled.
//!
//! DataFusion makes sources and exchanges give way. A join makes many batches of one that its source gave: joins of small
//! tables would run to their end in one go, and Ctrl-C would wait for it.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};

/// The rule; to be applied behind DataFusion's.
#[derive(Debug)]
pub(super) struct YieldingJoins;

impl PhysicalOptimizerRule for YieldingJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let yielding = plan.transform_up(|node| {
            let multiplies = node.is::<CrossJoinExec>()
                || node.is::<NestedLoopJoinExec>()
                || node.is::<HashJoinExec>()
                || node.is::<SortMergeJoinExec>();
            Ok(match multiplies {
                true => Transformed::yes(Arc::new(CooperativeExec::new(node)) as Arc<dyn ExecutionPlan>),
                false => Transformed::no(node),
            })
        });
        yielding.data()
    }

    fn name(&self) -> &'static str {
        "YieldingJoins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
