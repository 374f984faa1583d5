//! Reading and writing files by location (a URI or an absolute path) over object stores.
//!
//! Everything the format stores goes through [`FileIo`]; nothing else opens files. What a location may look like
//! is in [`location`]; which store it belongs to, in the registry; how local files are written, in [`local`].

mod builder;
mod directory;
#[cfg(any(test, feature = "testkit"))]
pub mod fault;
pub mod file_names;
pub mod local;
pub mod location;
pub(crate) mod location_map;
pub mod location_provider;
mod object_id;
mod prefix_map;
mod registry;
mod store_error;
mod writer;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

pub use self::builder::FileIoBuilder;
pub use self::directory::{DeleteDir, DirListing, Directories};
pub use self::local::{Durability, LocalStore};
pub use self::object_id::{ObjectId, StoreId};
pub use self::prefix_map::PrefixMap;
pub use self::writer::FileWriter;

use self::registry::{Registry, Target};
use self::store_error::store_error;
use crate::error::{Error, ErrorKind, Result, ResultExt};

/// Access to files by location. Cheap to clone.
///
/// Errors name the location as context `file`. An [`ErrorKind::Io`] error of a write leaves open whether it happened.
#[derive(Clone)]
pub struct FileIo {
    inner: Arc<Inner>,
}

struct Inner {
    registry: Registry,
    prefixes: PrefixMap,
}

impl fmt::Debug for FileIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileIo")
            .field("stores", &self.inner.registry.to_string())
            .finish_non_exhaustive()
    }
}

/// A file found by listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// Location, in the form of the listed prefix.
    pub location: String,
    /// Length in bytes.
    pub size_bytes: u64,
    /// Last change, milliseconds since epoch.
    pub last_modified_ms: i64,
}

impl FileIo {
    /// Local files, and no other scheme.
    pub fn local() -> Self {
        Self::builder().build()
    }

    /// Every location, whatever its scheme, in memory: for tests and catalogs that end with the process.
    /// Bare paths and `file:` locations are in memory too.
    pub fn memory() -> Self {
        let store = Arc::new(object_store::memory::InMemory::new());
        Self::builder().with_fallback_store(store).build()
    }

    /// Chooses stores, location prefixes and durability.
    pub fn builder() -> FileIoBuilder {
        FileIoBuilder::new()
    }

    fn resolve(&self, location: &str) -> Result<Target<'_>> {
        match self.inner.prefixes.apply(location) {
            None => self.inner.registry.resolve(location),
            Some(mapped) => {
                // The mapped part of the location came from metadata: it must not climb out of its new home.
                location::refuse_climbing(location)?;
                self.inner.registry.resolve(&mapped).context("file", location)
            }
        }
    }

    /// The store and key behind a location, for readers that speak to object stores themselves.
    pub fn object(&self, location: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
        let target = self.resolve(location)?;
        Ok((target.store().clone(), target.path))
    }

    /// The location after prefix mapping: what is really read. For messages and for readers of local files.
    pub fn mapped_location(&self, location: &str) -> String {
        let mapped = self.inner.prefixes.apply(location);
        mapped.unwrap_or_else(|| location.to_string())
    }

    /// The whole file.
    pub async fn read(&self, location: &str) -> Result<Bytes> {
        let target = self.resolve(location)?;
        let read = async { target.store().get(&target.path).await?.bytes().await };
        read.await.map_err(store_error).context("file", location)
    }

    /// Part of a file, exactly as long as asked for.
    ///
    /// # Errors
    /// `Corrupt` when the file ends before the range does: who asked believed in more.
    pub async fn read_range(&self, location: &str, range: Range<u64>) -> Result<Bytes> {
        let mut read = self.read_ranges(location, &[range]).await?;
        read.pop()
            .ok_or_else(|| Error::new(ErrorKind::Io, "the store returned nothing").with_context("file", location))
    }

    /// Parts of a file, in the order asked for; neighbours are fetched together where that saves requests.
    ///
    /// # Errors
    /// As [`FileIo::read_range`].
    pub async fn read_ranges(&self, location: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if let Some(bad) = ranges.iter().find(|r| r.start > r.end) {
            let message = format!("byte range {}..{} is reversed", bad.start, bad.end);
            return Err(Error::corrupt(message).with_context("file", location));
        }
        let target = self.resolve(location)?;
        let wanted: Vec<Range<u64>> = ranges.iter().filter(|r| !r.is_empty()).cloned().collect();
        if wanted.is_empty() {
            return Ok(vec![Bytes::new(); ranges.len()]);
        }
        let read = target.store().get_ranges(&target.path, &wanted).await;
        let mut read = match read {
            Ok(read) => read.into_iter(),
            // Stores word a range past the end in their own ways; the size tells.
            Err(e) => return Err(self.range_error(&target, location, &wanted, e).await),
        };
        let mut out = Vec::with_capacity(ranges.len());
        for range in ranges {
            let bytes = if range.is_empty() {
                Bytes::new()
            } else {
                read.next().unwrap_or_default()
            };
            if bytes.len() as u64 != range.end - range.start {
                return Err(too_short(range).with_context("file", location));
            }
            out.push(bytes);
        }
        Ok(out)
    }

    async fn range_error(
        &self,
        target: &Target<'_>,
        location: &str,
        ranges: &[Range<u64>],
        error: object_store::Error,
    ) -> Error {
        if !matches!(error, object_store::Error::NotFound { .. })
            && let Ok(meta) = target.store().head(&target.path).await
            && let Some(range) = ranges.iter().find(|r| r.end > meta.size)
        {
            return too_short(range).with_context("file", location);
        }
        store_error(error).with_context("file", location)
    }

    /// The first bytes of a file (all of it when shorter) and its whole length: one request.
    pub async fn read_head(&self, location: &str, bytes: u64) -> Result<(Bytes, u64)> {
        let target = self.resolve(location)?;
        let error = match read_part(&target, GetRange::Bounded(0..bytes)).await {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        // An empty file has no range, stores say.
        match target.store().head(&target.path).await {
            Ok(meta) if meta.size == 0 => Ok((Bytes::new(), 0)),
            _ => Err(store_error(error).with_context("file", location)),
        }
    }

    /// The last bytes of a file (all of it when shorter) and its whole length: for formats with a footer. One request.
    pub async fn read_tail(&self, location: &str, bytes: u64) -> Result<(Bytes, u64)> {
        let target = self.resolve(location)?;
        let read = read_part(&target, GetRange::Suffix(bytes)).await;
        read.map_err(store_error).context("file", location)
    }

    /// Length and time of change.
    pub async fn status(&self, location: &str) -> Result<FileStatus> {
        let target = self.resolve(location)?;
        let meta = target.store().head(&target.path).await;
        let meta = meta.map_err(store_error).context("file", location)?;
        Ok(status(location.to_string(), &meta))
    }

    /// Length in bytes.
    pub async fn size(&self, location: &str) -> Result<u64> {
        Ok(self.status(location).await?.size_bytes)
    }

    /// Whether the file exists. A directory is no file.
    pub async fn exists(&self, location: &str) -> Result<bool> {
        match self.status(location).await {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// A handle on one file that must exist: its length is read now, its contents when asked for.
    pub async fn open(&self, location: &str) -> Result<InputFile> {
        let status = self.status(location).await?;
        Ok(InputFile {
            io: self.clone(),
            status,
        })
    }

    /// Writes a whole file, replacing any other. Readers see all of it or nothing.
    pub async fn write(&self, location: &str, bytes: Bytes) -> Result<()> {
        self.put(location, bytes, PutMode::Overwrite).await
    }

    /// Writes a whole file that must not exist: `AlreadyExists` otherwise. Of several racing calls exactly one succeeds.
    pub async fn create(&self, location: &str, bytes: Bytes) -> Result<()> {
        self.put(location, bytes, PutMode::Create).await
    }

    async fn put(&self, location: &str, bytes: Bytes, mode: PutMode) -> Result<()> {
        let target = self.resolve(location)?;
        let options = PutOptions::from(mode);
        let put = target
            .store()
            .put_opts(&target.path, PutPayload::from(bytes), options)
            .await;
        put.map(drop).map_err(store_error).context("file", location)
    }

    /// Deletes a file; a missing one is no error.
    pub async fn delete(&self, location: &str) -> Result<()> {
        let target = self.resolve(location)?;
        match target.store().delete(&target.path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(store_error(e).with_context("file", location)),
        }
    }

    /// Deletes files, several at a time, going on after failures. Missing files are no failures.
    ///
    /// Returns one error per file that could not be deleted, naming it.
    pub async fn delete_many<S: AsRef<str>>(&self, locations: &[S]) -> Vec<Error> {
        const AT_ONCE: usize = 16;
        // Collected first: a lazy iterator would keep this future from being `Send` for every lifetime.
        let deletions: Vec<_> = locations
            .iter()
            .map(|location| self.delete(location.as_ref()))
            .collect();
        futures::stream::iter(deletions)
            .buffered(AT_ONCE)
            .filter_map(|deleted| async { deleted.err() })
            .collect()
            .await
    }

    /// All files below a location, at any depth, sorted; none when nothing is there. `prefix` ends at a
    /// path segment: `/wh/t` does not find files of `/wh/t2`.
    pub async fn list(&self, prefix: &str) -> Result<Vec<FileStatus>> {
        let target = self.resolve(prefix)?;
        let listed: object_store::Result<Vec<ObjectMeta>> = target.store().list(Some(&target.path)).try_collect().await;
        let base = location::strip_trailing_slash(prefix);
        let mut files: Vec<FileStatus> = listed
            .map_err(store_error)
            .context("directory", prefix)?
            .iter()
            .filter(|meta| meta.location.filename() != Some(directory::MARKER))
            .map(|meta| status(below(base, &target.path, &meta.location), meta))
            .collect();
        files.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(files)
    }
}

/// A file that exists: its length is known.
#[derive(Debug, Clone)]
pub struct InputFile {
    io: FileIo,
    status: FileStatus,
}

impl InputFile {
    /// Its location as asked for.
    pub fn location(&self) -> &str {
        &self.status.location
    }

    /// Its length in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.status.size_bytes
    }

    /// The whole file.
    pub async fn read(&self) -> Result<Bytes> {
        self.io.read(&self.status.location).await
    }

    /// Part of the file: see [`FileIo::read_range`].
    pub async fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        self.io.read_range(&self.status.location, range).await
    }

    /// Parts of the file: see [`FileIo::read_ranges`].
    pub async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.io.read_ranges(&self.status.location, ranges).await
    }
}

fn too_short(range: &Range<u64>) -> Error {
    Error::corrupt(format!(
        "file is too short: bytes {}..{} were expected in it",
        range.start, range.end
    ))
}

fn status(location: String, meta: &ObjectMeta) -> FileStatus {
    FileStatus {
        location,
        size_bytes: meta.size,
        last_modified_ms: meta.last_modified.timestamp_millis(),
    }
}

/// The location of `found`, which lies below `root`, where `root` is at location `base`.
fn below(base: &str, root: &Path, found: &Path) -> String {
    let relative = found.as_ref().strip_prefix(root.as_ref()).unwrap_or(found.as_ref());
    location::join(base, relative)
}

/// A part of a file, and the length of all of it: one request.
async fn read_part(target: &Target<'_>, range: GetRange) -> Result<(Bytes, u64), object_store::Error> {
    let options = GetOptions {
        range: Some(range),
        ..GetOptions::default()
    };
    let got = target.store().get_opts(&target.path, options).await?;
    let size = got.meta.size;
    Ok((got.bytes().await?, size))
}

#[cfg(test)]
mod tests;
