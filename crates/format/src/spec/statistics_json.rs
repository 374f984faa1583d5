//! The JSON form of statistics files and encryption keys (spec, "Table Statistics", "Partition Statistics",
//! "Encryption Keys").

use serde_json::Value as Json;

use super::json_fields::{Fields, JsonForm, ObjectWriter, serde_by_json_form};
use super::table_metadata::{BlobMetadata, EncryptedKey, PartitionStatisticsFile, StatisticsFile};
use crate::error::Result;

serde_by_json_form!(StatisticsFile, BlobMetadata, PartitionStatisticsFile, EncryptedKey);

impl JsonForm for StatisticsFile {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a statistics file", json)?;
        Ok(StatisticsFile {
            snapshot_id: fields.snapshot_id("snapshot-id")?,
            statistics_path: fields.string("statistics-path")?,
            file_size_bytes: fields.i64("file-size-in-bytes")?,
            file_footer_size_bytes: fields.i64("file-footer-size-in-bytes")?,
            key_metadata: fields.opt_string("key-metadata")?,
            blob_metadata: fields.list("blob-metadata")?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        object
            .set("snapshot-id", self.snapshot_id)
            .set("statistics-path", self.statistics_path.clone())
            .set("file-size-in-bytes", self.file_size_bytes)
            .set("file-footer-size-in-bytes", self.file_footer_size_bytes)
            .set_some("key-metadata", self.key_metadata.clone())
            .set_list("blob-metadata", &self.blob_metadata)?;
        Ok(object.set_extra(&self.extra).finish())
    }
}

impl JsonForm for BlobMetadata {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("blob metadata", json)?;
        Ok(BlobMetadata {
            blob_type: fields.string("type")?,
            snapshot_id: fields.snapshot_id("snapshot-id")?,
            sequence_number: fields.i64("sequence-number")?,
            fields: fields.opt_i32_list("fields")?.ok_or_else(|| fields.missing("fields"))?,
            properties: fields.opt_properties("properties")?.unwrap_or_default(),
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        object
            .set("type", self.blob_type.clone())
            .set("snapshot-id", self.snapshot_id)
            .set("sequence-number", self.sequence_number)
            .set("fields", self.fields.clone());
        if !self.properties.is_empty() {
            object.set_properties("properties", &self.properties);
        }
        Ok(object.set_extra(&self.extra).finish())
    }
}

impl JsonForm for PartitionStatisticsFile {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("a partition statistics file", json)?;
        Ok(PartitionStatisticsFile {
            snapshot_id: fields.snapshot_id("snapshot-id")?,
            statistics_path: fields.string("statistics-path")?,
            file_size_bytes: fields.i64("file-size-in-bytes")?,
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        Ok(ObjectWriter::new()
            .set("snapshot-id", self.snapshot_id)
            .set("statistics-path", self.statistics_path.clone())
            .set("file-size-in-bytes", self.file_size_bytes)
            .set_extra(&self.extra)
            .finish())
    }
}

impl JsonForm for EncryptedKey {
    fn from_value(json: Json) -> Result<Self> {
        let mut fields = Fields::new("an encryption key", json)?;
        Ok(EncryptedKey {
            key_id: fields.string("key-id")?,
            encrypted_key_metadata: fields.string("encrypted-key-metadata")?,
            encrypted_by_id: fields.opt_string("encrypted-by-id")?,
            properties: fields.opt_properties("properties")?.unwrap_or_default(),
            extra: fields.rest(),
        })
    }

    fn to_value(&self) -> Result<Json> {
        let mut object = ObjectWriter::new();
        object
            .set("key-id", self.key_id.clone())
            .set("encrypted-key-metadata", self.encrypted_key_metadata.clone())
            .set_some("encrypted-by-id", self.encrypted_by_id.clone());
        if !self.properties.is_empty() {
            object.set_properties("properties", &self.properties);
        }
        Ok(object.set_extra(&self.extra).finish())
    }
}
