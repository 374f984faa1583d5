//! The columns of data and delete files: at top level in `files`, in a struct in `entries` (Java `DataFile.getType`).

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, BinaryViewArray, Int32Array, Int64Array, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};
use datafusion::error::Result;
use tarn_format::manifest::column_data::{LongLists, OptionalLongs};
use tarn_format::scan::manifest_entries::ManifestEntries;
use tarn_format::spec::types::{FieldId, ListType, MapType, NestedField, PrimitiveType, StructType};

use super::metric_maps::{bounds, counts};
use super::partition_column::ManifestPartitions;
use super::static_rows::{no_such_column, text};

/// The highest id of these columns.
pub(super) const HIGHEST_FIELD_ID: FieldId = 145;

/// The columns, where partitions are shown as `partition`: without that column when it has no fields, because engines
/// don't have empty structs.
pub(super) fn fields(partition: &StructType) -> Vec<NestedField> {
    use PrimitiveType as P;
    let map = |key, value, value_type: P| MapType {
        key: Arc::new(NestedField::required(key, "key", P::Int)),
        value: Arc::new(NestedField::required(value, "value", value_type)),
    };
    let list = |id, element: P| ListType {
        element: Arc::new(NestedField::required(id, "element", element)),
    };
    let optional = |id, name: &str, field_type: P, doc: &str| NestedField::optional(id, name, field_type).with_doc(doc);
    let required = |id, name: &str, field_type: P, doc: &str| NestedField::required(id, name, field_type).with_doc(doc);
    let maps =
        |id, name: &str, field_type: MapType, doc: &str| NestedField::optional(id, name, field_type).with_doc(doc);
    let lists =
        |id, name: &str, field_type: ListType, doc: &str| NestedField::optional(id, name, field_type).with_doc(doc);
    let mut fields = vec![
        optional(
            134,
            "content",
            P::Int,
            "Contents of the file: 0=data, 1=position deletes, 2=equality deletes",
        ),
        required(100, "file_path", P::String, "Location URI with FS scheme"),
        required(101, "file_format", P::String, "File format name: avro, orc, or parquet"),
        optional(141, "spec_id", P::Int, "Partition spec ID"),
    ];
    if !partition.fields.is_empty() {
        let doc = "Partition data tuple, schema based on the partition spec";
        fields.push(NestedField::required(102, "partition", partition.clone()).with_doc(doc));
    }
    fields.extend([
        required(103, "record_count", P::Long, "Number of records in the file"),
        required(104, "file_size_in_bytes", P::Long, "Total file size in bytes"),
        maps(
            108,
            "column_sizes",
            map(117, 118, P::Long),
            "Map of column id to total size on disk",
        ),
        maps(
            109,
            "value_counts",
            map(119, 120, P::Long),
            "Map of column id to total count, including null and NaN",
        ),
        maps(
            110,
            "null_value_counts",
            map(121, 122, P::Long),
            "Map of column id to null value count",
        ),
        maps(
            137,
            "nan_value_counts",
            map(138, 139, P::Long),
            "Map of column id to number of NaN values in the column",
        ),
        maps(
            125,
            "lower_bounds",
            map(126, 127, P::Binary),
            "Map of column id to lower bound",
        ),
        maps(
            128,
            "upper_bounds",
            map(129, 130, P::Binary),
            "Map of column id to upper bound",
        ),
        optional(131, "key_metadata", P::Binary, "Encryption key metadata blob"),
        lists(132, "split_offsets", list(133, P::Long), "Splittable offsets"),
        lists(135, "equality_ids", list(136, P::Int), "Equality comparison field IDs"),
        optional(140, "sort_order_id", P::Int, "Sort order ID"),
        optional(
            142,
            "first_row_id",
            P::Long,
            "The first row ID assigned to the first row in the data file",
        ),
        optional(
            143,
            "referenced_data_file",
            P::String,
            "Fully qualified location (URI with FS scheme) of a data file that all deletes reference",
        ),
        optional(
            144,
            "content_offset",
            P::Long,
            "The offset in the file where the content starts",
        ),
        optional(
            HIGHEST_FIELD_ID,
            "content_size_in_bytes",
            P::Long,
            "The length of referenced content stored in the file",
        ),
    ]);
    fields
}

/// Whether a column is made of the metrics of all fields, or of split offsets, which are decoded with them.
pub(super) fn needs_all_metrics(column: &str) -> bool {
    matches!(
        column,
        "column_sizes"
            | "value_counts"
            | "null_value_counts"
            | "nan_value_counts"
            | "lower_bounds"
            | "upper_bounds"
            | "split_offsets"
    )
}

/// The column `field` of these entries' files. `partitions` are the manifest's, when the column is `partition`.
pub(super) fn column(
    field: &Field,
    entries: &ManifestEntries,
    rows: &[u32],
    partitions: Option<&ManifestPartitions>,
) -> Result<ArrayRef> {
    let columns = &entries.columns;
    let each = rows.iter().map(|row| *row as usize);
    Ok(match field.name().as_str() {
        "content" => Arc::new(Int32Array::from_iter_values(each.map(|i| columns.content(i) as i32))),
        "file_path" => text(field.data_type(), each.map(|i| Some(columns.path(i)))),
        "file_format" => text(field.data_type(), each.map(|i| Some(columns.file_format(i).as_str()))),
        "spec_id" => Arc::new(Int32Array::from_value(entries.spec_id(), rows.len())),
        "partition" => match partitions {
            Some(partitions) => partitions.of_rows(entries, rows)?,
            None => return no_such_column(field),
        },
        "record_count" => Arc::new(Int64Array::from_iter_values(each.map(|i| columns.record_count(i)))),
        "file_size_in_bytes" => Arc::new(Int64Array::from_iter_values(
            each.map(|i| columns.file_size_in_bytes(i)),
        )),
        "column_sizes" => counts(columns, rows, field, |m| &m.column_size)?,
        "value_counts" => counts(columns, rows, field, |m| &m.value_count)?,
        "null_value_counts" => counts(columns, rows, field, |m| &m.null_count)?,
        "nan_value_counts" => counts(columns, rows, field, |m| &m.nan_count)?,
        "lower_bounds" => bounds(columns, rows, field, |m| &m.lower_bound)?,
        "upper_bounds" => bounds(columns, rows, field, |m| &m.upper_bound)?,
        "key_metadata" => match field.data_type() {
            DataType::BinaryView => Arc::new(BinaryViewArray::from_iter(each.map(|i| columns.key_metadata.get(i)))),
            _ => Arc::new(BinaryArray::from_iter(each.map(|i| columns.key_metadata.get(i)))),
        },
        "split_offsets" => list(field, &columns.split_offsets, rows, |values| {
            Arc::new(Int64Array::from_iter_values(values))
        })?,
        "equality_ids" => list(field, &columns.equality_ids, rows, |values| {
            Arc::new(values.map(|id| i32::try_from(id).ok()).collect::<Int32Array>())
        })?,
        "sort_order_id" => {
            let ids = each.map(|i| i32::try_from(columns.sort_order_id.get(i)?).ok());
            Arc::new(ids.collect::<Int32Array>())
        }
        "first_row_id" => Arc::new(each.map(|i| entries.first_row_id(i)).collect::<Int64Array>()),
        "referenced_data_file" => text(field.data_type(), each.map(|i| columns.referenced_data_file.get(i))),
        "content_offset" => longs(&columns.content_offset, rows),
        "content_size_in_bytes" => longs(&columns.content_size_in_bytes, rows),
        _ => return no_such_column(field),
    })
}

pub(super) fn longs(column: &OptionalLongs, rows: &[u32]) -> ArrayRef {
    Arc::new(Int64Array::from_iter(rows.iter().map(|row| column.get(*row as usize))))
}

/// Lists; null where there is nothing in them, because writers leave lists out that have no meaning for a file.
fn list(
    field: &Field,
    lists: &LongLists,
    rows: &[u32],
    values: impl FnOnce(&mut dyn Iterator<Item = i64>) -> ArrayRef,
) -> Result<ArrayRef> {
    let DataType::List(element) = field.data_type() else {
        return no_such_column(field);
    };
    let of = |row: &u32| lists.get(*row as usize);
    let mut all = rows.iter().flat_map(|row| of(row).iter().copied());
    let values = values(&mut all);
    let array = ListArray::try_new(
        Arc::clone(element),
        OffsetBuffer::from_lengths(rows.iter().map(|row| of(row).len())),
        values,
        Some(rows.iter().map(|row| !of(row).is_empty()).collect::<NullBuffer>()),
    )?;
    Ok(Arc::new(array))
}
