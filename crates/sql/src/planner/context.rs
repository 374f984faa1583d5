//! What DataFusion's planner asks during one query: the relations that were loaded for it, functions and types.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::{TableReference, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::planner::{
    ContextProvider, ExprPlanner, PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
    TypePlanner,
};
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, LogicalPlanBuilder, ScalarUDF, TableSource, WindowUDF};
use sqlparser::ast::TableFactor;

use super::PlanContext;
use super::expressions::SparkExpressions;
use super::relations::marker_index;
use super::set_types::DerivedSets;
use super::types::SparkTypes;
use crate::ast::Name;

/// The world of one query.
pub(crate) struct QueryContext<'a> {
    state: &'a SessionState,
    relation_planners: Vec<Arc<dyn RelationPlanner>>,
    expr_planners: Vec<Arc<dyn ExprPlanner>>,
    type_planner: Arc<dyn TypePlanner>,
}

impl<'a> QueryContext<'a> {
    pub(crate) fn new(ctx: &'a PlanContext, relations: Vec<(Name, Arc<dyn TableProvider>)>) -> Self {
        let own: Arc<dyn ExprPlanner> = Arc::new(SparkExpressions::new(&ctx.settings));
        QueryContext {
            state: &ctx.state,
            relation_planners: vec![Arc::new(LoadedRelations(relations)), Arc::new(DerivedSets)],
            expr_planners: std::iter::once(own)
                .chain(ctx.state.expr_planners().iter().cloned())
                .collect(),
            type_planner: Arc::new(SparkTypes::new(&ctx.settings.time_zone)),
        }
    }
}

/// Scans for the markers that stand for loaded relations.
#[derive(Debug)]
struct LoadedRelations(Vec<(Name, Arc<dyn TableProvider>)>);

impl RelationPlanner for LoadedRelations {
    fn plan_relation(
        &self,
        relation: TableFactor,
        _context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let TableFactor::Table { name, alias, .. } = &relation else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        let loaded = marker_index(name).and_then(|i| self.0.get(i));
        let Some((name, provider)) = loaded else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        let plan =
            LogicalPlanBuilder::scan(table_reference(name), provider_as_source(Arc::clone(provider)), None)?.build()?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(
            plan,
            alias.clone(),
        ))))
    }
}

pub(crate) fn table_reference(name: &Name) -> TableReference {
    match name.0.as_slice() {
        [] => TableReference::bare(""),
        [table] => TableReference::bare(table.as_str()),
        [schema, table] => TableReference::partial(schema.as_str(), table.as_str()),
        [catalog, namespace @ .., table] => TableReference::full(catalog.as_str(), namespace.join("."), table.as_str()),
    }
}

impl ContextProvider for QueryContext<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        plan_err!("table '{name}' not found")
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(name, schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.expr_planners
    }

    fn get_relation_planners(&self) -> &[Arc<dyn RelationPlanner>] {
        &self.relation_planners
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::clone(&self.type_planner))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.state.scalar_functions().get(name).cloned()
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.state.higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.state.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.state.window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, _names: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.state.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        self.state.scalar_functions().keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.state.higher_order_functions().keys().cloned().collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.state.aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.state.window_functions().keys().cloned().collect()
    }
}
