//! Files of one partition, one after the other: each is closed at the target size.

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use tarn_format::Result;
use tarn_format::io::file_names::DataFileNames;
use tarn_format::io::location_provider::LocationProvider;
use tarn_format::manifest::data_file::{DataFile, PartitionTuple};
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::types::StructType;

use super::data_files::{DataFiles, OpenDataFile};
use super::written_files::WrittenFiles;

/// Rows between checks of the file's size, as in Java's `RollingFileWriter`.
const ROWS_PER_CHECK: usize = 1000;

/// Files below this target are checked every [`ROWS_PER_CHECK`] rows, others after every batch.
const SMALL_TARGET_BYTES: u64 = 64 * 1024 * 1024;

/// What all writers of one statement share.
#[derive(Debug)]
pub(super) struct WriteContext {
    pub(super) files: DataFiles,
    pub(super) locations: LocationProvider,
    pub(super) spec: Arc<PartitionSpec>,
    pub(super) partition_type: StructType,
    pub(super) sort_order_id: i32,
    pub(super) target_file_size_bytes: u64,
    pub(super) written: Arc<WrittenFiles>,
    pub(super) memory: Arc<dyn MemoryPool>,
}

/// Writes the rows of one partition.
pub(super) struct RollingFile {
    context: Arc<WriteContext>,
    names: Arc<DataFileNames>,
    partition: PartitionTuple,
    open: Option<OpenDataFile>,
    memory: MemoryReservation,
}

impl RollingFile {
    pub(super) fn new(context: Arc<WriteContext>, names: Arc<DataFileNames>, partition: PartitionTuple) -> Self {
        let memory = MemoryConsumer::new("IcebergDataFile").register(&context.memory);
        RollingFile {
            context,
            names,
            partition,
            open: None,
            memory,
        }
    }

    /// Appends rows; files that become full are added to `done`.
    pub(super) async fn write(&mut self, batch: &RecordBatch, done: &mut Vec<DataFile>) -> Result<()> {
        let step = if self.context.target_file_size_bytes < SMALL_TARGET_BYTES {
            ROWS_PER_CHECK
        } else {
            batch.num_rows().max(1)
        };
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = self.rows_until_check(step).min(batch.num_rows() - start);
            self.append(&batch.slice(start, rows)).await?;
            start += rows;
            let is_full = |f: &OpenDataFile| f.size_bytes() >= self.context.target_file_size_bytes;
            if self.open.as_ref().is_some_and(is_full) {
                self.close(done).await?;
            }
        }
        Ok(())
    }

    fn rows_until_check(&self, step: usize) -> usize {
        let rows = self.open.as_ref().map_or(0, OpenDataFile::rows);
        if step == ROWS_PER_CHECK {
            step - rows % step
        } else {
            step
        }
    }

    async fn append(&mut self, rows: &RecordBatch) -> Result<()> {
        let file = match &mut self.open {
            Some(file) => file,
            none => none.insert(begin(&self.context, &self.names, &self.partition)?),
        };
        file.write(rows).await?;
        if self.memory.try_resize(file.memory_bytes()).is_err() {
            // Short of memory: a smaller row group or block is the lesser evil.
            tracing::debug!(
                file = file.location(),
                "row group or block ended early for want of memory"
            );
            file.flush().await?;
            self.memory.resize(file.memory_bytes());
        }
        Ok(())
    }

    /// Completes the open file, if there is one.
    pub(super) async fn close(&mut self, done: &mut Vec<DataFile>) -> Result<()> {
        let Some(file) = self.open.take() else {
            return Ok(());
        };
        let mut data = file.finish().await?;
        self.memory.free();
        data.spec_id = self.context.spec.spec_id;
        data.partition = self.partition.clone();
        data.sort_order_id = Some(self.context.sort_order_id);
        done.push(data);
        Ok(())
    }
}

fn begin(context: &WriteContext, names: &DataFileNames, partition: &PartitionTuple) -> Result<OpenDataFile> {
    let path = context.spec.partition_to_path(partition, &context.partition_type);
    let name = names.next_name(context.files.format());
    let location = context.locations.new_data_location(&path, &name)?;
    context.written.add(&location);
    context.files.create(location)
}
