//! Expressions: names are resolved from the leaves up, subqueries in their own scopes, and what DataFusion's planner
//! reads differently from Spark is rewritten or marked.

mod access;
mod literals;
mod predicates;

use std::ops::ControlFlow;

use sqlparser::ast::{
    CastKind, DataType, Expr, Function, FunctionArguments, Ident, OneOrManyWithParens, Query, TypedString,
    UnaryOperator, Value, ValueWithSpan, VisitMut, VisitorMut, WindowType,
};
use tarn_format::{Error, Result};

use self::access::{access, fields, join_leading_names};
use self::literals::{negative_literal, unmark};
pub(super) use self::literals::{number, unmark_window, widen_values};
use self::predicates::{between, tuple_in_list, with_backslash_escape};
use super::builders::{call, custom, quoted};
use super::scope::Scope;
use super::subqueries::negated as negate_if;
use super::tuple_in::{Standing, TupleIn, UnknownIs, below_not};
use super::{Cte, Place, Resolver};
use crate::planner::expressions::{CAST, IN_LIST, NEGATE, TRY_CAST, UNIFY};

/// When names of the select list are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AliasUse {
    /// Before the columns of FROM.
    First,
    /// After them.
    Last,
}

/// Names of the select list and what they stand for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aliases<'x> {
    columns: &'x [(String, Expr)],
    order: AliasUse,
    wanted: Wanted,
}

/// What an expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// A value.
    Value,
    /// A condition that leaves rows out: DataFusion turns its subqueries into joins.
    Filter,
}

impl<'x> Aliases<'x> {
    pub(super) fn none() -> Self {
        Aliases {
            columns: &[],
            order: AliasUse::Last,
            wanted: Wanted::Value,
        }
    }

    pub(super) fn new(columns: &'x [(String, Expr)], order: AliasUse) -> Self {
        Aliases {
            columns,
            order,
            wanted: Wanted::Value,
        }
    }

    /// The same names in a condition of WHERE, HAVING or QUALIFY.
    pub(super) fn in_filter(mut self) -> Self {
        self.wanted = Wanted::Filter;
        self
    }
}

impl Resolver<'_> {
    pub(super) fn expr(
        &mut self,
        expr: &mut Expr,
        scope: &Scope<'_>,
        aliases: Aliases<'_>,
        ctes: &[Cte],
        depth: usize,
    ) -> Result<()> {
        let mut visitor = ExprVisitor {
            resolver: self,
            scope,
            aliases,
            ctes,
            query_depth: depth,
            nested: 0,
            aggregates: 0,
            lambdas: Vec::new(),
            standing: Vec::new(),
            subquery_columns: Vec::new(),
        };
        match expr.visit(&mut visitor) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(e) => Err(e),
        }
    }
}

struct ExprVisitor<'v, 'a> {
    resolver: &'v mut Resolver<'a>,
    scope: &'v Scope<'v>,
    aliases: Aliases<'v>,
    ctes: &'v [Cte],
    query_depth: usize,
    /// How many subqueries are open: what is inside was done in its own scope.
    nested: usize,
    /// How many aggregate functions are open: their arguments are columns of FROM before names of the select list.
    aggregates: usize,
    lambdas: Vec<Vec<String>>,
    /// Where the operands of each expression that is open stand.
    standing: Vec<Standing>,
    /// The columns of the subquery that was closed last.
    subquery_columns: Vec<String>,
}

fn flow(result: Result<()>) -> ControlFlow<Error> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(e) => ControlFlow::Break(e),
    }
}

impl VisitorMut for ExprVisitor<'_, '_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        self.nested += 1;
        if self.nested > 1 {
            return ControlFlow::Continue(());
        }
        let place = Place {
            parent: Some(self.scope),
            ctes: self.ctes,
            depth: self.query_depth,
        };
        flow(self.resolver.nested_query(query, place).map(|output| {
            self.subquery_columns = output.into_iter().map(|column| column.internal).collect();
        }))
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Error> {
        self.nested -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if self.nested > 0 {
            return ControlFlow::Continue(());
        }
        let standing = self.standing().within(expr);
        self.standing.push(standing);
        match expr {
            Expr::CompoundFieldAccess { root, access_chain } => flow(join_leading_names(root, access_chain)),
            Expr::Lambda(lambda) => {
                let params = match &lambda.params {
                    OneOrManyWithParens::One(p) => vec![p.name.value.clone()],
                    OneOrManyWithParens::Many(all) => all.iter().map(|p| p.name.value.clone()).collect(),
                };
                self.lambdas.push(params);
                ControlFlow::Continue(())
            }
            Expr::Function(function) => {
                if self.is_aggregate(function) {
                    self.aggregates += 1;
                }
                flow(self.resolver.expand_star_arguments(function, self.scope))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if self.nested > 0 {
            return ControlFlow::Continue(());
        }
        self.standing.pop();
        flow(self.rewrite(expr))
    }
}

impl ExprVisitor<'_, '_> {
    /// Where the expression that comes next or was closed last stands.
    fn standing(&self) -> Standing {
        let outermost = match self.aliases.wanted {
            Wanted::Filter => Standing {
                unknown: UnknownIs::False,
                decides: true,
            },
            Wanted::Value => Standing {
                unknown: UnknownIs::Unknown,
                decides: false,
            },
        };
        self.standing.last().copied().unwrap_or(outermost)
    }

    /// Whether DataFusion would take a NULL of `value [NOT] IN (query)` for false, where it makes a difference.
    fn loses_null(&self, is_negated: bool) -> bool {
        let Standing { unknown, decides } = self.standing();
        self.aliases.wanted == Wanted::Filter
            && self.subquery_columns.len() == 1
            && !decides
            && below_not(is_negated, unknown) != UnknownIs::False
    }

    /// `(a, b) IN (query)`
    fn tuple_in(&mut self, values: Vec<Expr>, query: Query, is_negated: bool) -> Result<Expr> {
        if let Some(equal) = self.resolver.in_only_row(&values, &query) {
            return Ok(negate_if(is_negated, equal));
        }
        let tuple = TupleIn {
            values,
            query,
            columns: self.subquery_columns.clone(),
            is_negated,
        };
        match self.aliases.wanted {
            Wanted::Filter => self.resolver.tuple_in_filter(tuple, self.standing().unknown),
            Wanted::Value => self.resolver.tuple_in_value(tuple, self.standing().unknown),
        }
    }

    fn is_aggregate(&self, function: &Function) -> bool {
        let name = function.name.to_string().to_ascii_lowercase();
        let state = &self.resolver.ctx.state;
        state.aggregate_functions().contains_key(&name) || state.window_functions().contains_key(&name)
    }

    fn rewrite(&mut self, expr: &mut Expr) -> Result<()> {
        let replacement = match expr {
            Expr::Identifier(ident) => self.name(std::slice::from_ref(ident))?,
            Expr::CompoundIdentifier(parts) => self.name(parts)?,
            Expr::CompoundFieldAccess { root, access_chain } => access(take(root), std::mem::take(access_chain))?,
            Expr::Value(ValueWithSpan {
                value: Value::Number(digits, _),
                ..
            }) => number(digits),
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr: operand,
            } => match negative_literal(operand) {
                Some(literal) => literal,
                None => custom(take(operand), NEGATE, Expr::Value(Value::Null.into())),
            },
            Expr::UnaryOp {
                op: UnaryOperator::BangNot,
                expr: operand,
            } => negate_if(true, take(operand)),
            Expr::UnaryOp {
                op: UnaryOperator::BitwiseNot,
                expr: operand,
            } => call("bitwise_not", vec![take(operand)]),
            Expr::TypedString(TypedString { data_type, value, .. }) => {
                literals::typed(data_type, &value.value, self.resolver.time_zone())?
            }
            Expr::Exists { subquery, negated } if self.aliases.wanted == Wanted::Value => {
                let query = std::mem::replace(subquery.as_mut(), super::from::empty_query());
                negate_if(*negated, self.resolver.exists_value(query))
            }
            Expr::InSubquery {
                expr: value,
                subquery,
                negated,
            } if matches!(value.as_ref(), Expr::Tuple(_)) => {
                let Expr::Tuple(values) = take(value) else {
                    return Ok(());
                };
                let query = std::mem::replace(subquery.as_mut(), super::from::empty_query());
                self.tuple_in(values, query, *negated)?
            }
            Expr::InSubquery {
                expr: value,
                subquery,
                negated,
            } if self.loses_null(*negated) => {
                let query = std::mem::replace(subquery.as_mut(), super::from::empty_query());
                self.tuple_in(vec![take(value)], query, *negated)?
            }
            Expr::InSubquery {
                expr: value,
                subquery,
                negated,
            } if self.aliases.wanted == Wanted::Value && self.subquery_columns.len() == 1 => {
                let query = std::mem::replace(subquery.as_mut(), super::from::empty_query());
                let (value, column) = (take(value), self.subquery_columns.concat());
                let found = match self.resolver.in_only_row(std::slice::from_ref(&value), &query) {
                    Some(equal) => equal,
                    None => self.resolver.in_value(value, &column, query),
                };
                negate_if(*negated, found)
            }
            Expr::Like {
                pattern, escape_char, ..
            }
            | Expr::ILike {
                pattern, escape_char, ..
            } => {
                with_backslash_escape(pattern, escape_char)?;
                return Ok(());
            }
            Expr::Interval(interval) => {
                unmark(&mut interval.value);
                return literals::interval(interval);
            }
            Expr::Cast {
                kind,
                expr: operand,
                data_type,
                format: None,
                array: false,
            } => cast(kind, take(operand), data_type),
            Expr::RLike {
                negated,
                expr: value,
                pattern,
                ..
            } => {
                let matches = call("regexp_like", vec![take(value), take(pattern)]);
                negate_if(*negated, matches)
            }
            Expr::InList {
                expr: value,
                list,
                negated,
            } => match tuple_in_list(value, list) {
                Some(any) => negate_if(*negated, any),
                None if matches!(value.as_ref(), Expr::Tuple(_)) => return Ok(()),
                None => {
                    let list = call("make_array", std::mem::take(list));
                    negate_if(*negated, custom(take(value), IN_LIST, list))
                }
            },
            Expr::Between {
                expr: value,
                negated,
                low,
                high,
            } => between(value, *negated, take(low), take(high)),
            Expr::Substring {
                expr: value,
                substring_from: Some(from),
                substring_for,
                ..
            } => {
                let mut arguments = vec![take(value), take(from)];
                arguments.extend(substring_for.as_mut().map(|f| take(f)));
                call("substring", arguments)
            }
            Expr::Case { .. } => custom(take(expr), UNIFY, Expr::Value(Value::Null.into())),
            Expr::Lambda(_) => {
                self.lambdas.pop();
                return Ok(());
            }
            Expr::Function(function) => return self.function(expr_function(function), expr),
            _ => return Ok(()),
        };
        *expr = replacement;
        Ok(())
    }

    fn function(&mut self, mut function: Function, expr: &mut Expr) -> Result<()> {
        if self.is_aggregate(&function) {
            self.aggregates = self.aggregates.saturating_sub(1);
        }
        if let Some(WindowType::WindowSpec(spec)) = &mut function.over {
            literals::unmark_window(spec);
        }
        *expr = self.resolver.function(function)?;
        Ok(())
    }

    /// What a dotted name stands for.
    fn name(&mut self, idents: &[Ident]) -> Result<Expr> {
        let parts: Vec<String> = idents.iter().map(|i| i.value.clone()).collect();
        let case = self.scope.case;
        let Some(first) = parts.first() else {
            return Err(Error::invalid("a name is empty"));
        };
        let lambda = self.lambdas.iter().rev().flatten().find(|p| case.same(p, first));
        if let Some(parameter) = lambda {
            return Ok(fields(Expr::Identifier(quoted(parameter)), &parts[1..]));
        }
        let aliases_first = self.aliases.order == AliasUse::First && self.aggregates == 0;
        if aliases_first && let Some(value) = self.alias(&parts)? {
            return Ok(value);
        }
        if let Some(found) = self.scope.find_here(&parts)? {
            return Ok(self.found(found, &parts));
        }
        if let Some(value) = self.alias(&parts)? {
            return Ok(value);
        }
        let outer = match self.scope.parent {
            Some(parent) => parent.find(&parts)?,
            None => None,
        };
        match outer {
            Some(found) => Ok(self.found(found, &parts)),
            None => Err(self.unknown(&parts)),
        }
    }

    fn unknown(&self, parts: &[String]) -> Error {
        if self.scope.relations.relations.is_empty() && !self.aliases.columns.is_empty() {
            let known: Vec<(String, String)> = self
                .aliases
                .columns
                .iter()
                .map(|(c, _)| (String::new(), c.clone()))
                .collect();
            return super::suggest::unknown_column(parts, &known);
        }
        self.scope.unknown(parts)
    }

    fn found(&mut self, found: super::scope::Found, parts: &[String]) -> Expr {
        if let Some(used) = found.metadata
            && !self.resolver.metadata.contains(&used)
        {
            self.resolver.metadata.push(used);
        }
        fields(found.value, parts.get(found.taken..).unwrap_or_default())
    }

    fn alias(&self, parts: &[String]) -> Result<Option<Expr>> {
        let Some((first, rest)) = parts.split_first() else {
            return Ok(None);
        };
        let mut matches = self
            .aliases
            .columns
            .iter()
            .filter(|(name, _)| self.scope.case.same(name, first));
        Ok(matches.next().map(|(_, value)| fields(value.clone(), rest)))
    }
}

fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Value(Value::Null.into()))
}

fn expr_function(function: &mut Function) -> Function {
    let empty = Function {
        name: function.name.clone(),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::None,
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    };
    std::mem::replace(function, empty)
}

/// A CAST that our expression planner does.
pub(super) fn cast(kind: &CastKind, operand: Expr, data_type: &DataType) -> Expr {
    let op = match kind {
        CastKind::Cast | CastKind::DoubleColon => CAST,
        CastKind::TryCast | CastKind::SafeCast => TRY_CAST,
    };
    let target = Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(Value::Null.into())),
        data_type: data_type.clone(),
        format: None,
        array: false,
    };
    custom(operand, op, target)
}
