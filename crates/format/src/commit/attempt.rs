//! One attempt to apply a change: the table state it starts from and how its files are reached.

use std::collections::HashMap;
use std::sync::Arc;

use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use super::settings::CommitSettings;
use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::io::FileIo;
use crate::io::location_provider::LocationProvider;
use crate::manifest::cache::ManifestCache;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::data_file::PartitionTuple;
use crate::manifest::manifest_file::ManifestFile;
use crate::manifest::reader;
use crate::scan::manifest_entries::ManifestEntries;
use crate::spec::partition::PartitionSpec;
use crate::spec::snapshot::Snapshot;
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::spec::types::StructType;

/// Manifests read at one time.
const READ_CONCURRENCY: usize = 16;

/// What an attempt works with.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    /// Files.
    pub(crate) io: &'a FileIo,
    /// Manifests read before.
    pub(crate) cache: &'a ManifestCache,
    /// The state to change. In a transaction it holds the changes before this one.
    pub(crate) base: &'a TableMetadata,
    /// The table's properties for commits.
    pub(crate) settings: CommitSettings,
    locations: LocationProvider,
    partition_types: HashMap<i32, Arc<StructType>>,
}

impl<'a> Attempt<'a> {
    /// An attempt on `base`.
    pub(crate) fn new(io: &'a FileIo, cache: &'a ManifestCache, base: &'a TableMetadata) -> Result<Self> {
        let mut partition_types = HashMap::new();
        for spec in &base.partition_specs {
            let partition_type = base.partition_type_of(spec.spec_id)?;
            partition_types.insert(spec.spec_id, Arc::new(partition_type));
        }
        Ok(Attempt {
            io,
            cache,
            base,
            settings: CommitSettings::from_properties(&base.properties),
            locations: LocationProvider::for_table(base)?,
            partition_types,
        })
    }

    /// A spec of the table.
    pub(crate) fn spec(&self, spec_id: i32) -> Result<&'a Arc<PartitionSpec>> {
        let spec = self.base.spec_by_id(spec_id);
        spec.ok_or_else(|| Error::validation(format!("cannot find partition spec {spec_id}")))
    }

    /// The type of a spec's partition tuples.
    pub(crate) fn partition_type(&self, spec_id: i32) -> Result<Arc<StructType>> {
        let partition_type = self.partition_types.get(&spec_id).cloned();
        partition_type.ok_or_else(|| Error::validation(format!("cannot find partition spec {spec_id}")))
    }

    /// A partition as a path, for summaries and messages.
    pub(crate) fn partition_path(&self, spec: &PartitionSpec, tuple: &PartitionTuple) -> String {
        match self.partition_types.get(&spec.spec_id) {
            Some(partition_type) => spec.partition_to_path(tuple, partition_type),
            None => String::new(),
        }
    }

    /// The manifests of a snapshot.
    pub(crate) async fn manifests(&self, snapshot: &Snapshot) -> Result<Vec<ManifestFile>> {
        let manifests = self.cache.manifests(self.io, self.base, snapshot).await?;
        Ok(manifests.as_ref().clone())
    }

    /// The entries of several manifests with the projected metrics, in the order of the manifests.
    pub(crate) async fn entries(
        &self,
        manifests: impl IntoIterator<Item = ManifestFile>,
        projection: &MetricsProjection,
    ) -> Result<Vec<Arc<ManifestEntries>>> {
        // Boxed and collected: a stream over a mapping closure that borrows is not `Send` for every lifetime.
        let reads = manifests.into_iter().map(|m| self.entries_of(m, projection).boxed());
        let reads: Vec<_> = reads.collect();
        stream::iter(reads).buffered(READ_CONCURRENCY).try_collect().await
    }

    async fn entries_of(&self, manifest: ManifestFile, projection: &MetricsProjection) -> Result<Arc<ManifestEntries>> {
        let partition_type = self.partition_type(manifest.partition_spec_id)?;
        let columns = self
            .cache
            .get(self.io, &manifest, Some(&partition_type), projection)
            .await
            .context("manifest", &manifest.manifest_path)?;
        Ok(Arc::new(ManifestEntries::new(Arc::new(manifest), columns)))
    }

    /// A manifest's entries with all there is, to copy them. The cache is passed by: it would keep them for nothing.
    pub(crate) async fn all_entries(&self, manifest: &ManifestFile) -> Result<ManifestEntries> {
        let partition_type = self.partition_type(manifest.partition_spec_id)?;
        let bytes = self.io.read(&manifest.manifest_path).await?;
        let decode = move || reader::decode(&bytes, Some(&partition_type), &MetricsProjection::All);
        let columns = tokio::task::spawn_blocking(decode)
            .await
            .map_err(|e| Error::new(ErrorKind::Io, "decoding a manifest was interrupted").with_source(e))
            .flatten()
            .context("manifest", &manifest.manifest_path)?;
        Ok(ManifestEntries::new(Arc::new(manifest.clone()), Arc::new(columns)))
    }

    /// The manifest with the counts and the snapshot id that its list must give, for those of old v1 writers.
    pub(crate) async fn counted(&self, manifest: &ManifestFile) -> Result<ManifestFile> {
        if manifest.added_snapshot_id.is_some()
            && (manifest.has_counts() || self.base.format_version == FormatVersion::V1)
        {
            return Ok(manifest.clone());
        }
        let entries = self.entries_of(manifest.clone(), &MetricsProjection::None).await?;
        let newest = (0..entries.columns.len).filter_map(|i| entries.snapshot_id(i)).max();
        let mut counted = manifest.clone().with_counts(&entries.columns);
        counted.added_snapshot_id = manifest.added_snapshot_id.or(newest);
        Ok(counted)
    }

    /// Where a new metadata file of this name goes.
    pub(crate) fn metadata_location(&self, file_name: &str) -> String {
        self.locations.metadata_location(self.base, file_name)
    }
}
