//! Names: every identifier of a query is replaced by its declared spelling, qualified and quoted, so that DataFusion's
//! planner, which knows neither Spark's scopes nor case-insensitive names, finds it without a choice.
//!
//! Relations and common table expressions get unique aliases, columns of queries unique names, `*` its columns, and
//! USING its condition. Operations of Spark that DataFusion's planner lacks are marked for [`super::expressions`].

pub(crate) mod builders;
mod expr;
mod from;
mod functions;
mod scope;
mod select;
mod spellings;
mod subqueries;
pub(crate) mod suggest;
mod tuple_in;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use sqlparser::ast::{
    Expr, LimitClause, OrderBy, OrderByExpr, OrderByKind, Query, SelectItem, SetExpr, TableFactor, TableWithJoins,
    UnaryOperator, Value, ValueWithSpan, With,
};
use tarn_engine::scan::MetadataColumn;
use tarn_format::{Error, Result};

use self::builders::quoted;
use self::expr::{AliasUse, Aliases};
pub(crate) use self::functions::function_names;
pub(crate) use self::scope::OutputColumn;
use self::scope::{Exposure, MetadataUse, Relation, Relations, Scope};
use super::{LoadedRelation, PlanContext};
use crate::ast::Name;
use crate::planner::CaseSensitivity;

/// Deepest nesting of queries.
const MAX_DEPTH: usize = 64;

/// A common table expression.
#[derive(Debug, Clone)]
struct Cte {
    visible: String,
    internal: String,
    columns: Vec<OutputColumn>,
}

/// Where a query stands: the scope around it and the common table expressions it can name.
#[derive(Debug, Clone, Copy)]
struct Place<'p> {
    parent: Option<&'p Scope<'p>>,
    ctes: &'p [Cte],
    depth: usize,
}

/// Rewrites one query.
pub(crate) struct Resolver<'a> {
    ctx: &'a PlanContext,
    loaded: Vec<LoadedRelation>,
    /// Aliases and names of common table expressions that are taken.
    taken: HashSet<String>,
    metadata: Vec<MetadataUse>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(ctx: &'a PlanContext, loaded: Vec<LoadedRelation>) -> Self {
        Resolver {
            ctx,
            loaded,
            taken: HashSet::new(),
            metadata: Vec::new(),
        }
    }

    fn case(&self) -> CaseSensitivity {
        self.ctx.settings.case_sensitivity
    }

    fn time_zone(&self) -> &str {
        &self.ctx.settings.time_zone
    }

    /// Rewrites a whole query; gives its columns.
    pub(crate) fn query(&mut self, query: &mut Query) -> Result<Vec<OutputColumn>> {
        let place = Place {
            parent: None,
            ctes: &[],
            depth: 0,
        };
        self.nested_query(query, place)
    }

    /// Rewrites an expression over the columns of one relation.
    pub(crate) fn expression_over(&mut self, expr: &mut Expr, qualifier: &str, columns: &[String]) -> Result<()> {
        let relations = Relations {
            relations: vec![Relation {
                qualifier: qualifier.to_string(),
                path: vec![qualifier.to_string()],
                columns: columns.iter().map(OutputColumn::same).collect(),
                metadata: Vec::new(),
                source: None,
                exposure: Exposure::Exposed,
            }],
            merged: Vec::new(),
        };
        self.standalone(expr, &relations)
    }

    /// Rewrites an expression that may name nothing.
    pub(crate) fn constant(&mut self, expr: &mut Expr) -> Result<()> {
        self.standalone(expr, &Relations::default())
    }

    fn standalone(&mut self, expr: &mut Expr, relations: &Relations) -> Result<()> {
        let subquery = sqlparser::ast::visit_expressions(expr, |e| match e {
            Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. } => ControlFlow::Break(e.to_string()),
            _ => ControlFlow::Continue(()),
        });
        if let ControlFlow::Break(text) = subquery {
            return Err(Error::invalid(format!("a subquery is not possible here: {text}")));
        }
        let scope = Scope {
            relations,
            parent: None,
            case: self.case(),
        };
        self.expr(expr, &scope, Aliases::none(), &[], MAX_DEPTH)
    }

    /// The loaded relations with the metadata columns that the query names.
    pub(crate) fn into_providers(self) -> Vec<(Name, Arc<dyn TableProvider>)> {
        let metadata = self.metadata;
        let with_metadata = |(i, loaded): (usize, LoadedRelation)| {
            let used = metadata.iter().filter(|u| u.source == i);
            let columns: Vec<MetadataColumn> = used.filter_map(|u| MetadataColumn::from_name(&u.column)).collect();
            let provider = match loaded.iceberg {
                Some(table) if !columns.is_empty() => Arc::new(table.with_metadata_columns(&columns)),
                _ => loaded.provider,
            };
            (loaded.name, provider)
        };
        self.loaded.into_iter().enumerate().map(with_metadata).collect()
    }

    /// A name that nothing else in the rewritten query has.
    fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut n = 1;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{n}");
            n += 1;
        }
        name
    }

    fn nested_query(&mut self, query: &mut Query, place: Place<'_>) -> Result<Vec<OutputColumn>> {
        if place.depth > MAX_DEPTH {
            return Err(Error::invalid("queries are nested too deeply"));
        }
        refuse_foreign_clauses(query)?;
        let mut ctes = place.ctes.to_vec();
        if let Some(with) = &mut query.with {
            self.with(with, &mut ctes, place)?;
        }
        let inner = Place {
            ctes: &ctes,
            depth: place.depth + 1,
            ..place
        };
        check_limit(query.limit_clause.as_ref())?;
        let order_by = query.order_by.as_mut();
        let output = match query.body.as_mut() {
            SetExpr::Select(select) => self.select(select, order_by, inner)?,
            body => {
                let output = self.set_expr(body, inner)?;
                if let Some(order_by) = order_by {
                    self.order_by_output(order_by, &output, inner)?;
                }
                output
            }
        };
        if let Some(order_by) = &mut query.order_by {
            order_by_all(order_by, output.len());
        }
        Ok(output)
    }

    fn set_expr(&mut self, body: &mut SetExpr, place: Place<'_>) -> Result<Vec<OutputColumn>> {
        match body {
            SetExpr::Select(select) => self.select(select, None, place),
            SetExpr::Query(query) => self.nested_query(query, place),
            SetExpr::SetOperation { left, right, .. } => {
                let output = self.set_expr(left, place)?;
                self.set_expr(right, place)?;
                Ok(output)
            }
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |r| r.content.len());
                for row in &mut values.rows {
                    for value in &mut row.content {
                        self.in_scope(value, &Relations::default(), Aliases::none(), place)?;
                    }
                }
                let mut rows: Vec<&mut Vec<Expr>> = values.rows.iter_mut().map(|r| &mut r.content).collect();
                expr::widen_values(&mut rows);
                let column = |i: usize| OutputColumn {
                    visible: format!("col{i}"),
                    internal: format!("column{i}"),
                };
                Ok((1..=width).map(column).collect())
            }
            other => Err(Error::unsupported(format!("'{other}' cannot be part of a query"))),
        }
    }

    fn with(&mut self, with: &mut With, ctes: &mut Vec<Cte>, place: Place<'_>) -> Result<()> {
        for cte in &mut with.cte_tables {
            let visible = cte.alias.name.value.clone();
            let internal = self.unique(&visible);
            let names: Vec<String> = cte.alias.columns.drain(..).map(|c| c.name.value).collect();
            let mut entry = Cte {
                visible,
                internal: internal.clone(),
                columns: Vec::new(),
            };
            if with.recursive
                && let SetExpr::SetOperation { left, right, .. } = cte.query.body.as_mut()
            {
                let inner = Place {
                    ctes,
                    depth: place.depth + 1,
                    ..place
                };
                entry.columns = renamed(self.set_expr(left, inner)?, &names, &entry.visible)?;
                ctes.push(entry);
                let inner = Place {
                    ctes,
                    depth: place.depth + 1,
                    ..place
                };
                self.set_expr(right, inner)?;
            } else {
                let inner = Place {
                    ctes,
                    depth: place.depth + 1,
                    ..place
                };
                let output = self.nested_query(&mut cte.query, inner)?;
                if matches!(cte.query.body.as_ref(), SetExpr::SetOperation { .. }) {
                    // A derived table has the types of its UNION before anything is planned over it.
                    let set = std::mem::replace(cte.query.as_mut(), from::empty_query());
                    *cte.query = self.select_all_of(set, &output);
                }
                entry.columns = renamed(output, &names, &entry.visible)?;
                ctes.push(entry);
            }
            cte.alias.name = quoted(internal);
        }
        Ok(())
    }

    /// ORDER BY after a set operation: names are those of its columns.
    fn order_by_output(&mut self, order_by: &mut OrderBy, output: &[OutputColumn], place: Place<'_>) -> Result<()> {
        let OrderByKind::Expressions(keys) = &mut order_by.kind else {
            return Ok(());
        };
        let columns: Vec<(String, Expr)> = output
            .iter()
            .map(|c| (c.visible.clone(), Expr::Identifier(quoted(&c.internal))))
            .collect();
        for key in keys {
            if !is_position(&key.expr) {
                let aliases = Aliases::new(&columns, AliasUse::First);
                self.in_scope(&mut key.expr, &Relations::default(), aliases, place)?;
            }
        }
        Ok(())
    }

    /// `SELECT columns FROM (query)`, of a query that is resolved.
    fn select_all_of(&mut self, query: Query, output: &[OutputColumn]) -> Query {
        let name = self.unique("set");
        let relation = TableFactor::Derived {
            lateral: false,
            subquery: Box::new(query),
            alias: Some(builders::alias(&name)),
            sample: None,
        };
        let mut select = builders::select_star_from(vec![TableWithJoins {
            relation,
            joins: Vec::new(),
        }]);
        let column = |c: &OutputColumn| SelectItem::UnnamedExpr(builders::column(&name, &c.internal));
        select.projection = output.iter().map(column).collect();
        builders::plain_query(SetExpr::Select(Box::new(select)))
    }

    /// Rewrites an expression over relations, at a place in the query.
    fn in_scope(
        &mut self,
        expr: &mut Expr,
        relations: &Relations,
        aliases: Aliases<'_>,
        place: Place<'_>,
    ) -> Result<()> {
        let scope = Scope {
            relations,
            parent: place.parent,
            case: self.case(),
        };
        self.expr(expr, &scope, aliases, place.ctes, place.depth)
    }
}

/// Columns under the names of an alias's list.
fn renamed(columns: Vec<OutputColumn>, names: &[String], alias: &str) -> Result<Vec<OutputColumn>> {
    if names.is_empty() {
        return Ok(columns);
    }
    if names.len() != columns.len() {
        return Err(Error::invalid(format!(
            "'{alias}' names {} columns, but has {}",
            names.len(),
            columns.len()
        )));
    }
    let rename = |(c, visible): (OutputColumn, &String)| OutputColumn {
        visible: visible.clone(),
        internal: c.internal,
    };
    Ok(columns.into_iter().zip(names).map(rename).collect())
}

/// Whether an expression in GROUP BY or ORDER BY is a position in the select list.
fn is_position(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. })
        if digits.bytes().all(|b| b.is_ascii_digit()))
}

/// ORDER BY ALL is ORDER BY every column, by its place.
fn order_by_all(order_by: &mut OrderBy, columns: usize) {
    let OrderByKind::All(options) = order_by.kind else {
        return;
    };
    let key = |place: usize| OrderByExpr {
        expr: Expr::Value(Value::Number(place.to_string(), false).into()),
        options,
        with_fill: None,
    };
    order_by.kind = OrderByKind::Expressions((1..=columns).map(key).collect());
}

fn check_limit(limit: Option<&LimitClause>) -> Result<()> {
    let (limit, offset) = match limit {
        None => (None, None),
        Some(LimitClause::LimitOffset {
            limit,
            offset,
            limit_by,
        }) => {
            if !limit_by.is_empty() {
                return Err(Error::unsupported("LIMIT BY is not supported"));
            }
            (limit.as_ref(), offset.as_ref().map(|o| &o.value))
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
    };
    for (clause, expr) in [("LIMIT", limit), ("OFFSET", offset)] {
        if let Some(Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr: value,
        }) = expr
        {
            return Err(Error::invalid(format!(
                "{clause} must not be negative, but is -{value}"
            )));
        }
    }
    Ok(())
}

fn refuse_foreign_clauses(query: &Query) -> Result<()> {
    let clause = if query.fetch.is_some() {
        "FETCH"
    } else if !query.locks.is_empty() {
        "FOR UPDATE"
    } else if query.for_clause.is_some() {
        "FOR"
    } else if query.settings.is_some() {
        "SETTINGS"
    } else if query.format_clause.is_some() {
        "FORMAT"
    } else if !query.pipe_operators.is_empty() {
        "|>"
    } else {
        return Ok(());
    };
    Err(Error::unsupported(format!("{clause} in a query is not supported")))
}
