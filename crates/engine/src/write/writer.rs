//! The writer of one task: checks rows and sends them to the files of their partitions.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::row::OwnedRow;
use tarn_format::Result;
use tarn_format::io::file_names::DataFileNames;
use tarn_format::manifest::data_file::{DataFile, PartitionTuple};
use tarn_format::spec::schema::Schema;

use super::conform::Conform;
use super::options::OpenFiles;
use super::partition::Partitioner;
use super::rolling::{RollingFile, WriteContext};

/// Writes the rows of one task.
pub(super) struct TaskWriter {
    context: Arc<WriteContext>,
    conform: Conform,
    names: Arc<DataFileNames>,
    target: Target,
    done: Vec<DataFile>,
}

/// Where rows go.
enum Target {
    /// One partition, whose rows all are.
    Unpartitioned(Box<RollingFile>),
    Partitioned(Partitioned),
}

struct Partitioned {
    partitioner: Partitioner,
    open: HashMap<OwnedRow, RollingFile>,
    open_files: OpenFiles,
}

impl Partitioned {
    /// The open file of a partition, or a new one.
    async fn file_of(
        &mut self,
        partition: OwnedRow,
        new_file: impl FnOnce() -> RollingFile,
        done: &mut Vec<DataFile>,
    ) -> Result<&mut RollingFile> {
        if self.open_files == OpenFiles::Clustered && !self.open.contains_key(&partition) {
            // Rows come partition by partition: what came before is complete.
            for (_, mut file) in self.open.drain() {
                file.close(done).await?;
            }
        }
        Ok(self.open.entry(partition).or_insert_with(new_file))
    }
}

impl TaskWriter {
    pub(super) fn new(
        context: Arc<WriteContext>,
        conform: Conform,
        names: DataFileNames,
        schema: &Schema,
        open_files: OpenFiles,
    ) -> Result<Self> {
        let names = Arc::new(names);
        let target = if context.spec.fields.is_empty() {
            let partition = PartitionTuple::default();
            let file = RollingFile::new(Arc::clone(&context), Arc::clone(&names), partition);
            Target::Unpartitioned(Box::new(file))
        } else {
            Target::Partitioned(Partitioned {
                partitioner: Partitioner::new(&context.spec, schema)?,
                open: HashMap::new(),
                open_files,
            })
        };
        Ok(TaskWriter {
            context,
            conform,
            names,
            target,
            done: Vec::new(),
        })
    }

    /// Writes rows whose columns are the table's, in order.
    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.target {
            Target::Unpartitioned(file) => {
                let stored = self.conform.batch(batch)?;
                file.write(&stored, &mut self.done).await
            }
            Target::Partitioned(target) => {
                for part in target.partitioner.split(batch)? {
                    let stored = self.conform.batch(&part.rows)?;
                    let new_file = |partition| {
                        let (context, names) = (Arc::clone(&self.context), Arc::clone(&self.names));
                        RollingFile::new(context, names, partition)
                    };
                    let file = target
                        .file_of(part.key, || new_file(part.tuple), &mut self.done)
                        .await?;
                    file.write(&stored, &mut self.done).await?;
                }
                Ok(())
            }
        }
    }

    /// Completes all files and returns them.
    pub(super) async fn finish(mut self) -> Result<Vec<DataFile>> {
        match self.target {
            Target::Unpartitioned(mut file) => file.close(&mut self.done).await?,
            Target::Partitioned(target) => {
                for (_, mut file) in target.open {
                    file.close(&mut self.done).await?;
                }
            }
        }
        Ok(self.done)
    }
}
