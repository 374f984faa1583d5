//! Arguments of table functions that read a path: the path, then options by name.

use datafusion::common::ScalarValue;
use tarn_format::{Error, Result};

use crate::ast::PropertyList;
use crate::planner::FunctionArgument;

/// Options by name, in the order written.
pub(super) type Options = PropertyList;

/// `f('path', option => value, …)`
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) path: String,
    /// Keys in lower case, words joined by dashes: `snapshot_id` is `snapshot-id`.
    pub(super) options: Options,
}

impl Arguments {
    /// # Errors
    /// `InvalidInput` without a path, and for options that are no texts, numbers or truth values.
    pub(super) fn parse(function: &str, arguments: &[FunctionArgument]) -> Result<Self> {
        let mut path = None;
        let mut options = Options::new();
        for argument in arguments {
            let Some(text) = text(&argument.value) else {
                return Err(Error::invalid(format!(
                    "{function} takes texts, whole numbers, true and false, not {}",
                    argument.value
                )));
            };
            match &argument.name {
                Some(name) => options.push((name.to_ascii_lowercase().replace('_', "-"), text)),
                None if path.is_none() => path = Some(text),
                None => {
                    return Err(Error::invalid(format!(
                        "{function} takes one path, and options by name, as in {function}('path', option => 'value')"
                    )));
                }
            }
        }
        match path {
            Some(path) if !path.trim().is_empty() => Ok(Arguments { path, options }),
            _ => Err(Error::invalid(format!(
                "{function} takes a path, as in {function}('path')"
            ))),
        }
    }
}

fn text(value: &ScalarValue) -> Option<String> {
    match value {
        ScalarValue::Utf8(v) | ScalarValue::Utf8View(v) | ScalarValue::LargeUtf8(v) => v.clone(),
        value if value.is_null() => None,
        ScalarValue::Boolean(Some(v)) => Some(v.to_string()),
        value if value.data_type().is_integer() => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(name: Option<&str>, value: ScalarValue) -> FunctionArgument {
        FunctionArgument {
            name: name.map(str::to_string),
            value,
        }
    }

    #[test]
    fn a_path_and_named_options() {
        let parsed = Arguments::parse(
            "iceberg_scan",
            &[
                argument(None, ScalarValue::from("/t")),
                argument(Some("Snapshot_Id"), ScalarValue::Int64(Some(5))),
                argument(Some("location-prefix"), ScalarValue::from("a=b")),
            ],
        );
        let pair = |k: &str, v: &str| (k.to_string(), v.to_string());
        let expected = Arguments {
            path: "/t".to_string(),
            options: vec![pair("snapshot-id", "5"), pair("location-prefix", "a=b")],
        };
        assert_eq!(parsed.unwrap(), expected);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for arguments in [
            vec![],
            vec![argument(None, ScalarValue::from(" "))],
            vec![argument(None, ScalarValue::Float64(Some(1.5)))],
            vec![
                argument(None, ScalarValue::from("a")),
                argument(None, ScalarValue::from("b")),
            ],
            vec![argument(None, ScalarValue::Utf8(None))],
        ] {
            assert!(Arguments::parse("f", &arguments).is_err(), "{arguments:?}");
        }
    }
}
