//! Paths into variants: `$`, then names (`.name`, `['any name']`, `["any name"]`) and places in arrays (`[0]`).

use datafusion::common::plan_err;
use datafusion::error::Result;
use parquet_variant::Variant;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    Field(String),
    Index(usize),
}

/// A way from a variant to a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Path(Vec<Step>);

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// When the text is none.
    pub(super) fn parse(text: &str) -> Result<Path> {
        let Some(mut rest) = text.strip_prefix('$') else {
            return refused(text);
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let Some((step, more)) = step(rest) else {
                return refused(text);
            };
            steps.push(step);
            rest = more;
        }
        Ok(Path(steps))
    }

    /// The part of a variant; `None` where it has no such part.
    pub(super) fn of<'m, 'v>(&self, variant: Variant<'m, 'v>) -> Option<Variant<'m, 'v>> {
        self.0.iter().try_fold(variant, |variant, step| match (variant, step) {
            (Variant::Object(object), Step::Field(name)) => object.get(name),
            (Variant::List(list), Step::Index(index)) => list.get(*index),
            _ => None,
        })
    }
}

fn refused<T>(text: &str) -> Result<T> {
    plan_err!("'{text}' is no path into a variant: write $.name, $['a name'] or $.list[0]")
}

/// The first step, and what follows.
fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        return (!name.is_empty()).then(|| (Step::Field(name.to_string()), rest));
    }
    let rest = text.strip_prefix('[')?;
    for quote in ['\'', '"'] {
        if let Some(rest) = rest.strip_prefix(quote) {
            let (name, rest) = rest.split_once(quote)?;
            return Some((Step::Field(name.to_string()), rest.strip_prefix(']')?));
        }
    }
    let (index, rest) = rest.split_once(']')?;
    let is_number = !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit());
    let index = is_number.then(|| index.parse().ok()).flatten()?;
    Some((Step::Index(index), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read() {
        let field = |name: &str| Step::Field(name.to_string());
        for (text, steps) in [
            ("$", vec![]),
            ("$.a", vec![field("a")]),
            (
                "$.a.b[0][12]",
                vec![field("a"), field("b"), Step::Index(0), Step::Index(12)],
            ),
            ("$['a b'][\"c.d\"].e", vec![field("a b"), field("c.d"), field("e")]),
            ("$[3]", vec![Step::Index(3)]),
        ] {
            assert_eq!(Path::parse(text).unwrap(), Path(steps), "{text}");
        }
        for text in [
            "",
            "a",
            "$a",
            "$.",
            "$..a",
            "$[",
            "$[]",
            "$[-1]",
            "$[+1]",
            "$['a]",
            "$['a'",
            "$[99999999999999999999]",
        ] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }
}
