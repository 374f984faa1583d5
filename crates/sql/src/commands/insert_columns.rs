//! Which value goes into which column: by position, by a column list, by name, and the constants of PARTITION (…).

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use tarn_engine::arrow::schema::schema_to_arrow;
use tarn_engine::arrow::value::to_scalar;
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::NestedField;
use tarn_format::transform::Transform;
use tarn_format::{Error, Result};

use crate::ast::{InsertTarget, PartitionValue};
use crate::error::from_engine;
use crate::near_names::did_you_mean;
use crate::planner::{PlanContext, plan_scalar};
use crate::store_assignment::{Matching, assign};

/// Where a column's values come from.
#[derive(Debug, Clone, PartialEq)]
enum Place {
    /// The source's column of this number.
    Source(usize),
    /// The constant that PARTITION gives.
    Constant(ScalarValue),
    /// Its default.
    Default,
}

/// What PARTITION (…) says of each column of the table; `None` for columns that the source gives.
///
/// # Errors
/// `InvalidInput` for columns that do not partition the table, are named twice, or get what is no constant.
pub(crate) fn constants(
    ctx: &PlanContext,
    partition: &[PartitionValue],
    metadata: &TableMetadata,
    case: CaseSensitivity,
) -> Result<Vec<Option<ScalarValue>>> {
    let schema = metadata.current_schema();
    let mut constants = vec![None; schema.fields().len()];
    let mut named = vec![false; schema.fields().len()];
    for given in partition {
        let at = column(&given.column, schema, case)?;
        let id = schema.fields()[at].id;
        let spec = &metadata.default_spec().fields;
        let is_partition = |f: &tarn_format::spec::partition::PartitionField| {
            f.transform == Transform::Identity && f.source_ids == [id]
        };
        if !spec.iter().any(is_partition) {
            return Err(Error::invalid(format!(
                "'{}' in PARTITION is no partition column: the table is not partitioned by its values",
                given.column
            )));
        }
        if std::mem::replace(&mut named[at], true) {
            return Err(Error::invalid(format!(
                "column '{}' occurs twice in PARTITION",
                given.column
            )));
        }
        if let Some(value) = &given.value {
            constants[at] = Some(plan_scalar(ctx, value.clone())?);
        }
    }
    Ok(constants)
}

/// The source's columns in the order of the table's, cast for storage.
///
/// # Errors
/// `InvalidInput` naming the column whose value is missing, given twice or of a type that cannot be stored in it.
pub(crate) fn arrange(
    source: LogicalPlan,
    target: &InsertTarget,
    constants: &[Option<ScalarValue>],
    schema: &Schema,
    case: CaseSensitivity,
) -> Result<LogicalPlan> {
    let matching = match target {
        InsertTarget::ByPosition => Matching::Position,
        InsertTarget::Columns(_) | InsertTarget::ByName => Matching::Name(case),
    };
    let places = places(&source, target, constants, schema, case)?;
    let input = source.schema();
    let columns: Vec<Expr> = input.columns().into_iter().map(Expr::Column).collect();
    let table = schema_to_arrow(schema);
    let mut projection = Vec::with_capacity(table.fields().len());
    for ((i, field), place) in schema.fields().iter().enumerate().zip(places) {
        let arrow = table.field(i);
        let value = match place {
            Place::Source(at) => assign(columns[at].clone(), input.field(at).data_type(), arrow, matching)?,
            Place::Constant(value) => {
                let from = value.data_type();
                assign(lit(value), &from, arrow, matching)?
            }
            Place::Default => lit(default_of(field)?),
        };
        projection.push(value.alias(field.name.as_str()));
    }
    let built = LogicalPlanBuilder::from(source).project(projection);
    built.and_then(LogicalPlanBuilder::build).map_err(from_engine)
}

fn places(
    source: &LogicalPlan,
    target: &InsertTarget,
    constants: &[Option<ScalarValue>],
    schema: &Schema,
    case: CaseSensitivity,
) -> Result<Vec<Place>> {
    let given = source.schema().fields().len();
    let count = |wanted: usize| {
        if given == wanted {
            return Ok(());
        }
        let how = if given < wanted { "not enough" } else { "too many" };
        Err(Error::invalid(format!(
            "{how} values: {wanted} columns take {given} values"
        )))
    };
    let constant = |i: usize| constants.get(i).cloned().flatten().map(Place::Constant);
    let by_names = |names: &mut dyn Iterator<Item = &str>| -> Result<Vec<Place>> {
        let mut places: Vec<Option<Place>> = (0..schema.fields().len()).map(constant).collect();
        for (i, name) in names.enumerate() {
            let at = column(name, schema, case)?;
            if places[at].replace(Place::Source(i)).is_some() {
                return Err(Error::invalid(format!("column '{name}' is given twice")));
            }
        }
        Ok(places.into_iter().map(|p| p.unwrap_or(Place::Default)).collect())
    };
    match target {
        InsertTarget::ByPosition => {
            let mut next = 0..given;
            let places = (0..schema.fields().len()).map(|i| {
                let given = || next.next().map(Place::Source);
                constant(i).or_else(given).unwrap_or(Place::Default)
            });
            let places: Vec<Place> = places.collect();
            count(places.iter().filter(|p| !matches!(p, Place::Constant(_))).count())?;
            Ok(places)
        }
        InsertTarget::Columns(names) => {
            let places = by_names(&mut names.iter().map(String::as_str))?;
            count(names.len())?;
            Ok(places)
        }
        InsertTarget::ByName => by_names(&mut source.schema().fields().iter().map(|f| f.name().as_str())),
    }
}

/// Which column of the table has this name.
///
/// # Errors
/// `InvalidInput` with a near name.
pub(crate) fn column(name: &str, schema: &Schema, case: CaseSensitivity) -> Result<usize> {
    let same = |a: &str, b: &str| match case {
        CaseSensitivity::Sensitive => a == b,
        CaseSensitivity::Insensitive => a.to_lowercase() == b.to_lowercase(),
    };
    let found = schema.fields().iter().position(|f| same(&f.name, name));
    found.ok_or_else(|| {
        let hint = did_you_mean(name, schema.fields().iter().map(|f| f.name.as_str()));
        Error::invalid(format!("the table has no column '{name}'{hint}"))
    })
}

/// What a column gets when the statement gives nothing.
pub(crate) fn default_of(field: &NestedField) -> Result<ScalarValue> {
    if field.required && field.write_default.is_none() {
        return Err(Error::invalid(format!(
            "column '{}' is required and has no default: give it a value",
            field.name
        )));
    }
    to_scalar(field.write_default.as_ref(), &field.field_type)
}
