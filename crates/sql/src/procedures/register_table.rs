//! `register_table` (Java: `RegisterTableProcedure`).

use datafusion::common::ScalarValue;
use tarn_format::catalog::Table;
use tarn_format::manifest::manifest_file::ManifestContent;
use tarn_format::scan::{ScanSetup, TableScan};
use tarn_format::{Error, Result, ResultExt};

use super::target::TABLE;
use super::{Call, OutputColumn, Parameter, ParameterType, Procedure, Rows};

const METADATA_FILE: Parameter = Parameter::required(
    "metadata_file",
    ParameterType::String,
    "The location of the metadata file that is the table's state",
);

/// The procedure.
pub(super) static PROCEDURE: Procedure = Procedure {
    name: "register_table",
    description: "Gives a metadata file that exists the name of a table in the catalog.",
    parameters: &[TABLE, METADATA_FILE],
    output: &[
        OutputColumn::long_or_null("current_snapshot_id", "The current snapshot; NULL for an empty table"),
        OutputColumn::long_or_null("total_records_count", "Rows in its data files; NULL for an empty table"),
        OutputColumn::long_or_null("total_data_files_count", "Its data files; NULL for an empty table"),
    ],
};

/// Runs it.
pub(super) async fn call(call: Call<'_>) -> Result<Rows> {
    let located = call.new_table().await?;
    let metadata_file = call.arguments.string(&METADATA_FILE)?;
    if metadata_file.is_empty() {
        return Err(Error::invalid(
            "argument metadata_file is empty: it must be the location of a metadata file",
        ));
    }
    let ident = located.ident()?;
    let table = located
        .entry
        .catalog
        .register_table(&ident, metadata_file)
        .await
        .context("table", format!("{}.{ident}", located.catalog_name))?;
    let (records, files) = counts(&call, &table).await?.unzip();
    Ok(vec![vec![
        ScalarValue::Int64(table.metadata.current_snapshot_id),
        ScalarValue::Int64(records),
        ScalarValue::Int64(files),
    ]])
}

/// Rows in data files, and data files, of the current snapshot: counted in its manifest list, or where that does not
/// tell, in the manifests. Java believes the summary.
async fn counts(call: &Call<'_>, table: &Table) -> Result<Option<(i64, i64)>> {
    let Some(snapshot) = table.metadata.current_snapshot() else {
        return Ok(None);
    };
    let cache = &call.catalog.caches.manifests;
    let manifests = cache.manifests(&table.io, &table.metadata, snapshot).await?;
    let data = manifests.iter().filter(|m| m.content == ManifestContent::Data);
    let told = data.map(|m| {
        let records = m.added_rows_count? + m.existing_rows_count?;
        let files = i64::from(m.added_files_count?) + i64::from(m.existing_files_count?);
        Some((records, files))
    });
    let sum = |total: (i64, i64), more: Option<(i64, i64)>| {
        more.map(|(records, files)| (total.0.saturating_add(records), total.1.saturating_add(files)))
    };
    if let Some(total) = { told }.try_fold((0, 0), sum) {
        return Ok(Some(total));
    }
    let setup = ScanSetup::new(table.metadata.clone(), table.io.clone(), cache.clone());
    let plan = TableScan::new(setup).plan().await?;
    let records = i64::try_from(plan.record_count()).unwrap_or(i64::MAX);
    Ok(Some((records, plan.tasks.len() as i64)))
}
