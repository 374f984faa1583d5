//! SET and RESET, CREATE CATALOG and DROP CATALOG.

use std::collections::BTreeMap;

use tarn_format::{Error, ErrorKind, Result};

use crate::ast::{IfExists, IfNotExists, PropertyList};
use crate::config::{DEFAULT_CATALOG, redacted};
use crate::output::Output;
use crate::session::Session;

/// Runs SET.
pub(crate) fn set(session: &Session, key: Option<&str>, value: Option<&str>) -> Result<Output> {
    match (key, value) {
        (Some(key), Some(value)) => {
            if key == DEFAULT_CATALOG {
                return Err(Error::invalid(format!(
                    "{DEFAULT_CATALOG} says where a session begins: USE {value} changes to another catalog"
                )));
            }
            session.change_settings(|settings| settings.set(key, value))?;
            Output::text(
                ["key", "value"],
                vec![[Some(key.to_string()), Some(redacted(key, value))]],
            )
        }
        (Some(key), None) => {
            let settings = session.settings();
            let value = settings.get(key).map(|v| redacted(key, v));
            let value = value.unwrap_or_else(|| "<undefined>".to_string());
            Output::text(["key", "value"], vec![[Some(key.to_string()), Some(value)]])
        }
        (None, _) => {
            let rows = session.settings().shown().into_iter().map(|(k, v)| [Some(k), Some(v)]);
            Output::text(["key", "value"], rows.collect())
        }
    }
}

/// Runs RESET.
pub(crate) fn reset(session: &Session, key: Option<&str>) -> Result<Output> {
    session.change_settings(|settings| {
        settings.reset(key);
        Ok(())
    })?;
    Ok(Output::Done(match key {
        Some(key) => format!("reset {key}"),
        None => "reset all settings".to_string(),
    }))
}

/// Runs CREATE CATALOG.
pub(crate) async fn create_catalog(
    session: &Session,
    name: &str,
    if_not_exists: IfNotExists,
    properties: &PropertyList,
) -> Result<Output> {
    let properties: BTreeMap<String, String> = properties.iter().cloned().collect();
    if session.settings().described_catalog(name).is_some() {
        return match if_not_exists {
            IfNotExists::Given => Ok(Output::Done(format!("catalog {name} exists already, nothing created"))),
            IfNotExists::Absent => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("catalog {name} is configured already: DROP CATALOG it first"),
            )),
        };
    }
    match session.catalogs().create(name, &properties).await {
        Ok(()) => Ok(Output::Done(format!("created catalog {name} for this session"))),
        Err(e) if e.kind() == ErrorKind::AlreadyExists && if_not_exists == IfNotExists::Given => {
            Ok(Output::Done(format!("catalog {name} exists already, nothing created")))
        }
        Err(e) => Err(e),
    }
}

/// Runs DROP CATALOG: the session forgets it and the settings that describe it; its tables stay.
pub(crate) fn drop_catalog(session: &Session, name: &str, if_exists: IfExists) -> Result<Output> {
    if session.current().catalog.eq_ignore_ascii_case(name) {
        return Err(Error::invalid(format!(
            "catalog {name} is in use: USE another one first"
        )));
    }
    let mut was_described = false;
    session.change_settings(|settings| {
        was_described = settings.forget_catalog(name);
        Ok(())
    })?;
    let was_open = session.catalogs().remove(name);
    if was_open || was_described {
        return Ok(Output::Done(format!("forgot catalog {name}; its tables stay")));
    }
    match if_exists {
        IfExists::Given => Ok(Output::Done(format!("no catalog {name}, nothing dropped"))),
        IfExists::Absent => Err(Error::not_found(format!("catalog {name} not found"))),
    }
}
