//! From a query's syntax tree to a plan: relations are loaded, names resolved, and DataFusion's planner does the rest.

pub(crate) mod casts;
pub(crate) mod coercion;
mod context;
mod expressions;
mod relations;
mod resolve;
mod set_types;
mod types;
pub(crate) mod variants;

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::TableProvider;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr as PlannedExpr, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_plan::ColumnarValue;
use datafusion::sql::planner::{NullOrdering, ParserOptions, PlannerContext, SqlToRel};
use sqlparser::ast::{Expr, Query};
use tarn_engine::IcebergTable;
use tarn_format::Result;

use self::context::QueryContext;
pub(crate) use self::context::table_reference;
pub(crate) use self::resolve::builders;
use self::resolve::{OutputColumn, Resolver};
pub(crate) use self::types::type_of_text;
use crate::ast::{Name, PropertyList};
use crate::error::from_engine;

/// Whether names that differ only in case are the same (`spark.sql.caseSensitive`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaseSensitivity {
    /// They are.
    #[default]
    Insensitive,
    /// They are not.
    Sensitive,
}

impl CaseSensitivity {
    /// Whether two names are the same.
    pub(crate) fn same(self, a: &str, b: &str) -> bool {
        match self {
            CaseSensitivity::Sensitive => a == b,
            CaseSensitivity::Insensitive => a == b || a.to_lowercase() == b.to_lowercase(),
        }
    }
}

/// Session settings that queries obey.
#[derive(Debug, Clone)]
pub struct QuerySettings {
    /// `spark.sql.caseSensitive`
    pub case_sensitivity: CaseSensitivity,
    /// `spark.sql.session.timeZone`
    pub time_zone: String,
}

impl Default for QuerySettings {
    fn default() -> Self {
        QuerySettings {
            case_sensitivity: CaseSensitivity::default(),
            time_zone: "UTC".to_string(),
        }
    }
}

/// A state of a table that a query names with AS OF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelationVersion {
    /// VERSION AS OF a number: a snapshot id.
    Snapshot(i64),
    /// VERSION AS OF a text: a branch, a tag, or a snapshot id in digits.
    Ref(String),
    /// TIMESTAMP AS OF: milliseconds since epoch.
    TimestampMs(i64),
}

/// A table, view, metadata table or file that a query reads.
#[derive(Debug, Clone)]
pub struct LoadedRelation {
    /// What DataFusion scans.
    pub provider: Arc<dyn TableProvider>,
    /// Its declared name: catalog, namespace and table, by whose ends columns may be qualified.
    pub name: Name,
    /// The Iceberg table that can be asked for metadata columns such as `_file`; `None` when it has none.
    pub iceberg: Option<IcebergTable>,
}

/// What a query names as a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelationSource {
    /// A dotted name, its parts as written.
    Name(Name),
    /// A string: the path of files or of a table.
    Path(String),
}

/// A relation as a query asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationRequest {
    /// Which relation.
    pub source: RelationSource,
    /// AS OF
    pub version: Option<RelationVersion>,
    /// Read options of a hint, `/*+ OPTIONS('snapshot-id'='1') */`.
    pub options: PropertyList,
}

impl RelationRequest {
    /// The current state of a named relation.
    pub fn named(name: Name) -> Self {
        RelationRequest {
            source: RelationSource::Name(name),
            version: None,
            options: Vec::new(),
        }
    }
}

/// Finds the relations that queries name.
#[async_trait]
pub trait RelationLoader: std::fmt::Debug + Send + Sync {
    /// The relation that is asked for.
    ///
    /// # Errors
    /// `NotFound` when there is none; `InvalidInput` when a version is given twice, in the name, by AS OF or by options.
    async fn load(&self, request: RelationRequest) -> Result<LoadedRelation>;

    /// The relation that a table function gives, such as `iceberg_scan('path')`; `arguments` are constants, by name
    /// where written so. `None` when the function is not known.
    ///
    /// # Errors
    /// `InvalidInput` when the arguments do not fit.
    async fn load_function(&self, function: &str, arguments: &[FunctionArgument]) -> Result<Option<LoadedRelation>> {
        let _ = (function, arguments);
        Ok(None)
    }
}

/// A constant argument of a table function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionArgument {
    /// Its name, where it is written with one.
    pub name: Option<String>,
    /// Its value.
    pub value: ScalarValue,
}

/// What planning a query needs.
#[derive(Debug, Clone)]
pub struct PlanContext {
    /// Functions, optimizer and options; its functions must come from [`crate::functions::register`].
    pub state: SessionState,
    /// Finds relations.
    pub loader: Arc<dyn RelationLoader>,
    /// Settings.
    pub settings: QuerySettings,
}

/// The names of all functions that expressions may call.
pub(crate) fn function_names(ctx: &PlanContext) -> Vec<String> {
    resolve::function_names(&ctx.state)
}

/// Plans a query.
///
/// # Errors
/// `InvalidInput` for names that are unknown or ambiguous, types that do not fit and clauses that make no sense; those
/// of the loader; `Unsupported` for what DataFusion cannot do.
pub async fn plan_query(ctx: &PlanContext, mut query: Query) -> Result<LogicalPlan> {
    let relations = relations::load(ctx, &mut query).await?;
    let mut resolver = Resolver::new(ctx, relations);
    let output = resolver.query(&mut query)?;
    let context = QueryContext::new(ctx, resolver.into_providers());
    let planner = SqlToRel::new_with_options(&context, parser_options());
    let statement = sqlparser::ast::Statement::Query(Box::new(query));
    let plan = planner.sql_statement_to_plan(statement);
    let plan = plan.and_then(set_types::unify).map_err(from_engine)?;
    variants::refuse(&plan).map_err(from_engine)?;
    with_visible_names(plan, &output)
}

/// Plans an expression over the columns of one relation, such as the condition of a DELETE. Columns may be qualified
/// by `qualifier`, which is also how the plan's columns are qualified.
///
/// # Errors
/// As [`plan_query`]; subqueries are refused.
pub fn plan_expression(ctx: &PlanContext, expr: Expr, qualifier: &str, schema: &DFSchema) -> Result<PlannedExpr> {
    let columns: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let mut resolver = Resolver::new(ctx, Vec::new());
    let mut expr = expr;
    resolver.expression_over(&mut expr, qualifier, &columns)?;
    to_planned(ctx, expr, schema)
}

fn to_planned(ctx: &PlanContext, expr: Expr, schema: &DFSchema) -> Result<PlannedExpr> {
    let context = QueryContext::new(ctx, Vec::new());
    let planner = SqlToRel::new_with_options(&context, parser_options());
    planner
        .sql_to_expr(expr, schema, &mut PlannerContext::new())
        .map_err(from_engine)
}

/// The value of a constant expression, such as that of TIMESTAMP AS OF, a DEFAULT or an argument of CALL.
///
/// # Errors
/// `InvalidInput` when it names columns, holds a subquery, or cannot be computed.
pub fn plan_scalar(ctx: &PlanContext, mut expr: Expr) -> Result<ScalarValue> {
    let mut resolver = Resolver::new(ctx, Vec::new());
    resolver.constant(&mut expr)?;
    let planned = to_planned(ctx, expr, &DFSchema::empty())?;
    evaluate(ctx, planned)
}

/// The value of a planned expression over no columns.
///
/// # Errors
/// `InvalidInput` when it cannot be computed.
pub(crate) fn evaluate(ctx: &PlanContext, planned: PlannedExpr) -> Result<ScalarValue> {
    let schema = DFSchema::empty();
    // `current_timestamp()` is the time at which evaluation starts.
    let mut state = ctx.state.clone();
    let options = Arc::clone(state.config_options());
    state.execution_props_mut().mark_start_execution(Arc::clone(&options));
    let simplify = SimplifyContext::builder()
        .with_schema(Arc::new(schema.clone()))
        .with_config_options(options)
        .with_query_execution_start_time(state.execution_props().query_execution_start_time)
        .build();
    let simplifier = ExprSimplifier::new(simplify);
    let planned = simplifier
        .coerce(planned, &schema)
        .and_then(|e| simplifier.simplify(e))
        .map_err(from_engine)?;
    let physical = state.create_physical_expr(planned, &schema).map_err(from_engine)?;
    let row = datafusion::arrow::record_batch::RecordBatch::try_new_with_options(
        Arc::new(datafusion::arrow::datatypes::Schema::empty()),
        Vec::new(),
        &datafusion::arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(1)),
    )
    .map_err(|e| from_engine(e.into()))?;
    match physical.evaluate(&row).map_err(from_engine)? {
        ColumnarValue::Scalar(value) => Ok(value),
        ColumnarValue::Array(values) => ScalarValue::try_from_array(&values, 0).map_err(from_engine),
    }
}

fn parser_options() -> ParserOptions {
    ParserOptions::new()
        .with_parse_float_as_decimal(true)
        .with_enable_ident_normalization(false)
        .with_default_null_ordering(NullOrdering::NullsMin)
}

/// Inside a query columns have unique names; its result has those that the user sees, twice if written twice.
fn with_visible_names(plan: LogicalPlan, output: &[OutputColumn]) -> Result<LogicalPlan> {
    let names: Vec<&String> = plan.schema().fields().iter().map(|f| f.name()).collect();
    let differs = names.len() == output.len() && names.iter().zip(output).any(|(name, o)| **name != o.visible);
    if !differs {
        return Ok(plan);
    }
    let columns = plan.schema().columns();
    let mut seen: Vec<&str> = Vec::new();
    let renamed: Vec<PlannedExpr> = columns
        .into_iter()
        .zip(output)
        .map(|(column, o)| {
            let nth = seen.iter().filter(|s| **s == o.visible).count();
            seen.push(&o.visible);
            let expr = PlannedExpr::Column(column);
            if output.iter().filter(|other| other.visible == o.visible).count() == 1 {
                return expr.alias(&o.visible);
            }
            // DataFusion tells equal names apart by qualifiers.
            expr.alias_qualified(Some(format!("{nth}")), &o.visible)
        })
        .collect();
    LogicalPlanBuilder::from(plan)
        .project(renamed)
        .and_then(LogicalPlanBuilder::build)
        .map_err(from_engine)
}
