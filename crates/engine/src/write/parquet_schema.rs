//! Iceberg schemas as Parquet schemas, as Java's `TypeToMessageType` makes them: field ids at every level, three-level
//! lists, `key_value` maps. Columns of type `unknown` are not stored.

use std::sync::Arc;

use parquet::basic::{
    ConvertedType, EdgeInterpolationAlgorithm, LogicalType, Repetition, TimeUnit, Type as PhysicalType,
};
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescriptor, Type as ParquetType, TypePtr};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{EdgeAlgorithm, NestedField, NestedFieldRef, PrimitiveType, Type};
use tarn_format::{Error, Result};

/// The Parquet schema of a table's data files.
///
/// # Errors
/// `Unsupported` when nothing would be stored: Parquet has no empty structs.
pub(super) fn schema_to_parquet(schema: &Schema) -> Result<SchemaDescriptor> {
    let fields = stored_fields(schema.fields(), "table")?;
    let root = ParquetType::group_type_builder("table").with_fields(fields).build();
    Ok(SchemaDescriptor::new(Arc::new(root.map_err(refused)?)))
}

/// Whether values of the type are stored in files.
pub(super) fn is_stored(field_type: &Type) -> bool {
    *field_type != Type::Primitive(PrimitiveType::Unknown)
}

fn refused(e: ParquetError) -> Error {
    Error::unsupported("the table's schema cannot be stored in Parquet").with_source(e)
}

fn stored_fields(fields: &[NestedFieldRef], owner: &str) -> Result<Vec<TypePtr>> {
    let stored = fields.iter().filter(|f| is_stored(&f.field_type));
    let stored: Result<Vec<_>> = stored.map(|f| field_to_parquet(f)).collect();
    let stored = stored?;
    if stored.is_empty() {
        return Err(Error::unsupported(format!(
            "'{owner}' has no column that Parquet can store"
        )));
    }
    Ok(stored)
}

fn field_to_parquet(field: &NestedField) -> Result<TypePtr> {
    let repetition = if field.required {
        Repetition::REQUIRED
    } else {
        Repetition::OPTIONAL
    };
    let name = field.name.as_str();
    let built = match &field.field_type {
        Type::Primitive(p) => return primitive(field, p, repetition),
        Type::Struct(s) => ParquetType::group_type_builder(name).with_fields(stored_fields(&s.fields, name)?),
        Type::List(l) => ParquetType::group_type_builder(name)
            .with_converted_type(ConvertedType::LIST)
            .with_logical_type(Some(LogicalType::List))
            .with_fields(vec![repeated("list", vec![collected(&l.element)?])?]),
        Type::Map(m) => ParquetType::group_type_builder(name)
            .with_converted_type(ConvertedType::MAP)
            .with_logical_type(Some(LogicalType::Map))
            .with_fields(vec![repeated(
                "key_value",
                vec![collected(&m.key)?, collected(&m.value)?],
            )?]),
        Type::Variant => ParquetType::group_type_builder(name)
            .with_logical_type(Some(LogicalType::variant(Some(1))))
            .with_fields(vec![variant_part("metadata")?, variant_part("value")?]),
    };
    let built = built.with_repetition(repetition).with_id(Some(field.id)).build();
    Ok(Arc::new(built.map_err(refused)?))
}

/// The element, key or value of a collection: there it must be stored.
fn collected(field: &NestedField) -> Result<TypePtr> {
    if !is_stored(&field.field_type) {
        return Err(Error::unsupported(
            "collections of type unknown cannot be stored in Parquet",
        ));
    }
    field_to_parquet(field)
}

fn repeated(name: &str, fields: Vec<TypePtr>) -> Result<TypePtr> {
    let group = ParquetType::group_type_builder(name)
        .with_repetition(Repetition::REPEATED)
        .with_fields(fields)
        .build();
    Ok(Arc::new(group.map_err(refused)?))
}

fn variant_part(name: &str) -> Result<TypePtr> {
    let part = ParquetType::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .build();
    Ok(Arc::new(part.map_err(refused)?))
}

fn primitive(field: &NestedField, p: &PrimitiveType, repetition: Repetition) -> Result<TypePtr> {
    let (physical, logical) = physical_type(p);
    let mut builder = ParquetType::primitive_type_builder(field.name.as_str(), physical)
        .with_repetition(repetition)
        .with_id(Some(field.id))
        .with_logical_type(logical);
    if let PrimitiveType::Decimal { precision, scale } = p {
        builder = builder
            .with_precision(i32::from(*precision))
            .with_scale(i32::from(*scale));
    }
    builder = match p {
        PrimitiveType::Decimal { precision, .. } => builder.with_length(decimal_bytes(*precision)),
        PrimitiveType::Uuid => builder.with_length(16),
        PrimitiveType::Fixed(length) => builder.with_length(i32::try_from(*length).unwrap_or(i32::MAX)),
        _ => builder,
    };
    Ok(Arc::new(builder.build().map_err(refused)?))
}

fn physical_type(p: &PrimitiveType) -> (PhysicalType, Option<LogicalType>) {
    use PhysicalType as Physical;
    use PrimitiveType as P;
    match p {
        P::Boolean => (Physical::BOOLEAN, None),
        P::Int => (Physical::INT32, None),
        P::Long => (Physical::INT64, None),
        P::Float => (Physical::FLOAT, None),
        P::Double => (Physical::DOUBLE, None),
        P::Decimal { precision, scale } => {
            let logical = LogicalType::decimal(i32::from(*scale), i32::from(*precision));
            let physical = match precision {
                0..=9 => Physical::INT32,
                10..=18 => Physical::INT64,
                _ => Physical::FIXED_LEN_BYTE_ARRAY,
            };
            (physical, Some(logical))
        }
        P::Date => (Physical::INT32, Some(LogicalType::Date)),
        P::Time => (Physical::INT64, Some(LogicalType::time(false, TimeUnit::MICROS))),
        P::Timestamp => (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::MICROS))),
        P::Timestamptz => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        P::TimestampNs => (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::NANOS))),
        P::TimestamptzNs => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::NANOS))),
        P::String => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        P::Uuid => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)),
        P::Fixed(_) => (Physical::FIXED_LEN_BYTE_ARRAY, None),
        P::Binary | P::Unknown => (Physical::BYTE_ARRAY, None),
        P::Geometry { crs } => (Physical::BYTE_ARRAY, Some(LogicalType::geometry(crs.clone()))),
        P::Geography { crs, algorithm } => {
            let logical = LogicalType::geography(crs.clone(), algorithm.map(edges));
            (Physical::BYTE_ARRAY, Some(logical))
        }
    }
}

fn edges(algorithm: EdgeAlgorithm) -> EdgeInterpolationAlgorithm {
    match algorithm {
        EdgeAlgorithm::Spherical => EdgeInterpolationAlgorithm::SPHERICAL,
        EdgeAlgorithm::Vincenty => EdgeInterpolationAlgorithm::VINCENTY,
        EdgeAlgorithm::Thomas => EdgeInterpolationAlgorithm::THOMAS,
        EdgeAlgorithm::Andoyer => EdgeInterpolationAlgorithm::ANDOYER,
        EdgeAlgorithm::Karney => EdgeInterpolationAlgorithm::KARNEY,
    }
}

/// The fewest bytes that hold every decimal of this many digits (spec, Appendix A, Parquet).
pub(super) fn decimal_bytes(precision: u8) -> i32 {
    let largest = 10_i128.saturating_pow(u32::from(precision)) - 1;
    let bits = i128::BITS - largest.leading_zeros() + 1;
    bits.div_ceil(8) as i32
}
