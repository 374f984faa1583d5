//! Decodes manifest lists.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::manifest::avro::container::ContainerReader;
use crate::manifest::avro::cursor::{Cursor, Malformed};
use crate::manifest::avro::schema::{AvroField, AvroSchema, AvroType};
use crate::manifest::avro::skip::{Skip, SkipCompiler};
use crate::manifest::manifest_file::{FieldSummary, ManifestContent, ManifestFile};
use crate::manifest::metrics_maps::is_present;
use crate::spec::types::FieldId;

/// Ids and names of the fields; a second name is that of old writers.
const FIELDS: &[(FieldId, &str, &str)] = &[
    (500, "manifest_path", ""),
    (501, "manifest_length", ""),
    (502, "partition_spec_id", ""),
    (517, "content", ""),
    (515, "sequence_number", ""),
    (516, "min_sequence_number", ""),
    (503, "added_snapshot_id", ""),
    (504, "added_files_count", "added_data_files_count"),
    (505, "existing_files_count", "existing_data_files_count"),
    (506, "deleted_files_count", "deleted_data_files_count"),
    (512, "added_rows_count", ""),
    (513, "existing_rows_count", ""),
    (514, "deleted_rows_count", ""),
    (507, "partitions", ""),
    (519, "key_metadata", ""),
    (520, "first_row_id", ""),
];
const SUMMARY_FIELDS: &[(FieldId, &str, &str)] = &[
    (509, "contains_null", ""),
    (518, "contains_nan", ""),
    (510, "lower_bound", ""),
    (511, "upper_bound", ""),
];

struct Step {
    action: Action,
    null: Option<u8>,
}

enum Action {
    Skip(Skip),
    Number(FieldId),
    Bytes(FieldId),
    Boolean(FieldId),
    Summaries { steps: Vec<Step>, item_null: Option<u8> },
}

/// Decodes a manifest list.
///
/// # Errors
/// `Corrupt` when the file is not a manifest list or breaks off, `Unsupported` when it is encrypted.
pub fn decode(bytes: &[u8]) -> Result<Vec<ManifestFile>> {
    let mut container = ContainerReader::new(bytes)?;
    let steps = compile(&container.header.schema()?)?;
    let mut manifests = Vec::new();
    while let Some(block) = container.next_block()? {
        let mut cursor = Cursor::new(block.buffer);
        for _ in 0..block.record_count {
            let manifest = manifest(&mut cursor, &steps)
                .map_err(|e| Error::from(e).with_context("entry", manifests.len().to_string()))?;
            manifests.push(manifest);
        }
        if cursor.remaining() > 0 {
            return Err(Error::corrupt("an Avro block holds more than its entries"));
        }
    }
    Ok(manifests)
}

fn compile(schema: &Arc<AvroSchema>) -> Result<Vec<Step>> {
    let fields = schema.record_fields();
    let fields = fields.ok_or_else(|| Error::corrupt("a manifest list's schema is not a record"))?;
    for (id, name, _) in FIELDS.iter().take(3) {
        if !fields.iter().any(|f| is_field(f, *id, name)) {
            return Err(Error::corrupt(format!(
                "the manifest list's schema has no field '{name}' ({id})"
            )));
        }
    }
    let mut skips = SkipCompiler::default();
    fields.iter().map(|f| step(f, FIELDS, &mut skips)).collect()
}

fn is_field(field: &AvroField, id: FieldId, name: &str) -> bool {
    match field.field_id {
        Some(own) => own == id,
        None => field.name == name,
    }
}

fn step(field: &AvroField, known: &[(FieldId, &str, &str)], skips: &mut SkipCompiler) -> Result<Step> {
    let found = known
        .iter()
        .find(|(id, name, old)| is_field(field, *id, name) || (!old.is_empty() && is_field(field, *id, old)));
    let wrong_type = || {
        Error::corrupt(format!(
            "the manifest list gives field '{}' a type it cannot have",
            field.name
        ))
    };
    let Some((id, ..)) = found else {
        return Ok(Step {
            action: Action::Skip(skips.compile(&field.schema)),
            null: None,
        });
    };
    let nullable = field.schema.nullable().ok_or_else(wrong_type)?;
    let action = match (*id, &nullable.schema.avro_type) {
        (507, AvroType::Array(item)) => {
            // Some writers make the items nullable, though none is ever null.
            let item = item.nullable().ok_or_else(wrong_type)?;
            let fields = item.schema.record_fields().ok_or_else(wrong_type)?;
            let steps = fields.iter().map(|f| step(f, SUMMARY_FIELDS, skips));
            let steps = steps.collect::<Result<Vec<_>>>()?;
            // Items without bytes could be any number.
            if steps.iter().all(|s| matches!(s.action, Action::Skip(Skip::Nothing))) {
                return Err(wrong_type());
            }
            Action::Summaries {
                steps,
                item_null: item.null_branch,
            }
        }
        (500 | 510 | 511 | 519, AvroType::Bytes | AvroType::String) => Action::Bytes(*id),
        (509 | 518, AvroType::Boolean) => Action::Boolean(*id),
        (id, AvroType::Int | AvroType::Long) if !matches!(id, 500 | 507 | 509 | 510 | 511 | 518 | 519) => {
            Action::Number(id)
        }
        (_, AvroType::Null) => Action::Skip(Skip::Nothing),
        _ => return Err(wrong_type()),
    };
    Ok(Step {
        action,
        null: nullable.null_branch,
    })
}

fn manifest(cursor: &mut Cursor<'_>, steps: &[Step]) -> Result<ManifestFile, Malformed> {
    let mut manifest = ManifestFile {
        manifest_path: String::new(),
        manifest_length: -1,
        partition_spec_id: -1,
        content: ManifestContent::Data,
        sequence_number: 0,
        min_sequence_number: 0,
        added_snapshot_id: None,
        added_files_count: None,
        existing_files_count: None,
        deleted_files_count: None,
        added_rows_count: None,
        existing_rows_count: None,
        deleted_rows_count: None,
        partitions: Vec::new(),
        key_metadata: None,
        first_row_id: None,
    };
    for step in steps {
        if !is_present(cursor, step.null)? {
            continue;
        }
        match &step.action {
            Action::Skip(skip) => skip.skip(cursor)?,
            Action::Number(id) => number(&mut manifest, *id, cursor.long()?)?,
            Action::Bytes(500) => manifest.manifest_path = cursor.string()?.to_string(),
            Action::Bytes(_) => manifest.key_metadata = Some(cursor.bytes()?.to_vec()),
            Action::Boolean(_) => drop(cursor.boolean()?),
            Action::Summaries { steps, item_null } => manifest.partitions = summaries(cursor, steps, *item_null)?,
        }
    }
    cursor.check()?;
    if manifest.manifest_path.is_empty() {
        return Err(Malformed::Null);
    }
    Ok(manifest)
}

fn number(manifest: &mut ManifestFile, id: FieldId, value: i64) -> Result<(), Malformed> {
    let int = || i32::try_from(value).map_err(|_| Malformed::Range);
    match id {
        501 => manifest.manifest_length = value,
        502 => manifest.partition_spec_id = int()?,
        517 => {
            manifest.content = match value {
                0 => ManifestContent::Data,
                1 => ManifestContent::Deletes,
                _ => return Err(Malformed::Code),
            }
        }
        515 => manifest.sequence_number = value,
        516 => manifest.min_sequence_number = value,
        503 => manifest.added_snapshot_id = Some(value),
        504 => manifest.added_files_count = Some(int()?),
        505 => manifest.existing_files_count = Some(int()?),
        506 => manifest.deleted_files_count = Some(int()?),
        512 => manifest.added_rows_count = Some(value),
        513 => manifest.existing_rows_count = Some(value),
        514 => manifest.deleted_rows_count = Some(value),
        _ => manifest.first_row_id = Some(value),
    }
    Ok(())
}

fn summaries(cursor: &mut Cursor<'_>, steps: &[Step], item_null: Option<u8>) -> Result<Vec<FieldSummary>, Malformed> {
    let mut summaries = Vec::new();
    loop {
        let items = cursor.items()?;
        if items.count == 0 {
            return Ok(summaries);
        }
        for _ in 0..items.count {
            if !is_present(cursor, item_null)? {
                return Err(Malformed::Null);
            }
            summaries.push(summary(cursor, steps)?);
            cursor.check()?;
        }
        cursor.end_items(items)?;
    }
}

fn summary(cursor: &mut Cursor<'_>, steps: &[Step]) -> Result<FieldSummary, Malformed> {
    // Unless it is said otherwise there may be nulls.
    let mut summary = FieldSummary {
        contains_null: true,
        ..FieldSummary::default()
    };
    for step in steps {
        if !is_present(cursor, step.null)? {
            continue;
        }
        match &step.action {
            Action::Skip(skip) => skip.skip(cursor)?,
            Action::Boolean(509) => summary.contains_null = cursor.boolean()?,
            Action::Boolean(_) => summary.contains_nan = Some(cursor.boolean()?),
            Action::Bytes(510) => summary.lower_bound = Some(cursor.bytes()?.to_vec()),
            Action::Bytes(_) => summary.upper_bound = Some(cursor.bytes()?.to_vec()),
            Action::Number(_) | Action::Summaries { .. } => return Err(Malformed::Range),
        }
    }
    Ok(summary)
}
