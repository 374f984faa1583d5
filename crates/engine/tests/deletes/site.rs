//! A table in a catalog in memory whose data and delete files are made one by one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apache_avro::types::Value as Avro;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema};
use arrow::util::display::array_value_to_string;
use bytes::Bytes;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::prelude::{SessionConfig, SessionContext};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use tarn_catalogs::load_catalog_with_io;
use tarn_engine::arrow::schema::{FIELD_ID_KEY, schema_to_arrow};
use tarn_engine::deletes::DeleteCache;
use tarn_engine::scan::{MetadataColumn, ReadOptions};
use tarn_engine::{Caches, IcebergTable};
use tarn_format::catalog::{Catalog, Namespace, Table, TableCreation, TableIdent};
use tarn_format::commit::append::fast_append;
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::commit::{Change, CommitOptions, Transaction, commit};
use tarn_format::deletes::deletion_vector_writer::DeletionVectorWriter;
use tarn_format::io::FileIo;
use tarn_format::io::fault::FaultStore;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::sort::SortOrder;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{FieldId, NestedField, PrimitiveType, StructType};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;
use tarn_format::update::TableUpdate;

/// Rows of a row group in data files: few, so that files have several.
pub(crate) const ROWS_PER_GROUP: usize = 4;

/// The table and what reads it.
pub(crate) struct Site {
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) ident: TableIdent,
    pub(crate) caches: Caches,
}

/// Columns `id` (1, long) and `data` (2, string), both optional.
pub(crate) fn id_and_data() -> Vec<NestedField> {
    vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "data", PrimitiveType::String),
    ]
}

/// Partitioned by the value of a column.
pub(crate) fn by(source_id: FieldId) -> PartitionSpec {
    let mut spec = PartitionSpec::unpartitioned();
    spec.fields.push(PartitionField {
        source_ids: vec![source_id],
        field_id: 0,
        name: "p".to_string(),
        transform: Transform::Identity,
        extra: Default::default(),
    });
    spec
}

impl Site {
    pub(crate) async fn new(version: FormatVersion) -> Self {
        Self::with(version, id_and_data(), PartitionSpec::unpartitioned()).await
    }

    pub(crate) async fn with(version: FormatVersion, columns: Vec<NestedField>, spec: PartitionSpec) -> Self {
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
            sort_order: Some(SortOrder::unsorted()),
            location: None,
            properties: Properties::new(),
            format_version: version,
        };
        catalog.create_table(&ident, creation).await.unwrap();
        Site {
            catalog,
            ident,
            caches: Caches::default(),
        }
    }

    pub(crate) async fn table(&self) -> Table {
        self.catalog.load_table(&self.ident).await.unwrap()
    }

    pub(crate) async fn io(&self) -> FileIo {
        self.table().await.io
    }

    pub(crate) async fn commit(&self, change: Change) {
        let options = CommitOptions::default();
        commit(self.catalog.as_ref(), &self.table().await, change, &options)
            .await
            .unwrap();
    }

    pub(crate) async fn append(&self, files: &[&Arc<DataFile>]) {
        self.commit(fast_append(files.iter().map(|f| Arc::clone(f)))).await;
    }

    pub(crate) async fn delete(&self, files: impl IntoIterator<Item = DataFile>) {
        let delta = RowDelta::new();
        let delta = files.into_iter().fold(delta, |delta, f| delta.add_deletes(Arc::new(f)));
        self.commit(delta.build()).await;
    }

    async fn update(&self, updates: Vec<TableUpdate>) {
        let update = Transaction::of(&self.table().await).update(move |_| Ok(updates.clone()));
        let options = CommitOptions::default();
        update.commit(self.catalog.as_ref(), &options).await.unwrap();
    }

    pub(crate) async fn upgrade(&self, version: FormatVersion) {
        self.update(vec![TableUpdate::UpgradeFormatVersion(version)]).await;
    }

    pub(crate) async fn set_property(&self, key: &str, value: &str) {
        let properties = Properties::from([(key.to_string(), value.to_string())]);
        self.update(vec![TableUpdate::SetProperties(properties)]).await;
    }

    /// Gives the table these columns.
    pub(crate) async fn evolve(&self, columns: Vec<NestedField>) {
        let schema = Schema::new(1, StructType::new(columns), vec![]).unwrap();
        self.update(vec![TableUpdate::AddSchema(schema), TableUpdate::SetCurrentSchema(-1)])
            .await;
    }

    /// Adds a spec without partitions; returns its id.
    pub(crate) async fn unpartition(&self) -> i32 {
        self.update(vec![TableUpdate::AddSpec(PartitionSpec::unpartitioned())])
            .await;
        let table = self.table().await;
        let added = table.metadata.partition_specs.iter().find(|s| s.is_unpartitioned());
        added.unwrap().spec_id
    }

    pub(crate) fn location(&self, name: &str) -> String {
        format!("s3://bucket/wh/db/t/data/{name}")
    }

    /// A file of these columns in a Parquet file of its own, of content `content`; not committed.
    pub(crate) async fn file(&self, name: &str, content: DataContent, batch: &RecordBatch) -> DataFile {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(ROWS_PER_GROUP));
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
        writer.write(batch).unwrap();
        let footer = writer.close().unwrap();
        let location = self.location(name);
        let mut file = DataFile::new(content, &location, FileFormat::Parquet);
        file.record_count = batch.num_rows() as i64;
        file.file_size_in_bytes = bytes.len() as i64;
        let offset = |group: &parquet::file::metadata::RowGroupMetaData| group.column(0).byte_range().0 as i64;
        file.split_offsets = footer.row_groups().iter().map(offset).collect();
        self.io().await.write(&location, Bytes::from(bytes)).await.unwrap();
        file
    }

    /// A file of these records in an Avro file; not committed.
    pub(crate) async fn avro(&self, name: &str, content: DataContent, schema: &str, rows: Vec<Avro>) -> DataFile {
        let schema = apache_avro::Schema::parse_str(schema).unwrap();
        let mut writer = apache_avro::Writer::with_codec(&schema, Vec::new(), apache_avro::Codec::Null);
        let location = self.location(name);
        let mut file = DataFile::new(content, &location, FileFormat::Avro);
        file.record_count = rows.len() as i64;
        for row in rows {
            writer.append(row).unwrap();
            // Several blocks.
            writer.flush().unwrap();
        }
        let bytes = writer.into_inner().unwrap();
        file.file_size_in_bytes = bytes.len() as i64;
        self.io().await.write(&location, Bytes::from(bytes)).await.unwrap();
        file
    }

    /// A data file of the table's columns, committed by the caller.
    pub(crate) async fn data(&self, name: &str, columns: Vec<ArrayRef>) -> Arc<DataFile> {
        let schema = schema_to_arrow(self.table().await.metadata.current_schema());
        let batch = RecordBatch::try_new(schema, columns).unwrap();
        Arc::new(self.file(name, DataContent::Data, &batch).await)
    }

    /// A data file of `id` and `data`.
    pub(crate) async fn rows(&self, name: &str, rows: &[(Option<i64>, Option<&str>)]) -> Arc<DataFile> {
        let ids = Int64Array::from_iter(rows.iter().map(|r| r.0));
        let data = arrow::array::StringViewArray::from_iter(rows.iter().map(|r| r.1));
        self.data(name, vec![Arc::new(ids), Arc::new(data)]).await
    }

    /// A data file of as many rows, with ids from `first` on.
    pub(crate) async fn numbered(&self, name: &str, first: i64, rows: i64) -> Arc<DataFile> {
        let rows: Vec<_> = (first..first + rows).map(|id| (Some(id), Some("x"))).collect();
        self.rows(name, &rows).await
    }

    /// A file of equality deletes: its columns by name and field id, which are its key too.
    pub(crate) async fn keys(&self, name: &str, columns: Vec<(&str, FieldId, ArrayRef)>) -> DataFile {
        let ids: Vec<FieldId> = columns.iter().map(|(_, id, _)| *id).collect();
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, id, values)| identified(name, *id, values.data_type().clone()))
            .collect();
        let columns = columns.into_iter().map(|(_, _, values)| values).collect();
        let batch = RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns).unwrap();
        self.keys_of(name, &batch, &ids).await
    }

    /// A file of equality deletes with these key columns.
    pub(crate) async fn keys_of(&self, name: &str, batch: &RecordBatch, ids: &[FieldId]) -> DataFile {
        let mut file = self.file(name, DataContent::EqualityDeletes, batch).await;
        file.equality_ids = ids.to_vec();
        file
    }

    /// A file of position deletes.
    pub(crate) async fn positions(&self, name: &str, rows: &[(Option<&str>, i64)]) -> DataFile {
        let schema = ArrowSchema::new(vec![
            identified("file_path", 2_147_483_546, DataType::Utf8),
            identified("pos", 2_147_483_545, DataType::Int64),
        ]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter(rows.iter().map(|r| r.0))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1))),
        ];
        let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
        self.file(name, DataContent::PositionDeletes, &batch).await
    }

    /// Position deletes of one data file, by its own spelling of its path.
    pub(crate) async fn positions_of(&self, name: &str, file: &DataFile, positions: &[i64]) -> DataFile {
        let rows: Vec<_> = positions.iter().map(|p| (Some(file.file_path.as_ref()), *p)).collect();
        let mut deletes = self.positions(name, &rows).await;
        deletes.spec_id = file.spec_id;
        deletes.partition = file.partition.clone();
        deletes
    }

    /// A deletion vector.
    pub(crate) async fn vector_of(&self, name: &str, file: &DataFile, positions: &[u64]) -> DataFile {
        let mut writer = DeletionVectorWriter::new(&self.io().await, self.location(name));
        for position in positions {
            writer.vector_of(file).insert(*position).unwrap();
        }
        writer.finish().await.unwrap().added.remove(0)
    }

    /// The table in its current state, with these metadata columns.
    pub(crate) async fn reading(&self, columns: &[MetadataColumn], read: ReadOptions) -> IcebergTable {
        let table = IcebergTable::new(self.table().await, SnapshotSelector::Current, self.caches.clone()).unwrap();
        table.with_metadata_columns(columns).with_read_options(read).unwrap()
    }

    /// Runs a query over table `t`, which has these metadata columns; one line per row.
    pub(crate) async fn try_query(
        &self,
        sql: &str,
        columns: &[MetadataColumn],
        read: ReadOptions,
    ) -> EngineResult<Vec<String>> {
        let config = SessionConfig::new()
            .with_target_partitions(3)
            .with_repartition_file_min_size(1)
            .with_batch_size(3);
        let context = SessionContext::new_with_config(config);
        context.register_table("t", Arc::new(self.reading(columns, read).await))?;
        let batches = context.sql(sql).await?.collect().await?;
        Ok(batches.iter().flat_map(lines).collect())
    }

    pub(crate) async fn query_with(&self, sql: &str, columns: &[MetadataColumn]) -> Vec<String> {
        self.try_query(sql, columns, ReadOptions::default()).await.unwrap()
    }

    pub(crate) async fn query(&self, sql: &str) -> Vec<String> {
        self.query_with(sql, &[]).await
    }

    /// All ids, ascending.
    pub(crate) async fn ids(&self) -> Vec<String> {
        self.query("SELECT id FROM t ORDER BY id").await
    }

    pub(crate) async fn error(&self, sql: &str) -> tarn_format::Error {
        let failed = self.try_query(sql, &[], ReadOptions::default()).await;
        ours(failed.unwrap_err())
    }

    /// The plan of a query.
    pub(crate) async fn plan(&self, sql: &str) -> String {
        self.query(&format!("EXPLAIN {sql}")).await.join("\n")
    }

    /// Forgets what was loaded, and keeps at most so much from now on.
    pub(crate) fn budget(&mut self, bytes: u64) {
        self.caches.deletes = DeleteCache::new(bytes);
    }
}

/// A field with an id.
pub(crate) fn identified(name: &str, id: FieldId, data_type: DataType) -> Field {
    let id = HashMap::from([(FIELD_ID_KEY.to_string(), id.to_string())]);
    Field::new(name, data_type, true).with_metadata(id)
}

/// The partition of one string.
pub(crate) fn partition(value: &str) -> PartitionTuple {
    PartitionTuple(vec![Some(Value::string(value))])
}

fn lines(batch: &RecordBatch) -> Vec<String> {
    let cell = |column: &ArrayRef, row: usize| match column.is_null(row) {
        true => "NULL".to_string(),
        false => array_value_to_string(column, row).unwrap(),
    };
    let line = |row| {
        batch
            .columns()
            .iter()
            .map(|c| cell(c, row))
            .collect::<Vec<_>>()
            .join(" ")
    };
    (0..batch.num_rows()).map(line).collect()
}

/// Numbers as a query shows them.
pub(crate) fn shown(ids: impl IntoIterator<Item = i64>) -> Vec<String> {
    ids.into_iter().map(|id| id.to_string()).collect()
}

/// Our error inside the engine's.
fn ours(error: DataFusionError) -> tarn_format::Error {
    match error {
        DataFusionError::External(inner) => *inner.downcast().unwrap(),
        DataFusionError::Context(_, inner) => ours(*inner),
        DataFusionError::Shared(inner) => match inner.as_ref() {
            DataFusionError::External(error) => {
                let error: &tarn_format::Error = error.downcast_ref().unwrap();
                tarn_format::Error::new(error.kind(), error.to_string())
            }
            other => panic!("not our error: {other}"),
        },
        other => panic!("not our error: {other}"),
    }
}
