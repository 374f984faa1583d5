//! ALTER TABLE. Every change is computed from the state that it is committed to: when another writer was first, once more
//! from the newer state, so that no change is lost and none is made that the newer state forbids.

mod columns;
mod identifier_fields;
mod partition_fields;
mod properties;
mod refs;
mod rename;
#[cfg(test)]
mod tests;
mod write_order;

use std::sync::Arc;

use tarn_format::catalog::Table;
use tarn_format::commit::Transaction;
use tarn_format::spec::table_metadata::TableMetadataRef;
use tarn_format::update::TableUpdate;
use tarn_format::{Result, ResultExt};

use super::show::plain_table;
use super::table_properties::{done, warnings};
use crate::ast::Name;
use crate::ast::alter::AlterTable;
use crate::output::Output;
use crate::relations::full_name;
use crate::session::Session;

/// Computes what a statement changes of a table in this state.
type Changer = Box<dyn Fn(&TableMetadataRef) -> Result<Vec<TableUpdate>> + Send + Sync>;

/// Runs ALTER TABLE and COMMENT ON TABLE.
pub(crate) async fn alter_table(session: &Session, name: &Name, change: &AlterTable) -> Result<Output> {
    if let AlterTable::RenameTo(new_name) = change {
        return rename::rename(session, name, new_name).await;
    }
    let found = plain_table(session, name).await?;
    let full_name = full_name(&found).to_string();
    let transaction = transaction(session, &found.table, change).context("table", full_name.as_str())?;
    // How often it is tried again is the table's business (`commit.retry.*`).
    let options = session.commit_options(&found.entry);
    let outcome = transaction.commit(found.entry.catalog.as_ref(), &options).await;
    outcome.context("table", full_name.as_str())?;
    let warnings = match change {
        AlterTable::SetProperties(properties) => warnings(properties.iter().map(|(key, _)| key.as_str())),
        _ => Vec::new(),
    };
    Ok(done(format!("altered table {full_name}"), &warnings))
}

fn transaction(session: &Session, table: &Table, change: &AlterTable) -> Result<Transaction> {
    let transaction = Transaction::of(table);
    if let AlterTable::PutRef(put) = change
        && refs::needs_snapshot(&table.metadata, put)
    {
        let retain = refs::retain(put.clone());
        let began = transaction.change(refs::empty_snapshot(put));
        return Ok(began.update(move |metadata| retain(&Arc::new(metadata.clone()))));
    }
    let changer = changer(session, &table.metadata, change)?;
    // Told at once, before anything is tried at the catalog.
    changer(&table.metadata)?;
    Ok(transaction.update(move |metadata| changer(&Arc::new(metadata.clone()))))
}

fn changer(session: &Session, metadata: &TableMetadataRef, change: &AlterTable) -> Result<Changer> {
    let case = session.settings().case_sensitivity();
    let change = change.clone();
    Ok(match change {
        AlterTable::SetProperties(set) => properties::set(set)?,
        AlterTable::UnsetProperties(keys) => properties::unset(keys),
        AlterTable::SetLocation(location) => properties::set_location(location),
        AlterTable::AddColumns(columns) => columns::add(session, columns, case)?,
        AlterTable::DropColumns { columns, if_exists } => columns::drop(columns, if_exists, case),
        AlterTable::RenameColumn { column, new_name } => columns::rename(column, new_name, case),
        AlterTable::AlterColumn { column, changes } => columns::alter(session, metadata, &column, changes, case)?,
        AlterTable::ReplaceColumns(columns) => columns::replace(session, columns, case)?,
        AlterTable::AddPartitionField { term, name } => partition_fields::add(*term, name, case),
        AlterTable::DropPartitionField(term) => partition_fields::drop(*term, case),
        AlterTable::ReplacePartitionField { old, new, name } => partition_fields::replace(*old, *new, name, case),
        AlterTable::Write(order) => write_order::write_order(order, case),
        AlterTable::SetIdentifierFields(names) => identifier_fields::set(names, case),
        AlterTable::DropIdentifierFields(names) => identifier_fields::drop(names, case),
        AlterTable::PutRef(put) => refs::put(put),
        AlterTable::DropRef { kind, name, if_exists } => refs::drop(kind, name, if_exists),
        // Renaming is the catalog's.
        AlterTable::RenameTo(_) => Box::new(|_| Ok(Vec::new())),
    })
}
