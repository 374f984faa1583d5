//! Metadata tables of tables in memory, whose files are made up: what they show, what they skip and what they read.

mod columns;
mod files;
mod metrics;
mod partitions;
mod position_deletes;
mod reading;
mod snapshots;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::{SessionConfig, SessionContext};
use tarn_catalogs::load_catalog_with_io;
use tarn_format::Result;
use tarn_format::catalog::{Catalog, Namespace, Table, TableCreation, TableIdent};
use tarn_format::commit::append::fast_append;
use tarn_format::commit::{Change, CommitOptions, Transaction};
use tarn_format::io::fault::{FaultStore, Operation};
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadataRef};
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;
use tarn_format::update::TableUpdate;

use super::{MetadataTable, MetadataTableKind};
use crate::Caches;

/// `id bigint, p string`.
fn columns() -> Vec<NestedField> {
    vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "p", PrimitiveType::String),
    ]
}

fn by_p() -> PartitionSpec {
    PartitionSpec {
        spec_id: 0,
        fields: vec![PartitionField {
            source_ids: vec![2],
            field_id: 1000,
            name: "p".to_string(),
            transform: Transform::Identity,
            extra: Default::default(),
        }],
        extra: Default::default(),
    }
}

/// A table in a catalog in memory.
struct Site {
    store: FaultStore,
    catalog: Arc<dyn Catalog>,
    ident: TableIdent,
    caches: Caches,
}

impl Site {
    async fn new(version: FormatVersion, columns: Vec<NestedField>, spec: PartitionSpec) -> Self {
        let store = FaultStore::memory();
        let properties: BTreeMap<String, String> = [("type", "memory"), ("warehouse", "s3://bucket/wh")]
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .into();
        let catalog = load_catalog_with_io("lake", &properties, store.file_io()).unwrap();
        let namespace = Namespace::new(["db"]);
        catalog.create_namespace(&namespace, Properties::new()).await.unwrap();
        let ident = TableIdent::new(namespace, "t");
        let creation = TableCreation {
            schema: Schema::new(0, StructType::new(columns), vec![]).unwrap(),
            partition_spec: Some(spec),
            sort_order: None,
            location: None,
            properties: Properties::new(),
            format_version: version,
        };
        catalog.create_table(&ident, creation).await.unwrap();
        Site {
            store,
            catalog,
            ident,
            caches: Caches::default(),
        }
    }

    /// A table of [`columns`], partitioned by `p`.
    async fn by_p(version: FormatVersion) -> Self {
        Self::new(version, columns(), by_p()).await
    }

    async fn table(&self) -> Table {
        self.catalog.load_table(&self.ident).await.unwrap()
    }

    /// Commits and gives the id of the snapshot.
    async fn commit(&self, change: Change) -> i64 {
        let table = self.table().await;
        let options = CommitOptions::default();
        let committed = tarn_format::commit::commit(self.catalog.as_ref(), &table, change, &options).await;
        committed.unwrap().snapshot_ids[0]
    }

    async fn append(&self, files: impl IntoIterator<Item = DataFile>) -> i64 {
        self.commit(fast_append(files.into_iter().map(Arc::new))).await
    }

    /// Changes the table's metadata.
    async fn update(&self, update: impl Fn(&TableMetadataRef) -> Vec<TableUpdate> + Send + Sync + 'static) {
        let change = move |metadata: &_| Ok(update(&Arc::new(Clone::clone(metadata))));
        let transaction = Transaction::on(self.ident.clone()).update(change);
        let options = CommitOptions::default();
        let committed = transaction.commit(self.catalog.as_ref(), &options);
        committed.await.unwrap();
    }

    async fn metadata_table(&self, kind: MetadataTableKind, selector: &SnapshotSelector) -> Result<MetadataTable> {
        MetadataTable::new(self.table().await, kind, selector, self.caches.clone())
    }

    /// A context in which `m` is the metadata table.
    async fn context(&self, kind: MetadataTableKind) -> SessionContext {
        self.context_at(kind, &SnapshotSelector::Current).await
    }

    async fn context_at(&self, kind: MetadataTableKind, selector: &SnapshotSelector) -> SessionContext {
        let config = SessionConfig::new().with_target_partitions(2).with_batch_size(2);
        let context = SessionContext::new_with_config(config);
        let table = self.metadata_table(kind, selector).await.unwrap();
        context.register_table("m", Arc::new(table)).unwrap();
        context
    }

    /// The rows of a query on the metadata table `m`, values joined by `|`.
    async fn rows(&self, kind: MetadataTableKind, sql: &str) -> Vec<String> {
        rows(&self.context(kind).await, sql).await
    }

    async fn rows_at(&self, kind: MetadataTableKind, selector: &SnapshotSelector, sql: &str) -> Vec<String> {
        rows(&self.context_at(kind, selector).await, sql).await
    }

    /// Names of the files that a query reads, without their directories.
    async fn files_read_by(&self, kind: MetadataTableKind, sql: &str) -> Vec<String> {
        let context = self.context(kind).await;
        let before = self.store.records().len();
        rows(&context, sql).await;
        let records = self.store.records().split_off(before);
        let reads = records.into_iter().filter(|r| r.operation == Operation::Read);
        reads.map(|r| r.path.rsplit('/').next().unwrap().to_string()).collect()
    }
}

async fn rows(context: &SessionContext, sql: &str) -> Vec<String> {
    let batches = context.sql(sql).await.unwrap().collect().await.unwrap();
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|c| ArrayFormatter::try_new(c, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let values: Vec<String> = columns.iter().map(|c| c.value(row).to_string()).collect();
            rows.push(values.join("|"));
        }
    }
    rows
}

/// A data file with so many records in partition `p`; `None` is null.
fn data_file(path: &str, p: Option<&str>, records: i64) -> DataFile {
    let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
    file.partition = PartitionTuple(vec![p.map(Value::string)]);
    file.record_count = records;
    file.file_size_in_bytes = 100 * records;
    file
}

/// A file of position deletes in the partition of a data file.
fn position_deletes(path: &str, data: &DataFile, records: i64) -> DataFile {
    let mut file = DataFile::new(DataContent::PositionDeletes, path, FileFormat::Parquet);
    file.spec_id = data.spec_id;
    file.partition = data.partition.clone();
    file.record_count = records;
    file.file_size_in_bytes = 50;
    file
}
