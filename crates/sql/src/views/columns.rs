//! How a view's columns stay bound to those of its query while the tables beneath evolve.
//!
//! What the query's text spells out keeps its place; what a wildcard gave is found by the name that it had when the view
//! was made, as tables gain, lose and move columns.

use std::ops::ControlFlow;

use datafusion::arrow::datatypes::DataType;
use sqlparser::ast::{Query, SelectItem, SetExpr};
use tarn_format::spec::types::{PrimitiveType, Type};
use tarn_format::{Error, Result};

/// A column of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoundColumn {
    /// Its name.
    pub(crate) name: String,
    /// What the query called it when the view was made; `None` where that is not known.
    pub(crate) query_name: Option<String>,
    /// What it held when the view was made.
    pub(crate) family: Family,
}

/// Types that may take one another's place beneath a view: promotions stay within a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Boolean,
    Number,
    Text,
    Binary,
    /// Dates and timestamps.
    Moment,
    Struct,
    List,
    Map,
    /// Types that engines show differently, and NULL: anything goes.
    Any,
}

impl Family {
    /// That of a type of Iceberg.
    pub(crate) fn of_iceberg(of: &Type) -> Family {
        use PrimitiveType as P;
        match of {
            Type::Struct(_) => Family::Struct,
            Type::List(_) => Family::List,
            Type::Map(_) => Family::Map,
            Type::Primitive(P::Boolean) => Family::Boolean,
            Type::Primitive(P::Int | P::Long | P::Float | P::Double | P::Decimal { .. }) => Family::Number,
            Type::Primitive(P::String) => Family::Text,
            Type::Primitive(P::Binary | P::Fixed(_)) => Family::Binary,
            Type::Primitive(P::Date | P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs) => {
                Family::Moment
            }
            _ => Family::Any,
        }
    }

    /// That of a column of a query.
    pub(crate) fn of_arrow(of: &DataType) -> Family {
        match of {
            DataType::Boolean => Family::Boolean,
            number if number.is_numeric() => Family::Number,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Family::Text,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Family::Binary,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Family::Moment,
            DataType::Struct(_) => Family::Struct,
            DataType::List(_) | DataType::LargeList(_) | DataType::ListView(_) => Family::List,
            DataType::Map(..) => Family::Map,
            _ => Family::Any,
        }
    }

    fn takes(self, other: Family) -> bool {
        self == other || self == Family::Any || other == Family::Any
    }

    fn shown(self) -> &'static str {
        match self {
            Family::Boolean => "a boolean",
            Family::Number => "a number",
            Family::Text => "a string",
            Family::Binary => "binary",
            Family::Moment => "a date or timestamp",
            Family::Struct => "a struct",
            Family::List => "an array",
            Family::Map => "a map",
            Family::Any => "of another type",
        }
    }
}

/// The place of each of the view's columns among those that the query has now.
///
/// # Errors
/// `InvalidInput` when one is gone or holds something else.
pub(super) fn places(query: &Query, columns: &[BoundColumn], found: &[(&str, &DataType)]) -> Result<Vec<usize>> {
    let places = match (wildcards(query), names(columns)) {
        (Some(around), Some(names)) => by_name(&around, &names, found)?,
        _ if found.len() == columns.len() => (0..found.len()).collect(),
        _ => {
            return Err(Error::invalid(format!(
                "its query has {} columns and it has {}: CREATE OR REPLACE VIEW mends it",
                found.len(),
                columns.len()
            )));
        }
    };
    for (column, place) in columns.iter().zip(&places) {
        let now = Family::of_arrow(found[*place].1);
        if !column.family.takes(now) {
            return Err(Error::invalid(format!(
                "its column '{}' was {} when it was made and is {} now: CREATE OR REPLACE VIEW mends it",
                column.name,
                column.family.shown(),
                now.shown()
            )));
        }
    }
    Ok(places)
}

/// The names that the query gave, when all are known.
fn names(columns: &[BoundColumn]) -> Option<Vec<&str>> {
    columns.iter().map(|c| c.query_name.as_deref()).collect()
}

/// How many columns the text of a query spells out before its first wildcard and after its last.
#[derive(Debug, PartialEq, Eq)]
struct Around {
    before: usize,
    after: usize,
}

/// Where wildcards stand in the select list that names the columns; `None` without one.
fn wildcards(query: &Query) -> Option<Around> {
    let mut body = query.body.as_ref();
    let items = loop {
        match body {
            SetExpr::Select(select) => break &select.projection,
            SetExpr::Query(query) => body = query.body.as_ref(),
            SetExpr::SetOperation { left, .. } => body = left.as_ref(),
            _ => return None,
        }
    };
    let is_wildcard = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    Some(Around {
        before: items.iter().position(is_wildcard)?,
        after: items.iter().rev().position(is_wildcard)?,
    })
}

fn by_name(around: &Around, names: &[&str], found: &[(&str, &DataType)]) -> Result<Vec<usize>> {
    let Around { before, after } = *around;
    let fewest = before + after;
    if names.len() < fewest || found.len() < fewest {
        return Err(Error::invalid(format!(
            "its query has {} columns now: CREATE OR REPLACE VIEW mends it",
            found.len()
        )));
    }
    let (end, found_end) = (names.len() - after, found.len() - after);
    let place = |at: usize| {
        if at < before {
            return Ok(at);
        }
        if at >= end {
            return Ok(found_end + (at - end));
        }
        let name = names[at];
        let nth = names[before..at].iter().filter(|n| **n == name).count();
        let exact = |found: &str| found == name;
        let folded = |found: &str| found.to_lowercase() == name.to_lowercase();
        nth_place(&found[before..found_end], nth, exact)
            .or_else(|| nth_place(&found[before..found_end], nth, folded))
            .map(|place| before + place)
            // Engines make different names of expressions, which stand where they stood.
            .or_else(|| (is_made_up(name) && names.len() == found.len()).then_some(at))
            .ok_or_else(|| {
                Error::invalid(format!(
                    "the column '{name}' of its query is gone: CREATE OR REPLACE VIEW mends it"
                ))
            })
    };
    (0..names.len()).map(place).collect()
}

fn nth_place(found: &[(&str, &DataType)], nth: usize, same: impl Fn(&str) -> bool) -> Option<usize> {
    let mut left = nth;
    let found = found.iter().enumerate().try_for_each(|(at, (name, _))| {
        match (same(name), left) {
            (false, _) => return ControlFlow::Continue(()),
            (true, 0) => return ControlFlow::Break(at),
            (true, _) => left -= 1,
        }
        ControlFlow::Continue(())
    });
    match found {
        ControlFlow::Break(at) => Some(at),
        ControlFlow::Continue(()) => None,
    }
}

/// Whether an engine made this name of an expression.
fn is_made_up(name: &str) -> bool {
    name.contains(|c: char| !c.is_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Statement;
    use crate::dialect::TarnDialect;
    use crate::parser::parse;

    fn query(sql: &str) -> Box<Query> {
        match parse(sql, &TarnDialect::default()).unwrap().remove(0) {
            Statement::Query(query) => query,
            other => panic!("{other:?}"),
        }
    }

    fn columns(names: &[&str]) -> Vec<BoundColumn> {
        let column = |name: &&str| BoundColumn {
            name: format!("v_{name}"),
            query_name: Some(name.to_string()),
            family: Family::Number,
        };
        names.iter().map(column).collect()
    }

    /// Places of the names that a query had among those it has.
    fn placed(sql: &str, had: &[&str], has: &[&str]) -> Result<Vec<usize>> {
        let found: Vec<_> = has.iter().map(|name| (*name, &DataType::Int64)).collect();
        places(&query(sql), &columns(had), &found)
    }

    #[test]
    fn spelled_out_columns_keep_their_places_and_wildcards_their_names() {
        for (sql, had, has, expected) in [
            (
                "SELECT a, b + 1 FROM t",
                &["a", "(b + 1)"][..],
                &["a", "other"][..],
                &[0, 1][..],
            ),
            ("SELECT * FROM t", &["a", "b"], &["new", "b", "a"], &[2, 1]),
            (
                "SELECT a + 1, * FROM t",
                &["(a + 1)", "a", "b"],
                &["x", "b", "c", "a"],
                &[0, 3, 1],
            ),
            (
                "SELECT *, a + 1 FROM t",
                &["a", "b", "(a + 1)"],
                &["c", "a", "b", "x"],
                &[1, 2, 3],
            ),
            ("SELECT t.*, u.* FROM t, u", &["a", "a"], &["a", "b", "a", "c"], &[0, 2]),
            (
                "SELECT * FROM t UNION ALL SELECT * FROM u",
                &["a", "b"],
                &["B", "A"],
                &[1, 0],
            ),
            (
                "SELECT * FROM (SELECT a, a + 1 FROM t)",
                &["a", "(a + 1)"],
                &["a", "t.a + 1"],
                &[0, 1],
            ),
        ] {
            assert_eq!(placed(sql, had, has).unwrap(), expected, "{sql}");
        }
    }

    #[test]
    fn columns_that_are_gone_are_named() {
        let gone = placed("SELECT * FROM t", &["a", "b"], &["a", "c"]).unwrap_err();
        assert!(gone.to_string().contains("'b' of its query is gone"), "{gone}");
        let fewer = placed("SELECT a, b FROM t", &["a", "b"], &["a"]).unwrap_err();
        assert!(fewer.to_string().contains("has 1 columns and it has 2"), "{fewer}");
    }

    #[test]
    fn columns_that_hold_something_else_are_named() {
        let query = query("SELECT a FROM t");
        let place = |now: &DataType| places(&query, &columns(&["a"]), &[("a", now)]);
        assert_eq!(place(&DataType::Decimal128(10, 2)).unwrap(), [0]);
        assert_eq!(place(&DataType::Null).unwrap(), [0]);
        let changed = place(&DataType::Utf8View).unwrap_err().to_string();
        assert!(changed.contains("'v_a' was a number"), "{changed}");
        assert!(changed.contains("is a string now"), "{changed}");
    }
}
