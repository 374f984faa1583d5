//! A catalog that several processes open at once, and a runtime to use it in.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use tarn::catalogs::load_catalog_with_io;
use tarn::format::catalog::{Catalog, Namespace};
use tarn::format::io::{Durability, FileIo};
use tarn::{Error, ErrorKind, Result, Session};

/// The catalog of a kind that lies in `place`.
pub fn open(kind: &str, place: &Path) -> Result<Arc<dyn Catalog>> {
    let below = |name: &str| place.join(name).display().to_string();
    let mut properties = BTreeMap::from([
        ("type".to_string(), kind.to_string()),
        ("warehouse".to_string(), below("warehouse")),
    ]);
    if kind == "sqlite" {
        properties.insert("uri".to_string(), below("catalog.db"));
    }
    // Nobody cuts the power here: what is tested is the race, not the disk.
    let io = FileIo::builder().with_durability(Durability::OsCache).build();
    load_catalog_with_io("lake", &properties, io)
}

/// A session on that catalog, in the namespace `db`.
pub async fn session(kind: &str, place: &Path) -> Result<Session> {
    Session::builder()
        .catalog("lake", open(kind, place)?)
        .namespace(Namespace::new(["db"]))
        .parallelism(2)
        .build()
        .await
}

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let failed = |e| Error::new(ErrorKind::Io, "no runtime").with_source(e);
    runtime.map_err(failed)?.block_on(future)
}
