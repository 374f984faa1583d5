//! Deleting every file that a dropped table's metadata reaches (Java: `CatalogUtil.dropTableData`).

use std::collections::HashSet;

use futures::StreamExt;
use tarn_format::catalog::{TableIdent, gc_enabled};
use tarn_format::io::FileIo;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::manifest_file::ManifestFile;
use tarn_format::manifest::{list, reader};
use tarn_format::spec::snapshot::SnapshotManifests;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, Result};

/// Manifests read at a time.
const MANIFESTS_AT_ONCE: usize = 8;

/// Deletes the files of a table that no catalog names any more: data and delete files (unless `gc.enabled` is false),
/// manifests, manifest lists, statistics, and metadata files, in this order. Whatever cannot be read or deleted is
/// left behind and logged: the table is gone already.
pub(crate) async fn delete_table_files(
    io: &FileIo,
    ident: &TableIdent,
    metadata: &TableMetadata,
    metadata_location: &str,
) {
    let manifests = reachable_manifests(io, metadata).await;
    if gc_enabled(&metadata.properties) {
        delete_content_files(io, metadata, &manifests).await;
    }
    let manifest_paths: Vec<&str> = manifests.iter().map(|m| m.manifest_path.as_str()).collect();
    delete_all(io, ident, &manifest_paths).await;
    delete_all(io, ident, &manifest_lists(metadata)).await;
    delete_all(io, ident, &statistics_files(metadata)).await;
    let logged = metadata.metadata_log.iter().map(|e| e.metadata_file.as_str());
    delete_all(io, ident, &logged.chain([metadata_location]).collect::<Vec<_>>()).await;
}

/// What [`delete_table_files`] deletes, in its order, but for the metadata files: for a catalog that must know them
/// before it deletes the first.
pub(crate) async fn reachable_files(io: &FileIo, metadata: &TableMetadata) -> Vec<String> {
    let manifests = reachable_manifests(io, metadata).await;
    let mut files = Vec::new();
    if gc_enabled(&metadata.properties) {
        let mut seen: HashSet<String> = HashSet::new();
        for manifest in &manifests {
            match content_paths(io, metadata, manifest).await {
                Ok(paths) => files.extend(paths.into_iter().filter(|p| seen.insert(p.clone()))),
                Err(error) => warn_unreadable(manifest, &error),
            }
        }
    }
    files.extend(manifests.into_iter().map(|m| m.manifest_path));
    files.extend(manifest_lists(metadata).into_iter().map(str::to_owned));
    files.extend(statistics_files(metadata).into_iter().map(str::to_owned));
    files
}

fn warn_unreadable(manifest: &ManifestFile, error: &Error) {
    tracing::warn!(
        file = manifest.manifest_path, %error,
        "a manifest of a purged table could not be read, its files stay behind"
    );
}

fn statistics_files(metadata: &TableMetadata) -> Vec<&str> {
    let statistics = metadata.statistics.iter().map(|s| s.statistics_path.as_str());
    let partition_statistics = metadata.partition_statistics.iter().map(|s| s.statistics_path.as_str());
    statistics.chain(partition_statistics).collect()
}

fn manifest_lists(metadata: &TableMetadata) -> Vec<&str> {
    let lists = metadata.snapshots.iter().filter_map(|s| match &s.manifests {
        SnapshotManifests::List(location) => Some(location.as_str()),
        SnapshotManifests::Embedded(_) => None,
    });
    lists.collect()
}

/// The manifests of all kept snapshots, each once.
async fn reachable_manifests(io: &FileIo, metadata: &TableMetadata) -> Vec<ManifestFile> {
    let mut seen = HashSet::new();
    let mut manifests = Vec::new();
    for snapshot in &metadata.snapshots {
        match list::load(io, metadata, snapshot).await {
            Ok(listed) => manifests.extend(listed.into_iter().filter(|m| seen.insert(m.manifest_path.clone()))),
            Err(error) => tracing::warn!(
                snapshot_id = snapshot.snapshot_id, %error,
                "the files of a snapshot of a purged table could not be found, they stay behind"
            ),
        }
    }
    manifests
}

/// Deletes the data and delete files that the manifests name, each once, reading a few manifests at a time.
async fn delete_content_files(io: &FileIo, metadata: &TableMetadata, manifests: &[ManifestFile]) {
    let mut seen: HashSet<String> = HashSet::new();
    let reads = manifests
        .iter()
        .map(|m| async move { (m, content_paths(io, metadata, m).await) });
    let reads: Vec<_> = reads.collect();
    let mut found = futures::stream::iter(reads).buffer_unordered(MANIFESTS_AT_ONCE);
    while let Some((manifest, paths)) = found.next().await {
        match paths {
            Ok(paths) => {
                let fresh: Vec<String> = paths.into_iter().filter(|p| seen.insert(p.clone())).collect();
                for error in io.delete_many(&fresh).await {
                    tracing::warn!(%error, "a file of a purged table could not be deleted");
                }
            }
            Err(error) => warn_unreadable(manifest, &error),
        }
    }
}

async fn content_paths(io: &FileIo, metadata: &TableMetadata, manifest: &ManifestFile) -> Result<Vec<String>> {
    let bytes = io.read(&manifest.manifest_path).await?;
    let partition_type = metadata.partition_type_of(manifest.partition_spec_id).ok();
    let columns = reader::decode(&bytes, partition_type.as_ref(), &MetricsProjection::default())?;
    Ok((0..columns.len).map(|i| columns.path(i).to_owned()).collect())
}

async fn delete_all(io: &FileIo, ident: &TableIdent, locations: &[&str]) {
    for error in io.delete_many(locations).await {
        tracing::warn!(table = %ident, %error, "a metadata file of a purged table could not be deleted");
    }
}

#[cfg(test)]
mod tests;
