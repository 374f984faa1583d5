//! Which metrics of a column are kept (`write.metadata.metrics.*`; Java `MetricsConfig`, `MetricsModes`).

use std::collections::HashMap;
use std::str::FromStr;

use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::sort::SortOrder;
use tarn_format::spec::types::{FieldId, NestedFieldRef, Type};
use tarn_format::{Error, Result};

use super::options::invalid;

const DEFAULT: &str = "write.metadata.metrics.default";
const COLUMN: &str = "write.metadata.metrics.column.";
const MAX_INFERRED: &str = "write.metadata.metrics.max-inferred-column-defaults";
const DEFAULT_MAX_INFERRED: usize = 100;

/// The metrics of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsMode {
    /// None.
    None,
    /// Sizes and counts.
    Counts,
    /// Counts, and bounds of at most so many code points or bytes.
    Truncate(usize),
    /// Counts and whole bounds.
    Full,
}

/// What is kept where nothing else is said.
pub(super) const DEFAULT_MODE: MetricsMode = MetricsMode::Truncate(16);

impl MetricsMode {
    /// How many code points or bytes a bound may have; `None` without bounds.
    pub(super) fn bound_length(self) -> Option<usize> {
        match self {
            MetricsMode::None | MetricsMode::Counts => None,
            MetricsMode::Truncate(length) => Some(length),
            MetricsMode::Full => Some(usize::MAX),
        }
    }
}

impl FromStr for MetricsMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lower = text.trim().to_ascii_lowercase();
        let length = lower.strip_prefix("truncate(").and_then(|l| l.strip_suffix(')'));
        match (lower.as_str(), length.map(|l| l.trim().parse::<usize>())) {
            ("none", _) => Ok(MetricsMode::None),
            ("counts", _) => Ok(MetricsMode::Counts),
            ("full", _) => Ok(MetricsMode::Full),
            (_, Some(Ok(length))) if length > 0 => Ok(MetricsMode::Truncate(length)),
            _ => Err(Error::invalid(format!("'{text}' is no metrics mode"))),
        }
    }
}

/// The metrics modes of a table's columns.
#[derive(Debug, Clone)]
pub struct MetricsConfig {
    modes: HashMap<FieldId, MetricsMode>,
    default: MetricsMode,
}

impl MetricsConfig {
    /// The modes that the table's properties give. A table of more columns than
    /// `write.metadata.metrics.max-inferred-column-defaults`, nested ones counted, keeps metrics of the first ones only,
    /// unless `write.metadata.metrics.default` is set.
    ///
    /// # Errors
    /// `InvalidInput` naming the property whose value is unknown.
    pub fn new(properties: &Properties, schema: &Schema, order: &SortOrder) -> Result<Self> {
        let mut config = Self::inferred(properties, schema)?;
        let promoted = match config.default {
            MetricsMode::None | MetricsMode::Counts => DEFAULT_MODE,
            other => other,
        };
        // Sorted files are pruned well: they get bounds even where others don't.
        for field in order.fields.iter().filter(|f| f.transform.preserves_order()) {
            config.modes.extend(field.source_ids.iter().map(|id| (*id, promoted)));
        }
        for (key, text) in properties {
            let Some(column) = key.strip_prefix(COLUMN) else {
                continue;
            };
            let mode = parse(key, text)?;
            match schema.field_by_name(column) {
                Some(field) => {
                    config.modes.insert(field.id, mode);
                }
                None => tracing::warn!(property = %key, "the property names no column of the table"),
            }
        }
        Ok(config)
    }

    fn inferred(properties: &Properties, schema: &Schema) -> Result<Self> {
        let limit = match properties.get(MAX_INFERRED) {
            None => DEFAULT_MAX_INFERRED,
            Some(text) => text
                .trim()
                .parse()
                .map_err(|_| invalid(MAX_INFERRED, text, "a whole number"))?,
        };
        let config = |modes, default| MetricsConfig { modes, default };
        if let Some(text) = properties.get(DEFAULT) {
            return Ok(config(HashMap::new(), parse(DEFAULT, text)?));
        }
        if schema.field_ids().count() <= limit {
            return Ok(config(HashMap::new(), DEFAULT_MODE));
        }
        let mut first = Vec::new();
        take_first(&schema.fields().iter().collect::<Vec<_>>(), limit, &mut first);
        let modes = first.into_iter().map(|id| (id, DEFAULT_MODE)).collect();
        Ok(config(modes, MetricsMode::None))
    }

    /// The mode of a column.
    pub fn mode(&self, id: FieldId) -> MetricsMode {
        self.modes.get(&id).copied().unwrap_or(self.default)
    }
}

fn parse(key: &str, text: &str) -> Result<MetricsMode> {
    let expected = "none, counts, truncate(length) or full";
    text.parse().map_err(|_| invalid(key, text, expected))
}

/// The first columns: at each level those without children, then the children of the others in turn.
fn take_first(fields: &[&NestedFieldRef], limit: usize, taken: &mut Vec<FieldId>) {
    let has_metrics = |t: &Type| !t.is_nested();
    for field in fields.iter().filter(|f| has_metrics(&f.field_type)) {
        if taken.len() < limit {
            taken.push(field.id);
        }
    }
    for field in fields.iter().filter(|f| !has_metrics(&f.field_type)) {
        if taken.len() < limit {
            take_first(&field.field_type.children(), limit, taken);
        }
    }
}
