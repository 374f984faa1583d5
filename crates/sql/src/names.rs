//! What a dotted name means: catalog, namespace, table, and what may follow a table.
//!
//! The first part is a catalog when one has that name. The longest table match wins; then the name of a metadata table,
//! a choice of snapshot, or both may follow.

use tarn_engine::MetadataTableKind;
use tarn_format::catalog::{Namespace, Table, TableIdent};
use tarn_format::{Error, Result};

use crate::catalogs::CatalogEntry;
use crate::loaded_tables::LoadedTables;
use crate::near_names::did_you_mean;
pub use crate::near_names::nearest;

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
    /// A metadata table, and the choice of snapshot beside it.
    Metadata(MetadataTableKind, Box<Suffix>),
    /// Anything else.
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
        match MetadataTableKind::from_name(part) {
            Some(kind) => Suffix::Metadata(kind, Box::new(Suffix::None)),
            None => Suffix::Other(part.to_string()),
        }
    }

    /// The suffix that two parts are: a metadata table and a choice of snapshot, in either order. `None` when they are
    /// something else.
    fn parse_two(first: &str, second: &str) -> Option<Suffix> {
        match (Suffix::parse(first), Suffix::parse(second)) {
            (Suffix::Metadata(..), Suffix::Metadata(..) | Suffix::Other(_))
            | (Suffix::Other(_), Suffix::Metadata(..)) => None,
            (Suffix::Metadata(kind, _), state) | (state, Suffix::Metadata(kind, _)) => {
                Some(Suffix::Metadata(kind, Box::new(state)))
            }
            _ => None,
        }
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
    /// The namespace that several parts without a catalog may be in, where they mean no table otherwise: `t.snapshots`.
    pub current: Option<Namespace>,
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

/// Finds the table of a located name as [`find_table_if_any`].
///
/// # Errors
/// `NotFound` when there is none, with a near name where one exists.
pub async fn find_table(located: &Located, tables: &LoadedTables) -> Result<FoundTable> {
    match find_table_if_any(located, tables).await? {
        Some(found) => Ok(found),
        None => Err(missing(located).await?),
    }
}

/// Finds the table of a located name: the whole path, or all but its last one or two parts. In the last part, a suffix
/// may also follow a `$`. `tables` are those that the statement has loaded already.
///
/// # Errors
/// Those of loading tables.
pub async fn find_table_if_any(located: &Located, tables: &LoadedTables) -> Result<Option<FoundTable>> {
    let found = |table, suffix| FoundTable {
        catalog_name: located.catalog_name.clone(),
        entry: located.entry.clone(),
        table,
        suffix,
    };
    let whole = located.ident()?;
    if let Some(table) = load(located, &whole, tables).await? {
        return Ok(Some(found(table, Suffix::None)));
    }
    for (ident, suffix) in shorter_names(&located.path) {
        if let Some(table) = load(located, &ident, tables).await? {
            return Ok(Some(found(table, suffix)));
        }
    }
    for (ident, suffix) in names_in_current(located) {
        if let Some(table) = load(located, &ident, tables).await? {
            return Ok(Some(found(table, suffix)));
        }
    }
    Ok(None)
}

/// What a path may mean in the current namespace: a table's name and something known that follows it.
fn names_in_current(located: &Located) -> Vec<(TableIdent, Suffix)> {
    let Some(current) = &located.current else {
        return Vec::new();
    };
    let path: Vec<String> = current.0.iter().chain(&located.path).cloned().collect();
    let mut names = shorter_names(&path);
    names.retain(|(ident, suffix)| ident.namespace == *current && !matches!(suffix, Suffix::Other(_)));
    names
}

/// Refuses to drop or change a metadata table.
///
/// # Errors
/// `InvalidInput` when the name means one; any other name is none of this function's business.
pub async fn refuse_metadata_table(located: &Located) -> Result<()> {
    match find_table(located, &LoadedTables::default()).await {
        Ok(FoundTable {
            suffix: Suffix::Metadata(kind, _),
            table,
            ..
        }) => Err(Error::invalid(format!(
            "{kind} is a metadata table of {}, which cannot be dropped or changed",
            table.ident
        ))),
        _ => Ok(()),
    }
}

/// What a path may mean when it is no table's name as a whole, the longest name of a table first.
fn shorter_names(path: &[String]) -> Vec<(TableIdent, Suffix)> {
    let ident = |namespace: &[String], name: &str| TableIdent::new(Namespace(namespace.to_vec()), name);
    let mut names = Vec::new();
    if let [namespace @ .., last] = path
        && let Some((name, suffix)) = last.rsplit_once('$')
        && !name.is_empty()
    {
        names.push((ident(namespace, name), Suffix::parse(suffix)));
    }
    if let [namespace @ .., name, suffix] = path {
        names.push((ident(namespace, name), Suffix::parse(suffix)));
    }
    if let [namespace @ .., name, first, second] = path
        && let Some(suffix) = Suffix::parse_two(first, second)
    {
        names.push((ident(namespace, name), suffix));
    }
    names
}

/// What may not follow a table's name, with the metadata table that may be meant.
pub fn unknown_suffix(name: &str) -> Error {
    let kinds = MetadataTableKind::ALL.map(MetadataTableKind::name);
    match nearest(name, kinds) {
        Some(near) => Error::not_found(format!(
            "the table has no metadata table '{name}'; did you mean {near}?"
        )),
        None => Error::not_found(format!(
            "'{name}' is neither a metadata table nor branch_NAME, tag_NAME, snapshot_id_N or at_timestamp_N"
        )),
    }
}

async fn load(located: &Located, ident: &TableIdent, tables: &LoadedTables) -> Result<Option<Table>> {
    if ident.namespace.is_root() {
        return Ok(None);
    }
    tables.load(&located.entry.catalog, ident).await
}

/// The error that there is no table of this name, told apart from views, which only queries read.
///
/// # Errors
/// `InvalidInput` for a name that means a catalog.
pub async fn missing(located: &Located) -> Result<Error> {
    let ident = located.ident()?;
    if crate::views::load(located).await.is_ok_and(|view| view.is_some()) {
        return Ok(Error::not_found(format!(
            "{}.{ident} is a view, not a table: change the tables that it reads, or the view with ALTER VIEW and DROP VIEW",
            located.catalog_name
        )));
    }
    // `db.missing.files` is about the table `db.missing`.
    if let (Some((name, namespace)), Suffix::Metadata(..)) =
        (ident.namespace.0.split_last(), Suffix::parse(&ident.name))
        && !namespace.is_empty()
    {
        let table = TableIdent::new(Namespace(namespace.to_vec()), name.as_str());
        return Ok(missing_table(located, &table).await);
    }
    Ok(missing_table(located, &ident).await)
}

async fn missing_table(located: &Located, ident: &TableIdent) -> Error {
    let listed = located.entry.catalog.list_tables(&ident.namespace).await;
    let names: Vec<String> = listed.unwrap_or_default().into_iter().map(|t| t.name).collect();
    let hint = did_you_mean(&ident.name, names.iter().map(String::as_str));
    Error::not_found(format!(
        "table or view {}.{ident} not found{hint}",
        located.catalog_name
    ))
}
