//! The reports on manifest lists and manifests, and the rows that tables show of them.

use std::collections::BTreeMap;

use tarn_format::manifest::columns::{ManifestColumns, MetricsProjection};
use tarn_format::manifest::data_file::{DataContent, ManifestStatus};
use tarn_format::manifest::inherit::Inheritance;
use tarn_format::manifest::manifest_file::{ManifestContent, ManifestFile};
use tarn_format::manifest::{list, reader};
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::types::{StructType, Type};
use tarn_format::spec::value::Value;
use tarn_format::{Result, ResultExt};

use super::Detail;
use super::table::{counts, each_file};
use crate::report::{Cell, Report};

/// Columns of [`manifest_row`].
pub const MANIFEST_COLUMNS: &[&str] = &[
    "path", "content", "spec", "snapshot", "sequence", "added", "existing", "deleted", "records", "size",
];

/// One manifest as its list knows it.
pub fn manifest_row(manifest: &ManifestFile) -> Vec<Cell> {
    let files = |count: Option<i32>| Cell::from(count.map(i64::from));
    let live_records = match (manifest.added_rows_count, manifest.existing_rows_count) {
        (Some(added), Some(existing)) => Some(added.saturating_add(existing)),
        _ => None,
    };
    vec![
        Cell::Location(manifest.manifest_path.clone()),
        Cell::text(match manifest.content {
            ManifestContent::Data => "data",
            ManifestContent::Deletes => "deletes",
        }),
        Cell::Number(i64::from(manifest.partition_spec_id)),
        Cell::from(manifest.added_snapshot_id),
        Cell::Number(manifest.sequence_number),
        files(manifest.added_files_count),
        files(manifest.existing_files_count),
        files(manifest.deleted_files_count),
        Cell::from(live_records),
        Cell::Bytes(manifest.manifest_length),
    ]
}

/// A live data or delete file, as it is shown.
#[derive(Debug, Clone)]
pub struct LiveFile {
    /// Data or deletes.
    pub content: DataContent,
    /// Location.
    pub path: String,
    /// Format.
    pub format: &'static str,
    /// Rows, or deleted rows.
    pub record_count: i64,
    /// Length in bytes.
    pub size_bytes: i64,
    /// Partition as `name=value` joined by `/`; empty when unpartitioned.
    pub partition: String,
    /// Spec it was written with; `None` when only its manifest is known.
    pub spec_id: Option<i32>,
    /// Data sequence number; `None` when it is inherited and only the manifest is known.
    pub sequence_number: Option<i64>,
    /// The data file whose rows it deletes, when it names one.
    pub referenced_data_file: Option<String>,
    deletion_vector: bool,
}

impl LiveFile {
    /// What the file holds, in the plural.
    pub fn kind(&self) -> &'static str {
        match self.content {
            DataContent::Data => "data files",
            DataContent::PositionDeletes if self.deletion_vector => "deletion vectors",
            DataContent::PositionDeletes => "position delete files",
            DataContent::EqualityDeletes => "equality delete files",
        }
    }
}

/// How partition tuples of a manifest are shown.
#[derive(Debug, Clone, Copy)]
pub struct Partitioning<'a> {
    /// The spec.
    pub spec: &'a PartitionSpec,
    /// Its result types.
    pub types: &'a StructType,
}

/// The live files of a manifest that a table's snapshot lists.
///
/// # Errors
/// `Corrupt` when the bytes are no manifest.
pub fn live_files(bytes: &[u8], manifest: &ManifestFile, partitioning: Partitioning<'_>) -> Result<Vec<LiveFile>> {
    let columns = reader::decode(bytes, Some(partitioning.types), &MetricsProjection::None)?;
    let inheritance = Inheritance::new(manifest, &columns);
    let mut files = collect(&columns, Some(partitioning));
    let live = (0..columns.len).filter(|i| columns.is_live(*i));
    for (file, i) in files.iter_mut().zip(live) {
        file.spec_id = Some(manifest.partition_spec_id);
        file.sequence_number = inheritance.sequence_number(&columns, i);
    }
    Ok(files)
}

fn collect(columns: &ManifestColumns, partitioning: Option<Partitioning<'_>>) -> Vec<LiveFile> {
    let live = (0..columns.len).filter(|i| columns.is_live(*i));
    let file = |i: usize| LiveFile {
        content: columns.content(i),
        path: columns.path(i).to_string(),
        format: columns.file_format(i).as_str(),
        record_count: columns.record_count(i),
        size_bytes: columns.file_size_in_bytes(i),
        partition: partition_text(&columns.partition(i).0, partitioning),
        spec_id: None,
        sequence_number: columns.sequence_number.get(i),
        referenced_data_file: columns.referenced_data_file.get(i).map(str::to_string),
        deletion_vector: columns.is_deletion_vector(i),
    };
    live.map(file).collect()
}

/// `name=value/…` with values as the transform shows them; without a spec, the stored values in order.
fn partition_text(values: &[Option<Value>], partitioning: Option<Partitioning<'_>>) -> String {
    let Some(Partitioning { spec, types }) = partitioning else {
        let parts: Vec<String> = values.iter().map(|v| stored(v.as_ref())).collect();
        return parts.join("/");
    };
    let mut parts = Vec::new();
    for ((field, typed), value) in spec.fields.iter().zip(&types.fields).zip(values) {
        let shown = match &typed.field_type {
            Type::Primitive(primitive) => field.transform.to_human_string(value.as_ref(), primitive),
            _ => stored(value.as_ref()),
        };
        parts.push(format!("{}={shown}", field.name));
    }
    parts.join("/")
}

/// A value of a type that is not known: dates and times are numbers then.
fn stored(value: Option<&Value>) -> String {
    match value {
        None => "null".to_string(),
        Some(Value::Boolean(v)) => v.to_string(),
        Some(Value::Int(v)) => v.to_string(),
        Some(Value::Long(v)) => v.to_string(),
        Some(Value::Float(v)) => v.to_string(),
        Some(Value::Double(v)) => v.to_string(),
        Some(Value::Decimal(v)) => v.to_string(),
        Some(Value::String(v)) => v.to_string(),
        Some(other) => format!("{other:?}"),
    }
}

/// Describes a manifest list.
///
/// # Errors
/// `Corrupt` when the bytes are none.
pub fn describe_list(report: &mut Report, bytes: &[u8], file: &str) -> Result<()> {
    let manifests = list::decode(bytes).context("file", file)?;
    report.facts(
        "Manifest list",
        [("file", Cell::text(file)), ("manifests", count(manifests.len()))],
    );
    report.rows(
        "Manifests",
        MANIFEST_COLUMNS,
        manifests.iter().map(manifest_row).collect(),
    );
    Ok(())
}

/// Describes a manifest by itself: what it would inherit from its list is not known.
///
/// # Errors
/// `Corrupt` when the bytes are none.
pub fn describe(report: &mut Report, bytes: &[u8], file: &str, detail: Detail) -> Result<()> {
    let columns = reader::decode(bytes, None, &MetricsProjection::None).context("file", file)?;
    let mut by_status: BTreeMap<&'static str, usize> = BTreeMap::new();
    for i in 0..columns.len {
        let status = match columns.status(i) {
            ManifestStatus::Existing => "existing",
            ManifestStatus::Added => "added",
            ManifestStatus::Deleted => "deleted",
        };
        *by_status.entry(status).or_default() += 1;
    }
    let mut facts = vec![("file", Cell::text(file)), ("entries", count(columns.len))];
    facts.extend(by_status.into_iter().map(|(status, n)| (status, count(n))));
    report.facts("Manifest", facts);
    let live = collect(&columns, None);
    counts(report, &live);
    if detail == Detail::Each {
        each_file(report, &live);
    }
    Ok(())
}

fn count(number: usize) -> Cell {
    Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
}
