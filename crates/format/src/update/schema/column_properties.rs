//! Table properties that name columns, kept in step with renames and drops (Java: `PropertyUtil.applySchemaChanges`).

use std::collections::HashMap;

use super::SchemaUpdate;
use crate::spec::schema::Schema;
use crate::spec::snapshot::Properties;

/// Properties whose names end with the full name of a column.
const COLUMN_PREFIXES: [&str; 3] = [
    "write.metadata.metrics.column.",
    "write.parquet.bloom-filter-enabled.column.",
    "write.parquet.stats-enabled.column.",
];

impl SchemaUpdate {
    /// Properties to set and to remove once the schema is `new`.
    pub(super) fn column_property_changes(&self, new: &Schema) -> (Properties, Vec<String>) {
        let old = &self.schema;
        let ids = old
            .field_ids()
            .filter_map(|id| Some((old.full_name(id)?, new.full_name(id))));
        let names: HashMap<&str, Option<&str>> = ids.collect();
        let (mut set, mut removed) = (Properties::new(), Vec::new());
        for (key, value) in &self.base.properties {
            let Some(prefix) = COLUMN_PREFIXES.iter().find(|prefix| key.starts_with(**prefix)) else {
                continue;
            };
            let column = &key[prefix.len()..];
            match names.get(column) {
                Some(None) => removed.push(key.clone()),
                Some(Some(renamed)) if *renamed != column => {
                    set.insert(format!("{prefix}{renamed}"), value.clone());
                    removed.push(key.clone());
                }
                _ => {}
            }
        }
        removed.retain(|key| !set.contains_key(key));
        (set, removed)
    }
}
