//! EXISTS and IN of a subquery where a value is wanted: in a select list, CASE, ORDER BY. DataFusion plans them as
//! conditions only, so here they become scalar subqueries that count.

use std::ops::ControlFlow;

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Query, Select,
    SelectItem, SetExpr, TableFactor, TableWithJoins, UnaryOperator, Value,
};

use super::Resolver;
use super::builders::{alias, all, binary, call, column, select_star_from};

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
        let equals = |item: Expr| binary(item, BinaryOperator::Eq, value.clone());
        let matches = self.counted(&query, name, |_| some_rows(), Some(&equals));
        let is_empty = |_| binary(count_star(), BinaryOperator::Eq, zero());
        let is_empty = self.counted(&query, name, is_empty, None);
        let has_null = |item| binary(count_star(), BinaryOperator::Gt, call("count", vec![item]));
        let has_null = self.counted(&query, name, has_null, None);
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
                branch(is_empty, Value::Boolean(false)),
                branch(unknown, Value::Null),
            ],
            else_result: Some(Box::new(Expr::Value(Value::Boolean(false).into()))),
        }
    }

    /// What a query's rows add up to, of those that fit. Where the query is a plain SELECT both go into that, so that what it
    /// says of the outer query stays where DataFusion looks for it.
    fn counted(
        &mut self,
        query: &Query,
        name: &str,
        counts: impl Fn(Expr) -> Expr,
        fits: Option<&dyn Fn(Expr) -> Expr>,
    ) -> Expr {
        let mut query = query.clone();
        if let Some(select) = plain_select(&mut query)
            && self.gives_rows_of_from(select)
            && let Some(item) = only_item(select)
        {
            let own = select.selection.take().map(|own| Expr::Nested(Box::new(own)));
            let fitting = fits.map(|fits| Expr::Nested(Box::new(fits(item.clone()))));
            let both: Vec<Expr> = own.into_iter().chain(fitting).collect();
            select.selection = (!both.is_empty()).then(|| all(both));
            select.projection = vec![SelectItem::UnnamedExpr(counts(item))];
            return Expr::Subquery(Box::new(query));
        }
        let derived = self.derived(query);
        let item = column(derived_name(&derived), name);
        scalar(derived, counts(item.clone()), fits.map(|fits| fits(item)))
    }

    /// `values IN (query)` of a query that has no FROM and no WHERE, and so one row: whether they are equal to that.
    pub(super) fn in_only_row(&self, values: &[Expr], query: &Query) -> Option<Expr> {
        let mut query = query.clone();
        let select = plain_select(&mut query)?;
        if !select.from.is_empty() || select.selection.is_some() || !self.gives_rows_of_from(select) {
            return None;
        }
        let items = items_of(&select.projection).filter(|items| items.len() == values.len())?;
        let pairs = values.iter().cloned().zip(items);
        let equal = pairs.map(|(value, item)| binary(Expr::Nested(Box::new(value)), BinaryOperator::Eq, item));
        Some(Expr::Nested(Box::new(all(equal))))
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

/// The only item of a select list.
fn only_item(select: &Select) -> Option<Expr> {
    let mut items = items_of(&select.projection)?;
    items.pop().filter(|_| items.is_empty())
}

/// The expressions of a select list; `None` where a wildcard is among them.
pub(super) fn items_of(projection: &[SelectItem]) -> Option<Vec<Expr>> {
    let items = projection.iter().map(|item| match item {
        SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => {
            Some(Expr::Nested(Box::new(e.clone())))
        }
        _ => None,
    });
    items.collect()
}
