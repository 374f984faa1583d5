//! Streaming a large file to local disk: parts are appended in the order they were handed over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::FutureExt;
use object_store::{Error, MultipartUpload, PutPayload, PutResult, Result, UploadPart};

use super::blocking;
use super::staged::Staged;

/// An upload into a staging file. Dropped before [`MultipartUpload::complete`], it leaves nothing behind.
#[derive(Debug)]
pub(super) struct LocalUpload {
    state: Arc<Mutex<State>>,
    parts: usize,
}

#[derive(Debug)]
struct State {
    staged: Option<Staged>,
    /// Parts that finished before an earlier one did.
    waiting: BTreeMap<usize, PutPayload>,
    next: usize,
}

impl LocalUpload {
    pub(super) fn new(staged: Staged) -> Self {
        LocalUpload {
            state: Arc::new(Mutex::new(State {
                staged: Some(staged),
                waiting: BTreeMap::new(),
                next: 0,
            })),
            parts: 0,
        }
    }
}

impl State {
    fn accept(&mut self, index: usize, payload: PutPayload) -> Result<()> {
        self.waiting.insert(index, payload);
        while let Some(payload) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.staged.as_mut().ok_or_else(gone)?.write(payload.iter())?;
        }
        Ok(())
    }
}

fn gone() -> Error {
    Error::Generic {
        store: "local",
        source: "the upload was already completed or aborted".into(),
    }
}

#[async_trait]
impl MultipartUpload for LocalUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let index = self.parts;
        self.parts += 1;
        let state = Arc::clone(&self.state);
        blocking(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.accept(index, data)
        })
        .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let state = Arc::clone(&self.state);
        let parts = self.parts;
        blocking(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let staged = state.staged.take().ok_or_else(gone)?;
            if state.next != parts {
                return Err(Error::Generic {
                    store: "local",
                    source: "the upload lacks parts that failed or were not awaited".into(),
                });
            }
            staged.publish()?;
            Ok(PutResult {
                e_tag: None,
                version: None,
            })
        })
        .await
    }

    async fn abort(&mut self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.staged = None;
        Ok(())
    }
}
