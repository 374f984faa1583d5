//! Which files a path means.

use std::sync::Arc;

use datafusion::catalog::Session;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::object_store::ObjectStoreUrl;
use futures::TryStreamExt;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use tarn_format::{Error, ErrorKind, Result};

use super::DataFormat;

/// The files of a path, in the order of their names.
pub(super) struct Listing {
    pub(super) store_url: ObjectStoreUrl,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) files: Vec<ObjectMeta>,
    url: ListingTableUrl,
}

impl Listing {
    /// The files that are of this format by their names; all, when the path names one file.
    pub(super) fn files_of(&self, format: DataFormat) -> Vec<ObjectMeta> {
        let named: Vec<ObjectMeta> = self
            .files
            .iter()
            .filter(|f| DataFormat::of_file_name(f.location.as_ref()) == Some(format))
            .cloned()
            .collect();
        let is_explicit = !self.url.is_collection() || self.url.get_glob().is_some();
        if named.is_empty() && is_explicit {
            return self.files.clone();
        }
        named
    }

    /// The paths of files below the directory that is read.
    pub(super) fn relative_paths(&self, files: &[ObjectMeta]) -> Vec<Vec<String>> {
        let relative = |f: &ObjectMeta| match self.url.strip_prefix(&f.location) {
            Some(segments) => segments.map(str::to_string).collect(),
            None => Vec::new(),
        };
        files.iter().map(relative).collect()
    }

    /// Whether the directory has an Iceberg table's metadata in the usual place.
    pub(super) fn holds_iceberg_metadata(&self) -> bool {
        self.files.iter().any(|f| {
            let segments: Option<Vec<&str>> = self.url.strip_prefix(&f.location).map(Iterator::collect);
            matches!(segments.as_deref(), Some(["metadata", name]) if name.contains(".metadata.json"))
        })
    }
}

/// Lists what a path means.
pub(super) async fn list(state: &dyn Session, path: &str) -> Result<Listing> {
    let url = ListingTableUrl::parse(path);
    let url = url.map_err(|e| Error::invalid(format!("'{path}' is no path")).with_source(e))?;
    let store_url = url.object_store();
    let store = state.runtime_env().object_store(&store_url).map_err(|e| {
        Error::unsupported(format!(
            "'{path}' lies in a store that this session does not know: use a local path"
        ))
        .with_source(e)
    })?;
    let missing = || Error::not_found(format!("'{path}' does not exist"));
    let files = if url.is_collection() || url.get_glob().is_some() {
        let all: Vec<ObjectMeta> = store
            .list(Some(url.prefix()))
            .try_collect()
            .await
            .map_err(|e| failed(path, e))?;
        let mut files: Vec<ObjectMeta> = all
            .into_iter()
            .filter(|f| is_meant(&url, f) && !is_hidden(&url, f))
            .collect();
        files.sort_by(|a, b| a.location.cmp(&b.location));
        files
    } else {
        match store.head(url.prefix()).await {
            Ok(meta) => vec![meta],
            Err(object_store::Error::NotFound { .. }) => return Err(missing()),
            Err(e) => return Err(failed(path, e)),
        }
    };
    if files.is_empty() {
        return Err(match url.get_glob() {
            Some(_) => Error::not_found(format!("no file matches '{path}'")),
            None => Error::not_found(format!("'{path}' holds no files")),
        });
    }
    Ok(Listing {
        store_url,
        store,
        files,
        url,
    })
}

fn failed(path: &str, e: object_store::Error) -> Error {
    Error::new(ErrorKind::Io, format!("'{path}' cannot be listed")).with_source(e)
}

/// Whether a file matches the pattern, of which `*` and `?` stay inside one name and `**` is any number of them.
fn is_meant(url: &ListingTableUrl, file: &ObjectMeta) -> bool {
    let Some(segments) = url.strip_prefix(&file.location) else {
        return false;
    };
    let Some(pattern) = url.get_glob() else {
        return true;
    };
    let segments: Vec<&str> = segments.collect();
    let depth = pattern.as_str().split('/').count();
    pattern.matches(&segments.join("/")) && (depth == segments.len() || pattern.as_str().contains("**"))
}

/// Whether a name below the path begins with `_` or `.`: markers and work in progress. `_column=value` is a partition.
fn is_hidden(url: &ListingTableUrl, file: &ObjectMeta) -> bool {
    let Some(mut segments) = url.strip_prefix(&file.location) else {
        return false;
    };
    segments.any(|s| s.starts_with('.') || (s.starts_with('_') && !s.contains('=')))
}
