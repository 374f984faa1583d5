//! Writes through the engine into a catalog in memory, read back through it, and looked at in manifests and footers.

mod append;
mod avro_files;
mod faults;
mod layout;
mod metrics;
pub(crate) mod nested;
mod null_checks;
mod orc_files;
mod parent_nulls;
mod parquet_files;
mod partition_values;
pub(crate) mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::DataType;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::col;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::TryStreamExt;
use object_store::ObjectStore;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use tarn_catalogs::load_catalog_with_io;
use tarn_format::Error;
use tarn_format::catalog::{Catalog, Namespace, Table, TableCreation, TableIdent};
use tarn_format::io::fault::FaultStore;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::manifest::list;
use tarn_format::manifest::reader::decode;
use tarn_format::scan::manifest_entries::ManifestEntries;
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::sort::{NullOrder, SortDirection, SortField, SortOrder};
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, StructType};
use tarn_format::transform::Transform;

use super::{AppendReport, WriteTarget, append as append_plan, append_report};
use crate::arrow::schema::schema_to_arrow;
use crate::{Caches, IcebergTable};

/// Partitions of the plans that write: enough to show that rows of several streams meet.
const PARTITIONS: usize = 4;

/// What a table is made of, beside its columns.
#[derive(Debug, Clone)]
pub(crate) struct Making {
    version: FormatVersion,
    spec: PartitionSpec,
    order: SortOrder,
    properties: Properties,
}

impl Making {
    pub(crate) fn new() -> Self {
        Making {
            version: FormatVersion::V2,
            spec: PartitionSpec::unpartitioned(),
            order: SortOrder::unsorted(),
            properties: Properties::new(),
        }
    }

    pub(crate) fn version(mut self, version: FormatVersion) -> Self {
        self.version = version;
        self
    }

    pub(crate) fn partitioned_by(mut self, source_id: i32, transform: Transform) -> Self {
        self.spec.fields.push(PartitionField {
            source_ids: vec![source_id],
            field_id: 0,
            name: format!("p{}", self.spec.fields.len()),
            transform,
            extra: Default::default(),
        });
        self
    }

    pub(crate) fn sorted_by(mut self, source_id: i32, direction: SortDirection) -> Self {
        self.order.order_id = 1;
        self.order.fields.push(SortField {
            source_ids: vec![source_id],
            transform: Transform::Identity,
            direction,
            null_order: match direction {
                SortDirection::Asc => NullOrder::First,
                SortDirection::Desc => NullOrder::Last,
            },
            extra: Default::default(),
        });
        self
    }

    pub(crate) fn property(mut self, key: &str, value: impl ToString) -> Self {
        self.properties.insert(key.to_string(), value.to_string());
        self
    }
}

/// A table in a catalog in memory, whose files are in a store that records and can fail.
pub(crate) struct Site {
    pub(crate) store: FaultStore,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) ident: TableIdent,
}

impl Site {
    pub(crate) async fn new(columns: Vec<NestedField>, making: Making) -> Self {
        Self::try_new(columns, making).await.unwrap()
    }

    pub(crate) async fn try_new(columns: Vec<NestedField>, making: Making) -> tarn_format::Result<Self> {
        let store = FaultStore::memory();
        let properties: BTreeMap<String, String> = [("type", "memory"), ("warehouse", "s3://bucket/wh")]
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .into();
        let catalog = load_catalog_with_io("lake", &properties, store.file_io())?;
        let namespace = Namespace::new(["db"]);
        catalog.create_namespace(&namespace, Properties::new()).await?;
        let ident = TableIdent::new(namespace, "t");
        let creation = TableCreation {
            schema: Schema::new(0, StructType::new(columns), vec![])?,
            partition_spec: Some(making.spec),
            sort_order: Some(making.order),
            location: None,
            properties: making.properties,
            format_version: making.version,
        };
        catalog.create_table(&ident, creation).await?;
        Ok(Site { store, catalog, ident })
    }

    pub(crate) async fn table(&self) -> Table {
        self.catalog.load_table(&self.ident).await.unwrap()
    }

    /// Rows of the table's columns, in its Arrow types.
    pub(crate) async fn batch(&self, columns: Vec<ArrayRef>) -> RecordBatch {
        let schema = schema_to_arrow(self.table().await.metadata.current_schema());
        RecordBatch::try_new(schema, columns).unwrap()
    }

    /// The Arrow types of the table's columns.
    pub(crate) async fn batch_types(&self) -> Vec<DataType> {
        let schema = schema_to_arrow(self.table().await.metadata.current_schema());
        schema.fields().iter().map(|f| f.data_type().clone()).collect()
    }

    /// Appends the rows of plan partitions.
    pub(crate) async fn append_partitions(&self, partitions: &[Vec<RecordBatch>]) -> Result<AppendReport, Error> {
        let table = self.catalog.load_table(&self.ident).await?;
        let target = WriteTarget::new(Arc::clone(&self.catalog), table)?;
        let schema = partitions[0][0].schema();
        let input: Arc<dyn ExecutionPlan> = MemorySourceConfig::try_new_exec(partitions, schema, None).unwrap();
        let plan = append_plan(input, target).map_err(ours)?;
        let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(PARTITIONS));
        datafusion::physical_plan::collect(Arc::clone(&plan), context.task_ctx())
            .await
            .map_err(ours)?;
        Ok(append_report(&plan).unwrap())
    }

    /// Appends the rows of one batch.
    pub(crate) async fn append(&self, batch: RecordBatch) -> Result<AppendReport, Error> {
        self.append_partitions(&[vec![batch]]).await
    }

    /// All rows, ordered by a column.
    pub(crate) async fn rows(&self, order: &str) -> RecordBatch {
        let table = IcebergTable::new(self.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
        let schema = Arc::clone(table.arrow_schema());
        let context = SessionContext::new();
        let frame = context.read_table(Arc::new(table)).unwrap();
        let batches = frame.sort(vec![col(order).sort(true, true)]).unwrap();
        concat_batches(&schema, &batches.collect().await.unwrap()).unwrap()
    }

    /// The plan of a query of the table `t`.
    pub(crate) async fn plan(&self, sql: &str) -> String {
        let table = IcebergTable::new(self.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
        let context = SessionContext::new();
        context.register_table("t", Arc::new(table)).unwrap();
        let plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
        datafusion::physical_plan::displayable(plan.as_ref())
            .indent(false)
            .to_string()
    }

    /// The data files of the current snapshot, as its manifests list them.
    pub(crate) async fn files(&self) -> Vec<DataFile> {
        let table = self.table().await;
        let metadata = &table.metadata;
        let Some(snapshot) = metadata.current_snapshot() else {
            return Vec::new();
        };
        let mut files = Vec::new();
        for manifest in list::load(&table.io, metadata, snapshot).await.unwrap() {
            let bytes = table.io.read(&manifest.manifest_path).await.unwrap();
            let spec = metadata
                .partition_specs
                .iter()
                .find(|s| s.spec_id == manifest.partition_spec_id);
            let partition = spec.unwrap().partition_type(metadata.current_schema());
            let columns = decode(&bytes, Some(&partition), &MetricsProjection::All).unwrap();
            let entries = ManifestEntries::new(Arc::new(manifest), Arc::new(columns));
            let live = (0..entries.columns.len).filter(|row| entries.columns.is_live(*row));
            files.extend(live.map(|row| entries.data_file(row)));
        }
        files.sort_by(|a, b| a.file_path.cmp(&b.file_path));
        files
    }

    /// Keys of all files in the store, sorted.
    pub(crate) async fn stored_files(&self) -> Vec<String> {
        let stored: Vec<_> = self.store.list(None).try_collect().await.unwrap();
        let mut keys: Vec<String> = stored.into_iter().map(|file| file.location.to_string()).collect();
        keys.sort();
        keys
    }

    /// The only data file.
    pub(crate) async fn file(&self) -> DataFile {
        let mut files = self.files().await;
        assert_eq!(files.len(), 1, "{files:#?}");
        files.remove(0)
    }

    /// The Parquet footer of a data file, page indexes and bloom filter offsets included.
    pub(crate) async fn footer(&self, file: &DataFile) -> ParquetMetaData {
        let bytes = self.table().await.io.read(&file.file_path).await.unwrap();
        assert_eq!(bytes.len() as i64, file.file_size_in_bytes);
        SerializedFileReader::new(bytes).unwrap().metadata().clone()
    }
}

/// Our error inside the engine's.
pub(crate) fn ours(error: DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => *inner.downcast::<Error>().unwrap(),
        DataFusionError::Context(_, inner) => ours(*inner),
        DataFusionError::Shared(inner) => Error::invalid(inner.to_string()),
        other => panic!("not our error: {other}"),
    }
}
