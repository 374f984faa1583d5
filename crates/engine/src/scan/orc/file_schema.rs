//! ORC types as Arrow schemas with field ids, and as the tree that columns are decoded by.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{
    DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef, TimeUnit,
};
use tarn_format::{Error, Result};

use super::types::{BINARY_TYPE, FIXED_LENGTH, Kind, LONG_TYPE, OrcType, TIMESTAMP_UNIT};
use crate::arrow::schema::{FIELD_ID_KEY, UTC};

/// Types within types that are followed: Iceberg's schemas are far from it.
const MAX_DEPTH: usize = 100;

/// A column at any depth: its place among the types, which names its streams, and how Arrow has it.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) column: u64,
    pub(super) kind: Kind,
    pub(super) field: FieldRef,
    pub(super) children: Vec<Node>,
}

/// The columns of a file.
#[derive(Debug)]
pub(super) struct FileSchema {
    pub(super) arrow: ArrowSchemaRef,
    pub(super) columns: Vec<Node>,
}

impl FileSchema {
    /// # Errors
    /// `Corrupt` when the types are no tree whose root is a struct, `Unsupported` for types that Iceberg does not have.
    pub(super) fn of(types: &[OrcType]) -> Result<Self> {
        let root = types.first().filter(|root| root.kind == Kind::Struct);
        let root = root.ok_or_else(|| Error::corrupt("the ORC file holds no rows of columns"))?;
        let mut seen = vec![false; types.len()];
        seen.first_mut().into_iter().for_each(|root| *root = true);
        let mut tree = Tree { types, seen };
        let columns = tree.children(root, 0)?;
        let fields: Vec<FieldRef> = columns.iter().map(|c| Arc::clone(&c.field)).collect();
        Ok(FileSchema {
            arrow: Arc::new(ArrowSchema::new(fields)),
            columns,
        })
    }
}

struct Tree<'a> {
    types: &'a [OrcType],
    /// Which types have a parent already.
    seen: Vec<bool>,
}

impl Tree<'_> {
    fn children(&mut self, parent: &OrcType, depth: usize) -> Result<Vec<Node>> {
        let names = ["key", "value"];
        let mut nodes = Vec::with_capacity(parent.children.len());
        for (i, place) in parent.children.iter().enumerate() {
            let name = match parent.kind {
                Kind::List => "element",
                Kind::Map => names.get(i).copied().unwrap_or_default(),
                _ => parent.name(i),
            };
            let is_key = parent.kind == Kind::Map && i == 0;
            nodes.push(self.node(name, *place, is_key, depth + 1)?);
        }
        Ok(nodes)
    }

    fn node(&mut self, name: &str, place: u64, is_key: bool, depth: usize) -> Result<Node> {
        let no_tree = || Error::corrupt(format!("the types of the ORC file at '{name}' are no tree"));
        let index = usize::try_from(place).map_err(|_| no_tree())?;
        let own = self
            .types
            .get(index)
            .filter(|_| depth <= MAX_DEPTH)
            .ok_or_else(no_tree)?;
        match self.seen.get_mut(index) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(no_tree()),
        }
        let children = self.children(own, depth)?;
        let data_type = data_type(name, own, &children)?;
        let id = own.field_id()?;
        let metadata = HashMap::from_iter(id.map(|id| (FIELD_ID_KEY.to_string(), id.to_string())));
        let is_nullable = !is_key && !own.is_required();
        Ok(Node {
            column: place,
            kind: own.kind,
            field: Arc::new(Field::new(name, data_type, is_nullable).with_metadata(metadata)),
            children,
        })
    }
}

fn data_type(name: &str, own: &OrcType, children: &[Node]) -> Result<DataType> {
    Ok(match own.kind {
        Kind::Boolean => DataType::Boolean,
        Kind::Byte => DataType::Int8,
        Kind::Short => DataType::Int16,
        Kind::Int => DataType::Int32,
        Kind::Long => match own.attribute(LONG_TYPE) {
            Some("TIME") => DataType::Time64(TimeUnit::Microsecond),
            _ => DataType::Int64,
        },
        Kind::Float => DataType::Float32,
        Kind::Double => DataType::Float64,
        Kind::String | Kind::Varchar | Kind::Char => DataType::Utf8,
        Kind::Binary => binary(name, own)?,
        Kind::Date => DataType::Date32,
        Kind::Timestamp => DataType::Timestamp(unit(own), None),
        Kind::TimestampInstant => DataType::Timestamp(unit(own), Some(Arc::from(UTC))),
        Kind::Decimal => decimal(name, own)?,
        Kind::Struct => DataType::Struct(fields(children)),
        Kind::List => match children {
            [element] => DataType::List(Arc::clone(&element.field)),
            _ => return Err(wrong_children(name)),
        },
        Kind::Map if children.len() == 2 => {
            let entries = Field::new("key_value", DataType::Struct(fields(children)), false);
            DataType::Map(Arc::new(entries), false)
        }
        Kind::Map => return Err(wrong_children(name)),
        Kind::Union => {
            return Err(Error::unsupported(format!(
                "'{name}' in the ORC file is a union, which Iceberg does not have"
            )));
        }
    })
}

fn fields(children: &[Node]) -> Fields {
    children.iter().map(|child| Arc::clone(&child.field)).collect()
}

fn wrong_children(name: &str) -> Error {
    Error::corrupt(format!("'{name}' in the ORC file is a list or map of no items"))
}

fn unit(own: &OrcType) -> TimeUnit {
    match own.attribute(TIMESTAMP_UNIT) {
        Some(unit) if unit.eq_ignore_ascii_case("NANOS") => TimeUnit::Nanosecond,
        _ => TimeUnit::Microsecond,
    }
}

fn binary(name: &str, own: &OrcType) -> Result<DataType> {
    Ok(match own.attribute(BINARY_TYPE) {
        Some("UUID") => DataType::FixedSizeBinary(16),
        Some("FIXED") => {
            let text = own.attribute(FIXED_LENGTH).unwrap_or_default();
            let len = text.parse::<i32>().ok().filter(|len| *len >= 0);
            let bad = || Error::corrupt(format!("'{name}' in the ORC file is a fixed of '{text}' bytes"));
            DataType::FixedSizeBinary(len.ok_or_else(bad)?)
        }
        _ => DataType::Binary,
    })
}

fn decimal(name: &str, own: &OrcType) -> Result<DataType> {
    let (precision, scale) = own.decimal();
    if !(1..=38).contains(&precision) || scale > precision {
        return Err(Error::corrupt(format!(
            "'{name}' in the ORC file is decimal({precision}, {scale})"
        )));
    }
    Ok(DataType::Decimal128(precision as u8, scale as i8))
}
