//! The test of the layering test: a made-up repository with every kind of violation, each of which must be found.

use std::fs;
use std::path::Path;

use libtest_mimic::Failed;

use super::{imports, violations};

const DIRTY_MANIFEST: &str = r#"
[package]
name = "tarn-format"
[dependencies]
bytes = "1"
arrow-array = "59"
arrow-schema = "59"
rows = { package = "parquet", version = "59" }
[build-dependencies]
tarn-engine = { path = "../engine" }
[target.'cfg(unix)'.dependencies]
sqlparser = "0.62"
[dev-dependencies]
datafusion-common = "55"
"#;

const DIRTY_SOURCE: &str = r##"
//! A comment may speak of datafusion::prelude.
use bytes::Bytes;
use arrow_array::Int32Array;
use datafusion as df;
fn f(x: sqlparser::ast::Statement) -> &'static str { let _ = 'd'; "datafusion::x" }
fn g() { let _ = r#"parquet::file"#; let _ = df::x::parquet::arrow(); }
#[cfg(test)]
mod tests { use datafusion_common::Result; fn t() { if true { } } }
fn after() { iceberg::spec(); }
"##;

/// What must be found in the made-up crate, and nothing else.
const EXPECTED: &[&str] = &[
    "Cargo.toml depends on 'arrow-schema'",
    "Cargo.toml depends on 'parquet'",
    "Cargo.toml depends on 'tarn-engine'",
    "Cargo.toml depends on 'sqlparser'",
    "src/lib.rs:5 names 'datafusion'",
    "src/lib.rs:6 names 'sqlparser'",
    "src/lib.rs:7 names 'parquet'",
    "src/lib.rs:7 names 'arrow'",
    "src/lib.rs:10 names 'iceberg'",
];

/// Every violation is found, a clean crate has none, and an unknown crate is refused.
pub fn run() -> Result<(), Failed> {
    let tree = tempfile::tempdir()?;
    let dirty = write_crate(tree.path(), "format", DIRTY_MANIFEST, DIRTY_SOURCE)?;
    let found = violations(&dirty)?;
    for expected in EXPECTED {
        ensure(
            found.iter().any(|line| line.contains(expected)),
            format!("not found: {expected}\nfound: {found:#?}"),
        )?;
    }
    ensure(
        found.len() == EXPECTED.len(),
        format!("more found than there is: {found:#?}"),
    )?;

    let manifest = "[package]\nname = \"tarn-catalogs\"\n[dependencies]\ntarn-format = \"1\"\n";
    let clean = write_crate(tree.path(), "catalogs", manifest, "use tarn_format::Result;\n")?;
    ensure(
        violations(&clean)?.is_empty(),
        format!("clean crate: {:?}", violations(&clean)?),
    )?;

    let upward = "[package]\nname = \"tarn-engine\"\n[dependencies]\ntarn-catalogs = \"1\"\n";
    let engine = write_crate(tree.path(), "engine", upward, "use tarn_sql::parser;\n")?;
    ensure(
        violations(&engine)?.len() == 2,
        format!("engine sees upward: {:?}", violations(&engine)?),
    )?;

    let unknown = write_crate(tree.path(), "utils", "[package]\nname = \"tarn-utils\"\n", "")?;
    ensure(
        violations(&unknown)?.len() == 1,
        "a crate without a row in the table must be refused",
    )
}

/// Literals, comments and lifetimes don't hide or invent names.
pub fn lexer() -> Result<(), Failed> {
    let source =
        "let q = '\"'; a::b; // c::d\n/* e::f */ let s = \"\\\" g::h\"; fn x<'i>(y: &'i str) { j::k } b\"l::m\"";
    let names: Vec<String> = imports::of(source).into_iter().map(|i| i.krate).collect();
    ensure(names == ["a", "b", "j", "k"], format!("{names:?}"))
}

fn write_crate(tree: &Path, name: &str, manifest: &str, source: &str) -> Result<std::path::PathBuf, Failed> {
    let folder = tree.join("crates").join(name);
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/lib.rs"), source)?;
    Ok(folder)
}

fn ensure(holds: bool, message: impl Into<String>) -> Result<(), Failed> {
    if holds {
        Ok(())
    } else {
        Err(Failed::from(message.into()))
    }
}
