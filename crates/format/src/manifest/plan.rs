//! Compiles the schema a manifest was written with into the steps that decode its entries into columns.
//!
//! Fields are found by field id, in files without ids by name. Required records are flattened, whatever is not
//! a column is skipped. A manifest in which the spec's required fields are missing is refused here.

use std::sync::Arc;

use super::avro::schema::{AvroField, AvroSchema, AvroType};
use super::avro::skip::{Skip, SkipCompiler};
use super::partition_values::PartitionPlan;
use crate::error::{Error, Result};
use crate::spec::types::{FieldId, StructType};

/// What to do next with the bytes of an entry.
#[derive(Debug)]
pub(super) enum Step {
    /// Nothing in here is wanted.
    Skip(Skip),
    /// A nullable record that follows must not be null.
    Require(NullBranch),
    /// A number.
    Number(Column, NullBranch),
    /// A string or bytes.
    Text(Column, NullBranch),
    /// A list of numbers.
    Numbers(Column, CollectionNulls),
    /// A map from field id to counts.
    Counts(Metric, CollectionNulls),
    /// A map from field id to bounds.
    Bounds(Metric, CollectionNulls),
    /// The partition record, for the plan's [`PartitionPlan`].
    Partition(Skip, NullBranch),
}

/// The union branch that is null; `None` when the type is no union.
pub(super) type NullBranch = Option<u8>;

/// What may be null in a list or map. The spec lets only the whole be; BigQuery writes everything nullable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CollectionNulls {
    pub(super) whole: NullBranch,
    pub(super) item: NullBranch,
    pub(super) key: NullBranch,
    pub(super) value: NullBranch,
}

impl CollectionNulls {
    /// Whether items can be read without asking.
    pub(super) fn items_are_plain(self) -> bool {
        self.item.is_none() && self.key.is_none() && self.value.is_none()
    }
}

/// A column that is not a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) enum Column {
    Status,
    SnapshotId,
    SequenceNumber,
    FileSequenceNumber,
    Content,
    FilePath,
    FileFormat,
    RecordCount,
    FileSize,
    KeyMetadata,
    SplitOffsets,
    EqualityIds,
    SortOrderId,
    FirstRowId,
    ReferencedDataFile,
    ContentOffset,
    ContentSize,
}

/// A metric of [`super::columns::FieldMetrics`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) enum Metric {
    ColumnSize,
    ValueCount,
    NullCount,
    NanCount,
    LowerBound,
    UpperBound,
}

/// What a field of the spec holds.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Number(Column),
    Text(Column),
    Numbers(Column),
    Counts(Metric),
    Bounds(Metric),
    Partition,
}

const ENTRY_FIELDS: &[(FieldId, &str, Kind)] = &[
    (0, "status", Kind::Number(Column::Status)),
    (1, "snapshot_id", Kind::Number(Column::SnapshotId)),
    (3, "sequence_number", Kind::Number(Column::SequenceNumber)),
    (4, "file_sequence_number", Kind::Number(Column::FileSequenceNumber)),
];
const DATA_FILE: (FieldId, &str) = (2, "data_file");
const FILE_FIELDS: &[(FieldId, &str, Kind)] = &[
    (134, "content", Kind::Number(Column::Content)),
    (100, "file_path", Kind::Text(Column::FilePath)),
    (101, "file_format", Kind::Text(Column::FileFormat)),
    (102, "partition", Kind::Partition),
    (103, "record_count", Kind::Number(Column::RecordCount)),
    (104, "file_size_in_bytes", Kind::Number(Column::FileSize)),
    (108, "column_sizes", Kind::Counts(Metric::ColumnSize)),
    (109, "value_counts", Kind::Counts(Metric::ValueCount)),
    (110, "null_value_counts", Kind::Counts(Metric::NullCount)),
    (137, "nan_value_counts", Kind::Counts(Metric::NanCount)),
    (125, "lower_bounds", Kind::Bounds(Metric::LowerBound)),
    (128, "upper_bounds", Kind::Bounds(Metric::UpperBound)),
    (131, "key_metadata", Kind::Text(Column::KeyMetadata)),
    (132, "split_offsets", Kind::Numbers(Column::SplitOffsets)),
    (135, "equality_ids", Kind::Numbers(Column::EqualityIds)),
    (140, "sort_order_id", Kind::Number(Column::SortOrderId)),
    (142, "first_row_id", Kind::Number(Column::FirstRowId)),
    (143, "referenced_data_file", Kind::Text(Column::ReferencedDataFile)),
    (144, "content_offset", Kind::Number(Column::ContentOffset)),
    (145, "content_size_in_bytes", Kind::Number(Column::ContentSize)),
];

/// Which of the wide columns are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// No metrics, no split offsets.
    Narrow,
    /// Metrics of some fields.
    SomeMetrics,
    /// Everything.
    Full,
}

/// The steps of one manifest.
#[derive(Debug)]
pub(super) struct EntryPlan {
    pub(super) steps: Vec<Step>,
    pub(super) partition: PartitionPlan,
}

impl EntryPlan {
    /// Compiles the writer's schema.
    ///
    /// # Errors
    /// `Corrupt` when it is not a manifest's schema.
    pub(super) fn compile(schema: &Arc<AvroSchema>, partition_type: Option<&StructType>, width: Width) -> Result<Self> {
        let fields = schema
            .record_fields()
            .ok_or_else(|| Error::corrupt("a manifest's schema is not a record"))?;
        let mut compiler = Compiler {
            skips: SkipCompiler::default(),
            steps: Vec::new(),
            partition: None,
            partition_type,
            width,
            seen: Vec::new(),
        };
        let mut has_file = false;
        for field in fields {
            if !has_file && is_field(field, DATA_FILE.0, DATA_FILE.1) {
                compiler.data_file(field)?;
                has_file = true;
            } else {
                compiler.field(field, ENTRY_FIELDS)?;
            }
        }
        compiler.finish()
    }
}

struct Compiler<'a> {
    skips: SkipCompiler,
    steps: Vec<Step>,
    partition: Option<PartitionPlan>,
    partition_type: Option<&'a StructType>,
    width: Width,
    seen: Vec<FieldId>,
}

impl Compiler<'_> {
    fn data_file(&mut self, field: &AvroField) -> Result<()> {
        let nullable = field.schema.nullable().ok_or_else(|| wrong_type(field))?;
        let fields = nullable.schema.record_fields().ok_or_else(|| wrong_type(field))?;
        if nullable.null_branch.is_some() {
            self.steps.push(Step::Require(nullable.null_branch));
        }
        fields.iter().try_for_each(|f| self.field(f, FILE_FIELDS))
    }

    fn field(&mut self, field: &AvroField, known: &[(FieldId, &str, Kind)]) -> Result<()> {
        let found = known.iter().find(|(id, name, _)| is_field(field, *id, name));
        match found {
            Some((id, _, kind)) if !self.seen.contains(id) => {
                self.seen.push(*id);
                self.step(field, *kind)
            }
            _ => {
                self.skip(&field.schema);
                Ok(())
            }
        }
    }

    fn skip(&mut self, schema: &Arc<AvroSchema>) {
        let skip = self.skips.compile(schema);
        if skip == Skip::Nothing {
            return;
        }
        match self.steps.last_mut() {
            Some(Step::Skip(last)) => last.then(skip),
            _ => self.steps.push(Step::Skip(skip)),
        }
    }

    fn step(&mut self, field: &AvroField, kind: Kind) -> Result<()> {
        let nullable = field.schema.nullable().ok_or_else(|| wrong_type(field))?;
        let null = nullable.null_branch;
        let avro_type = &nullable.schema.avro_type;
        let step = match (kind, avro_type) {
            (Kind::Number(_) | Kind::Text(_), AvroType::Null) => return Ok(()),
            (Kind::Number(column), AvroType::Int | AvroType::Long) => Step::Number(column, null),
            (Kind::Text(column), AvroType::String | AvroType::Bytes) => Step::Text(column, null),
            (Kind::Numbers(Column::SplitOffsets), AvroType::Array(_)) if self.width != Width::Full => {
                self.skip(&field.schema);
                return Ok(());
            }
            (Kind::Counts(_) | Kind::Bounds(_), _) if self.width == Width::Narrow => {
                self.skip(&field.schema);
                return Ok(());
            }
            // Field ids are ints: an Avro map, whose keys are strings, says nothing of them.
            (Kind::Numbers(_) | Kind::Counts(_) | Kind::Bounds(_), AvroType::Null | AvroType::Map(_)) => {
                self.skip(&field.schema);
                return Ok(());
            }
            (Kind::Numbers(column), AvroType::Array(item)) => {
                let item = item
                    .nullable()
                    .filter(|n| is_number(n.schema))
                    .ok_or_else(|| wrong_type(field))?;
                Step::Numbers(
                    column,
                    CollectionNulls {
                        whole: null,
                        item: item.null_branch,
                        ..CollectionNulls::default()
                    },
                )
            }
            (Kind::Counts(metric), AvroType::Array(item)) => {
                Step::Counts(metric, pair(item, null, is_number).ok_or_else(|| wrong_type(field))?)
            }
            (Kind::Bounds(metric), AvroType::Array(item)) => {
                Step::Bounds(metric, pair(item, null, is_bytes).ok_or_else(|| wrong_type(field))?)
            }
            (Kind::Partition, AvroType::Record(fields)) => {
                self.partition = Some(PartitionPlan::compile(fields, self.partition_type)?);
                Step::Partition(self.skips.compile(nullable.schema), null)
            }
            (Kind::Partition, AvroType::Null) => return Ok(()),
            _ => return Err(wrong_type(field)),
        };
        self.steps.push(step);
        Ok(())
    }

    fn finish(self) -> Result<EntryPlan> {
        for (id, name) in [
            (0, "status"),
            (100, "file_path"),
            (103, "record_count"),
            (104, "file_size_in_bytes"),
        ] {
            if !self.seen.contains(&id) {
                return Err(Error::corrupt(format!(
                    "the manifest's schema has no field '{name}' ({id})"
                )));
            }
        }
        let partition = match self.partition {
            Some(partition) => partition,
            None => PartitionPlan::compile(&[], self.partition_type)?,
        };
        Ok(EntryPlan {
            steps: self.steps,
            partition,
        })
    }
}

/// The fields of a manifest's partition record.
pub(super) fn partition_fields(schema: &AvroSchema) -> Option<&[AvroField]> {
    let file = schema
        .record_fields()?
        .iter()
        .find(|f| is_field(f, DATA_FILE.0, DATA_FILE.1))?;
    let partition = file.schema.nullable()?.schema.record_fields()?;
    let partition = partition.iter().find(|f| is_field(f, 102, "partition"))?;
    partition.schema.nullable()?.schema.record_fields()
}

/// By id; by name where the writer gives no id.
fn is_field(field: &AvroField, id: FieldId, name: &str) -> bool {
    match field.field_id {
        Some(own) => own == id,
        None => field.name == name,
    }
}

fn is_number(schema: &Arc<AvroSchema>) -> bool {
    matches!(schema.avro_type, AvroType::Int | AvroType::Long)
}

fn is_bytes(schema: &Arc<AvroSchema>) -> bool {
    matches!(schema.avro_type, AvroType::Bytes | AvroType::String)
}

/// The nulls of a map stored as records of an int key and a value.
fn pair(item: &Arc<AvroSchema>, whole: NullBranch, is_value: fn(&Arc<AvroSchema>) -> bool) -> Option<CollectionNulls> {
    let item = item.nullable()?;
    let [key, value] = item.schema.record_fields()? else {
        return None;
    };
    let key = key.schema.nullable().filter(|n| is_number(n.schema))?;
    let value = value.schema.nullable().filter(|n| is_value(n.schema))?;
    Some(CollectionNulls {
        whole,
        item: item.null_branch,
        key: key.null_branch,
        value: value.null_branch,
    })
}

fn wrong_type(field: &AvroField) -> Error {
    Error::corrupt(format!(
        "the manifest's schema gives field '{}' a type it cannot have",
        field.name
    ))
}
