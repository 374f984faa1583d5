//! Which store holds a location: by scheme and bucket, by scheme, or one for all.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;

use super::StoreId;
use super::directory::Directories;
use super::location::{Addressing, EmptySegments, Location, object_path};
use crate::error::{Error, Result};

/// A store and how locations become its keys.
#[derive(Debug, Clone)]
pub(super) struct Mount {
    pub(super) id: StoreId,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) directories: Option<Arc<dyn Directories>>,
    pub(super) addressing: Addressing,
    pub(super) empty_segments: EmptySegments,
}

/// An object in a store.
pub(super) struct Target<'a> {
    mount: &'a Mount,
    pub(super) path: Path,
}

impl<'a> Target<'a> {
    pub(super) fn store_id(&self) -> StoreId {
        self.mount.id
    }

    pub(super) fn store(&self) -> &'a Arc<dyn ObjectStore> {
        &self.mount.store
    }

    pub(super) fn directories(&self) -> Option<&'a Arc<dyn Directories>> {
        self.mount.directories.as_ref()
    }
}

/// Stores by scheme and bucket. Schemes are those of [`Location::store_scheme`].
#[derive(Debug, Clone, Default)]
pub(super) struct Registry {
    pub(super) buckets: HashMap<(String, String), Mount>,
    pub(super) schemes: HashMap<String, Mount>,
    pub(super) fallback: Option<Mount>,
}

impl Registry {
    /// The store and key of a location (after prefix mapping).
    ///
    /// # Errors
    /// `InvalidInput` for relative locations, `.`/`..` segments, and local locations with a host;
    /// `Unsupported` when no store is registered for the scheme.
    pub(super) fn resolve(&self, location: &str) -> Result<Target<'_>> {
        let parsed = Location::parse(location);
        let scheme = parsed.store_scheme();
        let mount = self.mount(&scheme, parsed.authority);
        if parsed.is_local() {
            if parsed.scheme.is_empty() && !parsed.path.starts_with('/') {
                return Err(relative(location));
            }
            if !parsed.authority.is_empty() && !parsed.authority.eq_ignore_ascii_case("localhost") {
                let message = format!("local location has a host '{}': write file:///path", parsed.authority);
                return Err(Error::invalid(message).with_context("file", location));
            }
        }
        let mount = mount.ok_or_else(|| unconfigured(location, &scheme, parsed.authority))?;
        let addressing = if parsed.is_local() {
            Addressing::Path
        } else {
            mount.addressing
        };
        let path = object_path(location, addressing, mount.empty_segments)?;
        Ok(Target { mount, path })
    }

    fn mount(&self, scheme: &str, authority: &str) -> Option<&Mount> {
        self.buckets
            .get(&(scheme.to_string(), authority.to_string()))
            .or_else(|| self.schemes.get(scheme))
            .or(self.fallback.as_ref())
    }
}

fn relative(location: &str) -> Error {
    Error::invalid("location is relative: give an absolute path or URI, or map its beginning with a location prefix")
        .with_context("file", location)
}

fn unconfigured(location: &str, scheme: &str, authority: &str) -> Error {
    let bucket = if authority.is_empty() {
        String::new()
    } else {
        format!(" (bucket or host '{authority}')")
    };
    let message = format!(
        "no store is configured for scheme '{scheme}'{bucket}: register one for it, or map the location with a location prefix"
    );
    Error::unsupported(message).with_context("file", location)
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<String> = self.schemes.keys().cloned().collect();
        names.extend(
            self.buckets
                .keys()
                .map(|(scheme, bucket)| format!("{scheme}://{bucket}")),
        );
        names.extend(self.fallback.iter().map(|_| "*".to_string()));
        names.sort();
        f.write_str(&names.join(", "))
    }
}
