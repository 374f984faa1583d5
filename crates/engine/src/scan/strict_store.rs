//! A store that never answers with fewer bytes than were asked for, and whose paths are led by its identity.
//!
//! Sizes in manifests may be wrong, and Parquet's reader takes a short answer for a bug in itself and panics. It only
//! reads: paths with a store's identity in them name nothing to write, delete or list.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tarn_format::io::StoreId;

#[cfg(doc)]
use crate::caches::with_store;
use crate::caches::without_store;

/// Another store whose short answers become errors. For reading; its paths are those of [`with_store`].
#[derive(Debug)]
pub(crate) struct StrictStore {
    pub(crate) inner: Arc<dyn ObjectStore>,
    pub(crate) id: StoreId,
}

impl fmt::Display for StrictStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

fn short(location: &Path, range: &Range<u64>) -> Error {
    Error::Generic {
        store: "table files",
        source: format!(
            "{location} ends before byte {}: it is shorter than the table says",
            range.end
        )
        .into(),
    }
}

fn only_reads(operation: &str) -> Error {
    Error::NotImplemented {
        operation: operation.to_string(),
        implementer: "a reader of table files".to_string(),
    }
}

#[async_trait]
impl ObjectStore for StrictStore {
    async fn put_opts(&self, _location: &Path, _payload: PutPayload, _options: PutOptions) -> Result<PutResult> {
        Err(only_reads("put_opts"))
    }

    async fn put_multipart_opts(
        &self,
        _location: &Path,
        _options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(only_reads("put_multipart_opts"))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let wanted = match &options.range {
            Some(GetRange::Bounded(range)) if !options.head => Some(range.clone()),
            _ => None,
        };
        let own = without_store(self.id, location);
        let got = self.inner.get_opts(&own, options).await?;
        match wanted {
            Some(range) if got.range != range => Err(short(&own, &range)),
            _ => Ok(got),
        }
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let own = without_store(self.id, location);
        let got = self.inner.get_ranges(&own, ranges).await?;
        let bad = ranges
            .iter()
            .zip(&got)
            .find(|(range, bytes)| bytes.len() as u64 != range.end - range.start);
        match bad {
            Some((range, _)) => Err(short(&own, range)),
            None => Ok(got),
        }
    }

    fn delete_stream(&self, _locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        stream::once(async { Err(only_reads("delete_stream")) }).boxed()
    }

    fn list(&self, _prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::once(async { Err(only_reads("list")) }).boxed()
    }

    async fn list_with_delimiter(&self, _prefix: Option<&Path>) -> Result<ListResult> {
        Err(only_reads("list_with_delimiter"))
    }

    async fn copy_opts(&self, _from: &Path, _to: &Path, _options: CopyOptions) -> Result<()> {
        Err(only_reads("copy_opts"))
    }
}
