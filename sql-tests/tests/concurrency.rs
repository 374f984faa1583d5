//! Eight processes append to one table at once, each append tried until it lands: none is lost, none lands twice.
//!
//! The writers are this program again, told by the environment what to do.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use tarn_format::catalog::{Catalog, Namespace, Table, TableCreation, TableIdent};
use tarn_format::commit::append::fast_append;
use tarn_format::commit::{CommitOptions, commit};
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::manifest::{list, reader};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};
use tarn_format::{ErrorKind, Result};

use crate::shared_lake::{block_on, open};

const WRITERS: i64 = 8;
const APPENDS: i64 = 50;
/// Set in writers: kind of catalog, its directory, and the writer's number, separated by line breaks.
const TASK: &str = "TARN_CONCURRENT_WRITER";

/// One trial per catalog that several processes can share.
pub fn trials() -> Vec<Trial> {
    let trial = |kind: &'static str| Trial::test(format!("concurrency/{kind}"), move || run(kind));
    vec![trial("sqlite"), trial("hadoop")]
}

/// What this process is to do as a writer; `None` when it is none.
pub fn writer() -> Option<ExitCode> {
    let task = std::env::var(TASK).ok()?;
    let mut parts = task.split('\n');
    let (kind, place, number) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
    let outcome = block_on(async {
        let catalog = open(kind, Path::new(place))?;
        append_all(catalog.as_ref(), number).await
    });
    Some(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("writer {number}: {error}");
            ExitCode::FAILURE
        }
    })
}

fn run(kind: &str) -> std::result::Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let place = directory.path().canonicalize()?;
    let text = |error: tarn_format::Error| Failed::from(error.to_string());
    block_on(make_table(kind, &place)).map_err(text)?;

    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let task = format!("{kind}\n{}\n{number}", place.display());
        let writer = Command::new(std::env::current_exe()?)
            .env(TASK, task)
            .stderr(Stdio::piped())
            .spawn()?;
        writers.push(writer);
    }
    for writer in writers {
        let output = writer.wait_with_output()?;
        if !output.status.success() {
            return Err(Failed::from(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
    }
    let table = block_on(async { open(kind, &place)?.load_table(&ident()).await }).map_err(text)?;
    let paths = block_on(live_paths(&table)).map_err(text)?;
    check(&table, &paths)
}

/// The table's files, history and summary against what the writers did.
fn check(table: &Table, paths: &[String]) -> std::result::Result<(), Failed> {
    let expected: HashSet<String> = (0..WRITERS)
        .flat_map(|w| (0..APPENDS).map(move |i| (w, i)))
        .map(|(w, i)| path(table, w, i))
        .collect();
    let found: HashSet<String> = paths.iter().cloned().collect();
    let appends = WRITERS * APPENDS;
    let records: i64 = (0..WRITERS)
        .flat_map(|w| (0..APPENDS).map(move |i| records(w, i)))
        .sum();
    let metadata = &table.metadata;
    let current = metadata.current_snapshot().ok_or("the table has no current snapshot")?;
    let total = |key: &str| current.summary.get(key).and_then(|v| v.parse::<i64>().ok());
    let history = metadata.ancestors_of(current.snapshot_id).len();
    for (what, holds) in [
        ("every append is present", expected.is_subset(&found)),
        ("nothing else is", found.is_subset(&expected)),
        ("no file is listed twice", paths.len() == found.len()),
        ("the history is one line of all appends", history as i64 == appends),
        ("no other snapshot is kept", metadata.snapshots.len() as i64 == appends),
        ("total-data-files is right", total("total-data-files") == Some(appends)),
        ("total-records is right", total("total-records") == Some(records)),
        (
            "total-files-size is right",
            total("total-files-size") == Some(records * 10),
        ),
        (
            "sequence numbers count the appends",
            metadata.last_sequence_number == appends,
        ),
    ] {
        if !holds {
            let shown = format!("{} files, {history} in the history, {:?}", paths.len(), current.summary);
            return Err(Failed::from(format!("does not hold: {what} ({shown})")));
        }
    }
    Ok(())
}

async fn append_all(catalog: &dyn Catalog, writer: i64) -> Result<()> {
    let table = catalog.load_table(&ident()).await?;
    let options = CommitOptions::default();
    for i in 0..APPENDS {
        let mut file = DataFile::new(DataContent::Data, path(&table, writer, i), FileFormat::Parquet);
        file.record_count = records(writer, i);
        file.file_size_in_bytes = file.record_count * 10;
        let file = Arc::new(file);
        let mut lost = 0;
        loop {
            match commit(catalog, &table, fast_append([Arc::clone(&file)]), &options).await {
                Ok(_) => break,
                // Others were faster more often than the table's retries allow: begin again.
                Err(e) if e.kind() == ErrorKind::Conflict && lost < 1_000 => lost += 1,
                Err(e) => return Err(e),
            }
            tokio::time::sleep(Duration::from_millis(5 * (writer as u64 + 1))).await;
        }
    }
    Ok(())
}

async fn make_table(kind: &str, place: &Path) -> Result<()> {
    let catalog = open(kind, place)?;
    catalog.create_namespace(&ident().namespace, Properties::new()).await?;
    let fields = vec![NestedField::required(1, "id", PrimitiveType::Long)];
    // Short waits: the point is to collide, not to wait.
    let retries = [
        ("commit.retry.num-retries", "20"),
        ("commit.retry.min-wait-ms", "2"),
        ("commit.retry.max-wait-ms", "50"),
    ];
    let creation = TableCreation {
        schema: Schema::new(0, StructType::new(fields), vec![])?,
        partition_spec: None,
        sort_order: None,
        location: None,
        properties: retries
            .iter()
            .map(|(k, v)| ((*k).to_string(), (*v).to_string()))
            .collect(),
        format_version: FormatVersion::V2,
    };
    catalog.create_table(&ident(), creation).await.map(drop)
}

async fn live_paths(table: &Table) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let Some(snapshot) = table.metadata.current_snapshot() else {
        return Ok(paths);
    };
    for manifest in list::load(&table.io, &table.metadata, snapshot).await? {
        let bytes = table.io.read(&manifest.manifest_path).await?;
        let columns = reader::decode(&bytes, None, &MetricsProjection::None)?;
        paths.extend(
            (0..columns.len)
                .filter(|i| columns.is_live(*i))
                .map(|i| columns.path(i).to_string()),
        );
    }
    Ok(paths)
}

fn ident() -> TableIdent {
    TableIdent::new(Namespace::new(["db"]), "shared")
}

fn path(table: &Table, writer: i64, append: i64) -> String {
    format!("{}/data/{writer}-{append}.parquet", table.metadata.location)
}

/// Different for every append, so that a lost one and a doubled one cannot cancel out in the totals.
fn records(writer: i64, append: i64) -> i64 {
    1 + writer * APPENDS + append
}
