//! What every statement that writes rows does: files are written in the table's layout, are gone again unless they are
//! committed, and the commit is made once.

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::Distribution;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use tarn_format::ResultExt;
use tarn_format::commit::{Change, CommitOutcome, Transaction, surely_failed};
use tarn_format::io::file_names::DataFileNames;
use tarn_format::io::location_provider::LocationProvider;
use tarn_format::manifest::data_file::DataFile;
use uuid::Uuid;

use super::append::WriteTarget;
use super::avro_file::AvroFiles;
use super::conform::Conform;
use super::data_files::DataFiles;
use super::layout::Layout;
use super::options::WriteFormat;
use super::orc_file::OrcFiles;
use super::parquet_file::ParquetFiles;
use super::patch::PatchWriter;
use super::rolling::WriteContext;
use super::row_lineage::RowLineage;
use super::table_write::{Pairing, TableWrite};
use super::written_files::WrittenFiles;
use crate::external;

/// One execution of a statement. Dropped before the commit, it deletes what it wrote.
#[derive(Debug)]
pub(crate) struct StatementWrite {
    target: Arc<WriteTarget>,
    written: Arc<WrittenFiles>,
    lineage: RowLineage,
}

impl StatementWrite {
    pub(crate) fn new(target: Arc<WriteTarget>) -> Self {
        StatementWrite {
            written: Arc::new(WrittenFiles::new(target.table.io.clone())),
            target,
            lineage: RowLineage::Assigned,
        }
    }

    /// The same for rows that have their lineage from there.
    #[must_use]
    pub(crate) fn with_lineage(self, lineage: RowLineage) -> Self {
        StatementWrite { lineage, ..self }
    }

    /// Writes the rows of a plan, whose columns are the table's in order, perhaps with lineage behind them, and which stand
    /// in `layout`.
    pub(crate) async fn write(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        layout: &Layout,
        context: &Arc<TaskContext>,
    ) -> Result<Vec<DataFile>> {
        let write = self.table_write(context).context("table", self.target.table_name());
        let write = write.map_err(external)?;
        let partitions = plan.output_partitioning().partition_count();
        let streams: Result<Vec<_>> = (0..partitions).map(|p| plan.execute(p, Arc::clone(context))).collect();
        write.run(streams?, self.pairing(plan, layout, context)).await
    }

    /// Whether any row may go into any file.
    fn pairing(&self, plan: &Arc<dyn ExecutionPlan>, layout: &Layout, context: &TaskContext) -> Pairing {
        let spread = matches!(layout.distribution, Distribution::UnspecifiedDistribution);
        let unsorted = layout.ordering.is_none() && plan.output_ordering().is_none();
        let unpartitioned = self.target.options.spec(&self.target.table.metadata).is_unpartitioned();
        if spread && unsorted && unpartitioned {
            Pairing::Shared(context.session_config().target_partitions())
        } else {
            Pairing::OneToOne
        }
    }

    fn table_write(&self, context: &TaskContext) -> tarn_format::Result<TableWrite> {
        let target = &self.target;
        let metadata = &target.table.metadata;
        let schema = self.lineage.stored_schema(metadata)?;
        let conform = Conform::new(Arc::clone(&schema));
        let stored = Arc::clone(conform.stored_schema());
        let io = target.table.io.clone();
        let files = match target.options.format {
            WriteFormat::Parquet => {
                let files = ParquetFiles::new(io, Arc::clone(&schema), stored, &target.options)?;
                DataFiles::Parquet(Arc::new(files))
            }
            WriteFormat::Avro(codec) => DataFiles::Avro(AvroFiles::new(io, &schema, codec)?),
            WriteFormat::Orc(options) => {
                let metrics = target.options.metrics.clone();
                DataFiles::Orc(Arc::new(OrcFiles::new(io, &schema, options, metrics)?))
            }
        };
        let spec = Arc::clone(target.options.spec(metadata));
        Ok(TableWrite {
            context: Arc::new(WriteContext {
                files,
                locations: LocationProvider::for_table(metadata)?,
                partition_type: spec.partition_type(&schema),
                spec,
                sort_order_id: target.options.sort_order_id(metadata),
                target_file_size_bytes: target.options.target_file_size_bytes,
                written: Arc::clone(&self.written),
                memory: Arc::clone(context.memory_pool()),
            }),
            table: target.table_name().into(),
            conform,
            schema,
            open_files: target.options.open_files,
            operation_id: Uuid::new_v4().to_string(),
        })
    }

    /// Writes files anew of which some rows change; `None` where files are not written as Parquet.
    ///
    /// # Errors
    /// `Unsupported` when the schema cannot be stored.
    pub(crate) fn patch_writer(&self, context: &TaskContext) -> tarn_format::Result<Option<PatchWriter>> {
        let TableWrite {
            context: write,
            conform,
            operation_id,
            ..
        } = self.table_write(context)?;
        let DataFiles::Parquet(files) = &write.files else {
            return Ok(None);
        };
        Ok(Some(PatchWriter {
            files: Arc::clone(files),
            conform,
            locations: LocationProvider::for_table(&self.target.table.metadata)?,
            spec: Arc::clone(&write.spec),
            partition_type: write.partition_type.clone(),
            sort_order_id: write.sort_order_id,
            written: Arc::clone(&self.written),
            names: DataFileNames::new(0, 0, operation_id),
            memory: Arc::clone(context.memory_pool()),
            parallelism: context.session_config().target_partitions().max(1),
        }))
    }

    /// Remembers a file, before it is begun, as one that goes away unless it is committed.
    pub(crate) fn begin(&self, location: &str) {
        self.written.add(location);
    }

    /// Deletes what was written.
    pub(crate) async fn delete(&self) {
        self.written.delete().await;
    }

    /// Commits a change to the target's branch, on its own: a cancelled statement must not leave the commit half done,
    /// nor delete files it may need.
    ///
    /// # Errors
    /// As [`Transaction::commit`]; unless the outcome is unknown, what was written is deleted then.
    pub(crate) async fn commit(self, mut change: Change) -> tarn_format::Result<CommitOutcome> {
        let StatementWrite { target, written, .. } = self;
        change.publication = target.publication;
        change.summary.extend(target.options.snapshot_properties.clone());
        if let Some(branch) = &target.branch {
            change = change.on_branch(branch);
        }
        let committing = tokio::spawn(async move {
            let table = &target.table;
            // A staged table, as CREATE TABLE AS SELECT has it, comes into being with its rows.
            let transaction = match (&target.replaces, &table.metadata_location) {
                (Some(replaced), _) => Transaction::replace(replaced.table.clone(), replaced.updates.clone()),
                (None, None) => Transaction::create(table.clone()),
                (None, Some(_)) => Transaction::of(table),
            };
            let transaction = match target.growth.clone() {
                Some(growth) => transaction.update(move |base| growth.updates(base)),
                None => transaction,
            };
            let transaction = transaction.change(change);
            let outcome = transaction.commit(target.catalog.as_ref(), &target.commit).await;
            match &outcome {
                Err(e) if surely_failed(e) => written.delete().await,
                _ => written.keep(),
            }
            outcome
        });
        committing.await.unwrap_or_else(|e| {
            let kind = tarn_format::ErrorKind::CommitStateUnknown;
            Err(tarn_format::Error::new(kind, "the commit was interrupted").with_source(e))
        })
    }
}
