//! CREATE [OR REPLACE] TABLE, REPLACE TABLE, DROP TABLE.

use sqlparser::tokenizer::Token;
use tarn_format::spec::types::Nullability;
use tarn_format::transform::Transform;
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use super::types::{data_type, plain_column};
use crate::ast::{ColumnDef, CreateMode, CreateTable, IfExists, Name, PartitionTerm, Purge, Statement};

/// What follows `CREATE [OR REPLACE] TABLE` or `REPLACE TABLE`.
pub(crate) fn create_table(c: &mut Cursor<'_>, mode: CreateMode) -> Result<Statement> {
    let mode = match (mode, c.eat(&["IF", "NOT", "EXISTS"])) {
        (CreateMode::Create, true) => CreateMode::CreateIfNotExists,
        (_, true) => return Err(Error::invalid("IF NOT EXISTS cannot be combined with REPLACE")),
        (mode, false) => mode,
    };
    let mut table = CreateTable {
        name: c.name()?,
        mode,
        columns: Vec::new(),
        provider: None,
        partitioning: Vec::new(),
        comment: None,
        location: None,
        properties: Vec::new(),
        query: None,
    };
    if *c.peek(0) == Token::LParen && !starts_query(c, 1) {
        table.columns = c.parenthesized(column)?;
    }
    while clause(c, &mut table)? {}
    if c.eat(&["AS"]) || starts_query(c, 0) || *c.peek(0) == Token::LParen {
        table.query = Some(c.query()?);
    }
    if table.query.is_some() && !table.columns.is_empty() {
        return Err(Error::invalid(
            "CREATE TABLE … AS SELECT takes its columns from the query: leave the column list out",
        ));
    }
    Ok(Statement::CreateTable(Box::new(table)))
}

fn starts_query(c: &Cursor<'_>, n: usize) -> bool {
    ["SELECT", "WITH", "VALUES"]
        .iter()
        .any(|w| super::tokens::is_word(c.peek(n), w))
}

fn clause(c: &mut Cursor<'_>, table: &mut CreateTable) -> Result<bool> {
    if c.eat(&["USING"]) {
        refuse_second(table.provider.is_some(), "USING")?;
        table.provider = Some(c.identifier()?);
    } else if c.eat(&["PARTITIONED", "BY"]) {
        refuse_second(!table.partitioning.is_empty(), "PARTITIONED BY")?;
        table.partitioning = c.parenthesized(partition_term)?;
    } else if c.eat(&["COMMENT"]) {
        refuse_second(table.comment.is_some(), "COMMENT")?;
        table.comment = Some(c.string()?);
    } else if c.eat(&["LOCATION"]) {
        refuse_second(table.location.is_some(), "LOCATION")?;
        table.location = Some(c.string()?);
    } else if c.eat(&["TBLPROPERTIES"]) || c.eat(&["OPTIONS"]) {
        table.properties.extend(c.properties()?);
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// A clause that is given again contradicts itself.
fn refuse_second(is_given: bool, clause: &str) -> Result<()> {
    match is_given {
        true => Err(Error::invalid(format!("{clause} is given twice"))),
        false => Ok(()),
    }
}

/// A column with its constraints.
pub(crate) fn column(c: &mut Cursor<'_>) -> Result<ColumnDef> {
    let name = c.identifier()?;
    let mut def = plain_column(name, data_type(c)?);
    constraints(c, &mut def)?;
    Ok(def)
}

/// `NOT NULL`, `COMMENT 'text'` and `DEFAULT value`, in any order.
pub(crate) fn constraints(c: &mut Cursor<'_>, def: &mut ColumnDef) -> Result<()> {
    loop {
        if c.eat(&["NOT", "NULL"]) {
            def.nullability = Nullability::Required;
        } else if c.eat(&["COMMENT"]) {
            def.comment = Some(c.string()?);
        } else if c.eat(&["DEFAULT"]) {
            def.default = Some(c.expression()?);
        } else {
            return Ok(());
        }
    }
}

/// A column, or a transform of one.
pub(crate) fn field_term(c: &mut Cursor<'_>) -> Result<PartitionTerm> {
    if matches!(c.peek(0), Token::Word(_)) && *c.peek(1) == Token::LParen {
        return transform_term(c);
    }
    Ok(PartitionTerm {
        transform: Transform::Identity,
        column: c.name()?,
        declared: None,
    })
}

/// A column, a transform of one, or a column with its type.
pub(crate) fn partition_term(c: &mut Cursor<'_>) -> Result<PartitionTerm> {
    if matches!(c.peek(0), Token::Word(_)) && *c.peek(1) == Token::LParen {
        return transform_term(c);
    }
    let column = c.name()?;
    let declared = if matches!(c.peek(0), Token::Word(_)) && column.0.len() == 1 {
        let mut def = plain_column(column.0[0].clone(), data_type(c)?);
        if c.eat(&["COMMENT"]) {
            def.comment = Some(c.string()?);
        }
        Some(def)
    } else {
        None
    };
    Ok(PartitionTerm {
        transform: Transform::Identity,
        column,
        declared,
    })
}

/// An argument of a transform: its width or the column.
enum Argument {
    Number(u64),
    Column(Name),
}

fn transform_term(c: &mut Cursor<'_>) -> Result<PartitionTerm> {
    let name = c.identifier()?;
    let arguments = c.parenthesized(|c| match c.peek(0) {
        Token::Number(..) => Ok(Argument::Number(c.integer()?)),
        _ => Ok(Argument::Column(c.name()?)),
    })?;
    // Spark writes the width first, Iceberg's own expressions last.
    let (width, column) = match arguments.as_slice() {
        [Argument::Column(column)] => (None, column),
        [Argument::Number(n), Argument::Column(column)] | [Argument::Column(column), Argument::Number(n)] => {
            (Some(*n), column)
        }
        _ => {
            return Err(Error::invalid(format!(
                "transform {name} takes one column and at most one number"
            )));
        }
    };
    Ok(PartitionTerm {
        transform: transform(&name, width)?,
        column: column.clone(),
        declared: None,
    })
}

fn transform(name: &str, width: Option<u64>) -> Result<Transform> {
    let lower = name.to_ascii_lowercase();
    let width = match width {
        None => None,
        Some(w) if w > 0 && w <= i32::MAX as u64 => Some(w as u32),
        Some(w) => {
            return Err(Error::invalid(format!(
                "{lower}({w}, …): the number must be between 1 and {}",
                i32::MAX
            )));
        }
    };
    match (lower.as_str(), width) {
        ("identity", None) => Ok(Transform::Identity),
        ("bucket", Some(n)) => Ok(Transform::Bucket(n)),
        ("truncate" | "trunc", Some(n)) => Ok(Transform::Truncate(n)),
        ("bucket" | "truncate" | "trunc", None) => Err(Error::invalid(format!(
            "{lower} takes a number and a column, as in {lower}(16, id)"
        ))),
        ("year" | "years", None) => Ok(Transform::Year),
        ("month" | "months", None) => Ok(Transform::Month),
        ("day" | "days" | "date", None) => Ok(Transform::Day),
        ("hour" | "hours" | "date_hour", None) => Ok(Transform::Hour),
        ("void" | "alwaysnull", None) => Ok(Transform::Void),
        _ => Err(Error::invalid(format!(
            "unknown transform '{name}'; transforms are identity, bucket, truncate, year, month, day, hour"
        ))),
    }
}

/// What follows `DROP TABLE`.
pub(crate) fn drop_table(c: &mut Cursor<'_>) -> Result<Statement> {
    let if_exists = if c.eat(&["IF", "EXISTS"]) {
        IfExists::Given
    } else {
        IfExists::Absent
    };
    let name = c.name()?;
    let purge = if c.eat(&["PURGE"]) { Purge::Given } else { Purge::Absent };
    Ok(Statement::DropTable { name, if_exists, purge })
}
