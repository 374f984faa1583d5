//! CREATE TABLE without a query.

use std::sync::Arc;

use tarn_format::catalog::TableCreation;
use tarn_format::spec::partition::{PARTITION_FIELD_ID_START, PartitionField, PartitionSpec};
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedFieldRef, StructType};
use tarn_format::update::spec::default_name;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use crate::ast::{ColumnDef, CreateMode, CreateTable, PartitionTerm};
use crate::output::Output;
use crate::session::Session;

/// Runs CREATE TABLE.
pub(crate) async fn create_table(session: &Session, create: &CreateTable) -> Result<Output> {
    if create.query.is_some() || matches!(create.mode, CreateMode::CreateOrReplace | CreateMode::Replace) {
        return Err(Error::unsupported(
            "CREATE TABLE … AS SELECT and REPLACE TABLE are not supported yet",
        ));
    }
    let located = session.locate_table(&create.name).await?;
    let ident = located.ident()?;
    let name = format!("{}.{ident}", located.catalog_name);
    let case = session.settings().case_sensitivity();
    let creation = creation(create, case).context("table", name.as_str())?;
    session.make_implied_namespace(&located).await?;
    match located.entry.catalog.create_table(&ident, creation).await {
        Ok(_) => Ok(Output::Done(format!("created table {name}"))),
        Err(e) if e.kind() == ErrorKind::AlreadyExists && create.mode == CreateMode::CreateIfNotExists => {
            Ok(Output::Done(format!("table {name} exists already, nothing created")))
        }
        Err(e) => Err(e),
    }
}

/// What the statement asks of a new table.
///
/// # Errors
/// `InvalidInput` for clauses that contradict each other, `Unsupported` for other table formats.
pub(crate) fn creation(create: &CreateTable, case: CaseSensitivity) -> Result<TableCreation> {
    if let Some(provider) = &create.provider
        && !provider.eq_ignore_ascii_case("iceberg")
    {
        return Err(Error::unsupported(format!(
            "USING {provider}: only iceberg tables can be created"
        )));
    }
    if create.columns.iter().any(|c| c.default.is_some()) {
        return Err(Error::unsupported("DEFAULT values are not supported yet"));
    }
    let schema = schema(create, case)?;
    let partition_spec = partition_spec(&create.partitioning, &schema, case)?;
    let mut properties: Properties = create.properties.iter().cloned().collect();
    if let Some(comment) = &create.comment {
        properties.insert("comment".to_string(), comment.clone());
    }
    Ok(TableCreation {
        schema,
        partition_spec: Some(partition_spec),
        sort_order: None,
        location: create.location.clone(),
        properties,
        format_version: FormatVersion::V2,
    })
}

fn schema(create: &CreateTable, case: CaseSensitivity) -> Result<Schema> {
    let declared = create.partitioning.iter().filter_map(|t| t.declared.as_ref());
    let columns: Vec<&ColumnDef> = create.columns.iter().chain(declared).collect();
    let mut next_id = 0;
    let fields: Vec<NestedFieldRef> = columns.iter().map(|c| Arc::new(c.to_iceberg(&mut next_id))).collect();
    if case == CaseSensitivity::Insensitive {
        refuse_duplicates(&fields)?;
    }
    Schema::new(0, StructType { fields }, Vec::new())
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

/// The spec that PARTITIONED BY describes. One column may be there once only, as in Spark.
///
/// # Errors
/// `InvalidInput` for unknown columns, and transforms that don't fit or contradict each other.
pub(crate) fn partition_spec(terms: &[PartitionTerm], schema: &Schema, case: CaseSensitivity) -> Result<PartitionSpec> {
    let mut spec = PartitionSpec::default();
    for term in terms {
        let name = term.column.to_string();
        let Some(source) = schema.find_field(&name, case)? else {
            return Err(Error::invalid(format!(
                "partition column '{name}' is not a column of the table"
            )));
        };
        let Some(primitive) = source.field_type.as_primitive() else {
            return Err(Error::invalid(format!(
                "column '{name}' of type {} cannot partition a table",
                source.field_type
            )));
        };
        term.transform.result_type(primitive)?;
        if spec.fields.iter().any(|f| f.source_id() == Some(source.id)) {
            return Err(Error::invalid(format!(
                "column '{name}' occurs twice in PARTITIONED BY"
            )));
        }
        let full_name = schema.full_name(source.id).unwrap_or(&name);
        let ordinal = i32::try_from(spec.fields.len()).unwrap_or(i32::MAX);
        spec.fields.push(PartitionField {
            source_ids: vec![source.id],
            field_id: PARTITION_FIELD_ID_START.saturating_add(ordinal),
            name: default_name(full_name, &term.transform),
            transform: term.transform.clone(),
            extra: Default::default(),
        });
    }
    Ok(spec)
}
