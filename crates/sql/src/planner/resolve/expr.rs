//! Expressions: names are resolved from the leaves up, subqueries in their own scopes, and what DataFusion's planner
//! reads differently from Spark is rewritten or marked.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, DataType, Expr, Function, FunctionArguments, Ident, OneOrManyWithParens,
    Query, Subscript, UnaryOperator, Value, ValueWithSpan, VisitMut, VisitorMut, WindowFrameBound, WindowSpec,
    WindowType,
};
use tarn_format::{Error, Result};

use super::builders::{all, binary, call, custom, quoted, text};
use super::scope::Scope;
use super::{Cte, Place, Resolver};
use crate::planner::expressions::{CAST, FIELD, IN_LIST, LITERAL, SUBSCRIPT, TRY_CAST, UNIFY};

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
}

impl<'x> Aliases<'x> {
    pub(super) fn none() -> Self {
        Aliases {
            columns: &[],
            order: AliasUse::Last,
        }
    }

    pub(super) fn new(columns: &'x [(String, Expr)], order: AliasUse) -> Self {
        Aliases { columns, order }
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
        flow(self.resolver.nested_query(query, place).map(|_| ()))
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Error> {
        self.nested -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if self.nested > 0 {
            return ControlFlow::Continue(());
        }
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
        flow(self.rewrite(expr))
    }
}

impl ExprVisitor<'_, '_> {
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
                None => return Ok(()),
            },
            Expr::Interval(interval) => {
                unmark(&mut interval.value);
                return Ok(());
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
            unmark_window(spec);
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

/// Fields of a struct.
fn fields(root: Expr, names: &[String]) -> Expr {
    names.iter().fold(root, |e, name| custom(e, FIELD, text(name)))
}

/// `a.b[0].c` is parsed as `a` followed by `.b`: the leading names belong together, and the later ones are no columns.
fn join_leading_names(root: &mut Expr, chain: &mut Vec<AccessExpr>) -> Result<()> {
    let mut names = match root {
        Expr::Identifier(ident) => vec![ident.clone()],
        Expr::CompoundIdentifier(idents) => idents.clone(),
        _ => Vec::new(),
    };
    if !names.is_empty() {
        let leading = chain
            .iter()
            .take_while(|a| matches!(a, AccessExpr::Dot(Expr::Identifier(_))))
            .count();
        for access in chain.drain(..leading) {
            if let AccessExpr::Dot(Expr::Identifier(ident)) = access {
                names.push(ident);
            }
        }
        *root = Expr::CompoundIdentifier(names);
    }
    for access in chain {
        match access {
            AccessExpr::Dot(Expr::Identifier(ident)) => *access = AccessExpr::Dot(text(ident.value.clone())),
            AccessExpr::Dot(other) => return Err(Error::invalid(format!("'{other}' is no name of a field"))),
            AccessExpr::Subscript(_) => {}
        }
    }
    Ok(())
}

fn access(root: Expr, chain: Vec<AccessExpr>) -> Result<Expr> {
    chain.into_iter().try_fold(root, |e, access| match access {
        AccessExpr::Dot(name) => Ok(custom(e, FIELD, name)),
        AccessExpr::Subscript(Subscript::Index { index }) => Ok(custom(e, SUBSCRIPT, index)),
        AccessExpr::Subscript(slice) => Err(Error::unsupported(format!("the slice [{slice}] is not supported"))),
    })
}

/// A number: whole ones are int or bigint, those with an exponent double, others decimal.
fn number(digits: &str) -> Expr {
    let literal = || Expr::Value(Value::Number(digits.to_string(), false).into());
    if digits.contains(['e', 'E']) {
        return Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(text(digits)),
            data_type: DataType::DoublePrecision,
            format: None,
            array: false,
        };
    }
    if digits.contains('.') {
        return literal();
    }
    custom(literal(), LITERAL, Expr::Value(Value::Null.into()))
}

/// `-2147483648` is an int, although `2147483648` is none.
fn negative_literal(operand: &mut Expr) -> Option<Expr> {
    let Expr::BinaryOp {
        left,
        op: BinaryOperator::Custom(op),
        right,
    } = operand
    else {
        return None;
    };
    if op != LITERAL || !matches!(left.as_ref(), Expr::Value(_)) {
        return None;
    }
    let negative = Expr::UnaryOp {
        op: UnaryOperator::Minus,
        expr: Box::new(take(left)),
    };
    Some(custom(negative, LITERAL, take(right)))
}

/// Undoes [`number`] where DataFusion's planner wants the number itself.
fn unmark(expr: &mut Expr) {
    if let Expr::BinaryOp {
        left,
        op: BinaryOperator::Custom(op),
        ..
    } = expr
        && op == LITERAL
    {
        *expr = take(left);
    }
}

/// The bounds of window frames are numbers themselves.
pub(super) fn unmark_window(spec: &mut WindowSpec) {
    let Some(frame) = &mut spec.window_frame else { return };
    for bound in [Some(&mut frame.start_bound), frame.end_bound.as_mut()]
        .into_iter()
        .flatten()
    {
        if let WindowFrameBound::Preceding(Some(expr)) | WindowFrameBound::Following(Some(expr)) = bound {
            unmark(expr);
        }
    }
}

/// In a column of VALUES that holds doubles too, decimals are doubles.
pub(super) fn widen_values(rows: &mut [&mut Vec<Expr>]) {
    let width = rows.first().map_or(0, |r| r.len());
    for column in 0..width {
        let cells = || rows.iter().filter_map(|r| r.get(column));
        if !cells().any(is_double) || !cells().any(is_decimal) {
            continue;
        }
        for cell in rows
            .iter_mut()
            .filter_map(|r| r.get_mut(column))
            .filter(|c| is_decimal(c))
        {
            let decimal = take(cell);
            *cell = cast(&CastKind::Cast, decimal, &DataType::DoublePrecision);
        }
    }
}

fn is_double(cell: &Expr) -> bool {
    let floating = |t: &DataType| {
        matches!(
            t,
            DataType::Double(_) | DataType::DoublePrecision | DataType::Float(_) | DataType::Real
        )
    };
    match cell {
        Expr::Cast { data_type, .. } => floating(data_type),
        Expr::BinaryOp {
            op: BinaryOperator::Custom(op),
            right,
            ..
        } if op == CAST || op == TRY_CAST => is_double(right),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => is_double(expr),
        _ => false,
    }
}

fn is_decimal(cell: &Expr) -> bool {
    match cell {
        Expr::Value(ValueWithSpan {
            value: Value::Number(digits, _),
            ..
        }) => digits.contains('.'),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => is_decimal(expr),
        _ => false,
    }
}

fn cast(kind: &CastKind, operand: Expr, data_type: &DataType) -> Expr {
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

fn negate_if(negated: bool, expr: Expr) -> Expr {
    if !negated {
        return expr;
    }
    Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: Box::new(Expr::Nested(Box::new(expr))),
    }
}

/// `x BETWEEN a AND b` as two comparisons, which have Spark's coercion.
fn between(value: &mut Expr, negated: bool, low: Expr, high: Expr) -> Expr {
    let value = take(value);
    let above = binary(value.clone(), BinaryOperator::GtEq, low);
    let below = binary(value, BinaryOperator::LtEq, high);
    negate_if(negated, all([above, below]))
}

/// `(a, b) IN ((1, 2), (3, 4))` as comparisons.
fn tuple_in_list(value: &mut Expr, list: &mut [Expr]) -> Option<Expr> {
    let Expr::Tuple(columns) = value else { return None };
    let rows: Option<Vec<&Vec<Expr>>> = list
        .iter()
        .map(|row| match row {
            Expr::Tuple(values) if values.len() == columns.len() => Some(values),
            _ => None,
        })
        .collect();
    let any = rows?
        .into_iter()
        .map(|row| {
            let pairs = columns.iter().zip(row);
            all(pairs.map(|(c, v)| binary(c.clone(), BinaryOperator::Eq, v.clone())))
        })
        .map(|e| Expr::Nested(Box::new(e)))
        .reduce(|a, b| binary(a, BinaryOperator::Or, b))?;
    Some(Expr::Nested(Box::new(any)))
}
