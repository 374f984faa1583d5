//! `${VARIABLE}` in values.

use tarn_format::{Error, Result};

/// Replaces `${NAME}` and `${NAME:-default}`; `$$` is a dollar sign.
///
/// # Errors
/// `InvalidInput` for variables that are not set and have no default, and for an open brace.
pub fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(inside) = after.strip_prefix('{') {
            let Some((name, after)) = inside.split_once('}') else {
                return Err(Error::invalid("'${' has no '}'; a dollar sign alone is written $$"));
            };
            let (name, default) = match name.split_once(":-") {
                Some((name, default)) => (name, Some(default.to_string())),
                None => (name, None),
            };
            let value = variable(name).or(default);
            out.push_str(&value.ok_or_else(|| Error::invalid(format!("variable {name} is not set")))?);
            rest = after;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String> {
        expand(text, &|name| (name == "KEY").then(|| "${x}".to_string()))
    }

    #[test]
    fn variables_are_replaced_once() {
        assert_eq!(expanded("a${KEY}b").unwrap(), "a${x}b");
        assert_eq!(expanded("${NONE:-d}${NONE:-}").unwrap(), "d");
        assert_eq!(expanded("$5 $$ $${KEY} $").unwrap(), "$5 $ ${KEY} $");
    }

    #[test]
    fn missing_variables_and_braces_are_told() {
        assert_eq!(expanded("${NONE}").unwrap_err().message(), "variable NONE is not set");
        assert!(expanded("x${KEY").is_err());
    }
}
