//! Types in DDL: Spark's names, and Iceberg's own for what Spark lacks (the reference's type tables).

use sqlparser::tokenizer::Token;
use tarn_format::spec::types::{Nullability, PrimitiveType};
use tarn_format::{Error, Result};

use super::cursor::Cursor;
use crate::ast::{ColumnDef, DataType};

/// Deepest nesting of a type.
const MAX_DEPTH: usize = 64;

/// Closing brackets that were read with an inner type: `>>` is one token.
#[derive(Debug, Default)]
struct Closers(usize);

/// A type.
pub(crate) fn data_type(c: &mut Cursor<'_>) -> Result<DataType> {
    let mut closers = Closers::default();
    let parsed = parse(c, &mut closers, 0)?;
    if closers.0 > 0 {
        return Err(c.unexpected("a type without surplus '>'"));
    }
    Ok(parsed)
}

fn parse(c: &mut Cursor<'_>, closers: &mut Closers, depth: usize) -> Result<DataType> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid("the type is nested too deeply"));
    }
    let Token::Word(word) = c.peek(0).clone() else {
        return Err(c.unexpected("a type"));
    };
    c.next();
    let name = word.value.to_ascii_lowercase();
    match name.as_str() {
        "array" | "list" => {
            open(c, "array<type>")?;
            let element = parse(c, closers, depth + 1)?;
            close(c, closers)?;
            Ok(DataType::Array(Box::new(element)))
        }
        "map" => {
            open(c, "map<key, value>")?;
            let key = parse(c, closers, depth + 1)?;
            c.expect_token(&Token::Comma)?;
            let value = parse(c, closers, depth + 1)?;
            close(c, closers)?;
            Ok(DataType::Map(Box::new(key), Box::new(value)))
        }
        "struct" => {
            open(c, "struct<name: type, …>")?;
            let mut fields = vec![field(c, closers, depth + 1)?];
            while closers.0 == 0 && c.eat_token(&Token::Comma) {
                fields.push(field(c, closers, depth + 1)?);
            }
            close(c, closers)?;
            Ok(DataType::Struct(fields))
        }
        "variant" => Ok(DataType::Variant),
        "interval" => Err(Error::invalid(
            "Iceberg has no interval type: store a number of days, months or microseconds",
        )),
        _ => primitive(c, &name).map(DataType::Primitive),
    }
}

fn open(c: &mut Cursor<'_>, form: &str) -> Result<()> {
    if c.eat_token(&Token::Lt) {
        return Ok(());
    }
    let what = form.split('<').next().unwrap_or(form);
    Err(Error::invalid(format!("type {what} is incomplete: write {form}")))
}

fn close(c: &mut Cursor<'_>, closers: &mut Closers) -> Result<()> {
    if closers.0 > 0 {
        closers.0 -= 1;
        return Ok(());
    }
    if c.eat_token(&Token::ShiftRight) {
        closers.0 = 1;
        return Ok(());
    }
    c.expect_token(&Token::Gt)
}

fn field(c: &mut Cursor<'_>, closers: &mut Closers, depth: usize) -> Result<ColumnDef> {
    let name = c.identifier()?;
    c.eat_token(&Token::Colon);
    let data_type = parse(c, closers, depth)?;
    let mut def = plain_column(name, data_type);
    if closers.0 > 0 {
        return Ok(def);
    }
    loop {
        if c.eat(&["NOT", "NULL"]) {
            def.nullability = Nullability::Required;
        } else if c.eat(&["COMMENT"]) {
            def.comment = Some(c.string()?);
        } else {
            return Ok(def);
        }
    }
}

/// A column that allows null and has no comment.
pub(crate) fn plain_column(name: String, data_type: DataType) -> ColumnDef {
    ColumnDef {
        name,
        data_type,
        nullability: Nullability::Optional,
        comment: None,
        default: None,
    }
}

fn primitive(c: &mut Cursor<'_>, name: &str) -> Result<PrimitiveType> {
    Ok(match name {
        "boolean" | "bool" => PrimitiveType::Boolean,
        "tinyint" | "byte" | "smallint" | "short" | "int" | "integer" => PrimitiveType::Int,
        "bigint" | "long" => PrimitiveType::Long,
        "float" | "real" => PrimitiveType::Float,
        "double" => PrimitiveType::Double,
        "date" => PrimitiveType::Date,
        "time" => PrimitiveType::Time,
        "timestamp" | "timestamp_ltz" | "timestamptz" => PrimitiveType::Timestamptz,
        "timestamp_ntz" => PrimitiveType::Timestamp,
        "timestamp_ns" => PrimitiveType::TimestampNs,
        "timestamptz_ns" => PrimitiveType::TimestamptzNs,
        "string" | "text" => PrimitiveType::String,
        "char" | "character" | "varchar" => {
            c.parenthesized(Cursor::integer)?;
            PrimitiveType::String
        }
        "binary" => PrimitiveType::Binary,
        "uuid" => PrimitiveType::Uuid,
        "fixed" => fixed(c)?,
        "decimal" | "dec" | "numeric" => decimal(c)?,
        "unknown" | "void" => PrimitiveType::Unknown,
        "geometry" => PrimitiveType::Geometry { crs: crs(c)? },
        "geography" => PrimitiveType::Geography {
            crs: crs(c)?,
            algorithm: None,
        },
        other => {
            return Err(Error::invalid(format!(
                "unknown type '{other}'; types are boolean, int, bigint, float, double, decimal(p,s), date, time, \
                 timestamp, timestamp_ntz, string, uuid, fixed(n), binary, variant, array<>, map<>, struct<>"
            )));
        }
    })
}

fn fixed(c: &mut Cursor<'_>) -> Result<PrimitiveType> {
    let length = c.parenthesized(Cursor::integer)?;
    match length.as_slice() {
        [n] if *n > 0 && *n <= i32::MAX as u64 => Ok(PrimitiveType::Fixed(*n as u32)),
        _ => Err(Error::invalid("fixed takes one length, as in fixed(16)")),
    }
}

fn decimal(c: &mut Cursor<'_>) -> Result<PrimitiveType> {
    let arguments = if *c.peek(0) == Token::LParen {
        c.parenthesized(Cursor::integer)?
    } else {
        vec![10, 0]
    };
    let (precision, scale) = match arguments.as_slice() {
        [p] => (*p, 0),
        [p, s] => (*p, *s),
        _ => return Err(Error::invalid("decimal takes precision and scale, as in decimal(10,2)")),
    };
    if precision == 0 || precision > 38 || scale > precision {
        return Err(Error::invalid(format!(
            "decimal({precision},{scale}) is not possible: precision is 1 to 38, scale at most the precision"
        )));
    }
    Ok(PrimitiveType::Decimal {
        precision: precision as u8,
        scale: scale as u8,
    })
}

fn crs(c: &mut Cursor<'_>) -> Result<Option<String>> {
    if *c.peek(0) != Token::LParen {
        return Ok(None);
    }
    let crs = c.parenthesized(Cursor::string)?;
    Ok(crs.into_iter().next())
}
