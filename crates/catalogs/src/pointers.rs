//! The pointer from a name to its current metadata file, which is all that a metastore keeps of a table or view.
//!
//! A [`PointerStore`] knows nothing of files; [`crate::metastore::MetastoreCatalog`] makes a catalog of one.

use std::fmt;

use async_trait::async_trait;
use tarn_format::catalog::{Namespace, TableIdent};
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, ErrorKind, Result};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Table,
    View,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryKind::Table => "table",
            EntryKind::View => "view",
        })
    }
}

/// A name's kind and the metadata file it points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub kind: EntryKind,
    pub metadata_location: String,
}

/// How an attempt to move a pointer ended. An `Err` beside it means that nothing was changed for sure.
#[derive(Debug)]
pub(crate) enum Swap {
    /// The pointer was moved.
    Done,
    /// It no longer was what the caller believed; nothing was changed.
    Lost,
    /// The store failed after the change was sent: it may have happened.
    Unknown(Error),
}

/// A durable, atomic map from names to pointers, with namespaces.
///
/// A namespace exists when it was created or when anything lies below it, as in Java's `JdbcCatalog`.
#[async_trait]
pub(crate) trait PointerStore: fmt::Debug + Send + Sync {
    /// Namespaces directly below `parent`, sorted. `NotFound` when `parent` is missing.
    async fn child_namespaces(&self, parent: &Namespace) -> Result<Vec<Namespace>>;
    /// Properties of a namespace; `None` when it is missing.
    async fn namespace_properties(&self, namespace: &Namespace) -> Result<Option<Properties>>;
    /// Adds a namespace; `AlreadyExists` when it is there.
    async fn insert_namespace(&self, namespace: &Namespace, properties: Properties) -> Result<()>;
    /// Removes and sets properties in one step; `NotFound` when the namespace is missing.
    async fn change_namespace(&self, namespace: &Namespace, removals: &[String], updates: Properties) -> Result<()>;
    /// Removes a namespace; `NotFound` or `NotEmpty`, decided in the same step.
    async fn remove_namespace(&self, namespace: &Namespace) -> Result<()>;

    /// Names of one kind in a namespace, sorted. `NotFound` when the namespace is missing.
    async fn names(&self, namespace: &Namespace, kind: EntryKind) -> Result<Vec<String>>;
    /// What a name stands for.
    async fn get(&self, ident: &TableIdent) -> Result<Option<Pointer>>;
    /// Adds a name: `AlreadyExists` when it stands for anything, `NotFound` when its namespace is missing.
    async fn insert(&self, ident: &TableIdent, pointer: &Pointer) -> Result<Swap>;
    /// Moves a pointer if it is still at `from`; `NotFound` when the name is gone.
    async fn swap(&self, ident: &TableIdent, from: &Pointer, to: &str) -> Result<Swap>;
    /// Removes a name and gives where it pointed; `None` when there is none of this kind.
    async fn remove(&self, ident: &TableIdent, kind: EntryKind) -> Result<Option<String>>;
    /// Gives a name to another entry; `NotFound` for a missing one or a missing namespace, `AlreadyExists` when taken.
    async fn rename(&self, kind: EntryKind, from: &TableIdent, to: &TableIdent) -> Result<()>;
}

pub(crate) fn missing_namespace(namespace: &Namespace) -> Error {
    Error::not_found("namespace does not exist").with_context("namespace", namespace.to_string())
}

pub(crate) fn existing_namespace(namespace: &Namespace) -> Error {
    Error::new(ErrorKind::AlreadyExists, "namespace exists already").with_context("namespace", namespace.to_string())
}

pub(crate) fn filled_namespace(namespace: &Namespace, holds: &str) -> Error {
    Error::new(ErrorKind::NotEmpty, format!("namespace still holds {holds}"))
        .with_context("namespace", namespace.to_string())
}

pub(crate) fn missing_entry(kind: EntryKind, ident: &TableIdent) -> Error {
    Error::not_found(format!("{kind} does not exist")).with_context(kind_key(kind), ident.to_string())
}

pub(crate) fn existing_entry(kind: EntryKind, ident: &TableIdent) -> Error {
    Error::new(
        ErrorKind::AlreadyExists,
        format!("a {kind} of this name exists already"),
    )
    .with_context(kind_key(kind), ident.to_string())
}

pub(crate) fn kind_key(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Table => "table",
        EntryKind::View => "view",
    }
}
