//! What a new table or view becomes: its properties and place (Java: `BaseMetastoreCatalog`'s table builder).

use tarn_format::catalog::{Namespace, TableCreation, TableIdent};
use tarn_format::io::location::{join, strip_trailing_slash};
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::update::MetadataBuilder;
use tarn_format::{Error, Result, ResultExt};

use super::next::now_ms;
use super::settings::{CatalogSettings, TableLocation};

/// The namespace property that moves the tables of a namespace.
const LOCATION: &str = "location";

/// The metadata of a new table at `location`.
pub(crate) fn new_table(
    settings: &CatalogSettings,
    ident: &TableIdent,
    location: &str,
    mut creation: TableCreation,
) -> Result<TableMetadata> {
    creation.properties = settings.table_properties(creation.properties);
    let uuid = uuid::Uuid::new_v4();
    let builder = MetadataBuilder::new_table(&creation, location, uuid).context("table", ident.to_string())?;
    builder.build(now_ms()).context("table", ident.to_string())
}

/// Where a table or view goes that was given no place: below its namespace's `location`, else below the warehouse.
pub(crate) fn default_location(
    settings: &CatalogSettings,
    ident: &TableIdent,
    namespace_properties: &Properties,
) -> Result<String> {
    for level in ident.namespace.0.iter().chain([&ident.name]) {
        refuse_unsafe_level(level).context("table", ident.to_string())?;
    }
    let name = match settings.table_location {
        TableLocation::Plain => ident.name.clone(),
        TableLocation::Unique => format!("{}-{}", ident.name, uuid::Uuid::new_v4().simple()),
    };
    Ok(join(
        &namespace_location(settings, &ident.namespace, namespace_properties)?,
        &name,
    ))
}

/// Where the tables of a namespace go.
pub(crate) fn namespace_location(
    settings: &CatalogSettings,
    namespace: &Namespace,
    properties: &Properties,
) -> Result<String> {
    if let Some(location) = properties.get(LOCATION).filter(|l| !l.is_empty()) {
        return Ok(strip_trailing_slash(location).to_owned());
    }
    let warehouse = settings.warehouse.as_deref().ok_or_else(|| {
        Error::invalid("the catalog has no `warehouse` to put this in: set the property, or give a location")
    })?;
    Ok(namespace
        .0
        .iter()
        .fold(warehouse.to_owned(), |at, level| join(&at, level)))
}

/// Refuses a name that would not be one path segment.
pub(crate) fn refuse_unsafe_level(level: &str) -> Result<()> {
    if level.is_empty() || level == "." || level == ".." || level.contains(['/', '\\', '\0']) {
        return Err(Error::invalid(format!(
            "`{}` cannot name a directory",
            level.escape_debug()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(warehouse: Option<&str>) -> CatalogSettings {
        CatalogSettings {
            warehouse: warehouse.map(str::to_owned),
            ..CatalogSettings::default()
        }
    }

    fn ident(levels: &[&str], name: &str) -> TableIdent {
        TableIdent::new(Namespace::new(levels.iter().copied()), name)
    }

    #[test]
    fn tables_go_below_their_namespace_in_the_warehouse() {
        let at = default_location(
            &settings(Some("s3://b/wh")),
            &ident(&["a", "b"], "t"),
            &Properties::new(),
        );
        assert_eq!(at.unwrap(), "s3://b/wh/a/b/t");
    }

    #[test]
    fn a_namespace_location_wins_over_the_warehouse() {
        let properties = Properties::from([("location".into(), "gs://other/x/".into())]);
        let at = default_location(&settings(None), &ident(&["a"], "t"), &properties);
        assert_eq!(at.unwrap(), "gs://other/x/t");
        assert!(default_location(&settings(None), &ident(&["a"], "t"), &Properties::new()).is_err());
    }

    #[test]
    fn unique_locations_differ() {
        let settings = CatalogSettings {
            table_location: TableLocation::Unique,
            ..settings(Some("/wh"))
        };
        let at = |_| default_location(&settings, &ident(&["a"], "t"), &Properties::new()).unwrap();
        assert_ne!(at(0), at(1));
        assert!(at(0).starts_with("/wh/a/t-"));
    }

    #[test]
    fn names_that_leave_the_warehouse_are_refused() {
        for name in ["..", ".", "", "a/b", "a\\b", "a\0"] {
            let at = default_location(&settings(Some("/wh")), &ident(&["a"], name), &Properties::new());
            assert!(at.is_err(), "{name:?}");
        }
    }
}
