//! `tarn inspect`: what a file or directory of Iceberg metadata holds, without a catalog.

mod demo;
mod kind;
mod manifest;
mod puffin;
mod table;
mod view;

use std::path::PathBuf;

use clap::Args;
use tarn_format::catalog::relocation::Relocation;
use tarn_format::catalog::table_directory;
use tarn_format::io::{FileIo, FileIoBuilder, location};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::view_metadata::ViewMetadata;
use tarn_format::{Error, Result, ResultExt};

use crate::Format;
use crate::report::Report;
use kind::Kind;

/// Shows what a table, view, manifest list, manifest or puffin file holds.
///
/// The path may be a table's directory (the newest metadata file in it is taken), a metadata file (.metadata.json, also
/// gzipped), a manifest list, a manifest, a puffin file, or the metadata file of a view. What kind it is, its content
/// tells. A table that was copied elsewhere opens too: where its recorded paths don't lead to files, they are looked up
/// below the directory it is in now.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tarn inspect --demo                                    a small table made for the occasion
  tarn inspect warehouse/db/events                       a table by its directory
  tarn inspect warehouse/db/events --files               … with every live data and delete file
  tarn inspect events/metadata/v7.metadata.json --json   one version of it, for programs
  tarn inspect events/metadata/snap-42.avro              a manifest list
  tarn inspect copy/events --location-prefix s3://lake/events=copy/events

Exit codes: 0 shown, 1 the file is missing, broken or unsupported (one line on stderr says why), 2 wrong usage.")]
pub struct InspectArguments {
    /// Directory or file
    #[arg(required_unless_present = "demo")]
    path: Option<PathBuf>,
    /// Make a small table in a temporary directory first, and show that
    #[arg(long, conflicts_with_all = ["path", "location_prefix"])]
    demo: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List the live files, not only their number
    #[arg(long)]
    files: bool,
    /// List every snapshot, not only the current one
    #[arg(long)]
    snapshots: bool,
    /// Read locations that begin with FROM at TO instead; may be repeated
    #[arg(long, value_name = "FROM=TO", value_parser = parse_prefix)]
    location_prefix: Vec<(String, String)>,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Counts.
    Counts,
    /// Every one.
    Each,
}

impl Detail {
    fn each_if(asked: bool) -> Self {
        if asked { Detail::Each } else { Detail::Counts }
    }
}

impl InspectArguments {
    /// How the report is to be printed.
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

/// `FROM=TO`. An equals sign may be part of FROM (`day=1`), seldom of TO: the last one separates.
fn parse_prefix(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((from.to_string(), to.to_string())),
        _ => Err("expected FROM=TO, such as s3://bucket/t=/copies/t".to_string()),
    }
}

/// Runs the command.
pub async fn run(arguments: InspectArguments) -> Result<Report> {
    let path = match (&arguments.path, arguments.demo) {
        (_, true) => demo::make_table().await?,
        (Some(path), false) => path.clone(),
        (None, false) => return Err(Error::invalid("no path given")),
    };
    if !path.exists() {
        let message = "no such file or directory";
        return Err(Error::not_found(message).with_context("path", path.display().to_string()));
    }
    let io = file_io(&arguments.location_prefix)?.build();
    let mut file = location::from_local_path(&path)?;
    if path.is_dir() {
        file = table_directory::newest_metadata_file(&io, &file).await?;
    }
    let bytes = io.read(&file).await?;
    let mut report = Report::default();
    match kind::of(&bytes).context("file", &file)? {
        Kind::Table => {
            let metadata = TableMetadata::from_json(&bytes).context("file", &file)?;
            let view = table::View {
                files: Detail::each_if(arguments.files),
                snapshots: Detail::each_if(arguments.snapshots),
            };
            let (io, relocation) = relocated(&io, &arguments, &metadata, &file).await?;
            table::describe(
                &mut report,
                &metadata,
                &table::Source {
                    file: &file,
                    io: &io,
                    relocation: &relocation,
                },
                view,
            )
            .await?;
        }
        Kind::View => view::describe(
            &mut report,
            &ViewMetadata::from_json(&bytes).context("file", &file)?,
            &file,
        ),
        Kind::ManifestList => manifest::describe_list(&mut report, &bytes, &file)?,
        Kind::Manifest => manifest::describe(&mut report, &bytes, &file, Detail::each_if(arguments.files))?,
        Kind::Puffin => puffin::describe(&mut report, &io, &file).await?,
    }
    Ok(report)
}

fn file_io(prefixes: &[(String, String)]) -> Result<FileIoBuilder> {
    let mut builder = FileIo::builder();
    for (from, to) in prefixes {
        builder = builder.with_location_prefix(from, &location::from_local_path(to.as_ref())?);
    }
    Ok(builder)
}

/// Access to the table's files where they lie now. Prefixes that the user gave leave nothing to detect.
async fn relocated(
    io: &FileIo,
    arguments: &InspectArguments,
    metadata: &TableMetadata,
    file: &str,
) -> Result<(FileIo, Relocation)> {
    if !arguments.location_prefix.is_empty() {
        return Ok((io.clone(), Relocation::default()));
    }
    let relocation = Relocation::detect(io, metadata, file).await?;
    let mut builder = FileIo::builder();
    for (from, to) in &relocation.prefixes {
        builder = builder.with_location_prefix(from, to);
    }
    Ok((builder.build(), relocation))
}
