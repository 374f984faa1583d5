//! Tarn's side of the interoperability checks: makes tables, appends to them, and says what it sees in them.
//!
//! The expectations are not here: the Python scripts beside this hold them, written by hand.

mod all_types;
mod statements;
mod tables;
mod values;

use std::path::Path;
use std::process::ExitCode;

use tarn_format::Result;

const USAGE: &str = "usage:
  tarn-interop-peer make DIR                          catalogs and tables for the other engines to read
  tarn-interop-peer values DIR                        a table for every type and transform, with rows
  tarn-interop-peer sql DIR STATEMENTS                runs SQL, prints the rows of the last statement as JSON
  tarn-interop-peer append DIR CATALOG TABLE FILE N   appends a Parquet file of N rows
  tarn-interop-peer describe DIR CATALOG TABLE        what Tarn sees, as JSON
  tarn-interop-peer view DIR CATALOG VIEW             the SQL of a view, as JSON
CATALOG is lake (SQLite) or hadoop";

#[tokio::main(flavor = "multi_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments).await {
        Ok(Some(answer)) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Ok(None) => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("tarn: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What to print; `None` for arguments that make no sense.
async fn run(arguments: &[&str]) -> Result<Option<String>> {
    match arguments {
        ["make", directory] => tables::make(Path::new(directory))
            .await
            .map(|()| Some("made".to_string())),
        ["values", directory] => {
            let catalog = tables::open(Path::new(directory), "lake").await?;
            let made = values::make(&catalog).await?;
            Ok(Some(format!("{made} tables")))
        }
        ["sql", directory, statements] => {
            let rows = statements::run(Path::new(directory), statements).await?;
            Ok(Some(rows.to_string()))
        }
        ["append", directory, catalog, table, file, rows] => {
            let Ok(rows) = rows.parse() else { return Ok(None) };
            let catalog = tables::open(Path::new(directory), catalog).await?;
            let snapshot_id = tables::append(catalog.as_ref(), table, Path::new(file), rows).await?;
            Ok(Some(snapshot_id.to_string()))
        }
        ["describe", directory, catalog, table] => {
            let catalog = tables::open(Path::new(directory), catalog).await?;
            Ok(Some(tables::describe(catalog.as_ref(), table).await?.to_string()))
        }
        ["view", directory, catalog, view] => {
            let catalog = tables::open(Path::new(directory), catalog).await?;
            Ok(Some(tables::describe_view(catalog.as_ref(), view).await?.to_string()))
        }
        _ => Ok(None),
    }
}
