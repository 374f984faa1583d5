//! `--catalog`: a whole catalog, or one property of one.

use std::path::Path;

use tarn::sql::config::CATALOG_PREFIX;

/// What one option gives: settings that describe the catalog, which is opened when it is first used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogOption {
    /// Keys and values.
    pub settings: Vec<(String, String)>,
}

/// Reads `NAME=TYPE[:LOCATION]` or `NAME.KEY=VALUE`.
pub fn parse(text: &str) -> Result<CatalogOption, String> {
    const EXPECTED: &str = "expected NAME=TYPE:LOCATION, such as prod=hadoop:/data/warehouse, or NAME.KEY=VALUE";
    let (left, right) = text.split_once('=').ok_or(EXPECTED)?;
    let (left, right) = (left.trim(), right.trim());
    if left.is_empty() || right.is_empty() || left.starts_with('.') || left.ends_with('.') {
        return Err(EXPECTED.to_string());
    }
    let pairs = if left.contains('.') {
        vec![(String::new(), right.to_string())]
    } else {
        described(right)?
    };
    let setting = |(key, value): (String, String)| (format!("{CATALOG_PREFIX}{left}{key}"), value);
    Ok(CatalogOption {
        settings: pairs.into_iter().map(setting).collect(),
    })
}

/// Properties, each key with its dot.
fn described(text: &str) -> Result<Vec<(String, String)>, String> {
    let (kind, location) = match text.split_once(':') {
        Some((kind, location)) => (kind, Some(location).filter(|l| !l.is_empty())),
        None => (text, None),
    };
    let property = |key: &str, value: String| (format!(".{key}"), value);
    let mut properties = vec![property("type", kind.to_string())];
    match (kind.to_ascii_lowercase().as_str(), location) {
        (_, None) => {}
        ("memory" | "in-memory" | "hadoop", Some(location)) => {
            properties.push(property("warehouse", absolute(location)))
        }
        ("sqlite" | "sql" | "jdbc", Some(location)) => {
            let file = absolute(location);
            // Tables go beside the database, as in the catalog `lake`.
            if let Some(directory) = Path::new(&file).parent().filter(|_| !is_uri(location)) {
                properties.push(property("warehouse", directory.to_string_lossy().into_owned()));
            }
            properties.push(property("uri", file));
        }
        (_, Some(location)) => properties.push(property("uri", location.to_string())),
    }
    Ok(properties)
}

fn is_uri(location: &str) -> bool {
    location.contains(':')
}

fn absolute(location: &str) -> String {
    if is_uri(location) {
        return location.to_string();
    }
    match std::path::absolute(location) {
        Ok(path) => path.to_string_lossy().into_owned(),
        Err(_) => location.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Vec<(String, String)> {
        let settings = parse(text).unwrap().settings.into_iter();
        settings
            .map(|(k, v)| (k.strip_prefix(CATALOG_PREFIX).unwrap().to_string(), v))
            .collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn whole_catalogs_know_where_they_are() {
        let hadoop = [("prod.type", "hadoop"), ("prod.warehouse", "/data/wh")];
        assert_eq!(settings("prod=hadoop:/data/wh"), pairs(&hadoop));
        let s3 = [("prod.type", "hadoop"), ("prod.warehouse", "s3://bucket/wh")];
        assert_eq!(settings("prod=hadoop:s3://bucket/wh"), pairs(&s3));
        let sqlite = [("c.type", "sqlite"), ("c.warehouse", "/data"), ("c.uri", "/data/c.db")];
        assert_eq!(settings("c=sqlite:/data/c.db"), pairs(&sqlite));
        let rest = [("r.type", "rest"), ("r.uri", "https://host:8181/api")];
        assert_eq!(settings("r=rest:https://host:8181/api"), pairs(&rest));
        assert_eq!(settings("m=memory"), pairs(&[("m.type", "memory")]));
        let here = std::env::current_dir().unwrap().join("wh");
        assert_eq!(settings("h=hadoop:wh")[1].1, here.to_string_lossy());
    }

    #[test]
    fn properties_come_one_by_one() {
        assert_eq!(settings("c.s3.region=eu=1"), pairs(&[("c.s3.region", "eu=1")]));
        for wrong in ["", "c", "c=", "=hadoop", ".x=1", "c.=1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
