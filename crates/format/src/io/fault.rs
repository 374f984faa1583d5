//! A store that counts, records and fails operations on demand: for tests of what a crash or an outage leaves behind.
//!
//! Deterministic: the same operations in the same order meet the same faults.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use super::directory::{DeleteDir, Directories};
use super::local::{Durability, local};
use super::{FileIo, store_error};

/// What was asked of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Contents read.
    Read,
    /// Length asked for.
    Head,
    /// Files listed.
    List,
    /// Whole file written, replacing another.
    Write,
    /// Whole file written that must be new.
    Create,
    /// Streamed file begun.
    UploadStart,
    /// Part of a streamed file.
    UploadPart,
    /// Streamed file made visible.
    UploadComplete,
    /// Streamed file given up.
    UploadAbort,
    /// File deleted.
    Delete,
    /// File copied.
    Copy,
    /// Directory made.
    CreateDir,
    /// Directory deleted.
    DeleteDir,
    /// Directory renamed.
    RenameDir,
}

/// Whether the failing operation takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing happens.
    None,
    /// It happens, and the caller is told that it failed: an unknown outcome.
    Done,
    /// Writes leave the first half of the bytes under the file's name; others do nothing.
    Torn,
}

/// What the error says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Some failure.
    Outage,
    /// The disk is full.
    NoSpace,
    /// Access is denied.
    Denied,
}

/// Which operations fail, and how.
#[derive(Debug, Clone)]
pub struct Fault {
    index: usize,
    onwards: bool,
    effect: Effect,
    cause: Cause,
    operations: Option<Vec<Operation>>,
}

impl Fault {
    /// The operation of this index, from 0 when the fault is set, fails without effect; others work.
    pub fn nth(index: usize) -> Self {
        Fault {
            index,
            onwards: false,
            effect: Effect::None,
            cause: Cause::Outage,
            operations: None,
        }
    }

    /// Nothing works any more from this index on, as after the process was killed. An [`Effect`] other than none is that
    /// of the first operation only.
    pub fn killed_at(index: usize) -> Self {
        Fault {
            onwards: true,
            ..Fault::nth(index)
        }
    }

    /// Sets what the failing operation does.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Sets what the error says.
    #[must_use]
    pub fn cause(mut self, cause: Cause) -> Self {
        self.cause = cause;
        self
    }

    /// Counts and fails only these operations; others work (unless killed already).
    #[must_use]
    pub fn only(mut self, operations: &[Operation]) -> Self {
        self.operations = Some(operations.to_vec());
        self
    }
}

/// An operation as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What.
    pub operation: Operation,
    /// The store's key: the path without leading slash.
    pub path: String,
    /// Whether it was made to fail, and with what effect.
    pub fault: Option<Effect>,
}

#[derive(Debug, Default)]
struct State {
    records: Vec<Record>,
    fault: Option<Fault>,
    /// Operations since the fault was set that it counts.
    counted: usize,
}

/// Wraps a store. Clones share counters and faults.
#[derive(Debug, Clone)]
pub struct FaultStore {
    inner: Arc<dyn ObjectStore>,
    directories: Option<Arc<dyn Directories>>,
    state: Arc<Mutex<State>>,
}

impl FaultStore {
    /// Over any store without directories.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        FaultStore {
            inner,
            directories: None,
            state: Arc::default(),
        }
    }

    /// Over a new store in memory.
    pub fn memory() -> Self {
        Self::new(Arc::new(InMemory::new()))
    }

    /// Over local files.
    pub fn local() -> Self {
        let (store, directories) = local(Durability::OsCache);
        FaultStore {
            directories: Some(directories),
            ..Self::new(store)
        }
    }

    /// A [`FileIo`] all of whose files are in this store.
    pub fn file_io(&self) -> FileIo {
        let store = Arc::new(self.clone());
        match &self.directories {
            Some(_) => FileIo::builder()
                .with_directory_store("file", store.clone(), store)
                .build(),
            None => FileIo::builder().with_fallback_store(store).build(),
        }
    }

    /// Sets the fault; its index counts from the next operation.
    pub fn set(&self, fault: Fault) {
        let mut state = self.state();
        state.fault = Some(fault);
        state.counted = 0;
    }

    /// Ends all faults, as a restarted process or a mended disk.
    pub fn heal(&self) {
        self.state().fault = None;
    }

    /// What was asked for so far.
    pub fn records(&self) -> Vec<Record> {
        self.state().records.clone()
    }

    /// The keys of one kind of operation so far.
    pub fn paths(&self, operation: Operation) -> Vec<String> {
        let state = self.state();
        let asked = state.records.iter().filter(|r| r.operation == operation);
        asked.map(|r| r.path.clone()).collect()
    }

    /// Number of operations so far.
    pub fn count(&self) -> usize {
        self.state().records.len()
    }

    /// Whether a fault was met since the records were cleared.
    pub fn was_hit(&self) -> bool {
        self.state().records.iter().any(|r| r.fault.is_some())
    }

    /// Forgets the records; a fault stays.
    pub fn clear_records(&self) {
        self.state().records.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an operation and decides its fate: `None` works.
    fn meet(&self, operation: Operation, path: &Path) -> Option<(Effect, Error)> {
        let mut state = self.state();
        let met = state.decide(operation);
        state.records.push(Record {
            operation,
            path: path.to_string(),
            fault: met.map(|(effect, _)| effect),
        });
        let (effect, cause) = met?;
        let source = match cause {
            Cause::Outage => io::Error::other(format!("injected failure of operation {}", state.records.len() - 1)),
            Cause::NoSpace => io::ErrorKind::StorageFull.into(),
            Cause::Denied => io::ErrorKind::PermissionDenied.into(),
        };
        let error = Error::Generic {
            store: "fault",
            source: source.into(),
        };
        Some((effect, error))
    }

    /// Runs an operation unless a fault forbids it.
    async fn run<T>(&self, operation: Operation, path: &Path, work: impl Future<Output = Result<T>>) -> Result<T> {
        match self.meet(operation, path) {
            None => work.await,
            Some((Effect::Done, error)) => {
                work.await?;
                Err(error)
            }
            Some((_, error)) => Err(error),
        }
    }
}

impl State {
    fn decide(&mut self, operation: Operation) -> Option<(Effect, Cause)> {
        let fault = self.fault.as_ref()?;
        let killed = fault.onwards && self.counted > fault.index;
        let counts = fault.operations.as_ref().is_none_or(|only| only.contains(&operation));
        if !counts && !killed {
            return None;
        }
        let at = self.counted;
        self.counted += 1;
        if killed {
            return Some((Effect::None, fault.cause));
        }
        (at == fault.index).then_some((fault.effect, fault.cause))
    }
}

impl fmt::Display for FaultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "faults over {}", self.inner)
    }
}

/// The first half of a payload.
fn half(payload: &PutPayload) -> PutPayload {
    let whole: Vec<u8> = payload.iter().flatten().copied().collect();
    PutPayload::from(whole.get(..whole.len() / 2).unwrap_or_default().to_vec())
}

#[async_trait]
impl ObjectStore for FaultStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let operation = match options.mode {
            PutMode::Create => Operation::Create,
            _ => Operation::Write,
        };
        match self.meet(operation, location) {
            None => self.inner.put_opts(location, payload, options).await,
            Some((Effect::None, error)) => Err(error),
            Some((Effect::Done, error)) => {
                self.inner.put_opts(location, payload, options).await?;
                Err(error)
            }
            Some((Effect::Torn, error)) => {
                self.inner.put_opts(location, half(&payload), options).await?;
                Err(error)
            }
        }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let start = self.inner.put_multipart_opts(location, options);
        let inner = self.run(Operation::UploadStart, location, start).await?;
        Ok(Box::new(FaultUpload {
            inner,
            store: self.clone(),
            path: location.clone(),
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let operation = if options.head { Operation::Head } else { Operation::Read };
        self.run(operation, location, self.inner.get_opts(location, options))
            .await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.run(Operation::Read, location, self.inner.get_ranges(location, ranges))
            .await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        locations
            .then(move |location| {
                let store = store.clone();
                async move {
                    let location = location?;
                    let delete = store.inner.delete(&location);
                    store.run(Operation::Delete, &location, delete).await?;
                    Ok(location)
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let path = prefix.cloned().unwrap_or_default();
        let listing = self.inner.list(prefix);
        match self.meet(Operation::List, &path) {
            None => listing,
            Some((_, error)) => futures::stream::once(async { Err(error) }).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let path = prefix.cloned().unwrap_or_default();
        self.run(Operation::List, &path, self.inner.list_with_delimiter(prefix))
            .await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.run(Operation::Copy, to, self.inner.copy_opts(from, to, options))
            .await
    }
}

#[async_trait]
impl Directories for FaultStore {
    async fn create_dir(&self, path: &Path) -> crate::error::Result<()> {
        let fault = self.meet(Operation::CreateDir, path);
        after_fault(fault, async {
            match &self.directories {
                Some(directories) => directories.create_dir(path).await,
                None => Ok(()),
            }
        })
        .await
    }

    async fn delete_dir(&self, path: &Path, what: DeleteDir) -> crate::error::Result<()> {
        let fault = self.meet(Operation::DeleteDir, path);
        after_fault(fault, async {
            match &self.directories {
                Some(directories) => directories.delete_dir(path, what).await,
                None => Ok(()),
            }
        })
        .await
    }

    async fn rename_dir(&self, from: &Path, to: &Path) -> crate::error::Result<()> {
        let fault = self.meet(Operation::RenameDir, from);
        after_fault(fault, async {
            match &self.directories {
                Some(directories) => directories.rename_dir(from, to).await,
                None => Err(crate::error::Error::unsupported("the store has no directories")),
            }
        })
        .await
    }
}

async fn after_fault(
    fault: Option<(Effect, Error)>,
    work: impl Future<Output = crate::error::Result<()>>,
) -> crate::error::Result<()> {
    match fault {
        None => work.await,
        Some((Effect::Done, error)) => {
            work.await?;
            Err(store_error(error))
        }
        Some((_, error)) => Err(store_error(error)),
    }
}

/// A streamed file whose steps can fail.
#[derive(Debug)]
struct FaultUpload {
    inner: Box<dyn MultipartUpload>,
    store: FaultStore,
    path: Path,
}

#[async_trait]
impl MultipartUpload for FaultUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        match self.store.meet(Operation::UploadPart, &self.path) {
            None => self.inner.put_part(data),
            Some((Effect::Done, error)) => {
                let part = self.inner.put_part(data);
                async move { part.await.and(Err(error)) }.boxed()
            }
            Some((_, error)) => async move { Err(error) }.boxed(),
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.store
            .run(Operation::UploadComplete, &self.path, self.inner.complete())
            .await
    }

    async fn abort(&mut self) -> Result<()> {
        self.store
            .run(Operation::UploadAbort, &self.path, self.inner.abort())
            .await
    }
}

#[cfg(test)]
mod tests;
