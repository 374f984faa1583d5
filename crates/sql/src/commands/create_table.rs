//! CREATE TABLE, REPLACE TABLE and CREATE OR REPLACE TABLE.

use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use tarn_engine::write::Replaced;
use tarn_format::catalog::{Table, TableCreation};
use tarn_format::commit::Transaction;
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, NestedFieldRef, StructType};
use tarn_format::update::MetadataBuilder;
use tarn_format::update::replace::replacement;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::column_defaults::default_value;
use super::create_table_as;
use super::partitioning::partition_spec;
use super::query::{plan_context, plan_context_with};
use super::table_properties::{creation_properties, done, warnings};
use super::write_plan::WritePlan;
use crate::ast::{ColumnDef, CreateMode, CreateTable};
use crate::loaded_tables::LoadedTables;
use crate::names::Located;
use crate::output::{Output, WriteReport};
use crate::session::Session;

/// What stands where the new table goes.
pub(crate) enum Place {
    /// Nothing.
    New,
    /// A table that is replaced.
    Existing(Table),
}

/// Runs CREATE TABLE, REPLACE TABLE and CREATE OR REPLACE TABLE, with a query or without.
pub(crate) async fn create_table(session: &Session, create: &CreateTable) -> Result<Output> {
    let located = session.locate_table(&create.name).await?;
    let name = format!("{}.{}", located.catalog_name, located.ident()?);
    let tables = LoadedTables::default();
    let Some(place) = place(&located, create.mode, &tables).await? else {
        return Ok(Output::Done(exists_already(&name)));
    };
    let warnings = warnings(create.properties.iter().map(|(key, _)| key.as_str()));
    let output = match &create.query {
        Some(query) => {
            let statement = match place {
                Place::New => "CREATE TABLE",
                Place::Existing(_) => "REPLACE TABLE",
            };
            let rows = create_table_as::plan_rows(session, create, query, &located, &tables).await?;
            if let Place::New = place {
                session.make_implied_namespace(&located).await?;
            }
            let plan = rows.into_write(session, &located, place, &Properties::new()).await?;
            plan.run(statement).await
        }
        None => without_query(session, create, &located, place)
            .await
            .map(|verb| Output::Done(format!("{verb} table {name}"))),
    };
    match output {
        Ok(Output::Written(report)) => Ok(Output::Written(WriteReport { warnings, ..report })),
        Ok(Output::Done(line)) => Ok(done(line, &warnings)),
        Ok(rows) => Ok(rows),
        // Another session was faster.
        Err(e) if e.kind() == ErrorKind::AlreadyExists && create.mode == CreateMode::CreateIfNotExists => {
            Ok(Output::Done(exists_already(&name)))
        }
        Err(e) => Err(e),
    }
}

/// Makes or replaces a table with the rows of a DataFrame, which may be another session's and is run as that one's.
///
/// # Errors
/// As [`create_table`].
pub(crate) async fn create_table_from(
    session: &Session,
    create: &CreateTable,
    rows: DataFrame,
    options: &Properties,
) -> Result<Output> {
    let located = session.locate_table(&create.name).await?;
    let tables = LoadedTables::default();
    let Some(place) = place(&located, create.mode, &tables).await? else {
        return Ok(Output::Done(exists_already(&create.name.to_string())));
    };
    let mut context = plan_context_with(session, &tables);
    let (state, plan) = rows.into_parts();
    context.state = state;
    let rows = create_table_as::rows_of(session, create, &located, (context, plan))?;
    let statement = match place {
        Place::New => "CREATE TABLE",
        Place::Existing(_) => "REPLACE TABLE",
    };
    if let Place::New = place {
        session.make_implied_namespace(&located).await?;
    }
    let plan = rows.into_write(session, &located, place, options).await?;
    plan.run(statement).await
}

fn exists_already(name: &str) -> String {
    format!("table {name} exists already, nothing created")
}

/// What EXPLAIN shows of CREATE TABLE … AS SELECT.
pub(crate) enum Explained {
    /// How the table would be written.
    Write(WritePlan),
    /// Why nothing would happen.
    Nothing(String),
}

/// Plans CREATE TABLE … AS SELECT, for EXPLAIN.
///
/// # Errors
/// `InvalidInput` for a statement without a query; those of planning.
pub(crate) async fn plan(session: &Session, create: &CreateTable) -> Result<Explained> {
    let Some(query) = &create.query else {
        return Err(Error::invalid("CREATE TABLE without a query has no plan to explain"));
    };
    let located = session.locate_table(&create.name).await?;
    let tables = LoadedTables::default();
    let Some(place) = place(&located, create.mode, &tables).await? else {
        let name = format!("{}.{}", located.catalog_name, located.ident()?);
        return Ok(Explained::Nothing(exists_already(&name)));
    };
    let rows = create_table_as::plan_rows(session, create, query, &located, &tables).await?;
    let options = Properties::new();
    let write = rows.into_write(session, &located, place, &options);
    write.await.map(Explained::Write)
}

/// Where the table goes; `None` when IF NOT EXISTS finds one.
async fn place(located: &Located, mode: CreateMode, tables: &LoadedTables) -> Result<Option<Place>> {
    let ident = located.ident()?;
    let catalog = &located.entry.catalog;
    match mode {
        CreateMode::Create | CreateMode::CreateIfNotExists => {
            let exists = catalog.table_exists(&ident).await?;
            match mode {
                CreateMode::CreateIfNotExists if exists => Ok(None),
                _ if exists => Err(Error::new(
                    ErrorKind::AlreadyExists,
                    format!("table {}.{ident} exists already", located.catalog_name),
                )),
                _ => Ok(Some(Place::New)),
            }
        }
        CreateMode::CreateOrReplace | CreateMode::Replace => match tables.load(catalog, &ident).await? {
            Some(table) => Ok(Some(Place::Existing(table))),
            None if mode == CreateMode::CreateOrReplace => Ok(Some(Place::New)),
            None => Err(Error::not_found(format!(
                "table {}.{ident} does not exist: CREATE OR REPLACE TABLE makes it",
                located.catalog_name
            ))),
        },
    }
}

/// Says what was done to the table.
async fn without_query(
    session: &Session,
    create: &CreateTable,
    located: &Located,
    place: Place,
) -> Result<&'static str> {
    let ident = located.ident()?;
    let name = format!("{}.{ident}", located.catalog_name);
    let case = session.settings().case_sensitivity();
    let columns = columns(session, create, case).context("table", name.as_str())?;
    let creation = creation(create, columns, case).context("table", name.as_str())?;
    let catalog = &located.entry.catalog;
    match place {
        Place::New => {
            session.make_implied_namespace(located).await?;
            catalog.create_table(&ident, creation).await.map(|_| "created")
        }
        Place::Existing(table) => {
            let (_, replaced) = replace(table, &creation).context("table", name.as_str())?;
            let transaction = Transaction::replace(replaced.table, replaced.updates);
            let outcome = transaction
                .commit(catalog.as_ref(), &session.commit_options(&located.entry))
                .await;
            outcome.context("table", name).map(|_| "replaced")
        }
    }
}

/// What the statement asks of a new table with these columns.
///
/// # Errors
/// `InvalidInput` for clauses that contradict each other, or that the columns cannot meet.
pub(crate) fn creation(create: &CreateTable, columns: StructType, case: CaseSensitivity) -> Result<TableCreation> {
    let schema = Schema::new(0, columns, Vec::new())?;
    Ok(TableCreation {
        partition_spec: Some(partition_spec(&create.partitioning, &schema, case)?),
        schema,
        sort_order: None,
        location: create.location.clone(),
        properties: creation_properties(create)?,
        format_version: FormatVersion::V2,
    })
}

/// The table that `creation` makes of an existing one, and what replaces the one by the other.
///
/// # Errors
/// `InvalidInput` and `Unsupported` for what a table cannot become, such as one of a lower format version.
pub(crate) fn replace(table: Table, creation: &TableCreation) -> Result<(Table, Replaced)> {
    let updates = replacement(&table.metadata, creation)?;
    let mut builder = MetadataBuilder::from_metadata(Arc::clone(&table.metadata), table.metadata_location.as_deref());
    builder.apply_all(&updates)?;
    let after = Table {
        metadata: Arc::new(builder.build(table.metadata.last_updated_ms)?),
        ..table.clone()
    };
    Ok((after, Replaced { table, updates }))
}

/// The columns of the statement, those that PARTITIONED BY declares at the end.
fn columns(session: &Session, create: &CreateTable, case: CaseSensitivity) -> Result<StructType> {
    let declared = create.partitioning.iter().filter_map(|t| t.declared.as_ref());
    let columns: Vec<&ColumnDef> = create.columns.iter().chain(declared).collect();
    let mut next_id = 0;
    let mut fields: Vec<NestedFieldRef> = Vec::with_capacity(columns.len());
    for column in columns {
        let mut field = column.to_iceberg(&mut next_id);
        set_default(session, column, &mut field)?;
        fields.push(Arc::new(field));
    }
    if case == CaseSensitivity::Insensitive {
        refuse_duplicates(&fields)?;
    }
    Ok(StructType { fields })
}

/// A new column reads as its default in rows that were there before it, and is written as it where none is given.
fn set_default(session: &Session, column: &ColumnDef, field: &mut NestedField) -> Result<()> {
    if let Some(default) = &column.default {
        let value = default_value(&plan_context(session), default, field)?;
        field.initial_default.clone_from(&value);
        field.write_default = value;
    }
    Ok(())
}

/// Names that differ only in case could not be told apart afterwards.
pub(crate) fn refuse_duplicates(fields: &[NestedFieldRef]) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for field in fields {
        if !seen.insert(field.name.to_lowercase()) {
            return Err(Error::invalid(format!("column '{}' is defined twice", field.name)));
        }
        let children: Vec<NestedFieldRef> = field.field_type.children().into_iter().cloned().collect();
        refuse_duplicates(&children)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
