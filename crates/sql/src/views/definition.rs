//! What a view is: a query, where its names are looked for, and the names of its columns.

use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use sqlparser::ast::Query;
use tarn_format::catalog::{Namespace, View};
use tarn_format::spec::view_metadata::ViewRepresentation;
use tarn_format::{Error, Result};

use super::columns::{self, BoundColumn, Family};
use crate::ast::Statement;
use crate::dialect::TarnDialect;
use crate::error::from_engine;
use crate::parser::parse;
use crate::session::Current;

/// The dialect of our queries.
pub(crate) const SPARK: &str = "spark";

/// The property that tells the names of the query's columns (Java: `SparkView.QUERY_COLUMN_NAMES`).
pub(crate) const QUERY_COLUMN_NAMES: &str = "spark.query-column-names";

/// A view's query.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// The query.
    pub(crate) query: Box<Query>,
    /// Where its names are looked for.
    pub(crate) place: Current,
    /// The view's columns.
    pub(crate) columns: Vec<BoundColumn>,
}

impl Definition {
    /// The current version of a view of a catalog.
    ///
    /// # Errors
    /// `Unsupported` when it has no query in Spark's dialect, `Corrupt` when its schema is missing, `InvalidInput` when
    /// its text is no query.
    pub(crate) fn of_view(catalog: &str, view: &View) -> Result<Definition> {
        let metadata = &view.metadata;
        let version = metadata.current_version();
        let sql = spark_sql(&version.representations)?;
        let schema = metadata.schema_by_id(version.schema_id);
        let schema =
            schema.ok_or_else(|| Error::corrupt(format!("schema {} of the view is missing", version.schema_id)))?;
        let names = metadata.properties.get(QUERY_COLUMN_NAMES);
        let names: Vec<&str> = names.map(|n| n.split(',').collect()).unwrap_or_default();
        // Names that hold commas cannot be told apart.
        let are_known = names.len() == schema.fields().len();
        let columns = schema.fields().iter().enumerate().map(|(at, field)| BoundColumn {
            name: field.name.clone(),
            query_name: are_known.then(|| names[at].to_string()),
            family: Family::of_iceberg(&field.field_type),
        });
        Ok(Definition {
            query: query(sql)?,
            place: Current {
                catalog: version.default_catalog.clone().unwrap_or_else(|| catalog.to_string()),
                namespace: Namespace(version.default_namespace.clone()),
            },
            columns: columns.collect(),
        })
    }

    /// What the query calls the columns, for the view's properties.
    pub(crate) fn query_columns(&self) -> String {
        let names = self.columns.iter().map(|c| c.query_name.as_deref().unwrap_or(&c.name));
        names.collect::<Vec<_>>().join(",")
    }

    /// The query's plan with the view's columns, as [`columns::places`] finds them.
    ///
    /// # Errors
    /// `InvalidInput` when a column is gone or holds something else.
    pub(crate) fn with_columns(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let found = plan.schema().columns();
        let fields = plan.schema().fields().iter();
        let fields: Vec<_> = fields.map(|f| (f.name().as_str(), f.data_type())).collect();
        let places = columns::places(&self.query, &self.columns, &fields)?;
        let columns = places.iter().zip(&self.columns);
        let columns = columns.map(|(at, column)| Expr::Column(found[*at].clone()).alias(&column.name));
        let columns: Vec<Expr> = columns.collect();
        LogicalPlanBuilder::from(plan)
            .project(columns)
            .and_then(LogicalPlanBuilder::build)
            .map_err(from_engine)
    }
}

fn spark_sql(representations: &[ViewRepresentation]) -> Result<&str> {
    let mut others = Vec::new();
    for representation in representations {
        match representation {
            ViewRepresentation::Sql { sql, dialect, .. } if dialect.eq_ignore_ascii_case(SPARK) => return Ok(sql),
            ViewRepresentation::Sql { dialect, .. } => others.push(dialect.as_str()),
            ViewRepresentation::Other(_) => {}
        }
    }
    Err(Error::unsupported(format!(
        "the view has no query in the dialect {SPARK}, only in {}: replace it from here, or read its tables",
        if others.is_empty() {
            "none".to_string()
        } else {
            others.join(", ")
        }
    )))
}

fn query(sql: &str) -> Result<Box<Query>> {
    let mut statements = parse(sql, &TarnDialect::default())?.into_iter();
    match (statements.next(), statements.next()) {
        (Some(Statement::Query(query)), None) => Ok(query),
        _ => Err(Error::invalid("the text of the view is not one query")),
    }
}
