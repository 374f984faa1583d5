//! Making catalogs from properties: `type` (or `catalog-impl`), `uri`, `warehouse`, and what each kind adds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tarn_format::catalog::{Catalog, CatalogFactory};
use tarn_format::io::FileIo;
use tarn_format::{Error, Result};

use crate::hadoop::HadoopCatalog;
use crate::metadata_ops::settings::{CatalogSettings, boolean};
use crate::metastore::MetastoreCatalog;
use crate::sql::{Creation, DEFAULT_BUSY_TIMEOUT, Database, MissingNamespace, SchemaVersion, SqlOptions};

/// Where a memory catalog puts files when no `warehouse` is given.
const MEMORY_WAREHOUSE: &str = "memory://warehouse";

/// The kinds of catalogs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Memory,
    Hadoop,
    Sql,
}

/// The values of `type`, as errors list them.
const KNOWN_TYPES: &str = "memory, hadoop, sqlite (also jdbc, sql)";

/// Properties that mean something to us, beside those with [`KNOWN_PREFIXES`].
const KNOWN_PROPERTIES: [&str; 10] = [
    "type",
    "catalog-impl",
    "uri",
    "warehouse",
    "unique-table-location",
    "jdbc.schema-version",
    "jdbc.strict-mode",
    "jdbc.init-catalog-tables",
    "jdbc.catalog-name",
    "jdbc.busy_timeout",
];

const KNOWN_PREFIXES: [&str; 4] = ["table-default.", "table-override.", "view-default.", "view-override."];

/// Makes the catalogs of this crate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Catalogs;

#[async_trait]
impl CatalogFactory for Catalogs {
    async fn create(&self, name: &str, properties: &BTreeMap<String, String>) -> Result<Arc<dyn Catalog>> {
        load_catalog(name, properties).await
    }
}

/// Makes the catalog `name` from properties:
///
/// - `type`: `memory`, `hadoop`, or `sqlite` (also `jdbc` and `sql`); `catalog-impl` with the name of Iceberg's Java
///   class means the same.
/// - `warehouse`: where tables go; a path or a URI. A memory catalog without one keeps files in memory.
/// - `uri` (sqlite): the database, such as `sqlite:///data/catalog.db`, `jdbc:sqlite:/data/catalog.db` or a path.
/// - `jdbc.catalog-name` (sqlite): the name that keys the rows, where it differs from `name`.
/// - `jdbc.schema-version`, `jdbc.strict-mode`, `jdbc.init-catalog-tables` (sqlite): as Java's `JdbcCatalog`, but
///   strict mode is on unless switched off. `jdbc.busy_timeout`: milliseconds to wait for another process's lock.
/// - `table-default.*`, `table-override.*`, `view-default.*`, `view-override.*`, `unique-table-location`.
///
/// Nothing is opened or made yet. Properties we do not know are ignored with a warning that names, but does not show
/// them.
///
/// # Errors
/// `Unsupported` for an unknown type, `InvalidInput` for missing or senseless properties. Values never appear in
/// errors unless they are harmless: they may hold passwords.
pub async fn load_catalog(name: &str, properties: &BTreeMap<String, String>) -> Result<Arc<dyn Catalog>> {
    let io = match kind_of(properties)? {
        Kind::Memory if !properties.contains_key("warehouse") => FileIo::memory(),
        _ => FileIo::local(),
    };
    load_catalog_with_io(name, properties, io)
}

/// As [`load_catalog`], reaching files through `io`.
///
/// # Errors
/// As [`load_catalog`].
pub fn load_catalog_with_io(name: &str, properties: &BTreeMap<String, String>, io: FileIo) -> Result<Arc<dyn Catalog>> {
    let loaded = load(name, properties, io);
    loaded.map_err(|e| e.with_context("catalog", name))
}

fn load(name: &str, properties: &BTreeMap<String, String>, io: FileIo) -> Result<Arc<dyn Catalog>> {
    let kind = kind_of(properties)?;
    warn_of_unknown(name, properties);
    let mut settings = CatalogSettings::from_properties(properties)?;
    Ok(match kind {
        Kind::Memory => {
            settings.warehouse.get_or_insert_with(|| MEMORY_WAREHOUSE.to_owned());
            Arc::new(MetastoreCatalog::memory(name, io, settings))
        }
        Kind::Hadoop => Arc::new(HadoopCatalog::new(name, io, settings)?),
        Kind::Sql => Arc::new(MetastoreCatalog::sql(
            name,
            io,
            settings,
            sql_options(name, properties)?,
        )),
    })
}

fn kind_of(properties: &BTreeMap<String, String>) -> Result<Kind> {
    match (properties.get("type"), properties.get("catalog-impl")) {
        (Some(_), Some(_)) => Err(Error::invalid("both `type` and `catalog-impl` are set: leave one out")),
        (Some(kind), None) => match kind.trim().to_ascii_lowercase().as_str() {
            "memory" | "in-memory" => Ok(Kind::Memory),
            "hadoop" => Ok(Kind::Hadoop),
            "sqlite" | "jdbc" | "sql" => Ok(Kind::Sql),
            _ => Err(Error::unsupported(format!(
                "catalog type `{}` is not known (known: {KNOWN_TYPES})",
                kind.escape_debug()
            ))),
        },
        (None, Some(class)) => match class.trim() {
            "org.apache.iceberg.inmemory.InMemoryCatalog" => Ok(Kind::Memory),
            "org.apache.iceberg.hadoop.HadoopCatalog" => Ok(Kind::Hadoop),
            "org.apache.iceberg.jdbc.JdbcCatalog" | "pyiceberg.catalog.sql.SqlCatalog" => Ok(Kind::Sql),
            _ => Err(Error::unsupported(format!(
                "catalog-impl `{}` is not known (set `type` to one of: {KNOWN_TYPES})",
                class.escape_debug()
            ))),
        },
        (None, None) => Err(Error::invalid(format!(
            "the catalog has no `type` (known: {KNOWN_TYPES})"
        ))),
    }
}

fn sql_options(name: &str, properties: &BTreeMap<String, String>) -> Result<SqlOptions> {
    let uri = properties
        .get("uri")
        .ok_or_else(|| Error::invalid("a sql catalog needs the property `uri`, such as sqlite:///data/catalog.db"))?;
    let strict = boolean(properties, "jdbc.strict-mode")?.unwrap_or(true);
    let create = boolean(properties, "jdbc.init-catalog-tables")?.unwrap_or(true);
    let busy_timeout = match properties.get("jdbc.busy_timeout") {
        None => DEFAULT_BUSY_TIMEOUT,
        Some(text) => text
            .trim()
            .parse()
            .map(Duration::from_millis)
            .map_err(|_| Error::invalid("`jdbc.busy_timeout` must be a number of milliseconds"))?,
    };
    Ok(SqlOptions {
        database: Database::from_uri(uri)?,
        stored_name: properties
            .get("jdbc.catalog-name")
            .map_or(name, String::as_str)
            .to_owned(),
        schema_version: SchemaVersion::from_property(properties.get("jdbc.schema-version").map(String::as_str))?,
        creation: if create { Creation::Allowed } else { Creation::Forbidden },
        missing_namespace: if strict {
            MissingNamespace::Refused
        } else {
            MissingNamespace::Implied
        },
        busy_timeout,
    })
}

fn warn_of_unknown(name: &str, properties: &BTreeMap<String, String>) {
    for key in properties.keys() {
        let known = KNOWN_PROPERTIES.contains(&key.as_str()) || KNOWN_PREFIXES.iter().any(|p| key.starts_with(p));
        if !known {
            tracing::warn!(
                catalog = name,
                property = key,
                "catalog property is not known and has no effect"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tarn_format::ErrorKind;

    fn properties(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    async fn load_debug(pairs: &[(&str, &str)]) -> Result<String> {
        Ok(format!("{:?}", load_catalog("cat", &properties(pairs)).await?))
    }

    #[tokio::test]
    async fn types_and_java_classes_name_catalogs() {
        for kind in ["memory", "MEMORY", "in-memory"] {
            assert!(
                load_debug(&[("type", kind)])
                    .await
                    .unwrap()
                    .starts_with("MetastoreCatalog")
            );
        }
        let warehouse = ("warehouse", "/nowhere/wh");
        assert!(
            load_debug(&[("type", "hadoop"), warehouse])
                .await
                .unwrap()
                .starts_with("HadoopCatalog")
        );
        let class = ("catalog-impl", "org.apache.iceberg.hadoop.HadoopCatalog");
        assert!(
            load_debug(&[class, warehouse])
                .await
                .unwrap()
                .starts_with("HadoopCatalog")
        );
        for kind in ["sqlite", "jdbc", "sql"] {
            let loaded = load_debug(&[("type", kind), ("uri", "sqlite:///nowhere/c.db"), warehouse]).await;
            assert!(loaded.unwrap().starts_with("MetastoreCatalog"));
        }
    }

    #[tokio::test]
    async fn unknown_types_are_refused_with_the_known_ones() {
        for pair in [
            ("type", "glue"),
            ("catalog-impl", "org.apache.iceberg.hive.HiveCatalog"),
        ] {
            let error = load_debug(&[pair]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains("memory, hadoop, sqlite"), "{error}");
        }
        let both = [
            ("type", "memory"),
            ("catalog-impl", "org.apache.iceberg.hadoop.HadoopCatalog"),
        ];
        assert_eq!(load_debug(&both).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(load_debug(&[]).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(
            load_debug(&[("type", "hadoop")]).await.unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            load_debug(&[("type", "sqlite")]).await.unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }

    #[tokio::test]
    async fn secrets_are_shown_nowhere() {
        let secret = "hunter2";
        let with_secrets = [
            ("type", "jdbc"),
            ("uri", "jdbc:sqlite:/nowhere/c.db?password=hunter2"),
            ("jdbc.password", secret),
            ("s3.secret-access-key", secret),
            ("warehouse", "/nowhere/wh"),
        ];
        assert!(!load_debug(&with_secrets).await.unwrap().contains(secret));
        let mut wrong = with_secrets;
        wrong[1].1 = "jdbc:mysql://root:hunter2@host/db";
        assert!(!format!("{:?}", load_debug(&wrong).await.unwrap_err()).contains(secret));
    }
}
