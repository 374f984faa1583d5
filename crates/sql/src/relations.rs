//! The relations of a session's queries: tables of its catalogs by name, files and tables by path, table functions.

use std::sync::Arc;

use async_trait::async_trait;
use tarn_engine::scan::ReadOptions;
use tarn_engine::{IcebergTable, MetadataTable, MetadataTableKind};
use tarn_format::catalog::Table;
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::snapshot::{Properties, RefKind};
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use crate::ast::{Name, PropertyList};
use crate::files;
use crate::loaded_tables::LoadedTables;
use crate::names::{FoundTable, Suffix, find_table_if_any, missing};
use crate::planner::{
    FunctionArgument, LoadedRelation, RelationLoader, RelationRequest, RelationSource, RelationVersion,
};
use crate::read_options::TableRead;
use crate::session::Session;
use crate::table_state::{WantedState, selector};
use crate::views::{self, TemporaryNames, ViewScope};

/// Loads the relations of queries from the catalogs of a session.
#[derive(Debug)]
pub(crate) struct SessionRelations {
    pub(crate) session: Session,
    /// What the statement has loaded.
    pub(crate) tables: LoadedTables,
    /// Whose query names the relations.
    pub(crate) scope: ViewScope,
}

#[async_trait]
impl RelationLoader for SessionRelations {
    async fn load(&self, request: RelationRequest) -> Result<LoadedRelation> {
        match &request.source {
            RelationSource::Path(path) => {
                let path = path.clone();
                files::open(&self.session, &path, request).await
            }
            RelationSource::Name(name) => {
                let name = name.clone();
                match self.named(&name, &request).await {
                    // `` parquet.`path` `` is the table of that name, where there is one.
                    Err(e) if e.kind() == ErrorKind::NotFound => match files::PathFormat::of_name(&name) {
                        Some((format, path)) => files::open_as(&self.session, format, path, request).await,
                        None => Err(e),
                    },
                    loaded => loaded,
                }
            }
        }
    }

    async fn load_function(&self, function: &str, arguments: &[FunctionArgument]) -> Result<Option<LoadedRelation>> {
        files::table_function(&self.session, function, arguments).await
    }
}

impl SessionRelations {
    async fn named(&self, name: &Name, request: &RelationRequest) -> Result<LoadedRelation> {
        if let [single] = name.0.as_slice()
            && let Some(view) = self.session.temporary_views().get(single)
            && self.scope.temporary != TemporaryNames::NotSeen
        {
            if self.scope.temporary == TemporaryNames::Refused {
                return Err(Error::invalid(format!(
                    "{single} is a temporary view: a stored view cannot be made of it"
                )));
            }
            refuse_state(request, &format!("view {single}"))?;
            return views::temporary(&self.session, &view, &self.scope, &self.tables).await;
        }
        let located = match &self.scope.place {
            Some(place) => self.session.locate_table_from(name, place).await?,
            None => self.session.locate_table(name).await?,
        };
        let Some(found) = find_table_if_any(&located, &self.tables).await? else {
            let Some(view) = views::load(&located).await? else {
                return Err(missing(&located).await?);
            };
            refuse_state(request, &format!("view {}", view.ident))?;
            return views::stored(&self.session, &located, &view, &self.scope, &self.tables).await;
        };
        let full = full_name(&found);
        if let Suffix::Metadata(kind, suffix) = &found.suffix {
            let state = State {
                suffix,
                version: request.version.clone(),
                options: &request.options,
            };
            let table = metadata_table(found.table, *kind, state, found.entry.caches);
            let table = table.context("table", full.to_string())?;
            return Ok(metadata_relation(table, full));
        }
        let state = State {
            suffix: &found.suffix,
            version: request.version.clone(),
            options: &request.options,
        };
        let provider = provider(&self.session, found.table, state, &found.entry.caches);
        let provider = provider.context("table", full.to_string())?;
        let provider = provider.with_catalog(found.entry.catalog);
        Ok(LoadedRelation {
            provider: Arc::new(provider.clone()),
            name: full,
            iceberg: Some(provider),
        })
    }
}

/// Where a query says which state it wants, and how to read it.
pub(crate) struct State<'a> {
    pub(crate) suffix: &'a Suffix,
    pub(crate) version: Option<RelationVersion>,
    pub(crate) options: &'a PropertyList,
}

/// A table at the state that is wanted, read as options and the session's settings say.
///
/// # Errors
/// As [`selector`] and [`TableRead::parse`].
pub(crate) fn provider(
    session: &Session,
    table: Table,
    state: State<'_>,
    caches: &tarn_engine::Caches,
) -> Result<IcebergTable> {
    let settings = session.settings();
    let defaults = ReadOptions {
        answers: settings.answers(),
        ..ReadOptions::default()
    };
    let read = TableRead::parse(state.options, defaults)?;
    let is_range = read.options.appended.is_some();
    let wanted = WantedState {
        suffix: state.suffix,
        version: state.version,
        option: read.state,
    };
    let mut selector = selector(&table.metadata, wanted)?;
    if selector == SnapshotSelector::Current
        && !is_range
        && let Some(branch) = wap_branch(&table, settings.wap_branch())
    {
        selector = SnapshotSelector::Ref(branch);
    }
    let provider = IcebergTable::new(table, selector, caches.clone())?;
    let provider = provider.with_time_zone(settings.time_zone());
    let provider = provider.with_reporter(Arc::clone(session.reporter()));
    provider.with_read_options(read.options)
}

/// A metadata table at the state that is wanted.
///
/// # Errors
/// As [`selector`], [`TableRead::parse`] and [`MetadataTable::new`]; `InvalidInput` for a range of snapshots.
pub(crate) fn metadata_table(
    table: Table,
    kind: MetadataTableKind,
    state: State<'_>,
    caches: tarn_engine::Caches,
) -> Result<MetadataTable> {
    let read = TableRead::parse(state.options, ReadOptions::default())?;
    if read.options.appended.is_some() {
        return Err(Error::invalid(format!(
            "{kind} cannot be read incrementally: leave start-snapshot-id out"
        )));
    }
    let wanted = WantedState {
        suffix: state.suffix,
        version: state.version,
        option: read.state,
    };
    let selector = selector(&table.metadata, wanted)?;
    MetadataTable::new(table, kind, &selector, caches)
}

/// The relation of a metadata table of the table of this name.
pub(crate) fn metadata_relation(table: MetadataTable, mut of: Name) -> LoadedRelation {
    of.0.push(table.kind().name().to_string());
    LoadedRelation {
        provider: Arc::new(table),
        name: of,
        iceberg: None,
    }
}

/// The branch that `spark.wap.branch` makes the current one, once it is there (Java: `SparkReadConf.branch`).
fn wap_branch(table: &Table, setting: Option<&str>) -> Option<String> {
    let name = setting?;
    let is_on = is_wap_enabled(&table.metadata.properties);
    let reference = table.metadata.refs.get(name)?;
    (is_on && reference.kind == RefKind::Branch).then(|| name.to_string())
}

/// Whether the table takes part in write, audit, publish (`write.wap.enabled`): only there do `spark.wap.*` count.
pub(crate) fn is_wap_enabled(properties: &Properties) -> bool {
    properties
        .get("write.wap.enabled")
        .is_some_and(|v| v.eq_ignore_ascii_case("true"))
}

/// Catalog, namespace and table.
pub(crate) fn full_name(found: &FoundTable) -> Name {
    views::full_name(&found.catalog_name, &found.table.ident)
}

/// The error that a relation which is no Iceberg table has no versions and options.
pub(crate) fn refuse_state(request: &RelationRequest, what: &str) -> Result<()> {
    if request.version.is_some() {
        return Err(Error::invalid(format!("{what} has no versions: leave AS OF out")));
    }
    if !request.options.is_empty() {
        return Err(Error::invalid(format!(
            "{what} takes no read options: leave the hint out"
        )));
    }
    Ok(())
}
