//! Iceberg tables that no catalog names, by their directory or a metadata file: `iceberg_scan('path')`.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tarn_engine::MetadataTableKind;
use tarn_engine::static_table::open_static_table;
use tarn_format::io::FileIo;
use tarn_format::io::location::Location;
use tarn_format::{Error, Result, ResultExt};

use super::arguments::Options;
use super::unknown_option;
use crate::ast::Name;
use crate::names::Suffix;
use crate::planner::{LoadedRelation, RelationRequest, RelationSource};
use crate::read_options;
use crate::relations::{State, metadata_relation, metadata_table, provider};
use crate::session::Session;

/// The option that says which beginnings of recorded locations lie elsewhere now.
const LOCATION_PREFIX: &str = "location-prefix";

/// `iceberg_scan('path', options)`: read options, and `location-prefix => 'old=new'`, several separated by `;`.
///
/// # Errors
/// `NotFound` when there is no table; `InvalidInput` for options that make no sense.
pub(super) async fn scan(session: &Session, path: &str, options: Options) -> Result<LoadedRelation> {
    let (prefixes, options): (Options, Options) = options.into_iter().partition(|(k, _)| k == LOCATION_PREFIX);
    let known: Vec<&str> = read_options::USED.into_iter().chain([LOCATION_PREFIX]).collect();
    if let Some((unknown, _)) = options.iter().find(|(k, _)| !read_options::is_known(k)) {
        return Err(unknown_option("iceberg_scan", unknown, &known));
    }
    let prefixes: Result<Vec<Vec<(String, String)>>> = prefixes.iter().map(|(_, v)| location_prefixes(v)).collect();
    let request = RelationRequest {
        source: RelationSource::Path(path.to_string()),
        version: None,
        options,
    };
    open(session, path, &prefixes?.concat(), request).await
}

fn location_prefixes(value: &str) -> Result<Vec<(String, String)>> {
    let pairs = value.split(';').filter(|p| !p.trim().is_empty());
    let pair = |text: &str| match text.split_once('=') {
        Some((from, to)) if !from.trim().is_empty() && !to.trim().is_empty() => {
            Ok((from.trim().to_string(), absolute(to.trim())?))
        }
        _ => Err(Error::invalid(format!(
            "{LOCATION_PREFIX} takes 'old=new', the beginning that metadata records and where its files lie now, not '{text}'"
        ))),
    };
    pairs.map(pair).collect()
}

/// The table of a path at the state that is asked for.
///
/// # Errors
/// As [`scan`].
pub(super) async fn open(
    session: &Session,
    path: &str,
    prefixes: &[(String, String)],
    request: RelationRequest,
) -> Result<LoadedRelation> {
    let (table_path, kind) = split_metadata_table(path);
    let location = absolute(table_path)?;
    let table = open_static_table(FileIo::builder, &location, prefixes).await;
    let table = table.context("table", path)?;
    let name = Name(vec![table.ident.name.clone()]);
    let state = State {
        suffix: &Suffix::None,
        version: request.version,
        options: &request.options,
    };
    if let Some(kind) = kind {
        let table = metadata_table(table, kind, state, session.path_caches().clone()).context("table", path)?;
        return Ok(metadata_relation(table, name));
    }
    let provider = provider(session, table, state, session.path_caches()).context("table", path)?;
    Ok(LoadedRelation {
        provider: Arc::new(provider.clone()),
        name,
        iceberg: Some(provider),
    })
}

/// The path of a table, and the metadata table that may follow a `#`: `/warehouse/t#files`.
pub(super) fn split_metadata_table(path: &str) -> (&str, Option<MetadataTableKind>) {
    match path.rsplit_once('#') {
        Some((table, name)) if MetadataTableKind::from_name(name).is_some() => {
            (table, MetadataTableKind::from_name(name))
        }
        _ => (path, None),
    }
}

/// Local paths are those of the working directory, without `.` and `..`; other locations stay.
fn absolute(path: &str) -> Result<String> {
    let is_uri = !Location::parse(path).scheme.is_empty();
    if is_uri {
        return Ok(path.to_string());
    }
    let full = std::path::absolute(path);
    let full = full.map_err(|e| Error::invalid(format!("'{path}' is no path")).with_source(e))?;
    Ok(without_dots(&full).to_string_lossy().into_owned())
}

fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_pairs() {
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(
            location_prefixes("s3://b/wh=/data/wh; /old = /new;").unwrap(),
            [pair("s3://b/wh", "/data/wh"), pair("/old", "/new")]
        );
        assert!(location_prefixes("s3://b/wh").is_err());
        assert!(location_prefixes("=/x").is_err());
    }

    #[test]
    fn paths_become_absolute_and_locations_stay() {
        assert_eq!(absolute("s3://b/t").unwrap(), "s3://b/t");
        assert_eq!(absolute("/a/./b/../c").unwrap(), "/a/c");
        let here = std::env::current_dir().unwrap();
        assert_eq!(absolute("./t").unwrap(), here.join("t").to_string_lossy());
    }
}
