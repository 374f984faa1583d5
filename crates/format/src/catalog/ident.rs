//! Names of namespaces, tables and views inside a catalog.

use std::fmt;

/// A namespace: one or more levels. The empty one is the root.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Namespace(pub Vec<String>);

impl Namespace {
    /// A namespace of these levels.
    pub fn new<S: Into<String>>(levels: impl IntoIterator<Item = S>) -> Self {
        Namespace(levels.into_iter().map(Into::into).collect())
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The namespace above; `None` for the root.
    pub fn parent(&self) -> Option<Namespace> {
        let (_, above) = self.0.split_last()?;
        Some(Namespace(above.to_vec()))
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// The name of a table or view.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableIdent {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: String,
}

impl TableIdent {
    /// A name in a namespace.
    pub fn new(namespace: Namespace, name: impl Into<String>) -> Self {
        TableIdent {
            namespace,
            name: name.into(),
        }
    }
}

impl fmt::Display for TableIdent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_root() {
            write!(f, "{}.", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}
