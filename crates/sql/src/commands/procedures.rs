//! CALL, SHOW PROCEDURES and DESCRIBE PROCEDURE.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, new_empty_array};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::common::ScalarValue;
use tarn_format::spec::types::Nullability;
use tarn_format::{Error, Result, ResultExt};

use super::query::plan_context;
use super::show::matches;
use crate::ast::Name;
use crate::ast::call::Call;
use crate::catalogs::CatalogEntry;
use crate::error::from_engine;
use crate::functions::type_name;
use crate::output::Output;
use crate::procedures::{self, Arguments, NAMESPACE, OutputColumn, PROCEDURES, Procedure, Rows};
use crate::session::Session;

/// Runs CALL.
///
/// # Errors
/// `NotFound` for a procedure that does not exist, those of binding its arguments, and those of the procedure.
pub(crate) async fn call(session: &Session, call: &Call) -> Result<Output> {
    let (catalog, procedure) = find(session, &call.procedure).await?;
    let name = format!("{NAMESPACE}.{}", procedure.name);
    let arguments = Arguments::bind(&plan_context(session), procedure.parameters, &call.arguments)
        .context("procedure", name.as_str())?;
    let call = procedures::Call {
        session,
        catalog,
        arguments,
    };
    let rows = procedures::run(procedure, call).await?;
    batch(procedure.output, rows).map(Output::batch)
}

/// The procedure of this name, and the catalog it is called in: the current one unless the name begins with another.
async fn find(session: &Session, name: &Name) -> Result<(CatalogEntry, &'static Procedure)> {
    let missing = |why: String| Error::not_found(format!("procedure {name} does not exist: {why}"));
    let (catalog, namespace, procedure) = match name.0.as_slice() {
        [catalog, namespace, procedure] => (Some(catalog), namespace, procedure),
        [namespace, procedure] => (None, namespace, procedure),
        _ => {
            return Err(missing(format!(
                "procedures are called as {NAMESPACE}.name or catalog.{NAMESPACE}.name"
            )));
        }
    };
    let entry = match catalog {
        Some(catalog) => session.catalog(catalog).await?,
        None => Some(session.current_catalog().await?.1),
    };
    let entry = entry.ok_or_else(|| missing("there is no such catalog".to_string()))?;
    if !namespace.eq_ignore_ascii_case(NAMESPACE) {
        return Err(missing(format!("all procedures are in namespace {NAMESPACE}")));
    }
    Ok((entry, procedures::find(procedure)?))
}

fn batch(columns: &[OutputColumn], rows: Rows) -> Result<RecordBatch> {
    let fields = columns
        .iter()
        .map(|c| Field::new(c.name, c.column_type.arrow(), c.nullability == Nullability::Optional));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let column = |at: usize, declared: &OutputColumn| -> Result<ArrayRef> {
        let values: Vec<ScalarValue> = rows.iter().filter_map(|row| row.get(at).cloned()).collect();
        if values.is_empty() {
            return Ok(new_empty_array(&declared.column_type.arrow()));
        }
        ScalarValue::iter_to_array(values).map_err(from_engine)
    };
    let arrays: Result<Vec<ArrayRef>> = columns.iter().enumerate().map(|(at, c)| column(at, c)).collect();
    RecordBatch::try_new(schema, arrays?)
        .map_err(|e| Error::corrupt("a procedure's rows do not fit its columns").with_source(e))
}

/// Runs SHOW PROCEDURES.
///
/// # Errors
/// `NotFound` for a catalog that does not exist or a namespace other than that of the procedures.
pub(crate) async fn show(session: &Session, scope: Option<&Name>, pattern: Option<&str>) -> Result<Output> {
    let catalog = match scope.map(|name| name.0.as_slice()) {
        None => session.current_catalog().await?.0,
        Some([first, rest @ ..]) => {
            let named = session.catalog(first).await?;
            let (catalog, rest) = match &named {
                Some(entry) => (entry.catalog.name().to_string(), rest),
                None => (
                    session.current_catalog().await?.0,
                    scope.map_or(&[][..], |name| &name.0),
                ),
            };
            match rest {
                [] => catalog,
                [namespace] if namespace.eq_ignore_ascii_case(NAMESPACE) => catalog,
                _ => {
                    return Err(Error::not_found(format!(
                        "there are no procedures in {}: they are in namespace {NAMESPACE} of every catalog",
                        rest.join(".")
                    )));
                }
            }
        }
        Some([]) => session.current_catalog().await?.0,
    };
    let shown = PROCEDURES.iter().filter(|p| matches(p.name, pattern));
    let row = |p: &&Procedure| [catalog.as_str(), NAMESPACE, p.name, p.description].map(|text| Some(text.to_string()));
    Output::text(
        ["catalog", "namespace", "procedure", "description"],
        shown.map(row).collect(),
    )
}

/// Runs DESCRIBE PROCEDURE.
///
/// # Errors
/// As [`call`].
pub(crate) async fn describe(session: &Session, name: &Name) -> Result<Output> {
    let (_, procedure) = find(session, name).await?;
    let row = |cells: [&str; 5]| cells.map(|text| Some(text.to_string()));
    let mut rows = vec![row(["procedure", procedure.name, "", "", procedure.description])];
    for p in procedure.parameters {
        let needed = match p.presence {
            procedures::Presence::Required => "required",
            procedures::Presence::Optional => "optional",
        };
        rows.push(row([
            "argument",
            p.name,
            &p.parameter_type.to_string(),
            needed,
            p.description,
        ]));
    }
    for column in procedure.output {
        let data_type = type_name(&column.column_type.arrow());
        rows.push(row(["output", column.name, &data_type, "", column.description]));
    }
    Output::text(["kind", "name", "type", "presence", "description"], rows)
}
