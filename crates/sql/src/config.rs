//! Session settings: SET, RESET and what they mean. Names are Spark's and Iceberg's; Tarn's own begin with `tarn.`.

mod known;

use std::collections::BTreeMap;

use tarn_engine::scan::AnswersFrom;
use tarn_format::Result;
use tarn_format::spec::schema::CaseSensitivity;

use self::known::FIXED;
pub use self::known::{KNOWN, Known};
use crate::dialect::DoubleQuotes;

/// `spark.sql.catalog.NAME[.property]` configures catalogs.
pub const CATALOG_PREFIX: &str = "spark.sql.catalog.";

/// The catalog that a session begins in.
pub const DEFAULT_CATALOG: &str = "spark.sql.defaultCatalog";

const CASE_SENSITIVE: &str = "spark.sql.caseSensitive";
const TIME_ZONE: &str = "spark.sql.session.timeZone";
const DOUBLE_QUOTED: &str = "spark.sql.ansi.doubleQuotedIdentifiers";
const WAP_BRANCH: &str = "spark.wap.branch";
const WAP_ID: &str = "spark.wap.id";
const PARTITION_OVERWRITE_MODE: &str = "spark.sql.sources.partitionOverwriteMode";
const AGGREGATE_PUSH_DOWN: &str = "spark.sql.iceberg.aggregate-push-down.enabled";
pub(crate) const MERGE_SCHEMA: &str = "spark.sql.iceberg.merge-schema";

/// What INSERT OVERWRITE replaces (`spark.sql.sources.partitionOverwriteMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionOverwrite {
    /// The rows that its PARTITION clause names; all without one.
    Static,
    /// The partitions that get rows.
    Dynamic,
}

/// The settings of a session.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    values: BTreeMap<String, String>,
}

impl Settings {
    /// Settings with these values.
    ///
    /// # Errors
    /// As [`Settings::set`].
    pub fn new(values: impl IntoIterator<Item = (String, String)>) -> Result<Self> {
        let mut settings = Settings::default();
        for (key, value) in values {
            settings.set(&key, &value)?;
        }
        Ok(settings)
    }

    /// Sets a value.
    ///
    /// # Errors
    /// `InvalidInput` for a value that the setting cannot have, and for unknown names that begin as Iceberg's or Tarn's
    /// own; `Unsupported` for values that are not obeyed.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        known::check(key, value)?;
        self.values.insert(key.to_string(), value.to_string());
        Ok(())
    }

    /// Forgets a value, or all.
    pub fn reset(&mut self, key: Option<&str>) {
        match key {
            Some(key) => drop(self.values.remove(key)),
            None => self.values.retain(|key, _| key.starts_with(CATALOG_PREFIX)),
        }
    }

    /// The value that was set, or the default of a known setting.
    pub fn get(&self, key: &str) -> Option<&str> {
        let known = KNOWN.iter().filter_map(|k| Some((k.name, k.default?)));
        let fixed = FIXED.iter().map(|f| (f.name, f.value));
        let default = known
            .chain(fixed)
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value);
        self.values.get(key).map(String::as_str).or(default)
    }

    /// The values that were set.
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// All values, defaults of known settings included. Secrets are shown as stars.
    pub fn shown(&self) -> Vec<(String, String)> {
        let mut all: BTreeMap<String, String> = KNOWN
            .iter()
            .filter_map(|k| Some((k.name.to_string(), k.default?.to_string())))
            .chain(FIXED.iter().map(|f| (f.name.to_string(), f.value.to_string())))
            .collect();
        all.extend(self.values.iter().map(|(k, v)| (k.clone(), redacted(k, v))));
        all.into_iter().collect()
    }

    pub(crate) fn is_on(&self, key: &str) -> bool {
        self.get(key).is_some_and(|v| v.eq_ignore_ascii_case("true"))
    }

    /// Where counts and bounds of queries come from.
    pub fn answers(&self) -> AnswersFrom {
        match self.is_on(AGGREGATE_PUSH_DOWN) {
            true => AnswersFrom::Metadata,
            false => AnswersFrom::Data,
        }
    }

    /// What INSERT OVERWRITE replaces.
    pub fn partition_overwrite(&self) -> PartitionOverwrite {
        match self.get(PARTITION_OVERWRITE_MODE) {
            Some(mode) if mode.eq_ignore_ascii_case("dynamic") => PartitionOverwrite::Dynamic,
            _ => PartitionOverwrite::Static,
        }
    }

    /// The branch that tables with `write.wap.enabled` are read from and written to.
    pub fn wap_branch(&self) -> Option<&str> {
        self.get(WAP_BRANCH)
    }

    /// The id under which writes to tables with `write.wap.enabled` are staged instead of published.
    pub fn wap_id(&self) -> Option<&str> {
        self.get(WAP_ID)
    }

    /// How names are compared.
    pub fn case_sensitivity(&self) -> CaseSensitivity {
        match self.is_on(CASE_SENSITIVE) {
            true => CaseSensitivity::Sensitive,
            false => CaseSensitivity::Insensitive,
        }
    }

    /// The session's time zone.
    pub fn time_zone(&self) -> &str {
        self.get(TIME_ZONE).unwrap_or("UTC")
    }

    /// What `"x"` is.
    pub fn double_quotes(&self) -> DoubleQuotes {
        match self.is_on(DOUBLE_QUOTED) {
            true => DoubleQuotes::Identifier,
            false => DoubleQuotes::String,
        }
    }

    /// The catalog of this name in any case: its name as configured here, and its properties without the prefix; `None`
    /// when it is not configured.
    pub fn described_catalog(&self, name: &str) -> Option<(String, BTreeMap<String, String>)> {
        let mut found: Option<(String, BTreeMap<String, String>)> = None;
        for (key, value) in &self.values {
            let Some((written, property)) = catalog_key(key) else {
                continue;
            };
            if !written.eq_ignore_ascii_case(name) {
                continue;
            }
            let (_, properties) = found.get_or_insert_with(|| (written.to_string(), BTreeMap::new()));
            if let Some(property) = property {
                properties.insert(property.to_string(), value.clone());
            }
        }
        found
    }

    /// Forgets what is configured of a catalog, its name in any case. Whether there was anything.
    pub fn forget_catalog(&mut self, name: &str) -> bool {
        let before = self.values.len();
        let is_its = |key: &String| catalog_key(key).is_some_and(|(written, _)| written.eq_ignore_ascii_case(name));
        self.values.retain(|key, _| !is_its(key));
        self.values.len() < before
    }

    /// The names of catalogs that are configured here.
    pub fn catalog_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.values.keys().filter_map(|key| catalog_key(key)) {
            if !names.iter().any(|n| n.eq_ignore_ascii_case(name)) {
                names.push(name.to_string());
            }
        }
        names
    }
}

/// The catalog that a setting configures, and which property of it; `None` is the catalog itself.
fn catalog_key(key: &str) -> Option<(&str, Option<&str>)> {
    let rest = key.strip_prefix(CATALOG_PREFIX)?;
    match rest.split_once('.') {
        Some((name, property)) => Some((name, Some(property))),
        None => Some((rest, None)),
    }
}

/// Whether a key holds a secret, by its name.
pub fn is_secret(key: &str) -> bool {
    const SECRET: [&str; 7] = [
        "secret",
        "password",
        "token",
        "credential",
        "access-key",
        "account-key",
        "sas",
    ];
    let lower = key.to_ascii_lowercase();
    SECRET.iter().any(|s| lower.contains(s))
}

/// A value as it may be shown: those of keys that hold secrets are hidden, and so are passwords in URIs.
pub fn redacted(key: &str, value: &str) -> String {
    if is_secret(key) {
        return HIDDEN.to_string();
    }
    let Some((scheme, rest)) = value.split_once("://") else {
        return value.to_string();
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) if user.contains(':') => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{name}:***@{host}")
        }
        _ => authority.to_string(),
    };
    let path = match path.split_once('?') {
        Some((_, query)) if is_secret(query) => format!("{}?{HIDDEN}", path.split('?').next().unwrap_or_default()),
        _ => path.to_string(),
    };
    format!("{scheme}://{authority}{path}")
}

const HIDDEN: &str = "*********(redacted)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_by_key_and_in_uris() {
        assert_eq!(redacted("x.S3.Secret-Access-Key", "abc"), HIDDEN);
        assert_eq!(redacted("uri", "postgres://me:pw@host/db"), "postgres://me:***@host/db");
        assert_eq!(
            redacted("uri", "postgres://host/db?password=pw"),
            format!("postgres://host/db?{HIDDEN}")
        );
        for plain in [
            "/data/a:b@c",
            "s3://bucket/a@b:c",
            "https://me@host:80/x?y=1",
            "UTC",
            "a://b",
        ] {
            assert_eq!(redacted("uri", plain), plain);
        }
    }
}
