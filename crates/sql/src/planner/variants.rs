//! What must not be done with variants: their bytes tell neither order nor equality.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchema, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Distinct, Expr, ExprSchemable, LogicalPlan};
use tarn_engine::arrow::variant::is_variant_type;

/// Whether values of the type hold variants.
pub(crate) fn holds_variants(data_type: &DataType) -> bool {
    match data_type {
        t if is_variant_type(t) => true,
        DataType::List(element) | DataType::LargeList(element) => holds_variants(element.data_type()),
        DataType::Map(entries, _) => holds_variants(entries.data_type()),
        DataType::Struct(fields) => fields.iter().any(|f| holds_variants(f.data_type())),
        _ => false,
    }
}

/// Refuses sorting, grouping, joining and removing duplicates by variants.
pub(super) fn refuse(plan: &LogicalPlan) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        node_is_fine(node)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn node_is_fine(node: &LogicalPlan) -> Result<()> {
    match node {
        LogicalPlan::Sort(sort) => fine(sort.expr.iter().map(|s| &s.expr), sort.input.schema(), "sorted by"),
        LogicalPlan::Aggregate(aggregate) => {
            fine(&aggregate.group_expr, aggregate.input.schema(), "grouped by")?;
            aggregate
                .aggr_expr
                .iter()
                .try_for_each(|expr| aggregated(expr, aggregate.input.schema()))
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            match input.schema().fields().iter().find(|f| holds_variants(f.data_type())) {
                Some(field) => refused(field.name(), "told apart for DISTINCT"),
                None => Ok(()),
            }
        }
        LogicalPlan::Distinct(Distinct::On(on)) => fine(&on.on_expr, on.input.schema(), "told apart for DISTINCT"),
        LogicalPlan::Join(join) => {
            fine(join.on.iter().map(|(left, _)| left), join.left.schema(), "joined by")?;
            fine(join.on.iter().map(|(_, right)| right), join.right.schema(), "joined by")
        }
        LogicalPlan::Window(window) => window
            .window_expr
            .iter()
            .try_for_each(|expr| windowed(expr, window.input.schema())),
        _ => Ok(()),
    }
}

fn fine<'a>(exprs: impl IntoIterator<Item = &'a Expr>, schema: &DFSchema, what: &str) -> Result<()> {
    for expr in exprs {
        if holds_variants(&expr.get_type(schema)?) {
            return refused(expr, what);
        }
    }
    Ok(())
}

fn refused(what: impl std::fmt::Display, done: &str) -> Result<()> {
    plan_err!(
        "'{what}' holds variants, which cannot be {done}: take a part, as variant_get(v, '$.name', 'string') does"
    )
}

fn aggregated(expr: &Expr, schema: &DFSchema) -> Result<()> {
    let function = match expr {
        Expr::AggregateFunction(function) => function,
        Expr::Alias(alias) => return aggregated(&alias.expr, schema),
        _ => return Ok(()),
    };
    let compares = matches!(function.func.name(), "min" | "max" | "approx_distinct" | "mode");
    if compares || function.params.distinct {
        fine(&function.params.args, schema, "compared")?;
    }
    fine(function.params.order_by.iter().map(|s| &s.expr), schema, "sorted by")
}

fn windowed(expr: &Expr, schema: &DFSchema) -> Result<()> {
    match expr {
        Expr::WindowFunction(function) => {
            fine(&function.params.partition_by, schema, "grouped by")?;
            fine(function.params.order_by.iter().map(|s| &s.expr), schema, "sorted by")
        }
        Expr::Alias(alias) => windowed(&alias.expr, schema),
        _ => Ok(()),
    }
}
