//! Tables that no catalog names: a metadata file, or a directory that holds one.

use std::sync::Arc;

use tarn_format::catalog::relocation::Relocation;
use tarn_format::catalog::table_directory::newest_metadata_file;
use tarn_format::catalog::{Namespace, Table, TableIdent};
use tarn_format::io::{FileIoBuilder, location};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Result, ResultExt};

/// Opens the table of a metadata file or a directory, read-only. A table that was copied elsewhere is read from where it
/// lies now; `prefixes` are replacements of beginnings of recorded paths, `(from, to)`, for what cannot be guessed.
///
/// `io` makes access with further prefixes: called once without and once with those that were found.
///
/// # Errors
/// `NotFound` without a metadata file; `Corrupt` or `Unsupported` when it cannot be read.
pub async fn open_static_table(
    io: impl Fn() -> FileIoBuilder,
    path: &str,
    prefixes: &[(String, String)],
) -> Result<Table> {
    let plain = io().build();
    let metadata_location = if path.ends_with(".json") || path.ends_with(".json.gz") {
        path.to_string()
    } else {
        newest_metadata_file(&plain, location::strip_trailing_slash(path)).await?
    };
    let metadata = TableMetadata::read(&plain, &metadata_location).await?;
    let found = Relocation::detect(&plain, &metadata, &metadata_location).await;
    let found = found.context("file", metadata_location.as_str())?;
    let mut builder = io();
    for (from, to) in prefixes.iter().chain(&found.prefixes) {
        builder = builder.with_location_prefix(from, to);
    }
    let name = location::file_name(&found.directory).to_string();
    Ok(Table {
        ident: TableIdent::new(Namespace::default(), name),
        metadata: Arc::new(metadata),
        metadata_location: Some(metadata_location),
        io: builder.build(),
    })
}
