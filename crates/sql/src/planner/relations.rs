//! The relations that a query names: found in its syntax tree, loaded together, and left there as markers.
//!
//! Loading is asynchronous and DataFusion's planner is not, so every reference is loaded before planning. A marker is a
//! table name that no user can write; the planner scans the loaded relation of its number.

use std::ops::ControlFlow;

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::common::format::DEFAULT_CAST_OPTIONS;
use futures::future::try_join_all;
use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, ObjectNamePart, Query,
    SetExpr, TableAlias, TableFactor, TableVersion, Value, ValueWithSpan, VisitMut, VisitorMut,
};
use tarn_format::{Error, Result};

use super::resolve::builders::{quoted, select_star};
use super::{
    CaseSensitivity, FunctionArgument, LoadedRelation, PlanContext, RelationRequest, RelationSource, RelationVersion,
    plan_scalar,
};
use crate::ast::{Name, PropertyList};
use crate::error::from_engine;
use crate::parser::VERSION_MARKER;

/// Begins the names of markers: a user's name has no line break.
const MARKER: &str = "\nrelation ";

/// The marker of a loaded relation.
pub(crate) fn marker(index: usize) -> String {
    format!("{MARKER}{index}")
}

/// Which loaded relation a name stands for.
pub(crate) fn marker_index(name: &ObjectName) -> Option<usize> {
    let [ObjectNamePart::Identifier(ident)] = name.0.as_slice() else {
        return None;
    };
    ident.value.strip_prefix(MARKER)?.parse().ok()
}

/// A reference as written.
enum Reference {
    Table {
        source: RelationSource,
        version: Option<Box<TableVersion>>,
        options: PropertyList,
    },
    Function {
        name: Name,
        arguments: Vec<FunctionArg>,
    },
}

/// Loads what a query names and puts markers in its place.
pub(crate) async fn load(ctx: &PlanContext, query: &mut Query) -> Result<Vec<LoadedRelation>> {
    let mut collector = Collector {
        case: ctx.settings.case_sensitivity,
        references: Vec::new(),
    };
    collector.query(query, &[])?;
    let loading = collector.references.into_iter().map(|r| load_one(ctx, r));
    try_join_all(loading).await
}

async fn load_one(ctx: &PlanContext, reference: Reference) -> Result<LoadedRelation> {
    match reference {
        Reference::Table {
            source,
            version,
            options,
        } => {
            let version = version.map(|v| evaluate_version(ctx, *v)).transpose()?;
            let request = RelationRequest {
                source,
                version,
                options,
            };
            ctx.loader.load(request).await
        }
        Reference::Function { name, arguments } => load_function(ctx, &name, arguments).await,
    }
}

async fn load_function(ctx: &PlanContext, name: &Name, arguments: Vec<FunctionArg>) -> Result<LoadedRelation> {
    let function = name.0.last().map(|n| n.to_ascii_lowercase()).unwrap_or_default();
    let arguments: Result<Vec<FunctionArgument>> = arguments.into_iter().map(|a| constant(ctx, &function, a)).collect();
    let arguments = arguments?;
    if let Some(loaded) = ctx.loader.load_function(&function, &arguments).await? {
        return Ok(loaded);
    }
    let Some(known) = ctx.state.table_functions().get(&function) else {
        return Err(Error::not_found(format!("table function '{name}' does not exist")));
    };
    if arguments.iter().any(|a| a.name.is_some()) {
        return Err(Error::invalid(format!(
            "table function '{name}' takes no named arguments"
        )));
    }
    let values: Vec<_> = arguments
        .into_iter()
        .map(|a| datafusion::logical_expr::Expr::Literal(widened(a.value), None))
        .collect();
    let provider = known
        .create_table_provider_with_args(datafusion::catalog::TableFunctionArgs::new(&values, &ctx.state))
        .map_err(from_engine)?;
    Ok(LoadedRelation {
        provider,
        name: Name(vec![function]),
        iceberg: None,
    })
}

/// DataFusion's table functions know whole numbers as bigint only.
fn widened(value: ScalarValue) -> ScalarValue {
    match value {
        ScalarValue::Int8(v) => ScalarValue::Int64(v.map(i64::from)),
        ScalarValue::Int16(v) => ScalarValue::Int64(v.map(i64::from)),
        ScalarValue::Int32(v) => ScalarValue::Int64(v.map(i64::from)),
        other => other,
    }
}

fn constant(ctx: &PlanContext, function: &str, argument: FunctionArg) -> Result<FunctionArgument> {
    let (name, expr) = match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => (None, expr),
        FunctionArg::Named {
            name,
            arg: FunctionArgExpr::Expr(expr),
            ..
        } => (Some(name.value), expr),
        other => {
            return Err(Error::invalid(format!("'{other}' cannot be an argument of {function}")));
        }
    };
    Ok(FunctionArgument {
        name,
        value: plan_scalar(ctx, expr)?,
    })
}

/// The state that a version clause names. The parser marks VERSION AS OF; everything else is a time.
fn evaluate_version(ctx: &PlanContext, version: TableVersion) -> Result<RelationVersion> {
    let expr = match version {
        TableVersion::VersionAsOf(expr) => return snapshot_or_ref(plan_scalar(ctx, expr)?),
        TableVersion::TimestampAsOf(expr) | TableVersion::ForSystemTimeAsOf(expr) => expr,
        other => return Err(Error::unsupported(format!("'{other}' is not supported"))),
    };
    if let Expr::Function(function) = &expr
        && function.name.to_string() == VERSION_MARKER
        && let FunctionArguments::List(list) = &function.args
        && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(value))] = list.args.as_slice()
    {
        return match value {
            // `VERSION AS OF branch`: a bare name, as other engines write it.
            Expr::Identifier(ident) => Ok(RelationVersion::Ref(ident.value.clone())),
            value => snapshot_or_ref(plan_scalar(ctx, value.clone())?),
        };
    }
    let shown = expr.to_string();
    let value = plan_scalar(ctx, expr)
        .map_err(|e| Error::new(e.kind(), format!("TIMESTAMP AS OF {shown} is not possible")).with_source(e))?;
    time(ctx, &value, &shown)
}

fn snapshot_or_ref(value: ScalarValue) -> Result<RelationVersion> {
    match value {
        ScalarValue::Utf8(Some(name)) | ScalarValue::Utf8View(Some(name)) => Ok(RelationVersion::Ref(name)),
        value if value.data_type().is_integer() && !value.is_null() => match value.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(Some(id))) => Ok(RelationVersion::Snapshot(id)),
            _ => Err(Error::invalid(format!("VERSION AS OF {value} is no snapshot id"))),
        },
        value => Err(Error::invalid(format!(
            "VERSION AS OF takes a snapshot id, or the name of a branch or tag, not {value}"
        ))),
    }
}

/// Whole numbers are seconds since epoch; texts, dates and timestamps are times in the session's zone.
fn time(ctx: &PlanContext, value: &ScalarValue, shown: &str) -> Result<RelationVersion> {
    let refused = || {
        Error::invalid(format!(
            "TIMESTAMP AS OF takes a time, such as '2024-01-31 12:00:00', or seconds since 1970, not {shown}"
        ))
    };
    if value.is_null() {
        return Err(refused());
    }
    if value.data_type().is_integer() {
        let Ok(ScalarValue::Int64(Some(seconds))) = value.cast_to(&DataType::Int64) else {
            return Err(refused());
        };
        return seconds
            .checked_mul(1000)
            .map(RelationVersion::TimestampMs)
            .ok_or_else(refused);
    }
    let zone = Some(ctx.settings.time_zone.as_str().into());
    let temporal = matches!(
        value.data_type(),
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 | DataType::Date32 | DataType::Timestamp(..)
    );
    if !temporal {
        return Err(refused());
    }
    let timestamp = DataType::Timestamp(TimeUnit::Microsecond, zone);
    match value.cast_to_with_options(&timestamp, &DEFAULT_CAST_OPTIONS) {
        // A millisecond is what snapshots are stamped with.
        Ok(ScalarValue::TimestampMicrosecond(Some(micros), _)) => {
            Ok(RelationVersion::TimestampMs(micros.div_euclid(1000)))
        }
        _ => Err(refused()),
    }
}

struct Collector {
    case: CaseSensitivity,
    references: Vec<Reference>,
}

impl Collector {
    /// Takes the references of a query in which these names are common table expressions.
    fn query(&mut self, query: &mut Query, outer: &[String]) -> Result<()> {
        let mut ctes = outer.to_vec();
        let mut with = query.with.take();
        if let Some(with) = &mut with {
            for cte in &mut with.cte_tables {
                let name = cte.alias.name.value.clone();
                if with.recursive {
                    ctes.push(name.clone());
                }
                self.query(&mut cte.query, &ctes)?;
                if !with.recursive {
                    ctes.push(name);
                }
            }
        }
        expand_table_statement(&mut query.body);
        let mut visitor = TableVisitor {
            collector: self,
            ctes: &ctes,
            depth: 0,
        };
        // The visitor begins below this query, because it stops at queries.
        let mut flow = query.body.visit(&mut visitor);
        if flow.is_continue() {
            flow = query.order_by.visit(&mut visitor);
        }
        if flow.is_continue() {
            flow = query.limit_clause.visit(&mut visitor);
        }
        query.with = with;
        match flow {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(e) => Err(e),
        }
    }

    fn factor(&mut self, factor: &mut TableFactor, ctes: &[String]) -> Result<()> {
        if let TableFactor::Function {
            lateral: _,
            name,
            args,
            with_ordinality,
            alias,
        } = factor
        {
            refuse_clauses(&[(*with_ordinality, "WITH ORDINALITY")])?;
            let reference = Reference::Function {
                name: parts(name)?,
                arguments: std::mem::take(args),
            };
            let alias = alias.take();
            self.mark(factor, reference, alias);
            return Ok(());
        }
        let TableFactor::Table {
            name,
            alias,
            args,
            version,
            with_hints,
            with_ordinality,
            partitions,
            json_path,
            sample,
            index_hints,
        } = factor
        else {
            return Ok(());
        };
        refuse_clauses(&[
            (sample.is_some(), "TABLESAMPLE"),
            (*with_ordinality, "WITH ORDINALITY"),
            (
                !partitions.is_empty(),
                "PARTITION after the name of a table that is read",
            ),
            (json_path.is_some(), "a path after the name of a table"),
            (!index_hints.is_empty(), "an index hint"),
            (
                args.as_ref().is_some_and(|a| a.settings.is_some()),
                "SETTINGS of a table function",
            ),
        ])?;
        let options = options(with_hints)?;
        if args.is_some() && !options.is_empty() {
            return Err(Error::invalid(format!(
                "'{name}' takes options as arguments: leave the hint out"
            )));
        }
        if let Some(path) = quoted_path(name)
            && args.is_none()
        {
            let reference = Reference::Table {
                source: RelationSource::Path(path),
                version: version.take().map(Box::new),
                options,
            };
            let alias = alias.take();
            self.mark(factor, reference, alias);
            return Ok(());
        }
        let written = parts(name)?;
        if let Some(args) = args.take() {
            let reference = Reference::Function {
                name: written,
                arguments: args.args,
            };
            let alias = alias.take();
            self.mark(factor, reference, alias);
            return Ok(());
        }
        if let [single] = written.0.as_slice()
            && ctes.iter().any(|c| self.case.same(c, single))
        {
            if version.is_some() || !options.is_empty() {
                return Err(Error::invalid(format!(
                    "'{single}' is a query, which has no versions and read options"
                )));
            }
            return Ok(());
        }
        let reference = Reference::Table {
            source: RelationSource::Name(written),
            version: version.take().map(Box::new),
            options,
        };
        let alias = alias.take();
        self.mark(factor, reference, alias);
        Ok(())
    }

    fn mark(&mut self, factor: &mut TableFactor, reference: Reference, alias: Option<TableAlias>) {
        let marker = marker(self.references.len());
        self.references.push(reference);
        *factor = super::resolve::builders::table(quoted(marker), alias);
    }
}

/// Refuses the clauses that are there: what is read without them would be something else.
pub(super) fn refuse_clauses(clauses: &[(bool, &str)]) -> Result<()> {
    match clauses.iter().find(|(is_there, _)| *is_there) {
        Some((_, clause)) => Err(Error::unsupported(format!("{clause} is not supported yet"))),
        None => Ok(()),
    }
}

/// `FROM 'x.parquet'`: what a string in the place of a name says.
fn quoted_path(name: &ObjectName) -> Option<String> {
    let [ObjectNamePart::Identifier(ident)] = name.0.as_slice() else {
        return None;
    };
    let is_string = matches!(ident.quote_style, Some('\'' | '"'));
    is_string.then(|| ident.value.clone())
}

/// The options of a hint: `'key' = value`.
fn options(hints: &mut Vec<Expr>) -> Result<PropertyList> {
    hints.drain(..).map(option).collect()
}

fn option(hint: Expr) -> Result<(String, String)> {
    let refused = |hint: &Expr| Error::invalid(format!("'{hint}' is no read option: options are 'key' = 'value'"));
    let Expr::BinaryOp {
        left,
        op: BinaryOperator::Eq,
        right,
    } = &hint
    else {
        return Err(refused(&hint));
    };
    let text = |e: &Expr| match e {
        Expr::Value(ValueWithSpan { value, .. }) => match value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) | Value::Number(s, _) => Some(s.clone()),
            Value::Boolean(b) => Some(b.to_string()),
            _ => None,
        },
        Expr::Identifier(ident) => Some(ident.value.clone()),
        _ => None,
    };
    match (text(left), text(right)) {
        (Some(key), Some(value)) => Ok((key, value)),
        _ => Err(refused(&hint)),
    }
}

fn parts(name: &ObjectName) -> Result<Name> {
    let parts: Option<Vec<String>> = name
        .0
        .iter()
        .map(|p| p.as_ident().map(|i: &Ident| i.value.clone()))
        .collect();
    parts
        .map(Name)
        .ok_or_else(|| Error::invalid(format!("'{name}' is no name of a table")))
}

struct TableVisitor<'c> {
    collector: &'c mut Collector,
    ctes: &'c [String],
    depth: usize,
}

impl TableVisitor<'_> {
    fn flow(result: Result<()>) -> ControlFlow<Error> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => ControlFlow::Break(e),
        }
    }
}

impl VisitorMut for TableVisitor<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        // Nested queries have their own common table expressions; what is below was then done there.
        self.depth += 1;
        if self.depth > 1 {
            return ControlFlow::Continue(());
        }
        Self::flow(self.collector.query(query, self.ctes))
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Error> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        Self::flow(self.collector.factor(factor, self.ctes))
    }
}

/// `TABLE t` is `SELECT * FROM t`; done before references are collected.
fn expand_table_statement(body: &mut SetExpr) {
    match body {
        SetExpr::Table(table) => {
            let names = [&table.schema_name, &table.table_name];
            let idents: Vec<Ident> = names.into_iter().flatten().map(|n| quoted(n.clone())).collect();
            *body = SetExpr::Select(Box::new(select_star(vec![idents])));
        }
        SetExpr::SetOperation { left, right, .. } => {
            expand_table_statement(left);
            expand_table_statement(right);
        }
        _ => {}
    }
}
