//! Predicates in JSON, as the REST catalog and scan reports carry them (Java `ExpressionParser`).

use serde_json::{Value as Json, json};

use super::bind::bind_term;
use super::literal::Literal;
use super::predicate::{CompareOp, Predicate, SetOp, Term, UnaryOp};
use super::sanitize::Sanitizer;
use crate::error::{Error, Result};
use crate::spec::schema::Schema;
use crate::spec::types::{PrimitiveType, Type};
use crate::spec::value::Value;
use crate::spec::value_json;
use crate::transform::Transform;

/// Deeper nesting than any query has.
const MAX_DEPTH: usize = 256;

impl Predicate {
    /// The predicate as JSON.
    ///
    /// # Errors
    /// `InvalidInput` when a literal is NaN or infinite, which JSON cannot hold.
    pub fn to_json(&self) -> Result<Json> {
        write(self, &literal_to_json)
    }

    /// The predicate as JSON with its literals replaced by descriptions, as scan reports show it.
    pub fn to_sanitized_json(&self) -> Json {
        let sanitizer = Sanitizer::now();
        write(self, &|literal| Ok(Json::String(sanitizer.literal(literal)))).unwrap_or(Json::Bool(true))
    }

    /// Reads a predicate.
    ///
    /// With a schema, literals are read as values of their columns' types, whose names match in any case. Without one
    /// they are longs, doubles, text or booleans, and [`Predicate::bind`] converts them.
    ///
    /// # Errors
    /// `InvalidInput` when it is not a predicate, names a missing column, or is nested too deep.
    pub fn from_json(json: &Json, schema: Option<&Schema>) -> Result<Predicate> {
        read(json, schema, 0)
    }
}

fn write(predicate: &Predicate, literal: &dyn Fn(&Literal) -> Result<Json>) -> Result<Json> {
    // Java's conjunctions and disjunctions have two sides: `a, b, c` becomes `(a, b), c`.
    let fold = |kind: &str, children: &[Predicate], empty: bool| -> Result<Json> {
        let mut written = children.iter().map(|c| write(c, literal));
        let Some(first) = written.next() else {
            return Ok(Json::Bool(empty));
        };
        written.try_fold(first?, |left, right| {
            Ok(json!({"type": kind, "left": left, "right": right?}))
        })
    };
    match predicate {
        Predicate::AlwaysTrue => Ok(Json::Bool(true)),
        Predicate::AlwaysFalse => Ok(Json::Bool(false)),
        Predicate::And(children) => fold("and", children, true),
        Predicate::Or(children) => fold("or", children, false),
        Predicate::Not(child) => Ok(json!({"type": "not", "child": write(child, literal)?})),
        Predicate::Unary(op, term) => Ok(json!({"type": unary_name(*op), "term": term_to_json(term)})),
        Predicate::Compare(op, term, value) => {
            Ok(json!({"type": compare_name(*op), "term": term_to_json(term), "value": literal(value)?}))
        }
        Predicate::Set(op, term, values) => {
            let values = values.iter().map(literal).collect::<Result<Vec<_>>>()?;
            Ok(json!({"type": set_name(*op), "term": term_to_json(term), "values": values}))
        }
    }
}

fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::IsNull => "is-null",
        UnaryOp::NotNull => "not-null",
        UnaryOp::IsNan => "is-nan",
        UnaryOp::NotNan => "not-nan",
    }
}

fn compare_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "lt",
        CompareOp::LtEq => "lt-eq",
        CompareOp::Gt => "gt",
        CompareOp::GtEq => "gt-eq",
        CompareOp::Eq => "eq",
        CompareOp::NotEq => "not-eq",
        CompareOp::StartsWith => "starts-with",
        CompareOp::NotStartsWith => "not-starts-with",
    }
}

fn set_name(op: SetOp) -> &'static str {
    match op {
        SetOp::In => "in",
        SetOp::NotIn => "not-in",
    }
}

fn term_to_json(term: &Term) -> Json {
    match term {
        Term::Column(name) => Json::String(name.clone()),
        Term::Transform(transform, name) => {
            json!({"type": "transform", "transform": transform.to_string(), "term": name})
        }
    }
}

fn literal_to_json(literal: &Literal) -> Result<Json> {
    let write = |value: Value, ty: PrimitiveType| value_json::to_json(&value, &Type::Primitive(ty));
    match literal {
        Literal::Boolean(v) => write(Value::Boolean(*v), PrimitiveType::Boolean),
        Literal::Int(v) => write(Value::Int(*v), PrimitiveType::Int),
        Literal::Long(v) => write(Value::Long(*v), PrimitiveType::Long),
        Literal::Float(v) => write(Value::Float(*v), PrimitiveType::Float),
        Literal::Double(v) => write(Value::Double(*v), PrimitiveType::Double),
        Literal::Decimal { unscaled, scale } => Ok(Json::String(value_json::format_decimal(*unscaled, *scale))),
        Literal::String(v) => write(Value::String(v.clone()), PrimitiveType::String),
        Literal::Bytes(v) => write(Value::Binary(v.clone()), PrimitiveType::Binary),
        Literal::Uuid(v) => write(Value::Uuid(*v), PrimitiveType::Uuid),
        Literal::Date(v) => write(Value::Int(*v), PrimitiveType::Date),
        Literal::Time(v) => write(Value::Long(*v), PrimitiveType::Time),
        Literal::Timestamp(v) => write(Value::Long(*v), PrimitiveType::Timestamp),
        Literal::Timestamptz(v) => write(Value::Long(*v), PrimitiveType::Timestamptz),
        Literal::TimestampNs(v) => write(Value::Long(*v), PrimitiveType::TimestampNs),
        Literal::TimestamptzNs(v) => write(Value::Long(*v), PrimitiveType::TimestamptzNs),
    }
}

fn read(json: &Json, schema: Option<&Schema>, depth: usize) -> Result<Predicate> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid(format!(
            "the expression is nested deeper than {MAX_DEPTH} levels"
        )));
    }
    if let Json::Bool(holds) = json {
        return Ok(constant(*holds));
    }
    let kind = text(json, "type")?.replace('_', "-").to_ascii_lowercase();
    let child = |name| read(member(json, name)?, schema, depth + 1);
    match kind.as_str() {
        "literal" => match member(json, "value")? {
            Json::Bool(holds) => Ok(constant(*holds)),
            _ => Err(Error::invalid("a literal expression must be true or false")),
        },
        "true" => Ok(Predicate::AlwaysTrue),
        "false" => Ok(Predicate::AlwaysFalse),
        "not" => Ok(Predicate::Not(Box::new(child("child")?))),
        "and" => Ok(child("left")?.and(child("right")?)),
        "or" => Ok(child("left")?.or(child("right")?)),
        kind => leaf(kind, json, schema),
    }
}

fn constant(holds: bool) -> Predicate {
    if holds {
        Predicate::AlwaysTrue
    } else {
        Predicate::AlwaysFalse
    }
}

fn leaf(kind: &str, json: &Json, schema: Option<&Schema>) -> Result<Predicate> {
    let unary = [UnaryOp::IsNull, UnaryOp::NotNull, UnaryOp::IsNan, UnaryOp::NotNan];
    let compare = [
        CompareOp::Lt,
        CompareOp::LtEq,
        CompareOp::Gt,
        CompareOp::GtEq,
        CompareOp::Eq,
        CompareOp::NotEq,
        CompareOp::StartsWith,
        CompareOp::NotStartsWith,
    ];
    let set = [SetOp::In, SetOp::NotIn];
    let refuse = |name: &str| match json.get(name) {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!("a '{kind}' expression has no '{name}'"))),
    };
    let term = || term_from_json(member(json, "term")?);
    if let Some(op) = unary.into_iter().find(|op| unary_name(*op) == kind) {
        refuse("value")?;
        refuse("values")?;
        return Ok(Predicate::Unary(op, term()?));
    }
    if let Some(op) = compare.into_iter().find(|op| compare_name(*op) == kind) {
        refuse("values")?;
        let term = term()?;
        let value = literal_from_json(member(json, "value")?, &term, schema)?;
        return Ok(Predicate::Compare(op, term, value));
    }
    if let Some(op) = set.into_iter().find(|op| set_name(*op) == kind) {
        refuse("value")?;
        let term = term()?;
        let Json::Array(values) = member(json, "values")? else {
            return Err(Error::invalid(format!("the values of '{kind}' must be an array")));
        };
        let values = values.iter().map(|v| literal_from_json(v, &term, schema));
        let values = values.collect::<Result<_>>()?;
        return Ok(Predicate::Set(op, term, values));
    }
    Err(Error::invalid(format!("unknown expression type '{kind}'")))
}

fn member<'a>(json: &'a Json, name: &str) -> Result<&'a Json> {
    json.get(name)
        .ok_or_else(|| Error::invalid(format!("the expression has no '{name}'")))
}

fn text<'a>(json: &'a Json, name: &str) -> Result<&'a str> {
    member(json, name)?
        .as_str()
        .ok_or_else(|| Error::invalid(format!("'{name}' of an expression must be text")))
}

/// A column name, a `reference` or a `transform` of either.
fn term_from_json(json: &Json) -> Result<Term> {
    if let Json::String(name) = json {
        return Ok(Term::Column(name.clone()));
    }
    match text(json, "type")? {
        "reference" => Ok(Term::Column(text(json, "term")?.to_string())),
        "transform" => {
            let transform: Transform = text(json, "transform")?.parse()?;
            let inner = member(json, "term")?;
            let name = match inner {
                Json::String(name) => name.as_str(),
                reference => text(reference, "term")?,
            };
            Ok(Term::Transform(transform, name.to_string()))
        }
        other => Err(Error::invalid(format!("'{other}' is not a column of an expression"))),
    }
}

fn literal_from_json(json: &Json, term: &Term, schema: Option<&Schema>) -> Result<Literal> {
    let json = match json.get("type").and_then(Json::as_str) {
        Some("literal") => member(json, "value")?,
        _ => json,
    };
    let refuse = || Error::invalid(format!("'{json}' is not a value of '{term}'"));
    if let Some(schema) = schema {
        let ty = term_type(term, schema)?;
        let value = value_json::from_json(json, &Type::Primitive(ty.clone()))?;
        return Literal::from_value(&value, &ty).ok_or_else(refuse);
    }
    match json {
        Json::Bool(v) => Ok(Literal::Boolean(*v)),
        Json::String(v) => Ok(Literal::from(v.as_str())),
        Json::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(v), _) => Ok(Literal::Long(v)),
            (None, Some(v)) if n.is_f64() => Ok(Literal::Double(v)),
            _ => Err(refuse()),
        },
        _ => Err(refuse()),
    }
}

fn term_type(term: &Term, schema: &Schema) -> Result<PrimitiveType> {
    let name = term.column();
    let field = match schema.field_by_name(name) {
        Some(field) => Some(field),
        None => schema.field_by_name_ignore_case(name)?,
    };
    let field = field.ok_or_else(|| Error::invalid(format!("there is no column '{name}'")))?;
    let transform = match term {
        Term::Transform(transform, _) => Some(transform.clone()),
        Term::Column(_) => None,
    };
    Ok(bind_term(schema, field.id, transform)?.result_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::types::{NestedField, StructType};

    fn round(predicate: &Predicate, text: &str) {
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(predicate.to_json().unwrap(), json);
        assert_eq!(Predicate::from_json(&json, None).unwrap(), *predicate);
    }

    /// The forms of Java's TestExpressionParser.
    #[test]
    fn java_forms() {
        round(&Predicate::AlwaysTrue, "true");
        round(&Predicate::is_null("s"), r#"{"type": "is-null", "term": "s"}"#);
        round(
            &Predicate::gt("column-name", 5i64),
            r#"{"type": "gt", "term": "column-name", "value": 5}"#,
        );
        round(
            &Predicate::is_in("s", ["a", "b"]),
            r#"{"type": "in", "term": "s", "values": ["a", "b"]}"#,
        );
        round(
            &(!Predicate::lt_eq("a", 1.5)).and(Predicate::AlwaysFalse.or(Predicate::not_nan("d"))),
            r#"{"type": "and",
                "left": {"type": "not", "child": {"type": "lt-eq", "term": "a", "value": 1.5}},
                "right": {"type": "not-nan", "term": "d"}}"#,
        );
        let bucket = Term::Transform(Transform::Bucket(100), "id".to_string());
        round(
            &Predicate::eq(bucket, 5i64),
            r#"{"type": "eq", "term": {"type": "transform", "transform": "bucket[100]", "term": "id"}, "value": 5}"#,
        );
    }

    #[test]
    fn other_accepted_forms() {
        let read = |text: &str| Predicate::from_json(&serde_json::from_str(text).unwrap(), None);
        let by_reference =
            r#"{"type": "lt", "term": {"type": "reference", "term": "a"}, "value": {"type": "literal", "value": 5}}"#;
        assert_eq!(read(by_reference).unwrap(), Predicate::lt("a", 5i64));
        assert_eq!(
            read(r#"{"type": "literal", "value": false}"#).unwrap(),
            Predicate::AlwaysFalse
        );
        for wrong in [
            "5",
            "{}",
            r#"{"type": "xor", "term": "a"}"#,
            r#"{"type": "is-null", "term": "a", "value": 1}"#,
            r#"{"type": "lt", "term": "a"}"#,
            r#"{"type": "lt", "term": "a", "value": null}"#,
            r#"{"type": "in", "term": "a", "values": 1}"#,
            r#"{"type": "not"}"#,
        ] {
            assert_eq!(
                read(wrong).unwrap_err().kind(),
                crate::ErrorKind::InvalidInput,
                "{wrong}"
            );
        }
        let mut deep = Json::Bool(true);
        for _ in 0..300 {
            deep = json!({"type": "not", "child": deep});
        }
        assert!(Predicate::from_json(&deep, None).is_err());
    }

    #[test]
    fn a_schema_types_the_literals() {
        let fields = vec![
            NestedField::required(1, "id", PrimitiveType::Int),
            NestedField::optional(2, "ts", PrimitiveType::Timestamp),
        ];
        let schema = Schema::new(0, StructType::new(fields), vec![]).unwrap();
        let read = |text: &str| Predicate::from_json(&serde_json::from_str(text).unwrap(), Some(&schema));
        assert_eq!(
            read(r#"{"type": "eq", "term": "ID", "value": 5}"#).unwrap(),
            Predicate::eq("ID", 5)
        );
        let at = r#"{"type": "lt", "term": "ts", "value": "1970-01-01T00:00:01"}"#;
        assert_eq!(read(at).unwrap(), Predicate::lt("ts", Literal::Timestamp(1_000_000)));
        let day =
            r#"{"type": "eq", "term": {"type": "transform", "transform": "day", "term": "ts"}, "value": "1970-01-02"}"#;
        let term = Term::Transform(Transform::Day, "ts".to_string());
        assert_eq!(read(day).unwrap(), Predicate::eq(term, Literal::Date(1)));
        assert!(read(r#"{"type": "eq", "term": "id", "value": "x"}"#).is_err());
        assert!(read(r#"{"type": "eq", "term": "other", "value": 1}"#).is_err());
    }

    #[test]
    fn sanitized_json_hides_values() {
        let json = Predicate::is_in("a", [5, 1000]).to_sanitized_json();
        assert_eq!(
            json,
            json!({"type": "in", "term": "a", "values": ["(1-digit-int)", "(4-digit-int)"]})
        );
    }
}
