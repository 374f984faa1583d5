//! The report on a table.

use std::collections::BTreeMap;

use tarn_format::catalog::relocation::Relocation;
use tarn_format::io::FileIo;
use tarn_format::manifest::data_file::DataContent;
use tarn_format::manifest::list;
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Snapshot;
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadata};
use tarn_format::spec::types::{FieldId, Type};
use tarn_format::spec::value_json;
use tarn_format::{Result, ResultExt};

use super::Detail;
use super::manifest::{LiveFile, MANIFEST_COLUMNS, Partitioning, live_files, manifest_row};
use crate::report::{Cell, Report};

/// Where the metadata came from, and how its files are reached.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The metadata file.
    pub file: &'a str,
    /// Access to the table's files.
    pub io: &'a FileIo,
    /// Where the table lies now.
    pub relocation: &'a Relocation,
}

/// What is shown one by one.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Live files.
    pub files: Detail,
    /// Snapshots.
    pub snapshots: Detail,
}

/// Describes a table's metadata and the files of its current snapshot.
pub async fn describe(report: &mut Report, table: &TableMetadata, source: &Source<'_>, view: View) -> Result<()> {
    report.shorten_below(&table.location);
    general(report, table, source);
    schemas(report, table);
    specs(report, table);
    sort_order(report, table);
    refs(report, table);
    if view.snapshots == Detail::Each {
        snapshots(report, table);
    }
    if let Some(snapshot) = table.current_snapshot() {
        current_snapshot(report, snapshot);
        files(report, table, snapshot, source.io, view.files)
            .await
            .context("table", &table.location)?;
    }
    statistics(report, table);
    report.facts("Properties", table.properties.iter().map(|(k, v)| (k, Cell::text(v))));
    Ok(())
}

fn general(report: &mut Report, table: &TableMetadata, source: &Source) {
    let mut facts = vec![
        ("metadata file", Cell::text(source.file)),
        ("location", Cell::text(&table.location)),
        ("format version", Cell::Number(i64::from(table.format_version.number()))),
        ("uuid", table.table_uuid.map_or(Cell::Missing, Cell::text)),
        ("last updated", Cell::Time(table.last_updated_ms)),
        ("current schema", Cell::Number(i64::from(table.current_schema_id))),
        ("default spec", Cell::Number(i64::from(table.default_spec_id))),
        (
            "default sort order",
            Cell::Number(i64::from(table.default_sort_order_id)),
        ),
        ("current snapshot", Cell::from(table.current_snapshot_id)),
        ("snapshots", count(table.snapshots.len())),
        ("last sequence number", Cell::Number(table.last_sequence_number)),
        ("last column id", Cell::Number(i64::from(table.last_column_id))),
        ("earlier metadata files", count(table.metadata_log.len())),
    ];
    if table.format_version >= FormatVersion::V3 {
        facts.push(("next row id", Cell::Number(table.next_row_id)));
    }
    if !source.relocation.prefixes.is_empty() {
        facts.insert(2, ("read from", Cell::text(&source.relocation.directory)));
    }
    report.facts("Table", facts);
}

fn schemas(report: &mut Report, table: &TableMetadata) {
    schema(report, table.current_schema());
    if table.schemas.len() > 1 {
        let row = |schema: &Schema| {
            let names: Vec<&str> = schema.fields().iter().map(|f| f.name.as_str()).collect();
            vec![
                Cell::Number(i64::from(schema.schema_id())),
                Cell::text(names.join(", ")),
            ]
        };
        let rows = table.schemas.iter().map(|s| row(s)).collect();
        report.rows("All schemas", &["schema", "columns"], rows);
    }
}

/// Adds the fields of a schema, nested ones below their parents.
pub fn schema(report: &mut Report, schema: &Schema) {
    let mut rows = Vec::new();
    for field in schema.fields() {
        push_field(&mut rows, schema, field.id);
    }
    report.rows("Schema", &["id", "name", "type", "nulls", "default", "doc"], rows);
}

fn push_field(rows: &mut Vec<Vec<Cell>>, schema: &Schema, id: FieldId) {
    let Some(field) = schema.field_by_id(id) else { return };
    let default = field.initial_default.as_ref().or(field.write_default.as_ref());
    let default = default.map(|value| match value_json::to_json(value, &field.field_type) {
        Ok(json) => Cell::text(json),
        Err(error) => Cell::text(error),
    });
    let shown_type = match &field.field_type {
        Type::Struct(_) => "struct".to_string(),
        Type::List(_) => "list".to_string(),
        Type::Map(_) => "map".to_string(),
        other => other.to_string(),
    };
    let identifies = schema.identifier_field_ids().contains(&id);
    rows.push(vec![
        Cell::Number(i64::from(id)),
        Cell::from(schema.full_name(id)),
        Cell::text(shown_type),
        Cell::text(match (field.required, identifies) {
            (_, true) => "identifier",
            (true, false) => "required",
            (false, false) => "optional",
        }),
        default.unwrap_or(Cell::Missing),
        Cell::from(field.doc.as_deref()),
    ]);
    for child in field.field_type.children() {
        push_field(rows, schema, child.id);
    }
}

fn specs(report: &mut Report, table: &TableMetadata) {
    let mut rows = Vec::new();
    for spec in &table.partition_specs {
        let id = Cell::Number(i64::from(spec.spec_id));
        if spec.fields.is_empty() {
            let none = Cell::text("unpartitioned");
            rows.push(vec![id.clone(), Cell::Missing, none, Cell::Missing, Cell::Missing]);
        }
        for field in &spec.fields {
            rows.push(vec![
                id.clone(),
                Cell::Number(i64::from(field.field_id)),
                Cell::text(&field.name),
                Cell::text(&field.transform),
                Cell::text(column_names(table, &field.source_ids)),
            ]);
        }
    }
    report.rows(
        "Partition specs",
        &["spec", "field id", "name", "transform", "source"],
        rows,
    );
}

/// The names of columns in the newest schema that has them; the id where none has.
fn column_names(table: &TableMetadata, ids: &[FieldId]) -> String {
    let name = |id: &FieldId| {
        let current = std::iter::once(table.current_schema());
        let mut schemas = current.chain(table.schemas.iter().rev());
        schemas
            .find_map(|s| s.full_name(*id).map(str::to_string))
            .unwrap_or_else(|| format!("dropped column {id}"))
    };
    ids.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn sort_order(report: &mut Report, table: &TableMetadata) {
    let order = table.default_sort_order();
    let row = |field: &tarn_format::spec::sort::SortField| {
        vec![
            Cell::text(column_names(table, &field.source_ids)),
            Cell::text(&field.transform),
            Cell::text(format!("{:?}", field.direction).to_lowercase()),
            Cell::text(format!("{:?}", field.null_order).to_lowercase()),
        ]
    };
    let rows = order.fields.iter().map(row).collect();
    report.rows("Sort order", &["column", "transform", "direction", "nulls"], rows);
}

fn refs(report: &mut Report, table: &TableMetadata) {
    let row = |(name, reference): (&String, &tarn_format::spec::snapshot::SnapshotRef)| {
        let retention = &reference.retention;
        vec![
            Cell::text(name),
            Cell::text(reference.kind),
            Cell::Number(reference.snapshot_id),
            Cell::from(retention.max_ref_age_ms),
            Cell::from(retention.min_snapshots_to_keep.map(i64::from)),
            Cell::from(retention.max_snapshot_age_ms),
        ]
    };
    let columns = [
        "name",
        "kind",
        "snapshot",
        "max ref age ms",
        "min snapshots",
        "max snapshot age ms",
    ];
    report.rows("Refs", &columns, table.refs.iter().map(row).collect());
}

fn snapshots(report: &mut Report, table: &TableMetadata) {
    let row = |s: &Snapshot| {
        let summary = |key: &str| Cell::from(s.summary.get(key).map(String::as_str));
        vec![
            Cell::Number(s.snapshot_id),
            Cell::from(s.parent_snapshot_id),
            Cell::Number(s.sequence_number),
            Cell::Time(s.timestamp_ms),
            s.operation.map_or(Cell::Missing, Cell::text),
            summary("added-data-files"),
            summary("deleted-data-files"),
            summary("total-data-files"),
            summary("total-records"),
        ]
    };
    let columns = [
        "snapshot",
        "parent",
        "sequence",
        "committed",
        "operation",
        "added",
        "deleted",
        "total files",
        "total records",
    ];
    report.rows("Snapshots", &columns, table.snapshots.iter().map(|s| row(s)).collect());
}

fn current_snapshot(report: &mut Report, snapshot: &Snapshot) {
    let mut facts = vec![
        ("snapshot".to_string(), Cell::Number(snapshot.snapshot_id)),
        ("parent".to_string(), Cell::from(snapshot.parent_snapshot_id)),
        ("committed".to_string(), Cell::Time(snapshot.timestamp_ms)),
        ("sequence number".to_string(), Cell::Number(snapshot.sequence_number)),
        (
            "operation".to_string(),
            snapshot.operation.map_or(Cell::Missing, Cell::text),
        ),
        ("schema".to_string(), Cell::from(snapshot.schema_id.map(i64::from))),
    ];
    facts.extend(snapshot.summary.iter().map(|(k, v)| (k.clone(), Cell::text(v))));
    report.facts("Current snapshot", facts);
}

/// Manifests of a snapshot and the live files in them, counted by what they hold.
async fn files(
    report: &mut Report,
    table: &TableMetadata,
    snapshot: &Snapshot,
    io: &FileIo,
    detail: Detail,
) -> Result<()> {
    let manifests = list::load(io, table, snapshot).await?;
    report.rows(
        "Manifests",
        MANIFEST_COLUMNS,
        manifests.iter().map(manifest_row).collect(),
    );
    let mut live: Vec<LiveFile> = Vec::new();
    for manifest in &manifests {
        let spec_id = manifest.partition_spec_id;
        let types = table.partition_type_of(spec_id)?;
        let unpartitioned = PartitionSpec::unpartitioned();
        let spec = table.spec_by_id(spec_id).map_or(&unpartitioned, |spec| spec.as_ref());
        let bytes = io.read(&manifest.manifest_path).await?;
        let partitioning = Partitioning { spec, types: &types };
        live.extend(live_files(&bytes, manifest, partitioning).context("file", &manifest.manifest_path)?);
    }
    counts(report, &live);
    if detail == Detail::Each {
        each_file(report, &live);
    }
    Ok(())
}

/// Adds how many live files there are of each kind.
pub fn counts(report: &mut Report, live: &[LiveFile]) {
    let mut by_kind: BTreeMap<(DataContent, &'static str), (usize, i64, i64)> = BTreeMap::new();
    for file in live {
        let sum = by_kind.entry((file.content, file.kind())).or_default();
        sum.0 += 1;
        sum.1 = sum.1.saturating_add(file.record_count);
        sum.2 = sum.2.saturating_add(file.size_bytes);
    }
    let row = |((_, kind), (files, records, bytes)): (&(DataContent, &'static str), &(usize, i64, i64))| {
        vec![
            Cell::text(kind),
            count(*files),
            Cell::Number(*records),
            Cell::Bytes(*bytes),
        ]
    };
    report.rows(
        "Live files",
        &["kind", "files", "records", "size"],
        by_kind.iter().map(row).collect(),
    );
}

/// Adds every live file.
pub fn each_file(report: &mut Report, live: &[LiveFile]) {
    let row = |file: &LiveFile| {
        vec![
            Cell::text(file.kind()),
            Cell::Location(file.path.clone()),
            Cell::text(file.format),
            Cell::Number(file.record_count),
            Cell::Bytes(file.size_bytes),
            Cell::text(&file.partition),
            Cell::from(file.spec_id.map(i64::from)),
            Cell::from(file.sequence_number),
            file.referenced_data_file.clone().map_or(Cell::Missing, Cell::Location),
        ]
    };
    let columns = [
        "kind",
        "path",
        "format",
        "records",
        "size",
        "partition",
        "spec",
        "sequence",
        "deletes from",
    ];
    report.rows("Files", &columns, live.iter().map(row).collect());
}

fn statistics(report: &mut Report, table: &TableMetadata) {
    let mut rows = Vec::new();
    for file in &table.statistics {
        let blobs: Vec<&str> = file.blob_metadata.iter().map(|b| b.blob_type.as_str()).collect();
        rows.push(vec![
            Cell::Number(file.snapshot_id),
            Cell::Location(file.statistics_path.clone()),
            Cell::Bytes(file.file_size_bytes),
            Cell::text(blobs.join(", ")),
        ]);
    }
    for file in &table.partition_statistics {
        rows.push(vec![
            Cell::Number(file.snapshot_id),
            Cell::Location(file.statistics_path.clone()),
            Cell::Bytes(file.file_size_bytes),
            Cell::text("partition statistics"),
        ]);
    }
    report.rows("Statistics", &["snapshot", "path", "size", "holds"], rows);
}

fn count(number: usize) -> Cell {
    Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
}
