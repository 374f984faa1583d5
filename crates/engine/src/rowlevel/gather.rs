//! Reads streams to their end, keeping what they give in memory as long as it is little.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{EmptyRecordBatchStream, ExecutionPlan};
use futures::{StreamExt, stream};
use tokio::task::JoinSet;

/// What streams gave.
pub(super) enum Gathered {
    /// Everything.
    All(Vec<RecordBatch>),
    /// More than was to be kept: the streams from their beginning.
    More(Vec<SendableRecordBatchStream>),
}

/// Reads all streams at once, until they have given more than so many bytes.
pub(super) async fn gather(streams: Vec<SendableRecordBatchStream>, limit_bytes: usize) -> Result<Gathered> {
    let total = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for stream in streams {
        tasks.spawn(read(stream, Arc::clone(&total), limit_bytes));
    }
    let mut parts = Vec::new();
    while let Some(joined) = tasks.join_next().await {
        match joined
            .map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))
            .flatten()
        {
            Ok(part) => parts.push(part),
            Err(e) => {
                tasks.shutdown().await;
                return Err(e);
            }
        }
    }
    if parts.iter().all(|(_, rest)| rest.is_none()) {
        return Ok(Gathered::All(
            parts.into_iter().flat_map(|(batches, _)| batches).collect(),
        ));
    }
    Ok(Gathered::More(parts.into_iter().filter_map(again).collect()))
}

type Part = (Vec<RecordBatch>, Option<SendableRecordBatchStream>);

async fn read(mut stream: SendableRecordBatchStream, total: Arc<AtomicUsize>, limit_bytes: usize) -> Result<Part> {
    let mut batches = Vec::new();
    loop {
        if total.load(Ordering::Relaxed) > limit_bytes {
            return Ok((batches, Some(stream)));
        }
        match stream.next().await {
            None => return Ok((batches, None)),
            Some(batch) => {
                let batch = batch?;
                total.fetch_add(batch.get_array_memory_size(), Ordering::Relaxed);
                batches.push(batch);
            }
        }
    }
}

fn again((batches, rest): Part) -> Option<SendableRecordBatchStream> {
    let schema = rest
        .as_ref()
        .map(|r| r.schema())
        .or_else(|| Some(batches.first()?.schema()))?;
    let rest = rest.unwrap_or_else(|| Box::pin(EmptyRecordBatchStream::new(Arc::clone(&schema))));
    let all = stream::iter(batches.into_iter().map(Ok)).chain(rest);
    Some(Box::pin(RecordBatchStreamAdapter::new(schema, all)))
}

/// A plan that gives these streams, once.
pub(super) fn plan_of(
    schema: &ArrowSchemaRef,
    streams: Vec<SendableRecordBatchStream>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let ready = |stream| -> Arc<dyn PartitionStream> {
        Arc::new(Ready {
            schema: Arc::clone(schema),
            stream: Mutex::new(Some(stream)),
        })
    };
    let partitions = streams.into_iter().map(ready).collect();
    let plan = StreamingTableExec::try_new(Arc::clone(schema), partitions, None, [], false, None)?;
    Ok(Arc::new(plan))
}

/// A stream that is there already.
struct Ready {
    schema: ArrowSchemaRef,
    stream: Mutex<Option<SendableRecordBatchStream>>,
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}

impl PartitionStream for Ready {
    fn schema(&self) -> &ArrowSchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let taken = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.unwrap_or_else(|| {
            let error = DataFusionError::Internal("the rows of a statement were read before".to_string());
            let schema = Arc::clone(&self.schema);
            Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter([Err(error)])))
        })
    }
}
