//! Which object a location names: what caches key by, since one location may name two objects.
//!
//! Two catalogs may use different stores, or map the beginnings of locations differently; then one string names
//! different files for each. The other way round `file:/t/f` and `/t/f` are one file. An [`ObjectId`] is the store and
//! the key in it that a [`FileIo`] reads when it is given the location.
//!
//! What is one store: the local file system always is, whichever [`FileIo`] reaches it. Any other store gets its
//! identity when it is given to a [`super::FileIoBuilder`], and hands it on to everything built from that builder, from
//! its clones, and to clones of the [`FileIo`]. So who makes a [`FileIo`] for each table or each load should keep the
//! builder, or caches stay cold.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use object_store::path::Path;

use super::FileIo;
use crate::error::Result;

/// Identity of a store in this process: see the module's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreId(u64);

impl StoreId {
    /// The local file system.
    pub const LOCAL: StoreId = StoreId(0);

    /// An identity that no other store has.
    pub(super) fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        StoreId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            StoreId::LOCAL => f.write_str("local"),
            StoreId(number) => write!(f, "store-{number}"),
        }
    }
}

/// Identity of an object in this process: its store and its key there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// The store.
    pub store: StoreId,
    /// The key.
    pub path: Path,
}

impl FileIo {
    /// The object that a location names. It need not exist.
    ///
    /// # Errors
    /// As of reading it: `InvalidInput` and `Unsupported` for locations that no store takes.
    pub fn object_id(&self, location: &str) -> Result<ObjectId> {
        let target = self.resolve(location)?;
        Ok(ObjectId {
            store: target.store_id(),
            path: target.path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const LOCATION: &str = "s3://bucket/t/f";

    fn id(io: &FileIo) -> ObjectId {
        io.object_id(LOCATION).unwrap()
    }

    #[test]
    fn a_given_store_is_itself_in_all_that_share_its_builder() {
        let store = Arc::new(object_store::memory::InMemory::new());
        let builder = FileIo::builder().with_store("s3", store);
        let io = builder.clone().build();
        assert_eq!(id(&io), id(&io.clone()));
        assert_eq!(id(&io), id(&builder.clone().build()));
        assert_eq!(id(&io), io.object_id("s3a://bucket/t/f").unwrap());
        // The mapped location is another object of the same store.
        let moved = builder.with_location_prefix("s3://bucket", "s3://other").build();
        assert_ne!(id(&io), id(&moved));
        assert_eq!(id(&io).store, id(&moved).store);
    }

    #[test]
    fn stores_given_apart_are_two() {
        let (one, two) = (FileIo::memory(), FileIo::memory());
        assert_ne!(id(&one), id(&two));
        let buckets = |name| {
            let store = Arc::new(object_store::memory::InMemory::new());
            (name, store)
        };
        let ((a, in_a), (b, in_b)) = (buckets("a"), buckets("b"));
        let io = FileIo::builder()
            .with_bucket_store("s3", a, in_a)
            .with_bucket_store("s3", b, in_b)
            .build();
        let (of_a, of_b) = (io.object_id("s3://a/k").unwrap(), io.object_id("s3://b/k").unwrap());
        assert_eq!(of_a.path, of_b.path);
        assert_ne!(of_a, of_b);
    }

    #[test]
    fn local_files_are_one_store_however_reached() {
        let moved = FileIo::builder().with_location_prefix("s3://bucket", "/moved").build();
        assert_eq!(id(&moved), FileIo::local().object_id("file:///moved/t/f").unwrap());
        assert_eq!(id(&moved).store, StoreId::LOCAL);
        // Another store in its place is not the file system.
        let store = Arc::new(object_store::memory::InMemory::new());
        let other = FileIo::builder().with_store("file", store).build();
        assert_ne!(other.object_id("/moved/t/f").unwrap(), id(&moved));
    }
}
