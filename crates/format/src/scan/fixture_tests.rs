//! Plans the tables that other engines wrote, when `TARN_FIXTURES` names the folder that holds them, and compares the
//! files of the current snapshot with what each expect file states.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::table_scan::{ScanSetup, TableScan};
use crate::catalog::relocation::Relocation;
use crate::error::{ErrorKind, Result};
use crate::io::FileIo;
use crate::manifest::cache::ManifestCache;
use crate::spec::table_metadata::TableMetadata;

/// What an expect file states of the current snapshot.
struct Expected {
    metadata_file: String,
    data_files: u64,
    delete_files: u64,
}

/// Its snapshot id is no 64-bit signed integer, which the spec asks for.
const REFUSED: &str = "duckdb-iceberg/equality_delete_cross_partition";

/// `None` where the reference reading could not list the files.
fn expected(text: &str) -> Option<Expected> {
    let after = |mark: &str| text.find(mark).map(|at| &text[at + mark.len()..]);
    let number = |mark: &str| {
        let digits: String = after(mark)?.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    Some(Expected {
        metadata_file: after("Current metadata file: ")?.split_whitespace().next()?.to_string(),
        data_files: number("live data files ")?,
        delete_files: number("live delete files ")?,
    })
}

/// Numbers of planned data files and of different delete files and vectors attached to them.
async fn planned(metadata_file: &str) -> Result<(u64, u64)> {
    let metadata = TableMetadata::read(&FileIo::local(), metadata_file).await?;
    let relocation = Relocation::detect(&FileIo::local(), &metadata, metadata_file).await?;
    let mut builder = FileIo::builder();
    for (from, to) in &relocation.prefixes {
        builder = builder.with_location_prefix(from, to);
    }
    let setup = ScanSetup::new(Arc::new(metadata), builder.build(), ManifestCache::default());
    let plan = TableScan::new(setup).plan().await?;
    let deletes = plan.tasks.iter().flat_map(|t| t.deletes().iter());
    let distinct: HashSet<_> = deletes.map(|d| (d.path(), d.blob())).collect();
    Ok((plan.tasks.len() as u64, distinct.len() as u64))
}

#[tokio::test]
async fn every_fixture_table_plans_the_stated_files() {
    let Some(root) = std::env::var_os("TARN_FIXTURES") else {
        println!("scan fixtures: no folder, set TARN_FIXTURES");
        return;
    };
    let root = Path::new(&root);
    let (mut tables, mut data_files, mut delete_files, mut problems) = (0, 0, 0, Vec::new());
    for line in fs::read_to_string(root.join("INDEX.tsv")).unwrap().lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        if columns[1] != "iceberg" {
            continue;
        }
        let text = fs::read_to_string(root.join(columns[columns.len() - 1])).unwrap();
        let Some(expected) = expected(&text) else {
            println!("scan fixtures: {} states no files", columns[0]);
            continue;
        };
        // Some expect files name the metadata file from further up.
        let tails = expected
            .metadata_file
            .match_indices('/')
            .map(|(at, _)| &expected.metadata_file[at + 1..]);
        let mut places = std::iter::once(expected.metadata_file.as_str()).chain(tails);
        let metadata_file = places.find_map(|tail| Some(root.join(columns[0]).join(tail)).filter(|p| p.is_file()));
        let metadata_file = metadata_file.unwrap();
        match planned(metadata_file.to_str().unwrap()).await {
            Ok((data, deletes)) => {
                (tables, data_files, delete_files) = (tables + 1, data_files + data, delete_files + deletes);
                // A delete file that applies to no data file is live, but attached to none.
                if data != expected.data_files || deletes > expected.delete_files {
                    let stated = (expected.data_files, expected.delete_files);
                    problems.push(format!(
                        "{}: planned {:?}, stated {stated:?}",
                        columns[0],
                        (data, deletes)
                    ));
                }
            }
            Err(error) if columns[0] == REFUSED && error.kind() == ErrorKind::Corrupt => {}
            Err(error) => problems.push(format!("{}: {error}", columns[0])),
        }
    }
    println!("scan fixtures: {tables} tables, {data_files} data files, {delete_files} delete files");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(tables > 0);
}
