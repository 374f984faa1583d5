//! WRITE [DISTRIBUTED BY PARTITION] [[LOCALLY] ORDERED BY …] | UNORDERED.

use sqlparser::tokenizer::Token;
use tarn_format::spec::sort::{NullOrder, SortDirection};
use tarn_format::{Error, Result};

use crate::ast::alter::{OrderField, WriteOrder};
use crate::parser::create_table::field_term;
use crate::parser::cursor::Cursor;

/// What follows `WRITE`.
pub(super) fn write_order(c: &mut Cursor<'_>) -> Result<WriteOrder> {
    let mut distributed = false;
    let mut ordering: Option<(Option<&'static str>, Vec<OrderField>)> = None;
    loop {
        let next = if c.eat(&["DISTRIBUTED", "BY", "PARTITION"]) {
            if std::mem::replace(&mut distributed, true) {
                return Err(Error::invalid("DISTRIBUTED BY PARTITION is given twice"));
            }
            continue;
        } else if c.eat(&["UNORDERED"]) {
            (Some("none"), Vec::new())
        } else if c.eat(&["LOCALLY", "ORDERED", "BY"]) {
            (None, order(c)?)
        } else if c.eat(&["ORDERED", "BY"]) {
            (Some("range"), order(c)?)
        } else {
            break;
        };
        if ordering.replace(next).is_some() {
            return Err(Error::invalid("the order is given twice"));
        }
    }
    let (mode, fields) = match ordering {
        Some((mode, fields)) => (mode, fields),
        None if distributed => (None, Vec::new()),
        None => {
            return Err(c.unexpected("DISTRIBUTED BY PARTITION, ORDERED BY, LOCALLY ORDERED BY or UNORDERED"));
        }
    };
    Ok(WriteOrder {
        distribution: if distributed { Some("hash") } else { mode },
        fields,
    })
}

fn order(c: &mut Cursor<'_>) -> Result<Vec<OrderField>> {
    if *c.peek(0) == Token::LParen {
        c.parenthesized(order_field)
    } else {
        c.comma_separated(order_field)
    }
}

/// `term [ASC | DESC] [NULLS FIRST | LAST]`
pub(crate) fn order_field(c: &mut Cursor<'_>) -> Result<OrderField> {
    let term = field_term(c)?;
    let direction = match c.eat_any(&["ASC", "DESC"]) {
        Some("DESC") => SortDirection::Desc,
        _ => SortDirection::Asc,
    };
    let null_order = if c.eat(&["NULLS", "FIRST"]) {
        NullOrder::First
    } else if c.eat(&["NULLS", "LAST"]) {
        NullOrder::Last
    } else {
        match direction {
            SortDirection::Asc => NullOrder::First,
            SortDirection::Desc => NullOrder::Last,
        }
    };
    Ok(OrderField {
        term,
        direction,
        null_order,
    })
}
