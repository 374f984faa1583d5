//! Calls of functions: names in any case, functions of the `system` namespace, and Spark's spellings of what DataFusion
//! calls otherwise.

use datafusion::execution::SessionState;
use sqlparser::ast::{
    CastKind, DataType, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    ObjectName, Value,
};
use tarn_format::{Error, Result};

use super::Resolver;
use super::builders::{custom, quoted};
use super::scope::Scope;
use super::spellings::{self, distinct_tuple, renamed, result_type, spelled};
use crate::functions::SYSTEM_FUNCTIONS;
use crate::near_names::most_alike;
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
            && let Some(rewritten) = spelled(&name, plain)?
        {
            let result = match &rewritten {
                Expr::Function(inner) => result_type(&inner.name.to_string().replace('`', "")),
                _ => None,
            };
            return Ok(of_type(unified(rewritten), result));
        }
        let name = renamed(&name).to_string();
        if !self.is_known(&name) {
            return Err(unknown_function(&function.name, &function_names(&self.ctx.state)));
        }
        count_tuples(&name, &mut function);
        let result = result_type(&name);
        function.name = ObjectName::from(vec![quoted(name)]);
        Ok(of_type(unified(Expr::Function(function)), result))
    }

    fn is_known(&self, name: &str) -> bool {
        let state = &self.ctx.state;
        state.scalar_functions().contains_key(name)
            || state.aggregate_functions().contains_key(name)
            || state.window_functions().contains_key(name)
            || state.higher_order_functions().contains_key(name)
            || matches!(name, "unnest" | "explode" | "make_map" | "grouping" | "struct")
    }

    fn system_names(&self) -> Vec<String> {
        SYSTEM_FUNCTIONS.iter().map(|n| format!("{SYSTEM}.{n}")).collect()
    }
}

/// Marks calls whose arguments are of one type.
fn unified(call: Expr) -> Expr {
    const ONE_TYPE: [&str; 7] = ["coalesce", "nullif", "if", "greatest", "least", "array", "make_array"];
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

/// Results in the type that Spark gives them.
fn of_type(call: Expr, data_type: Option<DataType>) -> Expr {
    match data_type {
        Some(data_type) => super::expr::cast(&CastKind::Cast, call, &data_type),
        None => call,
    }
}

/// `count(DISTINCT a, b)`, which DataFusion knows of one argument.
fn count_tuples(name: &str, function: &mut Function) {
    let FunctionArguments::List(list) = &mut function.args else {
        return;
    };
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    if name != "count" || !is_distinct || list.args.len() < 2 {
        return;
    }
    let plain = |a: &FunctionArg| match a {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e.clone()),
        _ => None,
    };
    if let Some(arguments) = list.args.iter().map(plain).collect::<Option<Vec<Expr>>>() {
        let tuple = distinct_tuple(arguments);
        list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(tuple))];
    }
}

/// The names of all functions.
pub(crate) fn function_names(state: &SessionState) -> Vec<String> {
    let scalar = state.scalar_functions().keys();
    let aggregate = state.aggregate_functions().keys();
    let own = scalar.chain(aggregate).chain(state.window_functions().keys());
    own.cloned().chain(spellings::names().map(str::to_string)).collect()
}

fn unknown_function(name: &ObjectName, known: &[String]) -> Error {
    let wanted = name.to_string().replace('`', "");
    let near = most_alike(&wanted, known.iter().cloned());
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
