//! The Avro schemas that manifests and manifest lists are written with (spec, "Manifests", "Manifest Lists").

use std::collections::BTreeSet;

use serde_json::{Map as JsonMap, Value as Json, json};

use super::avro::schema::sanitize;
use crate::error::{Error, Result};
use crate::spec::table_metadata::FormatVersion;
use crate::spec::types::{FieldId, NestedField, PrimitiveType, StructType, Type};

/// The schema of manifests of this version.
///
/// # Errors
/// `InvalidInput` when a partition field is not primitive.
pub(super) fn manifest_schema(version: FormatVersion, partition_type: &StructType) -> Result<String> {
    let mut fields = vec![required(0, "status", json!("int"))];
    if version == FormatVersion::V1 {
        fields.push(required(1, "snapshot_id", json!("long")));
    } else {
        fields.push(optional(1, "snapshot_id", json!("long")));
        fields.push(optional(3, "sequence_number", json!("long")));
        fields.push(optional(4, "file_sequence_number", json!("long")));
    }
    fields.push(required(
        2,
        "data_file",
        record("r2", file_fields(version, partition_type)?),
    ));
    Ok(record("manifest_entry", fields).to_string())
}

fn file_fields(version: FormatVersion, partition_type: &StructType) -> Result<Vec<Json>> {
    let mut fields = Vec::new();
    if version > FormatVersion::V1 {
        fields.push(required(134, "content", json!("int")));
    }
    fields.push(required(100, "file_path", json!("string")));
    fields.push(required(101, "file_format", json!("string")));
    fields.push(required(
        102,
        "partition",
        record("r102", partition_fields(partition_type)?),
    ));
    fields.push(required(103, "record_count", json!("long")));
    fields.push(required(104, "file_size_in_bytes", json!("long")));
    if version == FormatVersion::V1 {
        fields.push(required(105, "block_size_in_bytes", json!("long")));
    }
    fields.push(optional(108, "column_sizes", map(117, 118, "long")));
    fields.push(optional(109, "value_counts", map(119, 120, "long")));
    fields.push(optional(110, "null_value_counts", map(121, 122, "long")));
    fields.push(optional(137, "nan_value_counts", map(138, 139, "long")));
    fields.push(optional(125, "lower_bounds", map(126, 127, "bytes")));
    fields.push(optional(128, "upper_bounds", map(129, 130, "bytes")));
    fields.push(optional(131, "key_metadata", json!("bytes")));
    fields.push(optional(132, "split_offsets", list(133, json!("long"))));
    if version > FormatVersion::V1 {
        fields.push(optional(135, "equality_ids", list(136, json!("int"))));
    }
    fields.push(optional(140, "sort_order_id", json!("int")));
    if version > FormatVersion::V2 {
        fields.push(optional(142, "first_row_id", json!("long")));
    }
    if version > FormatVersion::V1 {
        fields.push(optional(143, "referenced_data_file", json!("string")));
    }
    if version > FormatVersion::V2 {
        fields.push(optional(144, "content_offset", json!("long")));
        fields.push(optional(145, "content_size_in_bytes", json!("long")));
    }
    Ok(fields)
}

/// The schema of manifest lists of this version.
pub(super) fn manifest_list_schema(version: FormatVersion) -> String {
    let mut fields = vec![
        required(500, "manifest_path", json!("string")),
        required(501, "manifest_length", json!("long")),
        required(502, "partition_spec_id", json!("int")),
    ];
    let summary = vec![
        required(509, "contains_null", json!("boolean")),
        optional(518, "contains_nan", json!("boolean")),
        optional(510, "lower_bound", json!("bytes")),
        optional(511, "upper_bound", json!("bytes")),
    ];
    let partitions = optional(507, "partitions", list(508, record("r508", summary)));
    if version == FormatVersion::V1 {
        fields.push(required(503, "added_snapshot_id", json!("long")));
        fields.push(optional(504, "added_files_count", json!("int")));
        fields.push(optional(505, "existing_files_count", json!("int")));
        fields.push(optional(506, "deleted_files_count", json!("int")));
        fields.push(partitions);
        fields.push(optional(512, "added_rows_count", json!("long")));
        fields.push(optional(513, "existing_rows_count", json!("long")));
        fields.push(optional(514, "deleted_rows_count", json!("long")));
    } else {
        fields.push(required(517, "content", json!("int")));
        fields.push(required(515, "sequence_number", json!("long")));
        fields.push(required(516, "min_sequence_number", json!("long")));
        fields.push(required(503, "added_snapshot_id", json!("long")));
        fields.push(required(504, "added_files_count", json!("int")));
        fields.push(required(505, "existing_files_count", json!("int")));
        fields.push(required(506, "deleted_files_count", json!("int")));
        fields.push(required(512, "added_rows_count", json!("long")));
        fields.push(required(513, "existing_rows_count", json!("long")));
        fields.push(required(514, "deleted_rows_count", json!("long")));
        fields.push(partitions);
    }
    fields.push(optional(519, "key_metadata", json!("bytes")));
    if version > FormatVersion::V2 {
        fields.push(optional(520, "first_row_id", json!("long")));
    }
    record("manifest_file", fields).to_string()
}

fn partition_fields(partition_type: &StructType) -> Result<Vec<Json>> {
    let mut named = BTreeSet::new();
    partition_type
        .fields
        .iter()
        .map(|f| partition_field(f, &mut named))
        .collect()
}

fn partition_field(field: &NestedField, named: &mut BTreeSet<String>) -> Result<Json> {
    let Type::Primitive(primitive) = &field.field_type else {
        return Err(Error::invalid(format!(
            "partition field '{}' is not primitive",
            field.name
        )));
    };
    let name = sanitize(&field.name);
    let avro = primitive_schema(primitive, named);
    let mut json = match primitive {
        // A union of null and null is illegal.
        PrimitiveType::Unknown => json!({"name": name, "type": avro, "default": null, "field-id": field.id}),
        _ => optional(field.id, &name, avro),
    };
    if let (Some(object), true) = (json.as_object_mut(), name != field.name) {
        object.insert("iceberg-field-name".to_string(), json!(field.name));
    }
    Ok(json)
}

fn primitive_schema(primitive: &PrimitiveType, named: &mut BTreeSet<String>) -> Json {
    let timestamp = |logical: &str, utc: bool| json!({"type": "long", "logicalType": logical, "adjust-to-utc": utc});
    match primitive {
        PrimitiveType::Boolean => json!("boolean"),
        PrimitiveType::Int => json!("int"),
        PrimitiveType::Long => json!("long"),
        PrimitiveType::Float => json!("float"),
        PrimitiveType::Double => json!("double"),
        PrimitiveType::Date => json!({"type": "int", "logicalType": "date"}),
        PrimitiveType::Time => json!({"type": "long", "logicalType": "time-micros"}),
        PrimitiveType::Timestamp => timestamp("timestamp-micros", false),
        PrimitiveType::Timestamptz => timestamp("timestamp-micros", true),
        PrimitiveType::TimestampNs => timestamp("timestamp-nanos", false),
        PrimitiveType::TimestamptzNs => timestamp("timestamp-nanos", true),
        PrimitiveType::String => json!("string"),
        PrimitiveType::Binary | PrimitiveType::Geometry { .. } | PrimitiveType::Geography { .. } => json!("bytes"),
        PrimitiveType::Unknown => json!("null"),
        PrimitiveType::Uuid => fixed("uuid_fixed".to_string(), 16, &[("logicalType", json!("uuid"))], named),
        PrimitiveType::Fixed(len) => fixed(format!("fixed_{len}"), *len, &[], named),
        PrimitiveType::Decimal { precision, scale } => {
            let logical = [
                ("logicalType", json!("decimal")),
                ("precision", json!(precision)),
                ("scale", json!(scale)),
            ];
            let size = decimal_size(*precision);
            fixed(format!("decimal_{precision}_{scale}"), size as u32, &logical, named)
        }
    }
}

/// Every use declares a type of its own. Avro would let later uses name the first, as Java does, but apache-avro and
/// what is built on it cannot follow such a reference to a fixed with a logical type.
fn fixed(base: String, size: u32, attributes: &[(&str, Json)], named: &mut BTreeSet<String>) -> Json {
    let mut name = base.clone();
    let mut uses = 1;
    while !named.insert(name.clone()) {
        uses += 1;
        name = format!("{base}_use{uses}");
    }
    let mut object = JsonMap::new();
    object.insert("type".to_string(), json!("fixed"));
    object.insert("name".to_string(), json!(name));
    object.insert("size".to_string(), json!(size));
    for (key, value) in attributes {
        object.insert((*key).to_string(), value.clone());
    }
    Json::Object(object)
}

/// The fewest bytes that hold every decimal of this precision.
pub(super) fn decimal_size(precision: u8) -> usize {
    let mut largest = 1_i128;
    for _ in 0..precision.min(38) {
        largest = largest.saturating_mul(10);
    }
    let largest = largest.saturating_sub(1);
    let bits = 128 - largest.leading_zeros() + 1;
    bits.div_ceil(8) as usize
}

fn record(name: &str, fields: Vec<Json>) -> Json {
    json!({"type": "record", "name": name, "fields": fields})
}

fn required(id: FieldId, name: &str, avro_type: Json) -> Json {
    json!({"name": name, "type": avro_type, "field-id": id})
}

fn optional(id: FieldId, name: &str, avro_type: Json) -> Json {
    json!({"name": name, "type": ["null", avro_type], "default": null, "field-id": id})
}

fn list(element_id: FieldId, items: Json) -> Json {
    json!({"type": "array", "items": items, "element-id": element_id})
}

/// A map with int keys: an array of records.
fn map(key_id: FieldId, value_id: FieldId, value: &str) -> Json {
    let fields = vec![
        required(key_id, "key", json!("int")),
        required(value_id, "value", json!(value)),
    ];
    json!({"type": "array", "items": record(&format!("k{key_id}_v{value_id}"), fields), "logicalType": "map"})
}
