//! EXISTS and IN of a subquery where a value is wanted: in a select list, CASE, ORDER BY. DataFusion plans them as
//! conditions only, so here they become scalar subqueries that count.

use std::ops::ControlFlow;

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Query, Select,
    SelectItem, SetExpr, TableFactor, TableWithJoins, UnaryOperator, Value,
};

use super::Resolver;
use super::builders::{alias, binary, call, column, select_star_from};

impl Resolver<'_> {
    /// `EXISTS (query)` as `(SELECT count(*) > 0 FROM …)`. The query is resolved.
    pub(super) fn exists_value(&mut self, mut query: Query) -> Expr {
        let is_plain = plain_select(&mut query).is_some_and(|s| self.gives_rows_of_from(s));
        if is_plain && let Some(select) = plain_select(&mut query) {
            select.projection = vec![SelectItem::UnnamedExpr(some_rows())];
            return Expr::Subquery(Box::new(query));
        }
        let derived = self.derived(query);
        scalar(derived, some_rows(), None)
    }

    /// `value IN (query)`: true with a match, NULL without one when a NULL could be one, else false. `name` is the only
    /// column of the query, which is resolved.
    pub(super) fn in_value(&mut self, value: Expr, name: &str, query: Query) -> Expr {
        let matches = self.matches(value.clone(), name, query.clone());
        let derived = self.derived(query.clone());
        let count_all = scalar(derived, binary(count_star(), BinaryOperator::Eq, zero()), None);
        let derived = self.derived(query);
        let known = call("count", vec![column(derived_name(&derived), name)]);
        let has_null = scalar(derived, binary(count_star(), BinaryOperator::Gt, known), None);
        let unknown = binary(Expr::IsNull(Box::new(value)), BinaryOperator::Or, has_null);
        let branch = |condition: Expr, result: Value| CaseWhen {
            condition,
            result: Expr::Value(result.into()),
        };
        Expr::Case {
            case_token: AttachedToken::empty(),
            end_token: AttachedToken::empty(),
            operand: None,
            conditions: vec![
                branch(matches, Value::Boolean(true)),
                branch(count_all, Value::Boolean(false)),
                branch(unknown, Value::Null),
            ],
            else_result: Some(Box::new(Expr::Value(Value::Boolean(false).into()))),
        }
    }

    /// Whether a row of the query equals the value.
    fn matches(&mut self, value: Expr, name: &str, mut query: Query) -> Expr {
        let is_plain = plain_select(&mut query).is_some_and(|s| self.gives_rows_of_from(s));
        if is_plain && let Some(select) = plain_select(&mut query) {
            let item = match select.projection.first() {
                Some(SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. }) => Some(e.clone()),
                _ => None,
            };
            if let Some(item) = item {
                let equal = binary(item, BinaryOperator::Eq, value);
                select.selection = Some(match select.selection.take() {
                    Some(condition) => binary(
                        Expr::Nested(Box::new(condition)),
                        BinaryOperator::And,
                        Expr::Nested(Box::new(equal)),
                    ),
                    None => equal,
                });
                select.projection = vec![SelectItem::UnnamedExpr(some_rows())];
                return Expr::Subquery(Box::new(query));
            }
        }
        let derived = self.derived(query);
        let equal = binary(column(derived_name(&derived), name), BinaryOperator::Eq, value);
        scalar(derived, some_rows(), Some(equal))
    }

    /// Whether a SELECT gives a row for every row that its WHERE leaves.
    pub(super) fn gives_rows_of_from(&self, select: &Select) -> bool {
        let grouped = match &select.group_by {
            GroupByExpr::Expressions(keys, _) => !keys.is_empty(),
            GroupByExpr::All(_) => true,
        };
        if grouped || select.having.is_some() || select.qualify.is_some() || select.distinct.is_some() {
            return false;
        }
        let mut aggregates = false;
        let _ = sqlparser::ast::visit_expressions(&select.projection, |e| {
            if let Expr::Function(function) = e {
                let name = function.name.to_string().replace('`', "");
                aggregates |= self.ctx.state.aggregate_functions().contains_key(&name) || name == "unnest";
            }
            ControlFlow::<()>::Continue(())
        });
        !aggregates
    }

    pub(super) fn derived(&mut self, query: Query) -> TableFactor {
        let name = self.unique("subquery");
        TableFactor::Derived {
            lateral: false,
            subquery: Box::new(query),
            alias: Some(alias(&name)),
            sample: None,
        }
    }
}

pub(super) fn derived_name(factor: &TableFactor) -> &str {
    match factor {
        TableFactor::Derived { alias: Some(alias), .. } => &alias.name.value,
        _ => "",
    }
}

/// The SELECT of a query that is nothing but one.
pub(super) fn plain_select(query: &mut Query) -> Option<&mut Select> {
    if query.with.is_some() || query.limit_clause.is_some() || query.fetch.is_some() {
        return None;
    }
    query.order_by = None;
    match query.body.as_mut() {
        SetExpr::Select(select) => Some(select),
        _ => None,
    }
}

/// `(SELECT item FROM derived WHERE condition)`
fn scalar(derived: TableFactor, item: Expr, condition: Option<Expr>) -> Expr {
    let from = TableWithJoins {
        relation: derived,
        joins: Vec::new(),
    };
    let mut select = select_star_from(vec![from]);
    select.projection = vec![SelectItem::UnnamedExpr(item)];
    select.selection = condition;
    Expr::Subquery(Box::new(super::builders::plain_query(SetExpr::Select(Box::new(
        select,
    )))))
}

fn zero() -> Expr {
    Expr::Value(Value::Number("0".to_string(), false).into())
}

pub(super) fn some_rows() -> Expr {
    binary(count_star(), BinaryOperator::Gt, zero())
}

fn count_star() -> Expr {
    let mut count = call("count", Vec::new());
    if let Expr::Function(function) = &mut count
        && let FunctionArguments::List(list) = &mut function.args
    {
        list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
    }
    count
}

/// `NOT (condition)` where it is negated.
pub(super) fn negated(negated: bool, condition: Expr) -> Expr {
    if !negated {
        return condition;
    }
    Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: Box::new(Expr::Nested(Box::new(condition))),
    }
}

/// The alias of a rewritten query's only column.
pub(super) fn only_column(query: &Query) -> Option<String> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    match select.projection.as_slice() {
        [SelectItem::ExprWithAlias { alias, .. }] => Some(alias.value.clone()),
        [SelectItem::UnnamedExpr(Expr::Identifier(ident))] => Some(ident.value.clone()),
        [SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts))] => parts.last().map(|p| p.value.clone()),
        _ => None,
    }
}
