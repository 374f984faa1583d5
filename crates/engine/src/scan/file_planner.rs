//! Planners of files whose deletes are loaded first.

use std::fmt;

use datafusion::error::Result;
use datafusion_datasource::morsel::{MorselPlan, MorselPlanner};
use futures::FutureExt;
use futures::future::BoxFuture;

/// A planner that is only known after some reading.
pub(super) struct DeferredPlanner {
    planner: BoxFuture<'static, Result<Box<dyn MorselPlanner>>>,
}

impl DeferredPlanner {
    pub(super) fn new(planner: impl Future<Output = Result<Box<dyn MorselPlanner>>> + Send + 'static) -> Self {
        DeferredPlanner {
            planner: planner.boxed(),
        }
    }
}

impl fmt::Debug for DeferredPlanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferredPlanner").finish_non_exhaustive()
    }
}

impl MorselPlanner for DeferredPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        Ok(Some(MorselPlan::new().with_pending_planner(self.planner)))
    }
}
