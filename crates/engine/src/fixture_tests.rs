//! Tables by other engines, from the folder `TARN_FIXTURES` names; without it these tests do nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::prelude::SessionContext;
use tarn_format::io::FileIo;
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::{Error, ErrorKind};

use crate::Caches;
use crate::provider::IcebergTable;
use crate::static_table::open_static_table;

/// Tables that don't give the stated rows yet, with the reason.
const KNOWN: &[(&str, &str)] = &[
    (
        "impala/iceberg_multiple_storage_locations/iceberg_multiple_storage_locations",
        "data lies in folders beside the table's, which only an explicit prefix can tell",
    ),
    ("impala/trino_variant", "variant columns are not read yet"),
    (
        "duckdb-iceberg/column_mapping/default.db/my_table",
        "data files are recorded by relative paths",
    ),
    (
        "duckdb-iceberg/equality_delete_cross_partition",
        "the metadata file's name holds no version",
    ),
    (
        "dremio/partitionednation",
        "a footer holds a list that the Parquet crate refuses",
    ),
    (
        "iceberg-cxx/v_20240913/iceberg",
        "data lies in a bucket that was not copied",
    ),
];

struct Fixture {
    name: String,
    metadata: PathBuf,
    rows: String,
}

fn fixtures(root: &Path) -> Vec<Fixture> {
    let index = std::fs::read_to_string(root.join("INDEX.tsv")).unwrap();
    let rows = index.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|columns| columns[1] == "iceberg")
        .map(|columns| {
            let name = columns[0].to_string();
            let expect = std::fs::read_to_string(root.join(format!("{name}.expect.md"))).unwrap_or_default();
            let current = expect
                .lines()
                .find_map(|l| l.strip_prefix("Current metadata file: `")?.split('`').next());
            Fixture {
                metadata: current.map_or(root.join(&name), |file| root.join(&name).join(file)),
                rows: columns[12].to_string(),
                name,
            }
        })
        .collect()
}

async fn count(path: &Path) -> Result<usize, Error> {
    let table = open_static_table(FileIo::builder, &path.to_string_lossy(), &[]).await?;
    let provider = IcebergTable::new(table, SnapshotSelector::Current, Caches::default())?;
    let context = SessionContext::new();
    let frame = context.read_table(Arc::new(provider));
    let read = async { frame?.collect().await };
    let batches = read.await.map_err(|e| match e.find_root() {
        datafusion::error::DataFusionError::External(inner) => match inner.downcast_ref::<Error>() {
            Some(error) => Error::new(error.kind(), error.to_string()),
            None => Error::new(ErrorKind::Io, e.to_string()),
        },
        _ => Error::new(ErrorKind::Io, e.to_string()),
    })?;
    Ok(batches.iter().map(|b| b.num_rows()).sum())
}

#[tokio::test]
async fn parquet_tables_without_deletes_give_the_stated_rows() {
    let Some(root) = std::env::var_os("TARN_FIXTURES") else {
        return;
    };
    let (mut passed, mut refused, mut failures) = (0, 0, Vec::new());
    for fixture in fixtures(Path::new(&root)) {
        let known = KNOWN.iter().any(|(name, _)| *name == fixture.name);
        match count(&fixture.metadata).await {
            Ok(rows) if rows.to_string() == fixture.rows && known => {
                failures.push(format!("{} passes now: take it off the list", fixture.name));
            }
            Ok(rows) if rows.to_string() == fixture.rows => passed += 1,
            Err(error) if error.kind() == ErrorKind::Unsupported && error.message().contains("yet") => refused += 1,
            _ if known => {}
            Ok(rows) => failures.push(format!("{}: {rows} rows, {} stated", fixture.name, fixture.rows)),
            Err(error) => failures.push(format!("{}: {error}", fixture.name)),
        }
    }
    println!(
        "fixtures read: {passed} passed, {refused} wait for deletes or formats, {} known",
        KNOWN.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(passed > 90, "{passed}");
}
