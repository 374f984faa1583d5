//! The JSON form of sort orders (spec, Appendix C "Sort Orders").

use serde_json::Value as Json;

use super::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use super::partition_json::{set_source_ids, source_ids};
use super::sort::{NullOrder, SortDirection, SortField, SortOrder};
use crate::error::{Error, Result};

serde_by_json_form!(SortOrder);

impl JsonForm for SortOrder {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a sort order", json)?;
        let order_id = fields.i32("order-id")?;
        let items = fields.array("fields")?;
        Ok(SortOrder {
            order_id,
            fields: items.into_iter().map(field_from_value).collect::<Result<Vec<_>>>()?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let fields = self.fields.iter().map(|field| {
            let mut object = ObjectWriter::new();
            object.set("transform", field.transform.to_string());
            set_source_ids(&mut object, &field.source_ids);
            let direction = match field.direction {
                SortDirection::Asc => "asc",
                SortDirection::Desc => "desc",
            };
            let null_order = match field.null_order {
                NullOrder::First => "nulls-first",
                NullOrder::Last => "nulls-last",
            };
            object
                .set("direction", direction)
                .set("null-order", null_order)
                .set_extra(&field.extra)
                .finish()
        });
        let fields = Json::Array(fields.collect());
        Ok(ObjectWriter::new()
            .set("order-id", self.order_id)
            .set("fields", fields)
            .set_extra(&self.extra)
            .finish())
    }
}

fn field_from_value(json: Json) -> Result<SortField> {
    let mut fields = Fields::new("a sort field", json)?;
    let direction = fields.string("direction")?;
    let null_order = fields.string("null-order")?;
    Ok(SortField {
        source_ids: source_ids(&mut fields)?,
        transform: fields.string("transform")?.parse()?,
        direction: match direction.to_ascii_lowercase().as_str() {
            "asc" => SortDirection::Asc,
            "desc" => SortDirection::Desc,
            _ => return Err(Error::corrupt("the direction of a sort field must be 'asc' or 'desc'")),
        },
        null_order: match null_order.to_ascii_lowercase().as_str() {
            "nulls-first" => NullOrder::First,
            "nulls-last" => NullOrder::Last,
            _ => {
                return Err(Error::corrupt(
                    "the null order of a sort field must be 'nulls-first' or 'nulls-last'",
                ));
            }
        },
        extra: fields.rest(),
    })
}
