//! Writes the streams of a plan into data files, in parallel.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use tarn_format::io::file_names::DataFileNames;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::schema::SchemaRef;
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::task::JoinSet;

use super::conform::Conform;
use super::options::OpenFiles;
use super::rolling::WriteContext;
use super::writer::TaskWriter;
use crate::external;

/// Rows after which a second shared writer begins; each further one waits for twice as many as the one before, so that
/// files stay few where rows are.
const ROWS_FOR_SECOND_WRITER: usize = 64 * 1024;

/// Batches that wait for a free writer.
const QUEUED_BATCHES: usize = 4;

/// How streams and writers are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairing {
    /// Each stream has its writer: their order or distribution counts.
    OneToOne,
    /// Rows may go into any file: as many writers as there is work for, at most this many.
    Shared(usize),
}

/// What every writer needs.
#[derive(Debug, Clone)]
pub(super) struct TableWrite {
    pub(super) context: Arc<WriteContext>,
    /// The table as errors name it.
    pub(super) table: Arc<str>,
    pub(super) conform: Conform,
    pub(super) schema: SchemaRef,
    pub(super) open_files: OpenFiles,
    /// Unique to the statement; part of file names.
    pub(super) operation_id: String,
}

impl TableWrite {
    /// Writes all rows and returns the files. After an error or when dropped, all work has stopped or will at once.
    pub(super) async fn run(&self, streams: Vec<SendableRecordBatchStream>, pairing: Pairing) -> Result<Vec<DataFile>> {
        let mut tasks: JoinSet<Result<Vec<DataFile>>> = JoinSet::new();
        match pairing {
            Pairing::OneToOne => {
                for (task, stream) in streams.into_iter().enumerate() {
                    let (writer, table) = (self.writer(task)?, Arc::clone(&self.table));
                    tasks.spawn(write_stream(writer, stream, table));
                }
            }
            Pairing::Shared(writers) => self.spawn_shared(&mut tasks, streams, writers),
        }
        let mut files = Vec::new();
        while let Some(joined) = tasks.join_next().await {
            match joined
                .map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))
                .flatten()
            {
                Ok(written) => files.extend(written),
                Err(e) => {
                    tasks.shutdown().await;
                    return Err(e);
                }
            }
        }
        files.sort_by(|a, b| a.file_path.cmp(&b.file_path));
        Ok(files)
    }

    fn writer(&self, task: usize) -> Result<TaskWriter> {
        let partition = u32::try_from(task).unwrap_or(u32::MAX);
        let names = DataFileNames::new(partition, task as u64, self.operation_id.clone());
        let (context, conform) = (Arc::clone(&self.context), self.conform.clone());
        let writer = TaskWriter::new(context, conform, names, &self.schema, self.open_files);
        writer.map_err(|e| of_table(e, &self.table))
    }

    fn spawn_shared(
        &self,
        tasks: &mut JoinSet<Result<Vec<DataFile>>>,
        streams: Vec<SendableRecordBatchStream>,
        writers: usize,
    ) {
        let (sender, receiver) = mpsc::channel(QUEUED_BATCHES);
        let queue = Arc::new(Queue {
            receiver: Mutex::new(receiver),
            rows: AtomicUsize::new(0),
            grown: Notify::new(),
        });
        for stream in streams {
            tasks.spawn(read_stream(stream, sender.clone()));
        }
        drop(sender);
        for task in 0..writers.max(1) {
            let (write, queue) = (self.clone(), Arc::clone(&queue));
            tasks.spawn(async move { write.write_shared(task, &queue).await });
        }
    }

    async fn write_shared(&self, task: usize, queue: &Queue) -> Result<Vec<DataFile>> {
        if !queue.wait_for_work(task).await {
            return Ok(Vec::new());
        }
        let mut writer = self.writer(task)?;
        while let Some(batch) = queue.next().await {
            writer.write(&batch).await.map_err(|e| of_table(e, &self.table))?;
        }
        writer.finish().await.map_err(|e| of_table(e, &self.table))
    }
}

/// The error of a writer, of which the table is not known where it arises.
fn of_table(e: tarn_format::Error, table: &str) -> DataFusionError {
    external(e.with_context("table", table))
}

async fn write_stream(
    mut writer: TaskWriter,
    mut stream: SendableRecordBatchStream,
    table: Arc<str>,
) -> Result<Vec<DataFile>> {
    while let Some(batch) = stream.next().await {
        writer.write(&batch?).await.map_err(|e| of_table(e, &table))?;
    }
    writer.finish().await.map_err(|e| of_table(e, &table))
}

async fn read_stream(
    mut stream: SendableRecordBatchStream,
    sender: mpsc::Sender<RecordBatch>,
) -> Result<Vec<DataFile>> {
    while let Some(batch) = stream.next().await {
        if sender.send(batch?).await.is_err() {
            // The writers are gone: one of them has failed and says why.
            break;
        }
    }
    Ok(Vec::new())
}

/// Batches for whichever writer is free.
struct Queue {
    receiver: Mutex<mpsc::Receiver<RecordBatch>>,
    /// Rows handed out so far; [`usize::MAX`] when there are no more.
    rows: AtomicUsize,
    grown: Notify,
}

impl Queue {
    async fn next(&self) -> Option<RecordBatch> {
        let batch = self.receiver.lock().await.recv().await;
        match &batch {
            Some(batch) => self.rows.fetch_add(batch.num_rows(), Ordering::Relaxed),
            None => self.rows.swap(usize::MAX, Ordering::Relaxed),
        };
        self.grown.notify_waiters();
        batch
    }

    /// Waits until there are rows enough for this writer; false when that never happens.
    async fn wait_for_work(&self, writer: usize) -> bool {
        let Some(doublings) = writer.checked_sub(1) else {
            return true;
        };
        let wanted = u32::try_from(doublings)
            .ok()
            .and_then(|d| ROWS_FOR_SECOND_WRITER.checked_shl(d));
        let wanted = wanted.unwrap_or(usize::MAX);
        loop {
            let grown = self.grown.notified();
            match self.rows.load(Ordering::Relaxed) {
                usize::MAX => return false,
                rows if rows >= wanted => return true,
                _ => grown.await,
            }
        }
    }
}
