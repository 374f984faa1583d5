//! The two tables of a sql catalog, exactly those of Iceberg's JDBC catalog (Java: `JdbcUtil`), and their versions.

use sqlx::sqlite::SqliteConnection;
use tarn_format::{Error, ErrorKind, Result};

use super::failure::database_error;

/// `iceberg_tables` as `JdbcCatalog` makes it with `jdbc.schema-version=V1`.
const CREATE_TABLES_V1: &str = "CREATE TABLE IF NOT EXISTS iceberg_tables(\
    catalog_name VARCHAR(255) NOT NULL,\
    table_namespace VARCHAR(255) NOT NULL,\
    table_name VARCHAR(255) NOT NULL,\
    metadata_location VARCHAR(1000),\
    previous_metadata_location VARCHAR(1000),\
    iceberg_type VARCHAR(5),\
    PRIMARY KEY (catalog_name, table_namespace, table_name))";

/// `iceberg_tables` as `JdbcCatalog` makes it by default.
const CREATE_TABLES_V0: &str = "CREATE TABLE IF NOT EXISTS iceberg_tables(\
    catalog_name VARCHAR(255) NOT NULL,\
    table_namespace VARCHAR(255) NOT NULL,\
    table_name VARCHAR(255) NOT NULL,\
    metadata_location VARCHAR(1000),\
    previous_metadata_location VARCHAR(1000),\
    PRIMARY KEY (catalog_name, table_namespace, table_name))";

const CREATE_NAMESPACE_PROPERTIES: &str = "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties(\
    catalog_name VARCHAR(255) NOT NULL,\
    namespace VARCHAR(255) NOT NULL,\
    property_key VARCHAR(255),\
    property_value VARCHAR(1000),\
    PRIMARY KEY (catalog_name, namespace, property_key))";

const ADD_TYPE: &str = "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)";

const DETECT: &str = "SELECT \
    (SELECT count(*) FROM pragma_table_info('iceberg_tables')), \
    (SELECT count(*) FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'), \
    (SELECT count(*) FROM pragma_table_info('iceberg_namespace_properties'))";

/// What a database holds now. Another process may raise it at any time, never lower it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One or both tables are missing.
    Missing,
    /// No `iceberg_type`: tables only.
    V0,
    /// With `iceberg_type`: tables and views.
    V1,
}

/// `jdbc.schema-version`: what may be made of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaVersion {
    /// New databases are V1; a V0 one is migrated when its first view is made.
    WhenNeeded,
    /// New databases are V0, and none is migrated.
    V0,
    /// New databases are V1; a V0 one is migrated at the first write.
    V1,
}

impl SchemaVersion {
    /// Reads the property.
    pub(crate) fn from_property(value: Option<&str>) -> Result<Self> {
        match value {
            None => Ok(SchemaVersion::WhenNeeded),
            Some(v) if v.eq_ignore_ascii_case("v0") => Ok(SchemaVersion::V0),
            Some(v) if v.eq_ignore_ascii_case("v1") => Ok(SchemaVersion::V1),
            Some(v) => Err(Error::invalid(format!(
                "jdbc.schema-version must be V0 or V1, not `{v}`"
            ))),
        }
    }
}

/// What a write needs of the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Tables,
    Views,
}

/// What the database holds.
pub(crate) async fn detect(connection: &mut SqliteConnection) -> Result<Layout> {
    let (tables, with_type, namespaces): (i64, i64, i64) = sqlx::query_as(DETECT)
        .fetch_one(connection)
        .await
        .map_err(|e| database_error(e, "cannot read the layout of the catalog database"))?;
    Ok(match (tables, with_type, namespaces) {
        (0, _, _) | (_, _, 0) => Layout::Missing,
        (_, 0, _) => Layout::V0,
        _ => Layout::V1,
    })
}

/// Makes and migrates tables as far as `need` and the settings ask, inside the caller's write transaction.
pub(crate) async fn prepare(
    connection: &mut SqliteConnection,
    version: SchemaVersion,
    creation: Creation,
    need: Need,
) -> Result<Layout> {
    let mut layout = detect(connection).await?;
    if layout == Layout::Missing {
        if creation == Creation::Forbidden {
            return Err(Error::not_found(
                "the database holds no Iceberg catalog, and jdbc.init-catalog-tables=false forbids making one",
            ));
        }
        let tables = if version == SchemaVersion::V0 {
            CREATE_TABLES_V0
        } else {
            CREATE_TABLES_V1
        };
        run(connection, tables).await?;
        run(connection, CREATE_NAMESPACE_PROPERTIES).await?;
        layout = detect(connection).await?;
    }
    let migrate = version == SchemaVersion::V1 || (version == SchemaVersion::WhenNeeded && need == Need::Views);
    if layout == Layout::V0 && migrate {
        run(connection, ADD_TYPE).await?;
        layout = Layout::V1;
    }
    if layout == Layout::V0 && need == Need::Views {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "the catalog database has no views (layout V0) and jdbc.schema-version=V0 forbids adding them",
        ));
    }
    Ok(layout)
}

/// `jdbc.init-catalog-tables`: whether missing tables may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Creation {
    Allowed,
    Forbidden,
}

async fn run(connection: &mut SqliteConnection, sql: &'static str) -> Result<()> {
    sqlx::query(sql)
        .execute(connection)
        .await
        .map(drop)
        .map_err(|e| database_error(e, "cannot make the tables of the catalog database"))
}
