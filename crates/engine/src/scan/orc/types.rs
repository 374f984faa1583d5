//! The types of an ORC file, and what Iceberg's writers add to them (Java: `ORCSchemaUtil`).

use tarn_format::spec::types::FieldId;
use tarn_format::{Error, Result};

use super::protobuf::Fields;

/// Attributes of types that Iceberg's writers set.
pub(crate) const ID: &str = "iceberg.id";
pub(crate) const REQUIRED: &str = "iceberg.required";
pub(crate) const LONG_TYPE: &str = "iceberg.long-type";
pub(crate) const BINARY_TYPE: &str = "iceberg.binary-type";
pub(crate) const FIXED_LENGTH: &str = "iceberg.length";
pub(crate) const TIMESTAMP_UNIT: &str = "iceberg.timestamp-unit";

/// What a type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    Binary,
    Timestamp,
    List,
    Map,
    Struct,
    Union,
    Decimal,
    Date,
    Varchar,
    Char,
    TimestampInstant,
}

impl Kind {
    fn of(number: u64) -> Option<Self> {
        Some(match number {
            0 => Kind::Boolean,
            1 => Kind::Byte,
            2 => Kind::Short,
            3 => Kind::Int,
            4 => Kind::Long,
            5 => Kind::Float,
            6 => Kind::Double,
            7 => Kind::String,
            8 => Kind::Binary,
            9 => Kind::Timestamp,
            10 => Kind::List,
            11 => Kind::Map,
            12 => Kind::Struct,
            13 => Kind::Union,
            14 => Kind::Decimal,
            15 => Kind::Date,
            16 => Kind::Varchar,
            17 => Kind::Char,
            18 => Kind::TimestampInstant,
            _ => return None,
        })
    }
}

/// A type as the footer has it.
#[derive(Debug, Clone)]
pub(super) struct OrcType {
    pub(super) kind: Kind,
    /// Places of the types below.
    pub(super) children: Vec<u64>,
    /// Names of a struct's fields.
    names: Vec<String>,
    /// Of a decimal; 0 where the file says nothing.
    precision: u64,
    scale: Option<u64>,
    attributes: Vec<(String, String)>,
}

/// A decimal of Hive 0.11, which had neither precision nor scale.
const OLD_PRECISION: u64 = 38;
const OLD_SCALE: u64 = 10;

impl OrcType {
    pub(super) fn read(message: &[u8]) -> Result<Self> {
        let (mut kind, mut children, mut names) = (0, Vec::new(), Vec::new());
        let (mut precision, mut scale, mut attributes) = (0, None, Vec::new());
        let mut fields = Fields::of(message);
        while let Some((number, value)) = fields.next_field()? {
            match number {
                1 => kind = value.number(),
                2 => value.append_numbers(&mut children)?,
                3 => names.push(value.text()),
                5 => precision = value.number(),
                6 => scale = Some(value.number()),
                7 => attributes.push(attribute(value.bytes())?),
                _ => {}
            }
        }
        let known = Kind::of(kind);
        let kind = known.ok_or_else(|| Error::unsupported(format!("the ORC file has a type of number {kind}")))?;
        Ok(OrcType {
            kind,
            children,
            names,
            precision,
            scale,
            attributes,
        })
    }

    /// The name of a struct's field; empty where the file gives none.
    pub(super) fn name(&self, index: usize) -> &str {
        self.names.get(index).map(String::as_str).unwrap_or_default()
    }

    /// Precision and scale of a decimal.
    pub(super) fn decimal(&self) -> (u64, u64) {
        match self.precision {
            0 => (OLD_PRECISION, self.scale.filter(|s| *s > 0).unwrap_or(OLD_SCALE)),
            precision => (precision, self.scale.unwrap_or(0)),
        }
    }

    pub(super) fn attribute(&self, key: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(own, _)| own == key);
        found.map(|(_, value)| value.as_str())
    }

    /// # Errors
    /// `Corrupt` when the attribute is no number.
    pub(super) fn field_id(&self) -> Result<Option<FieldId>> {
        let id = self.attribute(ID).map(|text| {
            let bad =
                |e| Error::corrupt(format!("attribute {ID} '{text}' in the ORC file is no field id")).with_source(e);
            text.trim().parse::<FieldId>().map_err(bad)
        });
        id.transpose()
    }

    pub(super) fn is_required(&self) -> bool {
        self.attribute(REQUIRED)
            .is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }
}

fn attribute(message: &[u8]) -> Result<(String, String)> {
    let mut pair = (String::new(), String::new());
    let mut fields = Fields::of(message);
    while let Some((number, value)) = fields.next_field()? {
        match number {
            1 => pair.0 = value.text(),
            2 => pair.1 = value.text(),
            _ => {}
        }
    }
    Ok(pair)
}
