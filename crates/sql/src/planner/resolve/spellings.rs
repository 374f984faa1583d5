//! Spark's functions in the words of DataFusion's: other names, arguments in another order, compositions.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, Expr, FunctionArgumentClause, FunctionArguments, Ident, ObjectName,
    OrderByExpr, OrderByOptions, TimezoneInfo, UnaryOperator, Value, ValueWithSpan,
};
use tarn_format::{Error, Result};

use super::builders::{binary, call, custom, quoted, text};
use crate::planner::expressions::{ELEMENT_AT, REVERSE, ROUND, TIME};

/// Names that DataFusion has under another, whatever else the call says.
const RENAMED: [(&str, &str); 15] = [
    ("sign", "signum"),
    ("first", "first_value"),
    ("any_value", "first_value"),
    ("last", "last_value"),
    ("every", "bool_and"),
    ("some", "bool_or"),
    ("variance", "var_samp"),
    ("std", "stddev"),
    ("array_agg", "collect_list"),
    ("approx_count_distinct", "approx_distinct"),
    ("percentile", "percentile_cont"),
    ("percentile_approx", "approx_percentile_cont"),
    ("approx_percentile", "approx_percentile_cont"),
    ("array_remove", "array_remove_all"),
    ("any_match", "array_any_match"),
];

/// DataFusion's name of a function.
pub(super) fn renamed(name: &str) -> &str {
    RENAMED.iter().find(|(n, _)| *n == name).map_or(name, |(_, own)| *own)
}

/// Names of calls that are made of others.
const COMPOSED: &str = "
array_size count_if curdate date_format date_from_unix_date datediff dayofmonth dayofweek dayofyear decode element_at
explode filter forall from_unixtime hour ifnull isnotnull isnull len localtimestamp locate make_timestamp map
map_contains_key max_by min_by minute mod month nvl positive quarter rand second sort_array struct
timestamp_micros timestamp_millis timestamp_seconds to_unix_timestamp transform try_divide try_element_at
unix_timestamp week weekofyear year";

/// The names that only Spark has.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    RENAMED.iter().map(|(name, _)| *name).chain(COMPOSED.split_whitespace())
}

/// The type of results that DataFusion gives without a sign, or too wide.
pub(super) fn result_type(name: &str) -> Option<DataType> {
    Some(match name {
        "row_number" | "rank" | "dense_rank" | "ntile" | "cardinality" | "array_size" => DataType::Int(None),
        "approx_distinct" | "array_position" => DataType::BigInt(None),
        "grouping" => DataType::TinyInt(None),
        _ => return None,
    })
}

/// Whether the argument before all others is a date, which may be written as text or a timestamp.
fn takes_date(name: &str) -> bool {
    matches!(
        name,
        "last_day" | "add_months" | "next_day" | "date_add" | "dateadd" | "date_sub" | "trunc" | "unix_date"
    )
}

/// Calls that DataFusion spells otherwise.
pub(super) fn spelled(name: &str, mut arguments: Vec<Expr>) -> Result<Option<Expr>> {
    let count = arguments.len();
    if takes_date(name) && count > 0 {
        arguments[0] = cast(arguments[0].clone(), DataType::Date);
        return Ok(Some(call(name, arguments)));
    }
    if let Some(rewritten) = time(name, &mut arguments)? {
        return Ok(Some(rewritten));
    }
    if let Some(rewritten) = of_text(name, &mut arguments)? {
        return Ok(Some(rewritten));
    }
    if let Some(rewritten) = of_nested(name, &mut arguments)? {
        return Ok(Some(rewritten));
    }
    Ok(Some(match name {
        "iceberg_version" if count == 0 => call("system.iceberg_version", Vec::new()),
        "isnan" if count == 1 => {
            // NULL is a number here.
            let never = Expr::Value(Value::Boolean(false).into());
            call("coalesce", vec![call("isnan", arguments), never])
        }
        "isnull" if count == 1 => Expr::IsNull(Box::new(parenthesized(arguments.remove(0)))),
        "isnotnull" if count == 1 => Expr::IsNotNull(Box::new(parenthesized(arguments.remove(0)))),
        "positive" if count == 1 => arguments.remove(0),
        "log" if count == 1 => call("ln", arguments),
        "mod" if count == 2 => operator(BinaryOperator::Modulo, arguments),
        "try_divide" if count == 2 => operator(BinaryOperator::Divide, arguments),
        "round" if count == 1 || count == 2 => {
            let digits = if count == 2 { arguments.remove(1) } else { number(0) };
            custom(arguments.remove(0), ROUND, digits)
        }
        "rand" | "random" if count == 0 => call("random", Vec::new()),
        "random" if count == 1 => call("rand", arguments),
        "nvl" | "ifnull" if count == 2 => call("coalesce", arguments),
        "decode" if count > 2 => decode(arguments),
        "count_if" if count == 1 => {
            let one = Expr::Value(Value::Number("1".to_string(), false).into());
            call("count", vec![case(vec![(arguments.remove(0), one)], None)])
        }
        "max_by" | "min_by" if count == 2 => extreme_by(name, arguments),
        _ => return Ok(None),
    }))
}

/// Functions of dates and times.
fn time(name: &str, arguments: &mut Vec<Expr>) -> Result<Option<Expr>> {
    let count = arguments.len();
    let mut next = || arguments.remove(0);
    Ok(Some(match (name, count) {
        ("current_timestamp" | "now", 0) => timestamp(call("now", Vec::new())),
        ("localtimestamp", 0) => cast(call("now", Vec::new()), DataType::TimestampNtz(None)),
        ("curdate", 0) => call("current_date", Vec::new()),
        ("year" | "quarter" | "month" | "week" | "day" | "hour" | "minute" | "second", 1) => date_part(name, next()),
        ("dayofmonth", 1) => date_part("day", next()),
        ("weekofyear", 1) => date_part("week", next()),
        ("dayofyear", 1) => date_part("doy", next()),
        ("dayofweek", 1) => date_part("dow", next()),
        ("make_date", 3) => cast(joined(&["-", "-"], arguments), DataType::Date),
        ("make_timestamp", 6) => timestamp(joined(&["-", "-", " ", ":", ":"], arguments)),
        ("datediff" | "date_diff", 2) => {
            let (end, start) = (cast(next(), DataType::Date), cast(next(), DataType::Date));
            call(name, vec![end, start])
        }
        ("date_trunc", 2) => {
            let unit = next();
            call("date_trunc", vec![unit, custom(next(), TIME, null())])
        }
        ("to_date", 1) => cast(next(), DataType::Date),
        ("to_date", 2) => cast(call("time_of_pattern", std::mem::take(arguments)), DataType::Date),
        ("to_timestamp", 1) => timestamp(next()),
        ("to_timestamp", 2) => timestamp(call("time_of_pattern", std::mem::take(arguments))),
        ("date_format", 2) => {
            let value = timestamp(next());
            call("time_by_pattern", vec![value, next()])
        }
        ("from_unixtime", 1 | 2) => {
            let value = timestamp(cast(next(), DataType::BigInt(None)));
            let pattern = if count == 2 {
                next()
            } else {
                text("yyyy-MM-dd HH:mm:ss")
            };
            call("time_by_pattern", vec![value, pattern])
        }
        ("unix_timestamp" | "to_unix_timestamp", 0) => cast(timestamp(call("now", Vec::new())), DataType::BigInt(None)),
        ("unix_timestamp" | "to_unix_timestamp", 1) => cast(timestamp(next()), DataType::BigInt(None)),
        ("unix_timestamp" | "to_unix_timestamp", 2) => {
            let parsed = call("time_of_pattern", std::mem::take(arguments));
            cast(timestamp(parsed), DataType::BigInt(None))
        }
        ("timestamp_seconds", 1) => timestamp(next()),
        ("timestamp_millis", 1) => instant(call("to_timestamp_millis", std::mem::take(arguments))),
        ("timestamp_micros", 1) => instant(call("to_timestamp_micros", std::mem::take(arguments))),
        ("date_from_unix_date", 1) => {
            let epoch = cast(text("1970-01-01"), DataType::Date);
            binary(epoch, BinaryOperator::Plus, next())
        }
        _ => return Ok(None),
    }))
}

/// Functions of text.
fn of_text(name: &str, arguments: &mut Vec<Expr>) -> Result<Option<Expr>> {
    let count = arguments.len();
    let mut next = || arguments.remove(0);
    Ok(Some(match (name, count) {
        ("substr", _) => call("substring", std::mem::take(arguments)),
        ("char_length" | "character_length" | "len", 1) => call("length", std::mem::take(arguments)),
        ("reverse", 1) => custom(next(), REVERSE, null()),
        ("locate", 2) => {
            let part = next();
            call("strpos", vec![next(), part])
        }
        ("locate", 3) => {
            let (part, whole, from) = (next(), next(), next());
            let tail = call("substring", vec![whole, from.clone()]);
            let found = call("strpos", vec![tail, part]);
            let is_missing = binary(found.clone(), BinaryOperator::Eq, number(0));
            let before = binary(from, BinaryOperator::Minus, number(1));
            let place = binary(found, BinaryOperator::Plus, parenthesized(before));
            case(vec![(is_missing, number(0))], Some(place))
        }
        ("regexp_replace", 3) => {
            arguments.push(text("g"));
            call("regexp_replace", std::mem::take(arguments))
        }
        ("regexp_extract", 2 | 3) => {
            let (value, pattern) = (next(), next());
            let group = if count == 3 { next() } else { number(1) };
            // The whole match is a group too, the first.
            let grouped = custom_concat(custom_concat(text("("), pattern), text(")"));
            let groups = call("regexp_match", vec![value.clone(), grouped]);
            let found = custom(groups, crate::planner::expressions::SUBSCRIPT, group);
            let nothing = case(
                vec![(Expr::IsNull(Box::new(parenthesized(value))), null())],
                Some(text("")),
            );
            call("coalesce", vec![found, nothing])
        }
        ("split", 2) => {
            let (value, pattern) = (next(), next());
            match &pattern {
                Expr::Value(ValueWithSpan {
                    value: Value::SingleQuotedString(p) | Value::DoubleQuotedString(p),
                    ..
                }) if !p.is_empty() && !p.contains(|c: char| r"\.[]{}()*+-?^$|".contains(c)) => {
                    call("string_to_array", vec![value, pattern])
                }
                _ => {
                    // What matches becomes a character that no text has, and that is where it is split.
                    let marked = call("regexp_replace", vec![value, pattern, text("\u{fdd0}"), text("g")]);
                    call("string_to_array", vec![marked, text("\u{fdd0}")])
                }
            }
        }
        _ => return Ok(None),
    }))
}

/// Functions of arrays, maps and structs.
fn of_nested(name: &str, arguments: &mut Vec<Expr>) -> Result<Option<Expr>> {
    let count = arguments.len();
    let wrong = |wanted: &str| Error::invalid(format!("{name} takes {wanted}, not {count}"));
    Ok(Some(match (name, count) {
        ("map", _) => {
            if count % 2 == 1 {
                return Err(wrong("keys and values in turn"));
            }
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            for (i, argument) in arguments.drain(..).enumerate() {
                if i % 2 == 0 {
                    keys.push(argument)
                } else {
                    values.push(argument)
                }
            }
            call("make_map_of", vec![call("array", keys), call("array", values)])
        }
        ("struct", _) => {
            let named = arguments.drain(..).enumerate().flat_map(|(i, e)| {
                let name = match &e {
                    Expr::CompoundIdentifier(parts) => parts.last().map(|p: &Ident| p.value.clone()),
                    _ => None,
                };
                [text(name.unwrap_or_else(|| format!("col{}", i + 1))), e]
            });
            call("named_struct", named.collect())
        }
        ("transform" | "filter", 2) => call(&format!("array_{name}"), std::mem::take(arguments)),
        ("forall", 2) => {
            if let Some(Expr::Lambda(lambda)) = arguments.get_mut(1) {
                let body = std::mem::replace(lambda.body.as_mut(), null());
                *lambda.body = not(body);
            }
            not(call("array_any_match", std::mem::take(arguments)))
        }
        ("explode", 1) => call("unnest", std::mem::take(arguments)),
        ("array", 0) => call("make_array", Vec::new()),
        ("array_size", 1) => call("cardinality", std::mem::take(arguments)),
        ("element_at" | "try_element_at", 2) => {
            let index = arguments.remove(1);
            custom(arguments.remove(0), ELEMENT_AT, index)
        }
        ("map_contains_key", 2) => {
            let key = arguments.pop();
            let keys = call("map_keys", std::mem::take(arguments));
            call("array_contains", std::iter::once(keys).chain(key).collect())
        }
        ("sort_array", 1 | 2) => {
            let descending = matches!(
                arguments.get(1),
                Some(Expr::Value(ValueWithSpan {
                    value: Value::Boolean(false),
                    ..
                }))
            );
            let order = if descending {
                ["DESC", "NULLS LAST"]
            } else {
                ["ASC", "NULLS FIRST"]
            };
            call("array_sort", vec![arguments.remove(0), text(order[0]), text(order[1])])
        }
        ("array_sort", 1) => call("array_sort", vec![arguments.remove(0), text("ASC"), text("NULLS LAST")]),
        _ => return Ok(None),
    }))
}

/// `count(DISTINCT a, b)` counts the pairs without NULL.
pub(super) fn distinct_tuple(arguments: Vec<Expr>) -> Expr {
    let known = arguments
        .iter()
        .map(|a| Expr::IsNotNull(Box::new(parenthesized(a.clone()))));
    let known = super::builders::all(known);
    let fields = arguments.into_iter().enumerate();
    let fields = fields.flat_map(|(i, a)| [text(format!("c{i}")), a]).collect();
    case(vec![(known, call("named_struct", fields))], None)
}

/// `max_by(a, b)`: the `a` of the greatest `b`.
fn extreme_by(name: &str, mut arguments: Vec<Expr>) -> Expr {
    let by = arguments.remove(1);
    let mut first = call("first_value", arguments);
    if let Expr::Function(function) = &mut first {
        function.filter = Some(Box::new(Expr::IsNotNull(Box::new(parenthesized(by.clone())))));
        if let FunctionArguments::List(list) = &mut function.args {
            list.clauses.push(FunctionArgumentClause::OrderBy(vec![OrderByExpr {
                expr: by,
                options: OrderByOptions {
                    asc: Some(name == "min_by"),
                    nulls_first: Some(false),
                },
                with_fill: None,
            }]));
        }
    }
    first
}

/// `decode(x, a, 1, b, 2, default)`; NULL equals NULL.
fn decode(arguments: Vec<Expr>) -> Expr {
    let mut rest = arguments.into_iter();
    let value = rest.next().unwrap_or_else(null);
    let mut branches = Vec::new();
    let mut default = None;
    while let Some(candidate) = rest.next() {
        match rest.next() {
            Some(result) => branches.push((binary(value.clone(), BinaryOperator::Spaceship, candidate), result)),
            None => default = Some(candidate),
        }
    }
    case(branches, default)
}

fn case(branches: Vec<(Expr, Expr)>, default: Option<Expr>) -> Expr {
    let branch = |(condition, result)| CaseWhen { condition, result };
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: branches.into_iter().map(branch).collect(),
        else_result: default.map(Box::new),
    }
}

fn cast(expr: Expr, data_type: DataType) -> Expr {
    super::expr::cast(&CastKind::Cast, expr, &data_type)
}

fn timestamp(expr: Expr) -> Expr {
    cast(expr, DataType::Timestamp(None, TimezoneInfo::None))
}

/// A timestamp without a zone, taken for UTC.
fn instant(expr: Expr) -> Expr {
    let utc = DataType::Custom(ObjectName::from(vec![quoted("timestamp_utc")]), Vec::new());
    timestamp(cast(expr, utc))
}

/// Numbers as the text of a time, the year in four digits; NULL when one is.
fn joined(separators: &[&str], numbers: &mut Vec<Expr>) -> Expr {
    let mut numbers = numbers.drain(..);
    let year = call(
        "lpad",
        vec![string(numbers.next().unwrap_or_else(null)), number(4), text("0")],
    );
    numbers.zip(separators).fold(year, |all, (next, separator)| {
        custom_concat(custom_concat(all, text(*separator)), string(next))
    })
}

fn string(expr: Expr) -> Expr {
    cast(expr, DataType::String(None))
}

fn date_part(part: &str, argument: Expr) -> Expr {
    call("date_part", vec![text(part), custom(argument, TIME, null())])
}

fn operator(op: BinaryOperator, mut arguments: Vec<Expr>) -> Expr {
    let right = arguments.pop().unwrap_or_else(null);
    let left = arguments.pop().unwrap_or_else(null);
    binary(left, op, right)
}

fn custom_concat(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::StringConcat, right)
}

fn not(expr: Expr) -> Expr {
    Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: Box::new(parenthesized(expr)),
    }
}

fn parenthesized(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

/// A whole number of type int.
fn number(n: i32) -> Expr {
    super::expr::number(&n.to_string())
}
