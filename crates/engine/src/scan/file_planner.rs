//! Planners of files with deletes: they load them first, and look for deleted rows in what is read.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::error::Result;
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

use super::deleted_rows::DeletedRowsFilter;

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

/// A planner whose batches are filtered.
#[derive(Debug)]
pub(super) struct FilteredPlanner {
    inner: Box<dyn MorselPlanner>,
    filter: Arc<DeletedRowsFilter>,
}

impl FilteredPlanner {
    pub(super) fn new(inner: Box<dyn MorselPlanner>, filter: Arc<DeletedRowsFilter>) -> Self {
        FilteredPlanner { inner, filter }
    }

    fn boxed(inner: Box<dyn MorselPlanner>, filter: &Arc<DeletedRowsFilter>) -> Box<dyn MorselPlanner> {
        Box::new(FilteredPlanner::new(inner, Arc::clone(filter)))
    }
}

impl MorselPlanner for FilteredPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let filter = self.filter;
        let Some(mut plan) = self.inner.plan()? else {
            return Ok(None);
        };
        let morsel = |inner| -> Box<dyn Morsel> {
            Box::new(FilteredMorsel {
                inner,
                filter: Arc::clone(&filter),
            })
        };
        let morsels = plan.take_morsels().into_iter().map(morsel).collect();
        let planners = plan.take_ready_planners().into_iter();
        let planners = planners.map(|planner| Self::boxed(planner, &filter)).collect();
        let mut filtered = MorselPlan::new().with_morsels(morsels).with_planners(planners);
        if let Some(pending) = plan.take_pending_planner() {
            filtered.set_pending_planner(async move { Ok(Self::boxed(pending.await?, &filter)) });
        }
        Ok(Some(filtered))
    }
}

/// A morsel whose batches are filtered.
#[derive(Debug)]
struct FilteredMorsel {
    inner: Box<dyn Morsel>,
    filter: Arc<DeletedRowsFilter>,
}

impl Morsel for FilteredMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        let filter = self.filter;
        let batches = self.inner.into_stream();
        batches.map(move |batch| filter.apply(&batch?)).boxed()
    }
}
