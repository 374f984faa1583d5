//! A table to commit to, files to commit, and what the table then lists.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::catalog::TestCatalog;
use crate::catalog::{Catalog, Namespace, Table, TableCreation, TableIdent};
use crate::commit::{Change, CommitOptions, CommitOutcome, commit};
use crate::error::Result;
use crate::io::FileIo;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, ManifestEntry, ManifestStatus, PartitionTuple};
use crate::manifest::inherit::Inheritance;
use crate::manifest::list;
use crate::manifest::manifest_file::ManifestFile;
use crate::manifest::reader::decode;
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::snapshot::{Properties, Snapshot};
use crate::spec::table_metadata::FormatVersion;
use crate::spec::types::{NestedField, PrimitiveType, StructType, Type};
use crate::spec::value::Value;
use crate::transform::Transform;

pub(crate) const ALL_VERSIONS: [FormatVersion; 3] = [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3];
pub(crate) const DELETE_VERSIONS: [FormatVersion; 2] = [FormatVersion::V2, FormatVersion::V3];

/// Whether the table is partitioned by `p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Unpartitioned,
    ByP,
}

/// A table of columns `id` (1, long), `p` (2, string), `x` (3, int).
#[derive(Debug, Clone)]
pub(crate) struct TestTable {
    pub(crate) catalog: Arc<TestCatalog>,
    pub(crate) ident: TableIdent,
    pub(crate) options: CommitOptions,
    pub(crate) version: FormatVersion,
    pub(crate) layout: Layout,
}

impl TestTable {
    pub(crate) async fn new(version: FormatVersion, layout: Layout) -> Self {
        Self::with_properties(version, layout, &[]).await
    }

    pub(crate) async fn with_properties(version: FormatVersion, layout: Layout, more: &[(&str, &str)]) -> Self {
        Self::in_io(FileIo::memory(), version, layout, more).await
    }

    pub(crate) async fn in_io(io: FileIo, version: FormatVersion, layout: Layout, more: &[(&str, &str)]) -> Self {
        let catalog = Arc::new(TestCatalog::new(io));
        let ident = TableIdent::new(Namespace::new(["db"]), "t");
        catalog
            .create_table(&ident, creation(version, layout, more))
            .await
            .unwrap();
        TestTable {
            catalog,
            ident,
            options: CommitOptions::default(),
            version,
            layout,
        }
    }

    pub(crate) async fn load(&self) -> Table {
        self.catalog.load_table(&self.ident).await.unwrap()
    }

    pub(crate) async fn commit(&self, change: Change) -> Result<CommitOutcome> {
        commit(self.catalog.as_ref(), &self.load().await, change, &self.options).await
    }

    /// Commits and gives the id of the new snapshot.
    pub(crate) async fn must(&self, change: Change) -> i64 {
        self.commit(change).await.unwrap().snapshot_ids[0]
    }

    pub(crate) async fn current(&self) -> Arc<Snapshot> {
        Arc::clone(self.load().await.metadata.current_snapshot().unwrap())
    }

    pub(crate) async fn manifests(&self) -> Vec<ManifestFile> {
        let table = self.load().await;
        match table.metadata.current_snapshot() {
            Some(snapshot) => list::load(&table.io, &table.metadata, snapshot).await.unwrap(),
            None => Vec::new(),
        }
    }

    /// All entries of the current snapshot, deleted ones too, read past every cache.
    pub(crate) async fn entries(&self) -> Vec<ManifestEntry> {
        let table = self.load().await;
        let mut entries = Vec::new();
        for manifest in self.manifests().await {
            let partition_type = table.metadata.partition_type_of(manifest.partition_spec_id).unwrap();
            let bytes = table.io.read(&manifest.manifest_path).await.unwrap();
            let columns = decode(&bytes, Some(&partition_type), &MetricsProjection::All).unwrap();
            let inheritance = Inheritance::new(&manifest, &columns);
            entries.extend((0..columns.len).map(|i| columns.entry(i, &inheritance)));
        }
        entries
    }

    pub(crate) async fn entry(&self, path: &str) -> ManifestEntry {
        let mut entries = self.entries().await;
        entries.retain(|e| *e.data_file.file_path == *path);
        assert_eq!(entries.len(), 1, "one entry of {path}");
        entries.remove(0)
    }

    /// Locations of live files, with the blob's offset for deletion vectors.
    pub(crate) async fn live(&self) -> BTreeSet<String> {
        let entries = self.entries().await.into_iter();
        entries
            .filter(ManifestEntry::is_live)
            .map(|e| name(&e.data_file))
            .collect()
    }

    /// Statuses by location, sorted.
    pub(crate) async fn statuses(&self) -> Vec<(String, ManifestStatus)> {
        let entries = self.entries().await.into_iter();
        let mut statuses: Vec<_> = entries.map(|e| (name(&e.data_file), e.status)).collect();
        statuses.sort_by(|a, b| a.0.cmp(&b.0));
        statuses
    }

    /// A data file in partition `p` whose ids go from `ids.0` to `ids.1`.
    pub(crate) fn file(&self, path: &str, p: &str, ids: (i64, i64)) -> Arc<DataFile> {
        let rows = ids.1 - ids.0 + 1;
        let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
        file.partition = self.partition(p);
        file.record_count = rows;
        file.file_size_in_bytes = 100 * rows;
        for id in [1, 2, 3] {
            file.value_counts.insert(id, rows);
            file.null_value_counts.insert(id, 0);
        }
        file.lower_bounds.insert(1, ids.0.to_le_bytes().to_vec());
        file.upper_bounds.insert(1, ids.1.to_le_bytes().to_vec());
        file.lower_bounds.insert(2, p.as_bytes().to_vec());
        file.upper_bounds.insert(2, p.as_bytes().to_vec());
        Arc::new(file)
    }

    pub(crate) fn partition(&self, p: &str) -> PartitionTuple {
        match self.layout {
            Layout::Unpartitioned => PartitionTuple::default(),
            Layout::ByP => PartitionTuple(vec![Some(Value::string(p))]),
        }
    }

    /// Position deletes of one data file: a file in v2, a deletion vector in v3.
    pub(crate) fn position_deletes(&self, path: &str, data: &DataFile, rows: i64) -> Arc<DataFile> {
        let format = match self.version {
            FormatVersion::V3 => FileFormat::Puffin,
            _ => FileFormat::Parquet,
        };
        let mut file = DataFile::new(DataContent::PositionDeletes, path, format);
        file.partition = data.partition.clone();
        file.spec_id = data.spec_id;
        file.record_count = rows;
        file.file_size_in_bytes = 1000;
        file.referenced_data_file = Some(Arc::clone(&data.file_path));
        if format == FileFormat::Puffin {
            file.content_offset = Some(4);
            file.content_size_in_bytes = Some(40);
        }
        Arc::new(file)
    }

    /// Equality deletes by `id` in partition `p`.
    pub(crate) fn equality_deletes(&self, path: &str, p: &str, ids: (i64, i64)) -> Arc<DataFile> {
        let mut file = self.file(path, p, ids).as_ref().clone();
        file.content = DataContent::EqualityDeletes;
        file.equality_ids = vec![1];
        file.value_counts.remove(&3);
        file.null_value_counts.remove(&3);
        Arc::new(file)
    }
}

pub(crate) fn creation(version: FormatVersion, layout: Layout, more: &[(&str, &str)]) -> TableCreation {
    let column = |id, name: &str, t| NestedField::optional(id, name, Type::Primitive(t));
    let root = StructType::new(vec![
        column(1, "id", PrimitiveType::Long),
        column(2, "p", PrimitiveType::String),
        column(3, "x", PrimitiveType::Int),
    ]);
    let quick = [
        ("commit.retry.min-wait-ms", "1"),
        ("commit.retry.max-wait-ms", "2"),
        ("commit.status-check.min-wait-ms", "1"),
        ("commit.status-check.max-wait-ms", "2"),
    ];
    let properties = quick.iter().chain(more).map(|(k, v)| (k.to_string(), v.to_string()));
    TableCreation {
        schema: Schema::new(0, root, Vec::new()).unwrap(),
        partition_spec: (layout == Layout::ByP).then(|| PartitionSpec {
            spec_id: 0,
            fields: vec![PartitionField {
                source_ids: vec![2],
                field_id: 1000,
                name: "p".into(),
                transform: Transform::Identity,
                extra: Default::default(),
            }],
            extra: Default::default(),
        }),
        sort_order: None,
        location: None,
        properties: properties.collect::<Properties>(),
        format_version: version,
    }
}

fn name(file: &DataFile) -> String {
    match file.content_offset.filter(|_| file.is_deletion_vector()) {
        Some(offset) => format!("{}#{offset}", file.file_path),
        None => file.file_path.to_string(),
    }
}

pub(crate) fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.into_iter().map(str::to_string).collect()
}

/// The summary's entries with these keys; a missing one is `-`.
pub(crate) fn summary<const N: usize>(snapshot: &Snapshot, keys: [&str; N]) -> [String; N] {
    keys.map(|key| snapshot.summary.get(key).cloned().unwrap_or_else(|| "-".into()))
}
