//! The JSON form of partition specs (spec, Appendix C "Partition Specs").

use serde_json::Value as Json;

use super::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use super::partition::{PARTITION_FIELD_ID_START, PartitionField, PartitionSpec};
use super::types::FieldId;
use crate::error::{Error, Result};

serde_by_json_form!(PartitionSpec);

impl JsonForm for PartitionSpec {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a partition spec", json)?;
        // A spec sent to a catalog may leave its id to the catalog.
        let spec_id = fields.opt_i32("spec-id")?.unwrap_or(0);
        Ok(PartitionSpec {
            spec_id,
            fields: fields_from_array(fields.array("fields")?)?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        Ok(ObjectWriter::new()
            .set("spec-id", self.spec_id)
            .set("fields", fields_to_value(self))
            .set_extra(&self.extra)
            .finish())
    }
}

/// The field list alone: v1's `partition-spec`. Fields without ids, as v1 writers left them, count from 1000 in order.
pub(crate) fn fields_from_array(items: Vec<Json>) -> Result<Vec<PartitionField>> {
    let mut with_ids = 0_usize;
    let mut parsed = Vec::with_capacity(items.len());
    for (position, item) in items.into_iter().enumerate() {
        let mut fields = Fields::new("a partition field", item)?;
        let field_id = fields.opt_i32("field-id")?;
        with_ids += usize::from(field_id.is_some());
        let position = FieldId::try_from(position).unwrap_or(FieldId::MAX - PARTITION_FIELD_ID_START);
        parsed.push(PartitionField {
            source_ids: source_ids(&mut fields)?,
            field_id: field_id.unwrap_or(PARTITION_FIELD_ID_START + position),
            name: fields.string("name")?,
            transform: fields.string("transform")?.parse()?,
            extra: fields.rest(),
        });
    }
    if with_ids != 0 && with_ids != parsed.len() {
        return Err(Error::corrupt(
            "some fields of a partition spec have ids and some have none",
        ));
    }
    Ok(parsed)
}

/// The field list alone.
pub(crate) fn fields_to_value(spec: &PartitionSpec) -> Json {
    let fields = spec.fields.iter().map(|field| {
        let mut object = ObjectWriter::new();
        object.set("name", field.name.clone());
        object.set("transform", field.transform.to_string());
        set_source_ids(&mut object, &field.source_ids);
        object.set("field-id", field.field_id).set_extra(&field.extra).finish()
    });
    Json::Array(fields.collect())
}

/// Reads `source-id`, or v3's `source-ids`.
pub(crate) fn source_ids(fields: &mut Fields) -> Result<Vec<FieldId>> {
    let single = fields.opt_i32("source-id")?;
    let several = fields.opt_i32_list("source-ids")?;
    match (single, several) {
        (_, Some(ids)) if !ids.is_empty() => Ok(ids),
        (Some(id), _) => Ok(vec![id]),
        (None, _) => Err(fields.missing("source-id")),
    }
}

/// Writes `source-id` for one source and `source-ids` for several.
pub(crate) fn set_source_ids(object: &mut ObjectWriter, ids: &[FieldId]) {
    match ids {
        [id] => object.set("source-id", *id),
        ids => object.set("source-ids", ids.to_vec()),
    };
}
