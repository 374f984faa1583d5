//! Constants: which type a written number has, typed strings, intervals.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, DateTimeField, Expr, Interval, TimezoneInfo, UnaryOperator, Value,
    ValueWithSpan, WindowFrameBound, WindowSpec,
};

use tarn_format::{Error, Result};

use super::{cast, take};
use crate::functions::text_to_time::{parse_date, parse_timestamp, parse_timestamp_ntz, parse_zone};
use crate::planner::expressions::{CAST, LITERAL, NEGATE, TRY_CAST};
use crate::planner::resolve::builders::{custom, text};

/// A number: whole ones are int or bigint, those with an exponent double, others decimal.
pub(in crate::planner::resolve) fn number(digits: &str) -> Expr {
    let literal = || Expr::Value(Value::Number(digits.to_string(), false).into());
    if digits.contains(['e', 'E']) {
        return Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(text(digits)),
            data_type: DataType::DoublePrecision,
            format: None,
            array: false,
        };
    }
    if digits.contains('.') {
        return literal();
    }
    custom(literal(), LITERAL, Expr::Value(Value::Null.into()))
}

/// `-2147483648` is an int, although `2147483648` is none.
pub(in crate::planner::resolve) fn negative_literal(operand: &mut Expr) -> Option<Expr> {
    let Expr::BinaryOp {
        left,
        op: BinaryOperator::Custom(op),
        right,
    } = operand
    else {
        return None;
    };
    if op != LITERAL || !matches!(left.as_ref(), Expr::Value(_)) {
        return None;
    }
    let negative = Expr::UnaryOp {
        op: UnaryOperator::Minus,
        expr: Box::new(take(left)),
    };
    Some(custom(negative, LITERAL, take(right)))
}

/// Undoes [`number`] where DataFusion's planner wants the number itself.
pub(in crate::planner::resolve) fn unmark(expr: &mut Expr) {
    if let Expr::BinaryOp {
        left,
        op: BinaryOperator::Custom(op),
        ..
    } = expr
        && op == LITERAL
    {
        *expr = take(left);
    }
}

/// The bounds of window frames are numbers themselves.
pub(in crate::planner::resolve) fn unmark_window(spec: &mut WindowSpec) {
    let Some(frame) = &mut spec.window_frame else { return };
    for bound in [Some(&mut frame.start_bound), frame.end_bound.as_mut()]
        .into_iter()
        .flatten()
    {
        if let WindowFrameBound::Preceding(Some(expr)) | WindowFrameBound::Following(Some(expr)) = bound {
            unmark(expr);
        }
    }
}

/// In a column of VALUES that holds doubles too, decimals are doubles.
pub(in crate::planner::resolve) fn widen_values(rows: &mut [&mut Vec<Expr>]) {
    let width = rows.first().map_or(0, |r| r.len());
    for column in 0..width {
        let cells = || rows.iter().filter_map(|r| r.get(column));
        if !cells().any(is_double) || !cells().any(is_decimal) {
            continue;
        }
        for cell in rows
            .iter_mut()
            .filter_map(|r| r.get_mut(column))
            .filter(|c| is_decimal(c))
        {
            let decimal = take(cell);
            *cell = cast(&CastKind::Cast, decimal, &DataType::DoublePrecision);
        }
    }
}

fn is_double(cell: &Expr) -> bool {
    let floating = |t: &DataType| {
        matches!(
            t,
            DataType::Double(_) | DataType::DoublePrecision | DataType::Float(_) | DataType::Real
        )
    };
    match cell {
        Expr::Cast { data_type, .. } => floating(data_type),
        Expr::BinaryOp {
            op: BinaryOperator::Custom(op),
            right,
            ..
        } if op == CAST || op == TRY_CAST => is_double(right),
        Expr::BinaryOp {
            op: BinaryOperator::Custom(op),
            left,
            ..
        } if op == NEGATE => is_double(left),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => is_double(expr),
        _ => false,
    }
}

fn is_decimal(cell: &Expr) -> bool {
    match cell {
        Expr::Value(ValueWithSpan {
            value: Value::Number(digits, _),
            ..
        }) => digits.contains('.'),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => is_decimal(expr),
        Expr::BinaryOp {
            op: BinaryOperator::Custom(op),
            left,
            ..
        } if op == NEGATE => is_decimal(left),
        _ => false,
    }
}

/// `DATE '2024-1-5'`, `TIMESTAMP '…'`: text that must be a value of the type.
pub(in crate::planner::resolve) fn typed(data_type: &DataType, value: &Value, zone: &str) -> Result<Expr> {
    let (Value::SingleQuotedString(written) | Value::DoubleQuotedString(written)) = value else {
        return Err(Error::invalid(format!(
            "{data_type} {value} is no literal: write {data_type} '…'"
        )));
    };
    let is_value = match data_type {
        DataType::Date => parse_date(written).is_some(),
        DataType::Timestamp(_, TimezoneInfo::WithoutTimeZone) | DataType::TimestampNtz(_) => {
            parse_timestamp_ntz(written).is_some()
        }
        DataType::Timestamp(..) => parse_zone(zone).and_then(|z| parse_timestamp(written, z)).is_some(),
        _ => true,
    };
    if !is_value {
        return Err(Error::invalid(format!(
            "'{written}' is no {data_type}: write it as in {}",
            match data_type {
                DataType::Date => "DATE '2024-01-31'",
                _ => "TIMESTAMP '2024-01-31 12:00:00'",
            }
        )));
    }
    Ok(cast(&CastKind::Cast, text(written.clone()), data_type))
}

/// `INTERVAL '1 02:03:04' DAY TO SECOND` and `INTERVAL '1-2' YEAR TO MONTH`, in words that DataFusion's planner knows.
pub(in crate::planner::resolve) fn interval(interval: &mut Interval) -> Result<()> {
    let (Some(from), Some(to)) = (&interval.leading_field, &interval.last_field) else {
        return Ok(());
    };
    let written = match interval.value.as_ref() {
        Expr::Value(ValueWithSpan {
            value: Value::SingleQuotedString(s) | Value::DoubleQuotedString(s),
            ..
        }) => s.trim().to_string(),
        other => {
            return Err(Error::invalid(format!(
                "INTERVAL {other} {from} TO {to} needs a string"
            )));
        }
    };
    let refused = || Error::invalid(format!("'{written}' is no INTERVAL {from} TO {to}"));
    let (sign, unsigned) = match written.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", written.strip_prefix('+').unwrap_or(&written)),
    };
    const UNITS: [DateTimeField; 4] = [
        DateTimeField::Day,
        DateTimeField::Hour,
        DateTimeField::Minute,
        DateTimeField::Second,
    ];
    let place = |f: &DateTimeField| UNITS.iter().position(|u| u == f);
    let words = match (from, to) {
        (DateTimeField::Year, DateTimeField::Month) => {
            let (years, months) = unsigned.split_once('-').ok_or_else(refused)?;
            vec![(years, "years"), (months, "months")]
        }
        (from, to) => {
            let (Some(first), Some(last)) = (place(from), place(to)) else {
                return Err(refused());
            };
            let parts: Vec<&str> = unsigned.split([' ', ':']).collect();
            if first >= last || parts.len() != last - first + 1 {
                return Err(refused());
            }
            const WORDS: [&str; 4] = ["days", "hours", "minutes", "seconds"];
            parts.into_iter().zip(WORDS[first..=last].iter().copied()).collect()
        }
    };
    if words
        .iter()
        .any(|(number, _)| number.is_empty() || number.parse::<f64>().is_err())
    {
        return Err(refused());
    }
    let words: Vec<String> = words.iter().map(|(n, unit)| format!("{sign}{n} {unit}")).collect();
    *interval = Interval {
        value: Box::new(text(words.join(" "))),
        leading_field: None,
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    };
    Ok(())
}
