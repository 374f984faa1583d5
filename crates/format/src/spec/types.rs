//! Iceberg's types and nested fields (spec, "Schemas and Data Types").
//!
//! Only the shape of types lives here; their JSON form is in [`super::types_json`], values in [`super::value`].

use std::fmt;
use std::sync::Arc;

use super::unknown_fields::UnknownFields;
use super::value::Value;

/// A field id, unique in a table over all its schemas.
pub type FieldId = i32;

/// The highest id a writer may give to a column; the ids above are reserved for metadata columns.
pub const MAX_ASSIGNABLE_FIELD_ID: FieldId = i32::MAX - 201;

/// A primitive type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PrimitiveType {
    /// True or false.
    Boolean,
    /// 32-bit signed integer.
    Int,
    /// 64-bit signed integer.
    Long,
    /// 32-bit IEEE 754.
    Float,
    /// 64-bit IEEE 754.
    Double,
    /// Fixed-point decimal of at most 38 digits.
    Decimal {
        /// Total number of digits, 1 to 38.
        precision: u8,
        /// Digits after the point, at most `precision`.
        scale: u8,
    },
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight.
    Time,
    /// Microseconds since 1970-01-01 00:00:00, without zone.
    Timestamp,
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    Timestamptz,
    /// Nanoseconds since 1970-01-01 00:00:00, without zone (v3).
    TimestampNs,
    /// Nanoseconds since 1970-01-01 00:00:00 UTC (v3).
    TimestamptzNs,
    /// UTF-8 text.
    String,
    /// 128-bit UUID.
    Uuid,
    /// Bytes of a fixed length.
    Fixed(u32),
    /// Bytes of any length.
    Binary,
    /// Always null; may be promoted to any type (v3).
    Unknown,
    /// Geospatial features in WKB, planar (v3). `None` is the default CRS `OGC:CRS84`.
    Geometry {
        /// Coordinate reference system, when not the default.
        crs: Option<String>,
    },
    /// Geospatial features in WKB on a sphere or spheroid (v3).
    Geography {
        /// Coordinate reference system, when not the default.
        crs: Option<String>,
        /// How edges are interpolated, when not `spherical`.
        algorithm: Option<EdgeAlgorithm>,
    },
}

/// How edges between points of a geography are interpolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum EdgeAlgorithm {
    Spherical,
    Vincenty,
    Thomas,
    Andoyer,
    Karney,
}

impl fmt::Display for EdgeAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EdgeAlgorithm::Spherical => "spherical",
            EdgeAlgorithm::Vincenty => "vincenty",
            EdgeAlgorithm::Thomas => "thomas",
            EdgeAlgorithm::Andoyer => "andoyer",
            EdgeAlgorithm::Karney => "karney",
        })
    }
}

/// Any type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// A primitive.
    Primitive(PrimitiveType),
    /// Named fields.
    Struct(StructType),
    /// A list of one element type.
    List(ListType),
    /// A map.
    Map(MapType),
    /// Semi-structured values (v3).
    Variant,
}

/// A field of a struct, or the element, key or value of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct NestedField {
    /// Unique id.
    pub id: FieldId,
    /// Name; `element`, `key` and `value` in collections.
    pub name: String,
    /// Whether null is refused. Map keys are always required.
    pub required: bool,
    /// The type.
    pub field_type: Type,
    /// Comment.
    pub doc: Option<String>,
    /// Value of rows written before the field was added (v3). `None` is null.
    pub initial_default: Option<Value>,
    /// Value for writers that give none (v3). `None` is null.
    pub write_default: Option<Value>,
    /// Fields this version of the engine does not know, kept as read.
    pub extra: UnknownFields,
    /// Fields of the object that tells the type, a struct, list or map, that this version of the engine does not know.
    pub type_extra: UnknownFields,
}

/// A shared field: schemas of a table share most of them.
pub type NestedFieldRef = Arc<NestedField>;

impl NestedField {
    /// A field without doc and defaults.
    pub fn new(id: FieldId, name: impl Into<String>, field_type: impl Into<Type>, nullability: Nullability) -> Self {
        NestedField {
            id,
            name: name.into(),
            required: nullability == Nullability::Required,
            field_type: field_type.into(),
            doc: None,
            initial_default: None,
            write_default: None,
            extra: UnknownFields::default(),
            type_extra: UnknownFields::default(),
        }
    }

    /// A field that refuses null.
    pub fn required(id: FieldId, name: impl Into<String>, field_type: impl Into<Type>) -> Self {
        Self::new(id, name, field_type, Nullability::Required)
    }

    /// A field that allows null.
    pub fn optional(id: FieldId, name: impl Into<String>, field_type: impl Into<Type>) -> Self {
        Self::new(id, name, field_type, Nullability::Optional)
    }

    /// The field with a comment.
    #[must_use]
    pub fn with_doc(mut self, doc: impl Into<String>) -> Self {
        self.doc = Some(doc.into());
        self
    }
}

/// Whether a field refuses null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Nullability {
    /// Null is refused.
    Required,
    /// Null is allowed.
    Optional,
}

/// Named fields, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StructType {
    /// The fields in order; names and ids are unique.
    pub fields: Vec<NestedFieldRef>,
}

/// A list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListType {
    /// The element, named `element`.
    pub element: NestedFieldRef,
}

/// A map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapType {
    /// The key, named `key`, always required.
    pub key: NestedFieldRef,
    /// The value, named `value`.
    pub value: NestedFieldRef,
}

impl StructType {
    /// A struct of these fields.
    pub fn new(fields: Vec<NestedField>) -> Self {
        StructType {
            fields: fields.into_iter().map(Arc::new).collect(),
        }
    }

    /// The direct field of this id.
    pub fn field_by_id(&self, id: FieldId) -> Option<&NestedFieldRef> {
        self.fields.iter().find(|f| f.id == id)
    }

    /// The direct field of exactly this name.
    pub fn field_by_name(&self, name: &str) -> Option<&NestedFieldRef> {
        self.fields.iter().find(|f| f.name == name)
    }
}

impl Type {
    /// The primitive type, unless nested or variant.
    pub fn as_primitive(&self) -> Option<&PrimitiveType> {
        match self {
            Type::Primitive(p) => Some(p),
            _ => None,
        }
    }

    /// The struct type, if it is one.
    pub fn as_struct(&self) -> Option<&StructType> {
        match self {
            Type::Struct(s) => Some(s),
            _ => None,
        }
    }

    /// Whether this is a struct, list or map.
    pub fn is_nested(&self) -> bool {
        matches!(self, Type::Struct(_) | Type::List(_) | Type::Map(_))
    }

    /// The direct children, in order: struct fields, the element, or key and value.
    pub fn children(&self) -> Vec<&NestedFieldRef> {
        match self {
            Type::Struct(s) => s.fields.iter().collect(),
            Type::List(l) => vec![&l.element],
            Type::Map(m) => vec![&m.key, &m.value],
            Type::Primitive(_) | Type::Variant => Vec::new(),
        }
    }
}

impl From<PrimitiveType> for Type {
    fn from(p: PrimitiveType) -> Self {
        Type::Primitive(p)
    }
}

impl From<StructType> for Type {
    fn from(s: StructType) -> Self {
        Type::Struct(s)
    }
}

impl From<ListType> for Type {
    fn from(l: ListType) -> Self {
        Type::List(l)
    }
}

impl From<MapType> for Type {
    fn from(m: MapType) -> Self {
        Type::Map(m)
    }
}

impl fmt::Display for PrimitiveType {
    /// The spec's JSON string of the type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrimitiveType::Boolean => f.write_str("boolean"),
            PrimitiveType::Int => f.write_str("int"),
            PrimitiveType::Long => f.write_str("long"),
            PrimitiveType::Float => f.write_str("float"),
            PrimitiveType::Double => f.write_str("double"),
            PrimitiveType::Decimal { precision, scale } => write!(f, "decimal({precision}, {scale})"),
            PrimitiveType::Date => f.write_str("date"),
            PrimitiveType::Time => f.write_str("time"),
            PrimitiveType::Timestamp => f.write_str("timestamp"),
            PrimitiveType::Timestamptz => f.write_str("timestamptz"),
            PrimitiveType::TimestampNs => f.write_str("timestamp_ns"),
            PrimitiveType::TimestamptzNs => f.write_str("timestamptz_ns"),
            PrimitiveType::String => f.write_str("string"),
            PrimitiveType::Uuid => f.write_str("uuid"),
            PrimitiveType::Fixed(len) => write!(f, "fixed[{len}]"),
            PrimitiveType::Binary => f.write_str("binary"),
            PrimitiveType::Unknown => f.write_str("unknown"),
            PrimitiveType::Geometry { crs } => match crs {
                None => f.write_str("geometry"),
                Some(crs) => write!(f, "geometry({crs})"),
            },
            PrimitiveType::Geography { crs, algorithm } => match (crs, algorithm) {
                (None, None) => f.write_str("geography"),
                (Some(crs), None) => write!(f, "geography({crs})"),
                (crs, Some(algorithm)) => {
                    let crs = crs.as_deref().unwrap_or("OGC:CRS84");
                    write!(f, "geography({crs}, {algorithm})")
                }
            },
        }
    }
}

impl fmt::Display for Type {
    /// A readable form in the style of Java's `Type.toString`, for messages only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Primitive(p) => write!(f, "{p}"),
            Type::Struct(s) => {
                f.write_str("struct<")?;
                for (i, field) in s.fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    let need = if field.required { "required" } else { "optional" };
                    write!(f, "{}: {}: {need} {}", field.id, field.name, field.field_type)?;
                }
                f.write_str(">")
            }
            Type::List(l) => write!(f, "list<{}>", l.element.field_type),
            Type::Map(m) => write!(f, "map<{}, {}>", m.key.field_type, m.value.field_type),
            Type::Variant => f.write_str("variant"),
        }
    }
}
