//! Catalog properties that all catalogs share (Java: `CatalogProperties`).

use std::collections::BTreeMap;
use std::path::Path;

use tarn_format::io::location::{self, Location, strip_trailing_slash};
use tarn_format::spec::snapshot::Properties;
use tarn_format::{Error, Result};

/// Where a catalog keeps tables that name no place, and what it does to the properties of new ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct CatalogSettings {
    /// Base location, absolute, without trailing slash; `None` where none was given.
    pub warehouse: Option<String>,
    /// `table-default.*`, without the prefix.
    pub table_defaults: Properties,
    /// `table-override.*`, without the prefix.
    pub table_overrides: Properties,
    /// `view-default.*`, without the prefix.
    pub view_defaults: Properties,
    /// `view-override.*`, without the prefix.
    pub view_overrides: Properties,
    /// `unique-table-location`.
    pub table_location: TableLocation,
}

/// How default table locations are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TableLocation {
    /// After the table.
    #[default]
    Plain,
    /// After the table, with a random suffix: a renamed or dropped table never shares its place with a new one.
    Unique,
}

impl CatalogSettings {
    /// Reads catalog properties.
    pub(crate) fn from_properties(properties: &BTreeMap<String, String>) -> Result<Self> {
        let unique = boolean(properties, "unique-table-location")?.unwrap_or(false);
        Ok(CatalogSettings {
            warehouse: properties.get("warehouse").map(|w| absolute(w)).transpose()?,
            table_defaults: below(properties, "table-default."),
            table_overrides: below(properties, "table-override."),
            view_defaults: below(properties, "view-default."),
            view_overrides: below(properties, "view-override."),
            table_location: if unique {
                TableLocation::Unique
            } else {
                TableLocation::Plain
            },
        })
    }

    /// `properties` between the catalog's defaults and overrides for tables.
    pub(crate) fn table_properties(&self, properties: Properties) -> Properties {
        layered(&self.table_defaults, properties, &self.table_overrides)
    }

    /// `properties` between the catalog's defaults and overrides for views.
    pub(crate) fn view_properties(&self, properties: Properties) -> Properties {
        layered(&self.view_defaults, properties, &self.view_overrides)
    }
}

fn layered(defaults: &Properties, given: Properties, overrides: &Properties) -> Properties {
    let mut properties = defaults.clone();
    properties.extend(given);
    properties.extend(overrides.clone());
    properties
}

fn below(properties: &BTreeMap<String, String>, prefix: &str) -> Properties {
    let pairs = properties.iter();
    pairs
        .filter_map(|(key, value)| Some((key.strip_prefix(prefix)?.to_owned(), value.clone())))
        .collect()
}

/// A boolean property as Java reads it, but refusing what is neither `true` nor `false`.
pub(crate) fn boolean(properties: &BTreeMap<String, String>, key: &str) -> Result<Option<bool>> {
    let Some(text) = properties.get(key) else {
        return Ok(None);
    };
    match text.trim() {
        t if t.eq_ignore_ascii_case("true") => Ok(Some(true)),
        t if t.eq_ignore_ascii_case("false") => Ok(Some(false)),
        _ => Err(Error::invalid(format!(
            "catalog property `{key}` must be true or false"
        ))),
    }
}

/// The warehouse as tables will record it: a URI as given, a path made absolute.
fn absolute(warehouse: &str) -> Result<String> {
    let trimmed = warehouse.trim();
    if trimmed.is_empty() {
        return Err(Error::invalid("catalog property `warehouse` is empty"));
    }
    let scheme = Location::parse(trimmed).scheme;
    if scheme.is_empty() {
        return location::from_local_path(Path::new(trimmed));
    }
    Ok(strip_trailing_slash(trimmed).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Result<CatalogSettings> {
        CatalogSettings::from_properties(&pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect())
    }

    #[test]
    fn overrides_win_over_the_given_and_the_given_over_defaults() {
        let settings = settings(&[
            ("table-default.a", "default"),
            ("table-default.b", "default"),
            ("table-override.c", "override"),
            ("view-default.v", "view"),
        ])
        .unwrap();
        let given = Properties::from([("b".into(), "given".into()), ("c".into(), "given".into())]);
        let expected = [("a", "default"), ("b", "given"), ("c", "override")];
        let expected: Properties = expected.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        assert_eq!(settings.table_properties(given), expected);
        assert_eq!(settings.view_properties(Properties::new()).len(), 1);
    }

    #[test]
    fn warehouses_become_absolute_and_lose_their_slash() {
        let warehouse = |text: &str| settings(&[("warehouse", text)]).unwrap().warehouse.unwrap();
        assert_eq!(warehouse("s3://bucket/wh/"), "s3://bucket/wh");
        assert_eq!(warehouse("/nowhere/wh/"), "/nowhere/wh");
        assert!(warehouse("wh").ends_with("/wh") && warehouse("wh").starts_with('/'));
        assert!(settings(&[("warehouse", " ")]).is_err());
        assert!(settings(&[("unique-table-location", "maybe")]).is_err());
    }
}
