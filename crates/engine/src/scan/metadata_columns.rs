//! Columns that every table has besides its own (spec, "Reserved Field IDs"; Spark's metadata columns).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::parquet::arrow::RowNumber;
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadata};
use tarn_format::spec::types::{FieldId, NestedFieldRef, StructType};
use tarn_format::transform::Transform;

use crate::arrow::schema::{COMMENT_KEY, FIELD_ID_KEY, struct_to_arrow};

/// A metadata column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MetadataColumn {
    /// `_file`: location of the file that holds the row.
    File,
    /// `_pos`: the row's position in that file, from 0.
    Pos,
    /// `_deleted`: whether the row is deleted.
    Deleted,
    /// `_spec_id`: the partition spec of the file.
    SpecId,
    /// `_partition`: the file's partition, over the fields of all specs.
    Partition,
    /// `_row_id`: what identifies the row for as long as it lives; NULL where the file was given no ids.
    RowId,
    /// `_last_updated_sequence_number`: sequence number of the commit that last changed the row; NULL as `_row_id` is.
    LastUpdatedSequenceNumber,
}

impl MetadataColumn {
    /// All of them, in the order in which they follow a table's own columns. `_pos` is last: the Parquet reader
    /// makes it, and puts what it makes behind what files hold.
    pub const ALL: [MetadataColumn; 7] = [
        MetadataColumn::SpecId,
        MetadataColumn::Partition,
        MetadataColumn::File,
        MetadataColumn::Deleted,
        MetadataColumn::RowId,
        MetadataColumn::LastUpdatedSequenceNumber,
        MetadataColumn::Pos,
    ];

    /// The columns of row lineage, which files may store (spec, "Row Lineage").
    pub const LINEAGE: [MetadataColumn; 2] = [MetadataColumn::RowId, MetadataColumn::LastUpdatedSequenceNumber];

    /// Those that a table has: row lineage begins with format version 3.
    pub fn of_table(metadata: &TableMetadata) -> impl Iterator<Item = MetadataColumn> {
        let has_lineage = metadata.format_version >= FormatVersion::V3;
        let columns = Self::ALL.into_iter();
        columns.filter(move |c| has_lineage || !Self::LINEAGE.contains(c))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MetadataColumn::File => "_file",
            MetadataColumn::Pos => "_pos",
            MetadataColumn::Deleted => "_deleted",
            MetadataColumn::SpecId => "_spec_id",
            MetadataColumn::Partition => "_partition",
            MetadataColumn::RowId => "_row_id",
            MetadataColumn::LastUpdatedSequenceNumber => "_last_updated_sequence_number",
        }
    }

    /// The column of this name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name().eq_ignore_ascii_case(name))
    }

    /// Its reserved field id.
    pub fn field_id(self) -> FieldId {
        match self {
            MetadataColumn::File => i32::MAX - 1,
            MetadataColumn::Pos => i32::MAX - 2,
            MetadataColumn::Deleted => i32::MAX - 3,
            MetadataColumn::SpecId => i32::MAX - 4,
            MetadataColumn::Partition => i32::MAX - 5,
            MetadataColumn::RowId => i32::MAX - 107,
            MetadataColumn::LastUpdatedSequenceNumber => i32::MAX - 108,
        }
    }

    /// Its Arrow field in a table of this metadata.
    pub fn arrow_field(self, metadata: &TableMetadata) -> FieldRef {
        if self == MetadataColumn::Pos {
            return Arc::new(Field::new(self.name(), DataType::Int64, false).with_extension_type(RowNumber));
        }
        let data_type = match self {
            MetadataColumn::File => DataType::Utf8View,
            MetadataColumn::Pos | MetadataColumn::RowId | MetadataColumn::LastUpdatedSequenceNumber => DataType::Int64,
            MetadataColumn::Deleted => DataType::Boolean,
            MetadataColumn::SpecId => DataType::Int32,
            MetadataColumn::Partition => struct_to_arrow(&partition_struct(metadata)),
        };
        let is_lineage = Self::LINEAGE.contains(&self);
        let nullable = self == MetadataColumn::Partition || is_lineage;
        let mut described = HashMap::from([(FIELD_ID_KEY.to_string(), self.field_id().to_string())]);
        if is_lineage {
            // The reader takes a file's columns as they are where its schema is the same as this, but nulls are inherited.
            described.insert(COMMENT_KEY.to_string(), "inherited where the file has none".to_string());
        }
        Arc::new(Field::new(self.name(), data_type, nullable).with_metadata(described))
    }
}

/// The struct that holds the partitions of all specs of a table: fields by partition field id, in order of ids. A field
/// that a later spec voided keeps the type it had. Where two specs hold different fields of one name, the older is named
/// after its id, because a struct can't hold the name twice (Java's `Partitioning.partitionType` fails there).
pub fn partition_struct(metadata: &TableMetadata) -> StructType {
    let mut specs: Vec<_> = metadata.partition_specs.iter().collect();
    specs.sort_by_key(|s| std::cmp::Reverse(s.spec_id));
    let mut fields: BTreeMap<FieldId, (NestedFieldRef, bool)> = BTreeMap::new();
    for spec in specs {
        let Ok(partition) = metadata.partition_type_of(spec.spec_id) else {
            continue;
        };
        for (field, nested) in spec.fields.iter().zip(&partition.fields) {
            let void = field.transform == Transform::Void;
            match fields.get_mut(&field.field_id) {
                None => {
                    fields.insert(field.field_id, (Arc::clone(nested), void));
                }
                Some((known, was_void)) if *was_void && !void => {
                    // The newest name with the type that values really have.
                    let mut merged = known.as_ref().clone();
                    merged.field_type = nested.field_type.clone();
                    *known = Arc::new(merged);
                    *was_void = false;
                }
                Some(_) => {}
            }
        }
    }
    StructType {
        fields: with_unique_names(fields.into_values().map(|(f, _)| f).collect()),
    }
}

fn with_unique_names(mut fields: Vec<NestedFieldRef>) -> Vec<NestedFieldRef> {
    let newest: HashMap<String, FieldId> = fields.iter().map(|f| (f.name.clone(), f.id)).collect();
    for field in &mut fields {
        if newest.get(&field.name) != Some(&field.id) {
            let mut renamed = field.as_ref().clone();
            renamed.name = format!("{}_{}", field.name, field.id);
            *field = Arc::new(renamed);
        }
    }
    fields
}
