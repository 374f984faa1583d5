//! The catalogs that engines share, and simple tables and views in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tarn_catalogs::load_catalog;
use tarn_format::catalog::{Catalog, Namespace, TableCreation, TableIdent, ViewCreation};
use tarn_format::commit::append::fast_append;
use tarn_format::commit::{CommitOptions, Transaction};
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::manifest::{list, reader};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};
use tarn_format::spec::view_metadata::{ViewRepresentation, ViewVersion};
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use crate::all_types;

/// The namespace of all tables.
const NAMESPACE: &str = "db";

/// The catalog `lake` (SQLite) or `hadoop` below a directory.
pub async fn open(directory: &Path, name: &str) -> Result<Arc<dyn Catalog>> {
    let below = |name: &str| directory.join(name).display().to_string();
    let mut properties = BTreeMap::new();
    let mut set = |key: &str, value: String| properties.insert(key.to_string(), value);
    match name {
        "lake" => {
            set("type", "sqlite".to_string());
            set(
                "uri",
                format!("sqlite:///{}", below("catalog.db").trim_start_matches('/')),
            );
            set("warehouse", below("warehouse"));
            set("jdbc.schema-version", "V1".to_string());
        }
        _ => {
            set("type", "hadoop".to_string());
            set("warehouse", below("hadoop"));
        }
    }
    load_catalog(name, &properties).await
}

/// The name of a table in the one namespace.
pub fn ident(name: &str) -> TableIdent {
    TableIdent::new(Namespace::new([NAMESPACE]), name)
}

/// Makes both catalogs, in each a table of all types per format version and two to share, and a view in the first.
pub async fn make(directory: &Path) -> Result<()> {
    for name in ["lake", "hadoop"] {
        let catalog = open(directory, name).await?;
        catalog
            .create_namespace(&Namespace::new([NAMESPACE]), Properties::new())
            .await?;
        for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
            let table = ident(&format!("all_v{version}"));
            all_types::make(catalog.as_ref(), &table, version)
                .await
                .context("table", table.to_string())?;
        }
        for version in [FormatVersion::V2, FormatVersion::V3] {
            let creation = TableCreation {
                schema: shared_schema()?,
                partition_spec: None,
                sort_order: None,
                location: None,
                properties: Properties::new(),
                format_version: version,
            };
            catalog
                .create_table(&ident(&format!("shared_v{version}")), creation)
                .await?;
        }
    }
    // The hadoop catalog has no views.
    let lake = open(directory, "lake").await?;
    lake.create_view(&ident("tarn_view"), view()?).await.map(drop)
}

fn shared_schema() -> Result<Schema> {
    let fields = vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "writer", PrimitiveType::String),
    ];
    Schema::new(0, StructType::new(fields), vec![])
}

fn view() -> Result<ViewCreation> {
    let version = ViewVersion {
        version_id: 1,
        schema_id: 0,
        timestamp_ms: 0,
        summary: Properties::from([("engine-name".to_string(), "tarn".to_string())]),
        representations: vec![ViewRepresentation::Sql {
            sql: "SELECT id, writer FROM lake.db.shared_v2 WHERE id >= 0".to_string(),
            dialect: "spark".to_string(),
            extra: Default::default(),
        }],
        default_catalog: Some("lake".to_string()),
        default_namespace: vec![NAMESPACE.to_string()],
        extra: Default::default(),
    };
    Ok(ViewCreation {
        schema: shared_schema()?,
        version,
        location: None,
        properties: Properties::from([("comment".to_string(), "made by Tarn".to_string())]),
    })
}

/// Appends a Parquet file that somebody else wrote; gives the new snapshot's id.
pub async fn append(catalog: &dyn Catalog, table: &str, file: &Path, rows: i64) -> Result<i64> {
    let size = std::fs::metadata(file).map_err(|e| Error::new(ErrorKind::Io, "cannot read the file").with_source(e))?;
    let mut data_file = DataFile::new(DataContent::Data, file.display().to_string(), FileFormat::Parquet);
    data_file.record_count = rows;
    data_file.file_size_in_bytes = i64::try_from(size.len()).unwrap_or(i64::MAX);
    let change = fast_append([Arc::new(data_file)]);
    let transaction = Transaction::on(ident(table)).change(change);
    let outcome = transaction.commit(catalog, &CommitOptions::default()).await?;
    outcome
        .snapshot_ids
        .first()
        .copied()
        .ok_or_else(|| Error::corrupt("the commit made no snapshot"))
}

/// What Tarn sees in a table's current snapshot.
pub async fn describe(catalog: &dyn Catalog, table: &str) -> Result<Json> {
    let table = catalog.load_table(&ident(table)).await?;
    let metadata = &table.metadata;
    let mut paths = BTreeSet::new();
    let (mut records, mut deletes) = (0, 0);
    if let Some(snapshot) = metadata.current_snapshot() {
        for manifest in list::load(&table.io, metadata, snapshot).await? {
            let types = metadata.partition_type_of(manifest.partition_spec_id)?;
            let bytes = table.io.read(&manifest.manifest_path).await?;
            let columns = reader::decode(&bytes, Some(&types), &MetricsProjection::None)?;
            for i in (0..columns.len).filter(|i| columns.is_live(*i)) {
                match columns.content(i) {
                    DataContent::Data => records += columns.record_count(i),
                    DataContent::PositionDeletes | DataContent::EqualityDeletes => deletes += 1,
                }
                paths.insert(columns.path(i).to_string());
            }
        }
    }
    let snapshots: Vec<i64> = metadata.snapshots.iter().map(|s| s.snapshot_id).collect();
    let total = metadata
        .current_snapshot()
        .and_then(|s| s.summary.get("total-records").cloned());
    Ok(json!({
        "format-version": metadata.format_version.number(),
        "metadata-location": table.metadata_location,
        "snapshots": snapshots,
        "files": paths,
        "records": records,
        "delete-files": deletes,
        "total-records": total,
        "next-row-id": metadata.next_row_id,
    }))
}

/// What Tarn sees of a view.
pub async fn describe_view(catalog: &dyn Catalog, view: &str) -> Result<Json> {
    let view = catalog.load_view(&ident(view)).await?;
    let sql: Vec<Json> = view
        .metadata
        .current_version()
        .representations
        .iter()
        .map(|r| match r {
            ViewRepresentation::Sql { sql, dialect, .. } => json!({"sql": sql, "dialect": dialect}),
            ViewRepresentation::Other(other) => json!(other),
        })
        .collect();
    Ok(json!({"representations": sql, "properties": view.metadata.properties}))
}
