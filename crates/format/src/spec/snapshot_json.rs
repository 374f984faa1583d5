//! The JSON form of snapshots and refs (spec, Appendix C "Table Metadata and Snapshots").

use serde_json::Value as Json;

use super::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use super::snapshot::{Operation, RefKind, Snapshot, SnapshotManifests, SnapshotRef, SnapshotRetention};
use crate::error::{Error, Result};

serde_by_json_form!(Snapshot, SnapshotRef);

impl Operation {
    /// The operation of this name; `None` for one we don't know.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "append" => Some(Operation::Append),
            "replace" => Some(Operation::Replace),
            "overwrite" => Some(Operation::Overwrite),
            "delete" => Some(Operation::Delete),
            _ => None,
        }
    }
}

impl JsonForm for Snapshot {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a snapshot", json)?;
        let snapshot_id = fields.snapshot_id("snapshot-id")?;
        let in_snapshot = |e: Error| e.with_context("snapshot", snapshot_id.to_string());
        snapshot_from_fields(snapshot_id, &mut fields)
            .map(|snapshot| Snapshot {
                extra: fields.rest(),
                ..snapshot
            })
            .map_err(in_snapshot)
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        if self.sequence_number > 0 {
            object.set("sequence-number", self.sequence_number);
        }
        object
            .set("snapshot-id", self.snapshot_id)
            .set_some("parent-snapshot-id", self.parent_snapshot_id)
            .set("timestamp-ms", self.timestamp_ms);
        if self.operation.is_some() || !self.summary.is_empty() {
            let mut summary = ObjectWriter::new();
            summary.set_some("operation", self.operation.map(|o| o.to_string()));
            for (key, value) in &self.summary {
                if self.operation.is_none() || key != "operation" {
                    summary.set(key, value.clone());
                }
            }
            object.set("summary", summary.finish());
        }
        match &self.manifests {
            SnapshotManifests::List(location) => object.set("manifest-list", location.clone()),
            SnapshotManifests::Embedded(locations) => object.set("manifests", locations.clone()),
        };
        Ok(object
            .set_some("schema-id", self.schema_id)
            .set_some("first-row-id", self.first_row_id)
            .set_some("added-rows", self.added_rows)
            .set_some("key-id", self.key_id.clone())
            .set_extra(&self.extra)
            .finish())
    }
}

fn snapshot_from_fields(snapshot_id: i64, fields: &mut Fields) -> Result<Snapshot> {
    let mut summary = fields.opt_properties("summary")?.unwrap_or_default();
    // An operation we don't know stays in the summary, so that it is written back.
    let operation = summary.get("operation").and_then(|name| Operation::from_name(name));
    if operation.is_some() {
        summary.remove("operation");
    }
    let manifests = match fields.opt_string("manifest-list")? {
        Some(location) => SnapshotManifests::List(location),
        None => match fields.opt_string_list("manifests")? {
            Some(locations) => SnapshotManifests::Embedded(locations),
            None => return Err(fields.missing("manifest-list")),
        },
    };
    Ok(Snapshot {
        snapshot_id,
        parent_snapshot_id: fields.opt_snapshot_id("parent-snapshot-id")?,
        sequence_number: fields.opt_i64("sequence-number")?.unwrap_or(0),
        timestamp_ms: fields.i64("timestamp-ms")?,
        manifests,
        operation,
        summary,
        schema_id: fields.opt_i32("schema-id")?,
        first_row_id: fields.opt_i64("first-row-id")?,
        added_rows: fields.opt_i64("added-rows")?,
        key_id: fields.opt_string("key-id")?,
        extra: Default::default(),
    })
}

impl JsonForm for SnapshotRef {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a snapshot ref", json)?;
        Ok(SnapshotRef {
            snapshot_id: fields.snapshot_id("snapshot-id")?,
            kind: ref_kind(&fields.string("type")?)?,
            retention: retention_from_fields(&mut fields)?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        ref_into(&mut object, self);
        Ok(object.set_extra(&self.extra).finish())
    }
}

/// Reads `branch` or `tag` in any case.
pub(crate) fn ref_kind(name: &str) -> Result<RefKind> {
    match name.to_ascii_lowercase().as_str() {
        "branch" => Ok(RefKind::Branch),
        "tag" => Ok(RefKind::Tag),
        _ => Err(Error::corrupt("the type of a snapshot ref must be 'branch' or 'tag'")),
    }
}

/// Reads the retention fields of a ref.
pub(crate) fn retention_from_fields(fields: &mut Fields) -> Result<SnapshotRetention> {
    Ok(SnapshotRetention {
        min_snapshots_to_keep: fields.opt_i32("min-snapshots-to-keep")?,
        max_snapshot_age_ms: fields.opt_i64("max-snapshot-age-ms")?,
        max_ref_age_ms: fields.opt_i64("max-ref-age-ms")?,
    })
}

/// Writes what a ref points to and its retention.
pub(crate) fn ref_into(object: &mut ObjectWriter, reference: &SnapshotRef) {
    object
        .set("snapshot-id", reference.snapshot_id)
        .set("type", reference.kind.to_string())
        .set_some("min-snapshots-to-keep", reference.retention.min_snapshots_to_keep)
        .set_some("max-snapshot-age-ms", reference.retention.max_snapshot_age_ms)
        .set_some("max-ref-age-ms", reference.retention.max_ref_age_ms);
}
