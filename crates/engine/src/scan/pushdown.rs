//! DataFusion filters as Iceberg predicates, by which manifests and files are skipped.
//!
//! What cannot be said in an Iceberg predicate is left out: the result may match more rows than the filter, never
//! fewer. DataFusion applies the filter itself to the rows that are read.

use datafusion::common::ScalarValue;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::expr::{InList, Like, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use tarn_format::expr::{CompareOp, Literal, Predicate, SetOp};
use tarn_format::spec::schema::{CaseSensitivity, Schema};
use tarn_format::spec::types::{PrimitiveType, Type};

/// The predicate of filters that must all hold.
pub fn to_predicate(filters: &[Expr], schema: &Schema) -> Predicate {
    let translator = Translator { schema };
    let parts = filters.iter().filter_map(|f| translator.translate(f));
    // What does not fit the column (NaN tests of whole numbers, text that is no date) is left to the engine.
    let usable = parts.filter(|p| p.bind(schema, CaseSensitivity::Sensitive).is_ok());
    usable.fold(Predicate::AlwaysTrue, Predicate::and)
}

/// The predicate that is true for the very rows for which all filters are; `None` when there is none.
pub fn to_exact_predicate(filters: &[Expr], schema: &Schema) -> Option<Predicate> {
    let translator = Translator { schema };
    let parts = filters.iter().map(|filter| {
        let has_null = |e: &Expr| matches!(e, Expr::Literal(scalar, _) if scalar.is_null());
        if filter.exists(|e| Ok(has_null(e))).unwrap_or(true) {
            return None;
        }
        let predicate = match filter {
            Expr::Literal(ScalarValue::Boolean(Some(_)), _) => translator.translate(filter)?,
            _ => translator.exact(filter)?,
        };
        predicate.bind(schema, CaseSensitivity::Sensitive).ok()?;
        Some(with_null_said(predicate))
    });
    parts
        .collect::<Option<Vec<_>>>()
        .map(|parts| parts.into_iter().fold(Predicate::AlwaysTrue, Predicate::and))
}

/// What is unequal is not NULL. Said in so many words it lets files go that hold nothing but NULL, of which the predicate
/// alone decides nothing.
fn with_null_said(predicate: Predicate) -> Predicate {
    let unequal = match &predicate {
        Predicate::Compare(CompareOp::NotEq, term, _) | Predicate::Set(SetOp::NotIn, term, _) => Some(term),
        Predicate::Not(inner) => match inner.as_ref() {
            Predicate::Compare(CompareOp::Eq, term, _) | Predicate::Set(SetOp::In, term, _) => Some(term),
            _ => None,
        },
        _ => None,
    };
    match unequal.cloned() {
        Some(term) => predicate.and(Predicate::not_null(term)),
        None => predicate,
    }
}

struct Translator<'a> {
    schema: &'a Schema,
}

/// A column that predicates can be about, with its type.
struct Subject {
    name: String,
    primitive: PrimitiveType,
}

impl Translator<'_> {
    /// A predicate that is true wherever the filter is true; `None` when nothing useful is known.
    fn translate(&self, filter: &Expr) -> Option<Predicate> {
        match filter {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
                Operator::And => match (self.translate(left), self.translate(right)) {
                    (Some(a), Some(b)) => Some(a.and(b)),
                    (a, b) => a.or(b),
                },
                Operator::Or => Some(self.translate(left)?.or(self.translate(right)?)),
                _ => self.comparison(left, *op, right),
            },
            Expr::Not(inner) => self.exact(inner).map(|p| !p),
            Expr::IsNull(inner) => Some(Predicate::is_null(self.subject(inner)?.name)),
            Expr::IsNotNull(inner) => Some(Predicate::not_null(self.subject(inner)?.name)),
            Expr::InList(list) => self.in_list(list),
            Expr::Between(between) => self.between(between),
            Expr::Like(like) => self.like(like),
            Expr::ScalarFunction(call) => self.function(call),
            Expr::Column(_) => self.boolean(filter),
            Expr::IsTrue(inner) => self.translate(inner),
            Expr::Literal(ScalarValue::Boolean(Some(true)), _) => Some(Predicate::AlwaysTrue),
            Expr::Literal(ScalarValue::Boolean(Some(false) | None), _) => Some(Predicate::AlwaysFalse),
            _ => None,
        }
    }

    /// A predicate that is true, false and unknown exactly where the filter is: only such a one may be negated.
    fn exact(&self, filter: &Expr) -> Option<Predicate> {
        match filter {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
                Operator::And => Some(self.exact(left)?.and(self.exact(right)?)),
                Operator::Or => Some(self.exact(left)?.or(self.exact(right)?)),
                _ => self.comparison(left, *op, right),
            },
            Expr::Not(inner) => self.exact(inner).map(|p| !p),
            Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::InList(_) | Expr::Between(_) | Expr::Column(_) => {
                self.translate(filter)
            }
            Expr::ScalarFunction(call) if call.name() == "isnan" => self.function(call),
            _ => None,
        }
    }

    fn comparison(&self, left: &Expr, op: Operator, right: &Expr) -> Option<Predicate> {
        let (subject, literal, op) = match (self.subject(left), self.subject(right)) {
            (Some(subject), None) => (subject, right, op),
            (None, Some(subject)) => (subject, left, op.swap()?),
            _ => return None,
        };
        let literal = to_literal(as_literal(literal)?, &subject.primitive)?;
        let op = match op {
            Operator::Eq => CompareOp::Eq,
            Operator::NotEq => CompareOp::NotEq,
            Operator::Lt => CompareOp::Lt,
            Operator::LtEq => CompareOp::LtEq,
            Operator::Gt => CompareOp::Gt,
            Operator::GtEq => CompareOp::GtEq,
            _ => return None,
        };
        Some(Predicate::Compare(op, subject.name.into(), literal))
    }

    fn in_list(&self, list: &InList) -> Option<Predicate> {
        let subject = self.subject(&list.expr)?;
        let mut literals = Vec::with_capacity(list.list.len());
        for item in &list.list {
            let scalar = as_literal(item)?;
            if scalar.is_null() {
                // NULL in a list never makes IN true, and makes NOT IN never true: leave that to the engine.
                if list.negated {
                    return None;
                }
                continue;
            }
            literals.push(to_literal(scalar, &subject.primitive)?);
        }
        let op = if list.negated { SetOp::NotIn } else { SetOp::In };
        Some(Predicate::Set(op, subject.name.into(), literals))
    }

    fn between(&self, between: &Between) -> Option<Predicate> {
        let low = self.comparison(&between.expr, Operator::GtEq, &between.low)?;
        let high = self.comparison(&between.expr, Operator::LtEq, &between.high)?;
        let within = low.and(high);
        Some(if between.negated { !within } else { within })
    }

    fn like(&self, like: &Like) -> Option<Predicate> {
        if like.negated || like.case_insensitive {
            return None;
        }
        let subject = self.subject(&like.expr)?;
        let pattern = as_literal(&like.pattern)?.try_as_str()??.to_string();
        let escape = like.escape_char.unwrap_or('\\');
        let stop = pattern.find(['%', '_', escape]);
        match stop {
            None => Some(Predicate::eq(subject.name, pattern)),
            Some(0) => Some(Predicate::not_null(subject.name)),
            Some(end) => Some(Predicate::starts_with(subject.name, &pattern[..end])),
        }
    }

    fn function(&self, call: &ScalarFunction) -> Option<Predicate> {
        match (call.name(), call.args.as_slice()) {
            ("isnan", [argument]) => {
                let subject = self.subject(argument)?;
                Some(Predicate::is_nan(subject.name))
            }
            ("starts_with", [argument, prefix]) => {
                let subject = self.subject(argument)?;
                let prefix = as_literal(prefix)?.try_as_str()??.to_string();
                Some(Predicate::starts_with(subject.name, prefix))
            }
            _ => None,
        }
    }

    fn boolean(&self, column: &Expr) -> Option<Predicate> {
        let subject = self.subject(column)?;
        (subject.primitive == PrimitiveType::Boolean).then(|| Predicate::eq(subject.name, true))
    }

    fn subject(&self, expr: &Expr) -> Option<Subject> {
        let mut path = Vec::new();
        column_path(expr, &mut path)?;
        let name = path.join(".");
        match &self.schema.field_by_name(&name)?.field_type {
            Type::Primitive(primitive) => Some(Subject {
                name,
                primitive: primitive.clone(),
            }),
            _ => None,
        }
    }
}

/// The names from a column to a struct field below it.
fn column_path(expr: &Expr, path: &mut Vec<String>) -> Option<()> {
    match expr {
        Expr::Column(column) => path.push(column.name.clone()),
        Expr::ScalarFunction(call) if call.name() == "get_field" => {
            let (base, keys) = call.args.split_first()?;
            column_path(base, path)?;
            for key in keys {
                path.push(as_literal(key)?.try_as_str()??.to_string());
            }
        }
        _ => return None,
    }
    Some(())
}

fn as_literal(expr: &Expr) -> Option<&ScalarValue> {
    match expr {
        Expr::Literal(scalar, _) => Some(scalar),
        _ => None,
    }
}

/// The literal of a scalar that is compared with a column of this type; `None` for null and for types that predicates
/// have no literal of.
fn to_literal(scalar: &ScalarValue, column: &PrimitiveType) -> Option<Literal> {
    Some(match scalar {
        ScalarValue::Boolean(Some(v)) => Literal::Boolean(*v),
        ScalarValue::Int8(Some(v)) => Literal::Int(i32::from(*v)),
        ScalarValue::Int16(Some(v)) => Literal::Int(i32::from(*v)),
        ScalarValue::Int32(Some(v)) => Literal::Int(*v),
        ScalarValue::Int64(Some(v)) => Literal::Long(*v),
        ScalarValue::UInt8(Some(v)) => Literal::Int(i32::from(*v)),
        ScalarValue::UInt16(Some(v)) => Literal::Int(i32::from(*v)),
        ScalarValue::UInt32(Some(v)) => Literal::Long(i64::from(*v)),
        ScalarValue::UInt64(Some(v)) => Literal::Long(i64::try_from(*v).ok()?),
        ScalarValue::Float32(Some(v)) => Literal::Float(*v),
        ScalarValue::Float64(Some(v)) => Literal::Double(*v),
        ScalarValue::Decimal128(Some(v), _, scale) => Literal::Decimal {
            unscaled: *v,
            scale: u8::try_from(*scale).ok()?,
        },
        ScalarValue::Utf8(Some(v)) | ScalarValue::LargeUtf8(Some(v)) | ScalarValue::Utf8View(Some(v)) => {
            Literal::from(v.as_str())
        }
        ScalarValue::Date32(Some(v)) => Literal::Date(*v),
        ScalarValue::Time64Microsecond(Some(v)) => Literal::Time(*v),
        ScalarValue::TimestampMicrosecond(Some(v), None) => Literal::Timestamp(*v),
        ScalarValue::TimestampMicrosecond(Some(v), Some(_)) => Literal::Timestamptz(*v),
        ScalarValue::TimestampNanosecond(Some(v), None) => Literal::TimestampNs(*v),
        ScalarValue::TimestampNanosecond(Some(v), Some(_)) => Literal::TimestamptzNs(*v),
        ScalarValue::FixedSizeBinary(16, Some(v)) if *column == PrimitiveType::Uuid => {
            Literal::Uuid(v.as_slice().try_into().ok()?)
        }
        ScalarValue::Binary(Some(v))
        | ScalarValue::LargeBinary(Some(v))
        | ScalarValue::BinaryView(Some(v))
        | ScalarValue::FixedSizeBinary(_, Some(v)) => Literal::from(v.as_slice()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
