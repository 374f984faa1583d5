//! Planners of files around DataFusion's: some are known only after reading (of deletes), and what is read passes through
//! stages of ours.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

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

/// What the batches of a file pass through, and the errors of reading it.
pub(super) trait BatchStage: fmt::Debug + Send + Sync {
    /// A batch as it goes on.
    fn batch(&self, batch: RecordBatch) -> Result<RecordBatch>;

    /// An error as it goes on.
    fn error(&self, error: DataFusionError) -> DataFusionError {
        error
    }
}

/// A planner whose batches pass through a stage.
#[derive(Debug)]
pub(super) struct StagedPlanner {
    inner: Box<dyn MorselPlanner>,
    stage: Arc<dyn BatchStage>,
}

impl StagedPlanner {
    pub(super) fn new(inner: Box<dyn MorselPlanner>, stage: Arc<dyn BatchStage>) -> Self {
        StagedPlanner { inner, stage }
    }

    fn boxed(inner: Box<dyn MorselPlanner>, stage: &Arc<dyn BatchStage>) -> Box<dyn MorselPlanner> {
        Box::new(StagedPlanner::new(inner, Arc::clone(stage)))
    }
}

impl MorselPlanner for StagedPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let stage = self.stage;
        let Some(mut plan) = self.inner.plan().map_err(|e| stage.error(e))? else {
            return Ok(None);
        };
        let morsel = |inner| -> Box<dyn Morsel> {
            Box::new(StagedMorsel {
                inner,
                stage: Arc::clone(&stage),
            })
        };
        let morsels = plan.take_morsels().into_iter().map(morsel).collect();
        let planners = plan.take_ready_planners().into_iter();
        let planners = planners.map(|planner| Self::boxed(planner, &stage)).collect();
        let mut staged = MorselPlan::new().with_morsels(morsels).with_planners(planners);
        if let Some(pending) = plan.take_pending_planner() {
            staged.set_pending_planner(async move {
                let planner = pending.await.map_err(|e| stage.error(e))?;
                Ok(Self::boxed(planner, &stage))
            });
        }
        Ok(Some(staged))
    }
}

/// A morsel whose batches pass through a stage.
#[derive(Debug)]
struct StagedMorsel {
    inner: Box<dyn Morsel>,
    stage: Arc<dyn BatchStage>,
}

impl Morsel for StagedMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        let stage = self.stage;
        let batches = self.inner.into_stream();
        let staged = batches.map(move |batch| batch.and_then(|b| stage.batch(b)).map_err(|e| stage.error(e)));
        staged.boxed()
    }
}
