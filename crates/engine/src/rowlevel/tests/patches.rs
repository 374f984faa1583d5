//! Files that are taken apart: what they hold is what writing them anew gives, and what does not change is copied.

use std::collections::BTreeMap;

use arrow::array::Int64Array;
use arrow::compute::concat_batches;
use bytes::Bytes;
use datafusion::logical_expr::{col, lit, when};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};

use super::*;
use crate::arrow::schema::schema_to_arrow;
use crate::write::tests::nested;
use crate::write::tests::values::samples;

/// Rows of a row group.
pub(super) const GROUP_ROWS: i32 = 5;

/// `id`, a column of every type that the version has, and nested ones of some.
fn every_type(version: FormatVersion) -> Vec<NestedField> {
    let mut columns = vec![NestedField::required(1, "id", PrimitiveType::Int)];
    for (i, (p, _, _)) in samples().into_iter().enumerate().filter(|(_, s)| s.1 <= version) {
        columns.push(NestedField::optional(100 + i as i32, format!("c{i}"), p));
    }
    // Ids 2 to 15.
    for field in nested::columns(&PrimitiveType::Double).into_iter().skip(1) {
        columns.push(field);
    }
    columns
}

/// Three row groups in one file, in each the samples of every type.
async fn site_of_types(version: FormatVersion, making: Making) -> Site {
    let making = making
        .version(version)
        .property("write.parquet.row-group-size-bytes", 1)
        .property("write.parquet.bloom-filter-enabled.column.id", "true");
    let site = Site::new(every_type(version), making).await;
    let schema = schema_to_arrow(site.table().await.metadata.current_schema());
    let doubles = samples()
        .into_iter()
        .find(|(p, ..)| *p == PrimitiveType::Double)
        .unwrap()
        .2;
    let mut batches = Vec::new();
    for group in 0..3 {
        let first = group * GROUP_ROWS;
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int32Array::from_iter_values(first..first + GROUP_ROWS))];
        arrays.extend(samples().into_iter().filter(|s| s.1 <= version).map(|s| s.2));
        let nested = schema.fields().iter().skip(arrays.len());
        let nested: Vec<ArrayRef> = nested.map(|f| nested::build(f.data_type(), &doubles)).collect();
        arrays.extend(nested);
        batches.push(site.batch(arrays).await);
    }
    site.append_partitions(&[batches]).await.unwrap();
    assert_eq!(site.footer(&site.file().await).await.num_row_groups(), 3);
    site
}

/// A change of a table of any columns, of which these get new values.
pub(super) async fn change(site: &Site, filter: Expr, action: Expr, new: &[(&str, Expr)]) -> Change {
    let table = site.table().await;
    let schema = table.metadata.current_schema();
    let value = |name: &str| {
        new.iter()
            .find(|(column, _)| *column == name)
            .map(|(_, value)| value.clone())
    };
    let updated = schema.fields().iter().filter(|f| value(&f.name).is_some());
    Change {
        statement: match action == lit(RowAction::Update as i32) {
            true => RowStatement::Update,
            false => RowStatement::Merge,
        },
        action,
        values: schema
            .fields()
            .iter()
            .map(|f| value(&f.name).unwrap_or_else(|| col(f.name.as_str())))
            .collect(),
        updated_columns: Some(updated.map(|f| f.id).collect()),
        ..delete(RowLevelMode::CopyOnWrite, filter)
    }
}

pub(super) fn ids(ids: impl IntoIterator<Item = i32>) -> Expr {
    col("id").in_list(ids.into_iter().map(lit).collect(), false)
}

fn text(value: &str) -> Expr {
    cast(lit(value), arrow::datatypes::DataType::Utf8View)
}

/// All rows with their lineage, where the table has any.
pub(super) async fn rows_and_lineage(site: &Site) -> RecordBatch {
    let table = IcebergTable::new(site.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
    let table = match RowLineage::of_changes(&table.table().metadata) {
        RowLineage::Stored => table.with_metadata_columns(&MetadataColumn::LINEAGE),
        RowLineage::Assigned => table,
    };
    let schema = Arc::clone(table.arrow_schema());
    let frame = SessionContext::new().read_table(Arc::new(table)).unwrap();
    let batches = frame
        .sort(vec![col("id").sort(true, true)])
        .unwrap()
        .collect()
        .await
        .unwrap();
    concat_batches(&schema, &batches).unwrap()
}

/// What metrics say of a file, however it is laid out.
fn metrics(file: &DataFile) -> DataFile {
    DataFile {
        file_path: Arc::from(""),
        file_size_in_bytes: 0,
        column_sizes: BTreeMap::new(),
        split_offsets: Vec::new(),
        ..file.clone()
    }
}

/// The expectation of this test: names of columns that change, and how.
type Update = (&'static str, Expr);

/// Deletes, updates of one column and of several, of rows and of all, and both at once.
fn changes() -> Vec<(Expr, Expr, Vec<Update>)> {
    let (delete, update) = (lit(RowAction::Delete as i32), lit(RowAction::Update as i32));
    let both = when(col("id").eq(lit(6)), delete.clone())
        .otherwise(update.clone())
        .unwrap();
    let string = samples()
        .iter()
        .position(|(p, ..)| *p == PrimitiveType::String)
        .unwrap();
    let string: &'static str = Box::leak(format!("c{string}").into_boxed_str());
    vec![
        (ids([7]), delete.clone(), vec![]),
        (
            ids([0, 7]),
            update.clone(),
            vec![(string, text("a new text, longer than bounds are"))],
        ),
        (
            ids([0, 1, 2, 3, 4]),
            update.clone(),
            vec![(string, text("zz")), ("c1", col("id"))],
        ),
        (
            ids([12]),
            update.clone(),
            vec![("c4", lit(-1.5)), ("s", col("s")), ("m", col("m"))],
        ),
        (lit(true), update, vec![(string, text(""))]),
        (ids([2, 6, 8]), both, vec![("c1", col("id") * lit(3))]),
        (ids(5..10), delete, vec![]),
    ]
}

#[tokio::test]
async fn patched_files_are_what_files_written_anew_are() {
    for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        for (number, (filter, action, new)) in changes().into_iter().enumerate() {
            let mut found = Vec::new();
            for patching in [Patching::Always, Patching::Never] {
                let site = site_of_types(version, Making::new()).await;
                // A copy is copied, too.
                let again = (ids([14]), lit(RowAction::Update as i32), vec![("c1", lit(77))]);
                for (filter, action, new) in [(filter.clone(), action.clone(), new.clone()), again] {
                    let change = Change {
                        patching,
                        ..change(&site, filter, action, &new).await
                    };
                    let report = change.run(&site).await.unwrap();
                    let apart = report.copied_row_groups + report.encoded_chunks > 0;
                    assert_eq!(apart, patching == Patching::Always, "{version:?} {number} {report:?}");
                }
                found.push((rows_and_lineage(&site).await, metrics(&site.file().await)));
            }
            assert_eq!(found[0].0, found[1].0, "{version:?} change {number}");
            assert_eq!(found[0].1, found[1].1, "{version:?} change {number}");
        }
    }
}

async fn bytes(site: &Site, file: &DataFile) -> Bytes {
    site.table().await.io.read(&file.file_path).await.unwrap()
}

fn reader(bytes: Bytes) -> SerializedFileReader<Bytes> {
    let properties = ReaderProperties::builder().set_read_bloom_filter(true).build();
    let options = ReadOptionsBuilder::new()
        .with_page_index()
        .with_reader_properties(properties);
    SerializedFileReader::new_with_options(bytes, options.build()).unwrap()
}

/// The bytes of a column chunk.
fn chunk(bytes: &Bytes, footer: &ParquetMetaData, (group, leaf): (usize, usize)) -> Bytes {
    let (start, length) = footer.row_group(group).column(leaf).byte_range();
    bytes.slice(start as usize..(start + length) as usize)
}

/// Columns that do not change, and row groups without changed rows, are the same bytes; pages and bloom filters are
/// found in them.
#[tokio::test]
async fn what_does_not_change_is_the_same_bytes() {
    let site = site_of_types(FormatVersion::V2, Making::new()).await;
    let before = bytes(&site, &site.file().await).await;
    let update = change(&site, ids([7]), lit(RowAction::Update as i32), &[("c1", lit(77))]).await;
    let report = update.run(&site).await.unwrap();
    let after = bytes(&site, &site.file().await).await;
    let (old, new) = (reader(before.clone()), reader(after.clone()));
    let leaves = old.metadata().file_metadata().schema_descr().num_columns();
    assert_eq!(
        (report.copied_row_groups, report.copied_chunks, report.encoded_chunks),
        (2, leaves - 1, 1)
    );
    for place in (0..3).flat_map(|group| (0..leaves).map(move |leaf| (group, leaf))) {
        let same = chunk(&before, old.metadata(), place) == chunk(&after, new.metadata(), place);
        assert_eq!(same, place != (1, 2), "{place:?}");
        let (group, leaf) = place;
        let locations = |file: &SerializedFileReader<Bytes>| {
            let start = file.metadata().row_group(group).column(leaf).byte_range().0 as i64;
            let index = &file.metadata().offset_index().unwrap()[group][leaf];
            let pages = index.page_locations().iter();
            pages.map(|p| (p.offset - start, p.first_row_index)).collect::<Vec<_>>()
        };
        assert_eq!(locations(&old), locations(&new), "{place:?}");
        if same {
            let (a, b) = (old.metadata().row_group(group), new.metadata().row_group(group));
            assert_eq!(a.column(leaf).statistics(), b.column(leaf).statistics());
            let index =
                |file: &SerializedFileReader<Bytes>| file.metadata().column_index().unwrap()[group][leaf].clone();
            assert_eq!(index(&old), index(&new));
        }
    }
    for group in 0..3 {
        let row_group = new.get_row_group(group).unwrap();
        let filter = row_group.get_column_bloom_filter(0).expect("a bloom filter");
        let first = group as i32 * GROUP_ROWS;
        assert!((first..first + GROUP_ROWS).all(|id| filter.check(&id)));
        assert!(!(1000..1010).all(|id| filter.check(&id)));
    }
    let split: Vec<i64> = new
        .metadata()
        .row_groups()
        .iter()
        .map(|g| g.column(0).byte_range().0 as i64)
        .collect();
    assert_eq!(site.file().await.split_offsets, split);
}

/// Updated rows keep their places, and the file its rows in their order.
#[tokio::test]
async fn updated_rows_keep_their_places() {
    let site = site_of_types(FormatVersion::V3, Making::new()).await;
    let update = change(&site, ids([3, 9]), lit(RowAction::Update as i32), &[("c1", lit(5))]).await;
    update.run(&site).await.unwrap();
    let table = IcebergTable::new(site.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
    let table = table.with_metadata_columns(&[MetadataColumn::Pos]);
    let frame = SessionContext::new().read_table(Arc::new(table)).unwrap();
    let moved = frame
        .filter(col("id").not_eq(col("_pos")))
        .unwrap()
        .count()
        .await
        .unwrap();
    assert_eq!(moved, 0);
    // Ids stay, and the commit is known of the rows that changed (spec, "Row Lineage").
    let rows = rows_and_lineage(&site).await;
    let numbers = |name: &str| {
        let column = rows.column_by_name(name).unwrap();
        column.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec()
    };
    assert_eq!(numbers("_row_id"), (0..15).collect::<Vec<i64>>());
    let changed = numbers("_last_updated_sequence_number");
    assert_eq!(
        changed,
        (0..15)
            .map(|id| if [3, 9].contains(&id) { 2 } else { 1 })
            .collect::<Vec<i64>>()
    );
}

/// Small files of which several are touched become one; one alone is taken apart.
#[tokio::test]
async fn small_files_are_brought_together() {
    for (touched, files, copied) in [(vec![3, 13], 1, 0), (vec![3], 2, 1)] {
        let site = site(FormatVersion::V2).await;
        let change = Change {
            patching: Patching::WhereUseful,
            ..change(
                &site,
                ids(touched),
                lit(RowAction::Update as i32),
                &[("s", text("new"))],
            )
            .await
        };
        let report = change.run(&site).await.unwrap();
        assert_eq!(
            (super::files(&site).await.0.len(), report.copied_chunks),
            (files, copied)
        );
    }
}
