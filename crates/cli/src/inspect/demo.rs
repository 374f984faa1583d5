//! `tarn inspect --demo`: a small table made through the library, as a first look at what it does.
//!
//! The table's data files are only named in its metadata: Tarn writes no Parquet yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tarn_catalogs::load_catalog;
use tarn_format::catalog::{Catalog, Namespace, Table, TableCreation, TableIdent};
use tarn_format::commit::append::fast_append;
use tarn_format::commit::{CommitOptions, Transaction, commit};
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::{Properties, RefKind, SnapshotRef};
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;
use tarn_format::update::refs::RefsUpdate;
use tarn_format::update::schema::{NewColumn, SchemaUpdate};
use tarn_format::{Error, ErrorKind, Result};

/// Days from 1970-01-01 to 2024-01-01.
const FIRST_DAY: i32 = 19_723;

/// Makes the table in a fresh directory and gives the table's own directory.
///
/// # Errors
/// Those of the catalog and of storage.
pub async fn make_table() -> Result<PathBuf> {
    let directory = fresh_directory()?;
    let catalog = open_catalog(&directory).await?;
    let namespace = Namespace::new(["db"]);
    catalog.create_namespace(&namespace, Properties::new()).await?;
    let ident = TableIdent::new(namespace, "events");
    let table = catalog.create_table(&ident, creation()?).await?;
    let options = CommitOptions::default();

    let files = [file(&table, 0, 1_000), file(&table, 1, 1_500)];
    commit(catalog.as_ref(), &table, fast_append(files), &options).await?;
    let tagged = catalog.load_table(&ident).await?.metadata.current_snapshot_id;
    Transaction::on(ident.clone())
        .update(move |base| {
            let base = Arc::new(base.clone());
            let mut refs = RefsUpdate::new(&base);
            if let Some(snapshot_id) = tagged {
                refs.create("first-day", tag(snapshot_id))?;
            }
            Ok(refs.finish().0)
        })
        .update(|base| {
            let mut schema = SchemaUpdate::new(&Arc::new(base.clone()));
            schema.add_column(NewColumn::optional("country", PrimitiveType::String).with_doc("added later"))?;
            Ok(schema.finish()?.0)
        })
        .commit(catalog.as_ref(), &options)
        .await?;
    commit(catalog.as_ref(), &table, fast_append([file(&table, 2, 700)]), &options).await?;
    Ok(PathBuf::from(table.metadata.location.trim_start_matches("file://")))
}

/// A directory of this run's own: by time and process, so that none is reused.
fn fresh_directory() -> Result<PathBuf> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_millis());
    let directory = std::env::temp_dir().join(format!("tarn-demo-{now}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|e| {
        let error = Error::new(ErrorKind::Io, "cannot make the demo's directory").with_source(e);
        error.with_context("path", directory.display().to_string())
    })?;
    Ok(directory)
}

async fn open_catalog(directory: &Path) -> Result<Arc<dyn Catalog>> {
    let below = |name: &str| directory.join(name).display().to_string();
    let properties = BTreeMap::from([
        ("type".to_string(), "sqlite".to_string()),
        ("uri".to_string(), below("catalog.db")),
        ("warehouse".to_string(), below("warehouse")),
    ]);
    load_catalog("lake", &properties).await
}

fn creation() -> Result<TableCreation> {
    let fields = vec![
        NestedField::required(1, "id", PrimitiveType::Long).with_doc("unique"),
        NestedField::required(2, "at", PrimitiveType::Timestamptz),
        NestedField::optional(3, "payload", PrimitiveType::String),
    ];
    let by_day = PartitionField {
        source_ids: vec![2],
        field_id: 1000,
        name: "at_day".to_string(),
        transform: Transform::Day,
        extra: Default::default(),
    };
    Ok(TableCreation {
        schema: Schema::new(0, StructType::new(fields), vec![1])?,
        partition_spec: Some(PartitionSpec {
            spec_id: 0,
            fields: vec![by_day],
            extra: Default::default(),
        }),
        sort_order: None,
        location: None,
        properties: Properties::from([("owner".to_string(), "you".to_string())]),
        format_version: FormatVersion::V2,
    })
}

/// A data file of the `day`-th day of 2024.
fn file(table: &Table, day: i32, records: i64) -> Arc<DataFile> {
    let path = format!("{}/data/day-{day}.parquet", table.metadata.location);
    let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
    file.partition = PartitionTuple(vec![Some(Value::Int(FIRST_DAY + day))]);
    file.record_count = records;
    file.file_size_in_bytes = records * 40;
    Arc::new(file)
}

fn tag(snapshot_id: i64) -> SnapshotRef {
    SnapshotRef {
        snapshot_id,
        kind: RefKind::Tag,
        retention: Default::default(),
        extra: Default::default(),
    }
}
