//! UNION of columns of different types: Spark's common type, where DataFusion would choose another (a decimal for a
//! double beside a decimal, which has no NaN).

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Union};
use sqlparser::ast::{SetExpr, TableFactor, TableSample, TableSampleKind, TableSampleModifier};

use super::casts::{OnBadInput, cast};
use super::coercion::common_type;

/// Gives derived tables of set operations their types before anything is planned over them.
#[derive(Debug)]
pub(crate) struct DerivedSets;

impl RelationPlanner for DerivedSets {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        match relation {
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
                sample: None,
            } if matches!(subquery.body.as_ref(), SetExpr::SetOperation { .. }) => {
                let inner = TableFactor::Derived {
                    lateral,
                    subquery,
                    alias: None,
                    sample: Some(seen()),
                };
                let plan = unify(context.plan(inner)?)?;
                Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
            }
            other => Ok(RelationPlanning::Original(Box::new(other))),
        }
    }
}

/// Marks a relation that came by already: DataFusion passes samples of derived tables over, and the resolver refuses
/// those that users write.
fn seen() -> TableSampleKind {
    TableSampleKind::AfterTableAlias(Box::new(TableSample {
        modifier: TableSampleModifier::TableSample,
        name: None,
        quantity: None,
        seed: None,
        bucket: None,
        offset: None,
    }))
}

/// The plan with the common types of every UNION in it.
pub(crate) fn unify(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut differs = false;
    plan.apply(|node| {
        differs |= matches!(node, LogicalPlan::Union(union) if mixed(union));
        Ok(if differs {
            TreeNodeRecursion::Stop
        } else {
            TreeNodeRecursion::Continue
        })
    })?;
    if !differs {
        return Ok(plan);
    }
    let unified = plan.transform_up(|node| match node {
        LogicalPlan::Union(union) if mixed(&union) => Ok(Transformed::yes(with_common_types(union)?)),
        node => Ok(Transformed::yes(node.recompute_schema()?)),
    })?;
    Ok(unified.data)
}

fn types_of(plan: &LogicalPlan) -> impl Iterator<Item = &DataType> {
    plan.schema().fields().iter().map(|f| f.data_type())
}

fn mixed(union: &Union) -> bool {
    let mut inputs = union.inputs.iter();
    let Some(first) = inputs.next() else { return false };
    inputs.any(|other| !types_of(first).eq(types_of(other)))
}

fn with_common_types(union: Union) -> Result<LogicalPlan> {
    let width = union.inputs.first().map_or(0, |i| i.schema().fields().len());
    let common: Vec<Option<DataType>> = (0..width)
        .map(|i| common_type(union.inputs.iter().filter_map(|input| types_of(input).nth(i))))
        .collect();
    let inputs: Result<Vec<Arc<LogicalPlan>>> = union
        .inputs
        .into_iter()
        .map(|input| cast_columns(Arc::unwrap_or_clone(input), &common).map(Arc::new))
        .collect();
    Ok(LogicalPlan::Union(Union::try_new_with_loose_types(inputs?)?))
}

fn cast_columns(input: LogicalPlan, types: &[Option<DataType>]) -> Result<LogicalPlan> {
    let schema = Arc::clone(input.schema());
    let columns = schema.columns().into_iter().zip(types);
    let columns: Result<Vec<Expr>> = columns
        .map(|(column, wanted)| {
            let own = Expr::Column(column.clone());
            match wanted {
                Some(wanted) => {
                    let value = cast(own.clone(), wanted, OnBadInput::Spark, &schema)?;
                    Ok(if value == own {
                        own
                    } else {
                        value.alias_qualified(column.relation, column.name)
                    })
                }
                None => Ok(own),
            }
        })
        .collect();
    LogicalPlanBuilder::from(input).project(columns?)?.build()
}
