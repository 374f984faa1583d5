//! Files and tables by path: `FROM 'x.parquet'`, `` FROM csv.`path` ``, `read_csv('path')`, `iceberg_scan('path')`.

mod arguments;
mod table_path;

use std::path::Path;
use std::sync::Arc;

use tarn_engine::files::{DataFormat, DirectoryContents, FileOptions, look_into, open_files};
use tarn_format::io::location;
use tarn_format::{Error, ErrorKind, Result};

use self::arguments::{Arguments, Options};
use crate::ast::Name;
use crate::commands::plan_context;
use crate::near_names::nearest;
use crate::planner::{FunctionArgument, LoadedRelation, RelationRequest};
use crate::relations::refuse_state;
use crate::session::Session;

/// What a path is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathFormat {
    /// Files.
    Files(DataFormat),
    /// An Iceberg table: its directory or a metadata file.
    Iceberg,
}

impl PathFormat {
    /// The format and path of `` format.`path` ``.
    pub(crate) fn of_name(name: &Name) -> Option<(PathFormat, &str)> {
        let [format, path] = name.0.as_slice() else {
            return None;
        };
        let format = match DataFormat::from_name(format) {
            Some(format) => PathFormat::Files(format),
            None if format.eq_ignore_ascii_case("iceberg") => PathFormat::Iceberg,
            None => return None,
        };
        Some((format, path.as_str()))
    }

    /// The format that the name of a file tells.
    fn of_file(path: &str) -> Option<PathFormat> {
        let file = location::file_name(path).to_ascii_lowercase();
        if file.ends_with(".metadata.json") || file.ends_with(".metadata.json.gz") {
            return Some(PathFormat::Iceberg);
        }
        DataFormat::of_file_name(&file).map(PathFormat::Files)
    }
}

/// The relation of a path, of the format that its name or its contents tell.
///
/// # Errors
/// `NotFound` when nothing is there; `InvalidInput` when the format cannot be told.
pub(crate) async fn open(session: &Session, path: &str, request: RelationRequest) -> Result<LoadedRelation> {
    if path.trim().is_empty() {
        return Err(Error::invalid("the path in FROM is empty"));
    }
    let format = match PathFormat::of_file(path) {
        Some(format) => format,
        None if table_path::split_metadata_table(path).1.is_some() => PathFormat::Iceberg,
        None => {
            let state = plan_context(session).state;
            let contents = look_into(&state, path).await.map_err(|e| with_near_path(e, path))?;
            match contents {
                DirectoryContents::IcebergTable => PathFormat::Iceberg,
                DirectoryContents::Files(format) => PathFormat::Files(format),
            }
        }
    };
    open_as(session, format, path, request).await
}

/// The relation of a path, of this format.
///
/// # Errors
/// As [`open`].
pub(crate) async fn open_as(
    session: &Session,
    format: PathFormat,
    path: &str,
    request: RelationRequest,
) -> Result<LoadedRelation> {
    match format {
        PathFormat::Iceberg => table_path::open(session, path, &[], request).await,
        PathFormat::Files(format) => {
            refuse_state(&request, &format!("a {} file", format.name()))?;
            files(session, format, path, &FileOptions::default()).await
        }
    }
}

/// The relation of a table function; `None` for functions that are none of ours.
///
/// # Errors
/// `InvalidInput` for arguments that do not fit; as [`open`].
pub(crate) async fn table_function(
    session: &Session,
    function: &str,
    arguments: &[FunctionArgument],
) -> Result<Option<LoadedRelation>> {
    let format = match function {
        "iceberg_scan" => {
            let Arguments { path, options } = Arguments::parse(function, arguments)?;
            return table_path::scan(session, &path, options).await.map(Some);
        }
        "read_parquet" => DataFormat::Parquet,
        "read_csv" => DataFormat::Csv,
        "read_json" => DataFormat::Json,
        _ => return Ok(None),
    };
    let Arguments { path, options } = Arguments::parse(function, arguments)?;
    let options = file_options(function, format, options)?;
    files(session, format, &path, &options).await.map(Some)
}

fn file_options(function: &str, format: DataFormat, options: Options) -> Result<FileOptions> {
    let mut parsed = FileOptions::default();
    for (name, value) in options {
        if format != DataFormat::Csv {
            return Err(Error::invalid(format!(
                "{function} has no options, but '{name}' is given"
            )));
        }
        parsed.set(&name, &value).map_err(|e| match e.kind() {
            ErrorKind::NotFound => unknown_option(function, &name, &FileOptions::NAMES),
            _ => e,
        })?;
    }
    Ok(parsed)
}

async fn files(session: &Session, format: DataFormat, path: &str, options: &FileOptions) -> Result<LoadedRelation> {
    let state = plan_context(session).state;
    let table = open_files(&state, path, format, options).await;
    let table = table.map_err(|e| with_near_path(e, path))?;
    let file = location::file_name(location::strip_trailing_slash(path));
    let stem = file.split('.').next().filter(|s| !s.is_empty()).unwrap_or(file);
    Ok(LoadedRelation {
        provider: Arc::new(table),
        name: Name(vec![stem.to_string()]),
        iceberg: None,
    })
}

/// The error that a function has no such option.
fn unknown_option(function: &str, option: &str, known: &[&str]) -> Error {
    let near = nearest(option, known.iter().copied());
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None => format!("it has {}", known.join(", ")),
    };
    Error::invalid(format!("{function} has no option '{option}'; {hint}"))
}

/// Names a file beside a missing one whose name is nearly the same.
fn with_near_path(e: Error, path: &str) -> Error {
    if e.kind() != ErrorKind::NotFound {
        return e;
    }
    let path = Path::new(path);
    let directory = path
        .parent()
        .filter(|d| !d.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let (Some(name), Ok(entries)) = (path.file_name(), std::fs::read_dir(directory)) else {
        return e;
    };
    let names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    match nearest(&name.to_string_lossy(), names.iter().map(String::as_str)) {
        Some(near) => Error::not_found(format!("{}; did you mean {near}?", e.message())),
        None => e,
    }
}
