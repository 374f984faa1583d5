//! What a dotted name means: catalog, namespace, table, and what may follow a table.
//!
//! The first part is a catalog when one has that name. The longest table match wins; then the name of a metadata table
//! or a choice of snapshot may follow.

use tarn_format::catalog::{Namespace, Table, TableIdent};
use tarn_format::{Error, ErrorKind, Result};

use crate::catalogs::CatalogEntry;

/// What follows a table's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suffix {
    /// Nothing.
    None,
    /// `branch_x`
    Branch(String),
    /// `tag_x`
    Tag(String),
    /// `snapshot_id_N`
    SnapshotId(i64),
    /// `at_timestamp_N`, milliseconds since epoch
    AtTimestamp(i64),
    /// Anything else: a metadata table, if there is one of this name.
    Other(String),
}

impl Suffix {
    /// The suffix that this part of a name is.
    pub fn parse(part: &str) -> Suffix {
        let after = |prefix: &str| {
            let head = part.get(..prefix.len())?;
            head.eq_ignore_ascii_case(prefix)
                .then(|| &part[prefix.len()..])
                .filter(|rest| !rest.is_empty())
        };
        if let Some(name) = after("branch_") {
            return Suffix::Branch(name.to_string());
        }
        if let Some(name) = after("tag_") {
            return Suffix::Tag(name.to_string());
        }
        if let Some(Ok(id)) = after("snapshot_id_").map(str::parse) {
            return Suffix::SnapshotId(id);
        }
        if let Some(Ok(ms)) = after("at_timestamp_").map(str::parse) {
            return Suffix::AtTimestamp(ms);
        }
        Suffix::Other(part.to_string())
    }
}

/// A name split at its catalog.
#[derive(Debug, Clone)]
pub struct Located {
    /// Name of the catalog.
    pub catalog_name: String,
    /// The catalog.
    pub entry: CatalogEntry,
    /// The parts after the catalog; a namespace has been put before a single one.
    pub path: Vec<String>,
}

impl Located {
    /// The name as that of a table to be made or dropped: nothing may follow it.
    pub fn ident(&self) -> Result<TableIdent> {
        match self.path.split_last() {
            Some((name, namespace)) => Ok(TableIdent::new(Namespace(namespace.to_vec()), name.as_str())),
            None => Err(Error::invalid(format!(
                "'{}' names a catalog, not a table",
                self.catalog_name
            ))),
        }
    }

    /// The name as a namespace.
    pub fn namespace(&self) -> Namespace {
        Namespace(self.path.clone())
    }
}

/// A table that a name was found to mean.
#[derive(Debug, Clone)]
pub struct FoundTable {
    /// Name of the catalog.
    pub catalog_name: String,
    /// The catalog.
    pub entry: CatalogEntry,
    /// The table.
    pub table: Table,
    /// What followed its name.
    pub suffix: Suffix,
}

/// Finds the table of a located name: the whole path, or all but its last part.
///
/// # Errors
/// `NotFound` when there is none, with a near name where one exists.
pub async fn find_table(located: &Located) -> Result<FoundTable> {
    let found = |table, suffix| FoundTable {
        catalog_name: located.catalog_name.clone(),
        entry: located.entry.clone(),
        table,
        suffix,
    };
    let whole = located.ident()?;
    if let Some(table) = load(located, &whole).await? {
        return Ok(found(table, Suffix::None));
    }
    if let Some((last, rest)) = located.path.split_last()
        && let Some((name, namespace)) = rest.split_last()
    {
        let shorter = TableIdent::new(Namespace(namespace.to_vec()), name.as_str());
        if let Some(table) = load(located, &shorter).await? {
            return Ok(found(table, Suffix::parse(last)));
        }
    }
    Err(missing(located, &whole).await)
}

async fn load(located: &Located, ident: &TableIdent) -> Result<Option<Table>> {
    if ident.namespace.is_root() {
        return Ok(None);
    }
    match located.entry.catalog.load_table(ident).await {
        Ok(table) => Ok(Some(table)),
        Err(e) if e.kind() == ErrorKind::NotFound && !e.context().iter().any(|(k, _)| *k == "file") => Ok(None),
        Err(e) => Err(e),
    }
}

async fn missing(located: &Located, ident: &TableIdent) -> Error {
    let listed = located.entry.catalog.list_tables(&ident.namespace).await;
    let names: Vec<String> = listed.unwrap_or_default().into_iter().map(|t| t.name).collect();
    let near = nearest(&ident.name, names.iter().map(String::as_str));
    let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
    Error::not_found(format!(
        "table or view {}.{ident} not found{hint}",
        located.catalog_name
    ))
}

/// The name of `among` that is most like `name`, when one is near enough to be a typo.
pub fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count() / 3 + 1;
    let scored = among
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate));
    scored
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate)
}

/// Edit distance without regard to case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
