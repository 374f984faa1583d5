//! Which rows go into which file, and in which order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, RecordBatch, StringViewArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tarn_format::manifest::data_file::DataFile;
use tarn_format::spec::sort::{NullOrder, SortDirection, SortField, SortOrder};
use tarn_format::spec::types::{NestedField, PrimitiveType};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;

use super::{Making, PARTITIONS, Site};

fn columns() -> Vec<NestedField> {
    vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "p", PrimitiveType::Int),
        NestedField::optional(3, "s", PrimitiveType::String),
    ]
}

/// `rows` rows whose `p` goes round 0 to 2 and NULL, and whose text hardly compresses.
async fn batch(site: &Site, first: i64, rows: i64) -> RecordBatch {
    let ids = first..first + rows;
    let p = ids.clone().map(|id| (id % 4 < 3).then_some((id % 4) as i32));
    let text = ids.clone().map(|id| {
        let noise = (id as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{noise:016x}{:016x}", noise.wrapping_mul(noise | 1))
    });
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(ids.clone())),
        Arc::new(Int32Array::from_iter(p)),
        Arc::new(StringViewArray::from_iter_values(text)),
    ];
    site.batch(arrays).await
}

/// The rows of one file, in its order.
async fn rows_of(site: &Site, file: &DataFile) -> RecordBatch {
    let bytes = site.table().await.io.read(&file.file_path).await.unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes)
        .unwrap()
        .build()
        .unwrap();
    let batches: Vec<RecordBatch> = reader.map(|b| b.unwrap()).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

async fn ids_of(site: &Site, file: &DataFile) -> Vec<i64> {
    let rows = rows_of(site, file).await;
    rows.column(0).as_primitive::<Int64Type>().values().to_vec()
}

fn sort_field(source_id: i32, transform: Transform, direction: SortDirection, null_order: NullOrder) -> SortField {
    SortField {
        source_ids: vec![source_id],
        transform,
        direction,
        null_order,
        extra: Default::default(),
    }
}

fn sorted(fields: Vec<SortField>) -> Making {
    let mut making = Making::new();
    making.order = SortOrder {
        order_id: 1,
        fields,
        extra: Default::default(),
    };
    making
}

#[tokio::test]
async fn files_roll_at_the_target_size() {
    const TARGET_BYTES: i64 = 64 * 1024;
    let site = Site::new(
        columns(),
        Making::new().property("write.target-file-size-bytes", TARGET_BYTES),
    )
    .await;
    let rows = batch(&site, 0, 12_000).await;
    site.append(rows.clone()).await.unwrap();
    let files = site.files().await;
    let bytes: i64 = files.iter().map(|f| f.file_size_in_bytes).sum();
    assert!(files.len() >= 3, "{} files of {bytes} bytes", files.len());
    // All but one are full: not far below the target, nor far above.
    let full = |f: &&DataFile| (TARGET_BYTES / 2..TARGET_BYTES * 2).contains(&f.file_size_in_bytes);
    assert!(files.iter().filter(full).count() >= files.len() - 1, "{files:#?}");
    assert_eq!(files.iter().map(|f| f.record_count).sum::<i64>(), 12_000);
    assert_eq!(site.rows("id").await, rows);
}

#[tokio::test]
async fn split_offsets_are_the_beginnings_of_row_groups() {
    let making = Making::new().property("write.parquet.row-group-size-bytes", 64 * 1024);
    let site = Site::new(columns(), making).await;
    site.append(batch(&site, 0, 20_000).await).await.unwrap();
    let file = site.file().await;
    let footer = site.footer(&file).await;
    assert!(footer.num_row_groups() > 2, "{}", footer.num_row_groups());
    let mut begin = 4;
    let mut expected = Vec::new();
    for group in footer.row_groups() {
        expected.push(begin);
        begin += group.compressed_size();
    }
    // The magic number comes first, then one group after the other.
    assert_eq!(file.split_offsets, expected);
}

#[tokio::test]
async fn a_partition_has_one_file_however_its_rows_arrive() {
    for fanout in [false, true] {
        let making = Making::new()
            .partitioned_by(2, Transform::Identity)
            .property("write.spark.fanout.enabled", fanout);
        let site = Site::new(columns(), making).await;
        let mut partitions = Vec::new();
        for i in 0..PARTITIONS as i64 {
            partitions.push(vec![
                batch(&site, i * 200, 100).await,
                batch(&site, i * 200 + 100, 100).await,
            ]);
        }
        site.append_partitions(&partitions).await.unwrap();
        let found: BTreeMap<String, i64> = site
            .files()
            .await
            .iter()
            .map(|f| (format!("{:?}", f.partition.0), f.record_count))
            .collect();
        assert_eq!(found.len(), 4, "fanout {fanout}");
        assert_eq!(site.files().await.len(), 4, "fanout {fanout}: {found:?}");
        assert!(found.values().all(|rows| *rows == 200), "{found:?}");
        assert_eq!(site.rows("id").await, batch(&site, 0, 800).await);
    }
}

#[tokio::test]
async fn files_lie_in_the_directories_of_their_partitions() {
    let making = Making::new().partitioned_by(2, Transform::Identity);
    let site = Site::new(columns(), making).await;
    site.append(batch(&site, 0, 8).await).await.unwrap();
    for file in site.files().await {
        let directory = match &file.partition.0[0] {
            Some(Value::Int(p)) => format!("/db/t/data/p0={p}/"),
            other => {
                assert_eq!(*other, None);
                "/db/t/data/p0=null/".to_string()
            }
        };
        assert!(
            file.file_path.contains(&directory),
            "{} not in {directory}",
            file.file_path
        );
        assert!(file.file_path.ends_with(".parquet"), "{}", file.file_path);
    }
}

#[tokio::test]
async fn without_distribution_every_stream_writes_its_own_files() {
    let making = Making::new()
        .partitioned_by(2, Transform::Identity)
        .property("write.distribution-mode", "none");
    let site = Site::new(columns(), making).await;
    let mut partitions = Vec::new();
    for i in 0..PARTITIONS as i64 {
        partitions.push(vec![batch(&site, i * 100, 100).await]);
    }
    site.append_partitions(&partitions).await.unwrap();
    assert_eq!(site.files().await.len(), 4 * PARTITIONS);
    assert_eq!(site.rows("id").await, batch(&site, 0, 400).await);
}

#[tokio::test]
async fn small_writes_make_one_file_however_many_streams_there_are() {
    let site = Site::new(columns(), Making::new()).await;
    let mut partitions = Vec::new();
    for i in 0..PARTITIONS as i64 {
        partitions.push(vec![batch(&site, i * 100, 100).await]);
    }
    let report = site.append_partitions(&partitions).await.unwrap();
    assert_eq!((report.files, report.rows), (1, 400));
    assert_eq!(site.rows("id").await, batch(&site, 0, 400).await);
}

#[tokio::test]
async fn rows_are_in_the_tables_order() {
    let making = sorted(vec![
        sort_field(2, Transform::Identity, SortDirection::Desc, NullOrder::First),
        sort_field(1, Transform::Identity, SortDirection::Asc, NullOrder::Last),
    ]);
    let site = Site::new(columns(), making).await;
    let order_id = site.table().await.metadata.default_sort_order().order_id;
    let reversed = |rows: RecordBatch| {
        let backwards: Vec<u64> = (0..rows.num_rows() as u64).rev().collect();
        arrow::compute::take_record_batch(&rows, &arrow::array::UInt64Array::from(backwards)).unwrap()
    };
    let partitions = [
        vec![reversed(batch(&site, 0, 50).await)],
        vec![batch(&site, 50, 50).await],
    ];
    site.append_partitions(&partitions).await.unwrap();
    let file = site.file().await;
    assert_eq!(file.sort_order_id, Some(order_id));
    // NULLs, then 2, 1, 0; by id inside.
    let expected: Vec<i64> = [3, 2, 1, 0].into_iter().flat_map(|p| (p..100).step_by(4)).collect();
    assert_eq!(ids_of(&site, &file).await, expected);
}

#[tokio::test]
async fn files_of_partitions_are_sorted_each() {
    for fanout in [false, true] {
        let mut making = sorted(vec![sort_field(
            1,
            Transform::Identity,
            SortDirection::Desc,
            NullOrder::Last,
        )]);
        making = making
            .partitioned_by(2, Transform::Identity)
            .property("write.spark.fanout.enabled", fanout);
        let site = Site::new(columns(), making).await;
        let partitions = [vec![batch(&site, 0, 50).await], vec![batch(&site, 50, 50).await]];
        site.append_partitions(&partitions).await.unwrap();
        let files = site.files().await;
        assert_eq!(files.len(), 4);
        for file in files {
            let ids = ids_of(&site, &file).await;
            assert_eq!(ids.len(), 25);
            assert!(ids.is_sorted_by(|a, b| a >= b), "fanout {fanout}: {ids:?}");
        }
    }
}

#[tokio::test]
async fn order_may_be_by_a_transform() {
    let making = sorted(vec![
        sort_field(1, Transform::Truncate(10), SortDirection::Asc, NullOrder::First),
        sort_field(3, Transform::Identity, SortDirection::Asc, NullOrder::First),
    ]);
    let site = Site::new(columns(), making).await;
    site.append(batch(&site, 0, 60).await).await.unwrap();
    let rows = rows_of(&site, &site.file().await).await;
    let tens: Vec<i64> = rows
        .column(0)
        .as_primitive::<Int64Type>()
        .values()
        .iter()
        .map(|id| id / 10)
        .collect();
    assert!(tens.is_sorted(), "{tens:?}");
    let text = rows.column(2).as_string::<i32>();
    let pairs: Vec<(i64, &str)> = tens
        .iter()
        .copied()
        .zip((0..text.len()).map(|i| text.value(i)))
        .collect();
    assert!(pairs.is_sorted(), "{pairs:?}");
}

#[tokio::test]
async fn unsorted_files_say_so() {
    let site = Site::new(columns(), Making::new()).await;
    site.append(batch(&site, 0, 5).await).await.unwrap();
    // Order 0 is the unsorted one (spec, "Sort Orders").
    assert_eq!(site.file().await.sort_order_id, Some(0));
}

#[tokio::test]
async fn names_of_files_are_never_used_twice() {
    let site = Site::new(columns(), Making::new()).await;
    for i in 0..3 {
        site.append(batch(&site, i * 10, 10).await).await.unwrap();
    }
    let paths: BTreeSet<Arc<str>> = site.files().await.into_iter().map(|f| f.file_path).collect();
    assert_eq!(paths.len(), 3);
}
