//! Runs SQL through Tarn's session on the shared catalogs.

use std::path::Path;

use serde_json::{Value as Json, json};
use tarn::Session;
use tarn_format::catalog::Namespace;
use tarn_format::{Error, Result};

use crate::tables::open;

#[path = "../../tests/slt/render.rs"]
mod render;

/// The rows of the last statement: lists of texts, as the golden scenarios write them.
///
/// # Errors
/// Of the first statement that fails.
pub async fn run(directory: &Path, sql: &str) -> Result<Json> {
    let session = Session::builder()
        .catalog("lake", open(directory, "lake").await?)
        .catalog("hadoop", open(directory, "hadoop").await?)
        .namespace(Namespace::new(["db"]))
        .build()
        .await?;
    let batches = session.sql(sql).await?.collect().await?;
    let rows = render::rows(&batches).map_err(|e| Error::invalid("a value cannot be shown").with_source(e))?;
    Ok(json!(rows))
}
