//! Calls of functions: names in any case, functions of the `system` namespace, and Spark's spellings of what DataFusion
//! calls otherwise.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectName,
    TimezoneInfo, Value,
};
use tarn_format::{Error, Result};

use super::Resolver;
use super::builders::{binary, call, custom, quoted, text};
use super::scope::Scope;
use super::suggest::nearest;
use crate::functions::SYSTEM_FUNCTIONS;
use crate::planner::expressions::UNIFY;

/// The namespace of Iceberg's functions.
const SYSTEM: &str = "system";

impl Resolver<'_> {
    /// `struct(*)` and the like: `*` is all columns, except in `count(*)`.
    pub(super) fn expand_star_arguments(&self, function: &mut Function, scope: &Scope<'_>) -> Result<()> {
        let is_count = function.name.to_string().eq_ignore_ascii_case("count");
        let FunctionArguments::List(list) = &mut function.args else {
            return Ok(());
        };
        if is_count
            || !list
                .args
                .iter()
                .any(|a| matches!(a, FunctionArg::Unnamed(FunctionArgExpr::Wildcard)))
        {
            return Ok(());
        }
        let mut expanded = Vec::new();
        for argument in list.args.drain(..) {
            if !matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Wildcard)) {
                expanded.push(argument);
                continue;
            }
            let names = scope.relations.exposed().flat_map(|r| {
                let last = r.path.last().cloned().unwrap_or_default();
                r.columns
                    .iter()
                    .map(move |c| Expr::CompoundIdentifier(vec![quoted(&last), quoted(&c.visible)]))
            });
            expanded.extend(names.map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e))));
        }
        list.args = expanded;
        Ok(())
    }

    /// A call whose arguments are resolved.
    pub(super) fn function(&self, mut function: Function) -> Result<Expr> {
        let parts: Option<Vec<String>> = function
            .name
            .0
            .iter()
            .map(|p| p.as_ident().map(|i| i.value.to_lowercase()))
            .collect();
        let Some(parts) = parts else {
            return Err(Error::invalid(format!("'{}' is no name of a function", function.name)));
        };
        let name = match parts.as_slice() {
            [single] => single.clone(),
            [.., namespace, name] if namespace == SYSTEM && SYSTEM_FUNCTIONS.contains(&name.as_str()) => {
                format!("{SYSTEM}.{name}")
            }
            _ => return Err(unknown_function(&function.name, &self.system_names())),
        };
        if let Some(plain) = plain_arguments(&function)
            && let Some(rewritten) = spark_spelling(&name, plain)?
        {
            return Ok(unified(rewritten));
        }
        if !self.is_known(&name) {
            return Err(unknown_function(&function.name, &self.known_names()));
        }
        function.name = ObjectName::from(vec![quoted(name)]);
        Ok(unified(Expr::Function(function)))
    }

    fn is_known(&self, name: &str) -> bool {
        let state = &self.ctx.state;
        state.scalar_functions().contains_key(name)
            || state.aggregate_functions().contains_key(name)
            || state.window_functions().contains_key(name)
            || state.higher_order_functions().contains_key(name)
            || matches!(name, "unnest" | "explode" | "make_map" | "grouping" | "struct")
    }

    fn known_names(&self) -> Vec<String> {
        let state = &self.ctx.state;
        let scalar = state.scalar_functions().keys();
        let aggregate = state.aggregate_functions().keys();
        scalar
            .chain(aggregate)
            .chain(state.window_functions().keys())
            .cloned()
            .collect()
    }

    fn system_names(&self) -> Vec<String> {
        SYSTEM_FUNCTIONS.iter().map(|n| format!("{SYSTEM}.{n}")).collect()
    }
}

/// Marks calls whose arguments are of one type.
fn unified(call: Expr) -> Expr {
    const ONE_TYPE: [&str; 5] = ["coalesce", "nullif", "if", "greatest", "least"];
    let name = match &call {
        Expr::Function(function) => function
            .name
            .0
            .last()
            .and_then(|p| p.as_ident())
            .map(|i| i.value.as_str()),
        _ => None,
    };
    match name {
        Some(name) if ONE_TYPE.contains(&name) => custom(call, UNIFY, Expr::Value(Value::Null.into())),
        _ => call,
    }
}

fn unknown_function(name: &ObjectName, known: &[String]) -> Error {
    let wanted = name.to_string().replace('`', "");
    let near = nearest(&wanted, known.iter().cloned());
    Error::invalid(format!(
        "function '{wanted}' does not exist; did you mean {}?",
        near.join(", ")
    ))
}

/// The arguments of a call without DISTINCT, OVER, FILTER and the like.
fn plain_arguments(function: &Function) -> Option<Vec<Expr>> {
    if function.over.is_some() || function.filter.is_some() || !function.within_group.is_empty() {
        return None;
    }
    let list = match &function.args {
        FunctionArguments::None => return Some(Vec::new()),
        FunctionArguments::Subquery(_) => return None,
        FunctionArguments::List(list) => list,
    };
    if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return None;
    }
    let plain = |a: &FunctionArg| match a {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e.clone()),
        _ => None,
    };
    list.args.iter().map(plain).collect()
}

/// Calls that DataFusion spells otherwise.
fn spark_spelling(name: &str, mut arguments: Vec<Expr>) -> Result<Option<Expr>> {
    let count = arguments.len();
    let wrong = |wanted: &str| Error::invalid(format!("{name} takes {wanted}, not {count}"));
    Ok(Some(match name {
        "iceberg_version" if count == 0 => call("system.iceberg_version", Vec::new()),
        "current_timestamp" | "now" if count == 0 => {
            let zone = DataType::Timestamp(None, TimezoneInfo::None);
            cast(call("now", Vec::new()), zone)
        }
        "localtimestamp" if count == 0 => cast(call("now", Vec::new()), DataType::TimestampNtz(None)),
        "curdate" if count == 0 => call("current_date", Vec::new()),
        "map" => {
            if count % 2 == 1 {
                return Err(wrong("keys and values in turn"));
            }
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            for (i, argument) in arguments.into_iter().enumerate() {
                if i % 2 == 0 {
                    keys.push(argument)
                } else {
                    values.push(argument)
                }
            }
            call("make_map_of", vec![call("array", keys), call("array", values)])
        }
        "struct" => {
            let named = arguments.into_iter().enumerate().flat_map(|(i, e)| {
                let name = match &e {
                    Expr::CompoundIdentifier(parts) => parts.last().map(|p| p.value.clone()),
                    _ => None,
                };
                [text(name.unwrap_or_else(|| format!("col{}", i + 1))), e]
            });
            call("named_struct", named.collect())
        }
        "year" | "quarter" | "month" | "week" | "day" if count == 1 => date_part(name, arguments),
        "dayofmonth" if count == 1 => date_part("day", arguments),
        "weekofyear" if count == 1 => date_part("week", arguments),
        "dayofyear" if count == 1 => date_part("doy", arguments),
        "isnan" if count == 1 => {
            // NULL is a number here.
            let never = Expr::Value(Value::Boolean(false).into());
            call("coalesce", vec![call("isnan", arguments), never])
        }
        "transform" | "filter" if count == 2 => call(&format!("array_{name}"), arguments),
        "explode" if count == 1 => call("unnest", arguments),
        "mod" if count == 2 => operator(BinaryOperator::Modulo, &mut arguments),
        "map_contains_key" if count == 2 => {
            let key = arguments.pop();
            let keys = call("map_keys", arguments);
            call("array_contains", std::iter::once(keys).chain(key).collect())
        }
        "substr" => call("substring", arguments),
        "rand" | "random" if count <= 1 => call("random", Vec::new()),
        "char_length" | "character_length" | "len" if count == 1 => call("length", arguments),
        "nvl" | "ifnull" if count == 2 => call("coalesce", arguments),
        "array" if count == 0 => call("make_array", Vec::new()),
        _ => return Ok(None),
    }))
}

fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(expr),
        data_type,
        format: None,
        array: false,
    }
}

fn date_part(part: &str, mut arguments: Vec<Expr>) -> Expr {
    arguments.insert(0, text(part));
    call("date_part", arguments)
}

fn operator(op: BinaryOperator, arguments: &mut Vec<Expr>) -> Expr {
    let right = arguments.pop().unwrap_or_else(|| text(""));
    let left = arguments.pop().unwrap_or_else(|| text(""));
    binary(left, op, right)
}
