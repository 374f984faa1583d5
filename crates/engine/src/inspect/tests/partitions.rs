//! Partitions: totals, and specs that change.

use std::sync::Arc;

use tarn_format::commit::row_delta::RowDelta;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;
use tarn_format::update::schema::SchemaUpdate;
use tarn_format::update::spec::SpecUpdate;

use super::{MetadataTableKind as K, Site, by_p, columns, data_file, position_deletes};

#[tokio::test]
async fn totals_count_deletes_apart() {
    let site = Site::by_p(FormatVersion::V2).await;
    let a = data_file("s3://bucket/a", Some("a"), 2);
    let first = site.append([a.clone(), data_file("s3://bucket/b", Some("b"), 3)]).await;
    site.append([data_file("s3://bucket/a2", Some("a"), 4)]).await;
    let mut equality = DataFile::new(DataContent::EqualityDeletes, "s3://bucket/e", FileFormat::Parquet);
    equality.partition = a.partition.clone();
    equality.record_count = 7;
    equality.equality_ids = vec![1];
    let delta = RowDelta::new()
        .add_deletes(Arc::new(position_deletes("s3://bucket/d", &a, 5)))
        .add_deletes(Arc::new(equality));
    let last = site.commit(delta.build()).await;
    let sql = "select partition, spec_id, record_count, file_count, total_data_file_size_in_bytes,
               position_delete_record_count, position_delete_file_count, equality_delete_record_count,
               equality_delete_file_count, last_updated_snapshot_id from m order by partition['p']";
    let expected = [
        format!("{{p: a}}|0|6|2|600|5|1|7|1|{last}"),
        format!("{{p: b}}|0|3|1|300|0|0|0|0|{first}"),
    ];
    assert_eq!(site.rows(K::Partitions, sql).await, expected);
    let times = site
        .rows(
            K::Partitions,
            "select last_updated_at from m where partition['p'] = 'b'",
        )
        .await;
    let table = site.table().await;
    let committed = site
        .rows(
            K::Snapshots,
            &format!("select committed_at from m where snapshot_id = {first}"),
        )
        .await;
    assert_eq!(times, committed, "{}", table.ident);
}

#[tokio::test]
async fn an_unpartitioned_table_has_one_partition() {
    let site = Site::new(FormatVersion::V2, columns(), PartitionSpec::unpartitioned()).await;
    let mut files = [data_file("s3://bucket/a", None, 2), data_file("s3://bucket/b", None, 3)];
    files.iter_mut().for_each(|f| f.partition = PartitionTuple::default());
    site.append(files).await;
    assert_eq!(
        site.rows(K::Partitions, "select record_count, file_count from m").await,
        ["5|2"]
    );
}

async fn respec(site: &Site, change: impl Fn(&mut SpecUpdate) + Send + Sync + 'static) {
    site.update(move |metadata| {
        let mut update = SpecUpdate::new(metadata).unwrap();
        change(&mut update);
        update.finish().unwrap().0
    })
    .await;
}

fn of_spec(path: &str, spec_id: i32, values: Vec<Option<Value>>) -> DataFile {
    let mut file = data_file(path, None, 1);
    file.spec_id = spec_id;
    file.partition = PartitionTuple(values);
    file
}

#[tokio::test]
async fn partitions_of_all_specs_share_a_struct() {
    let site = Site::by_p(FormatVersion::V2).await;
    site.append([data_file("s3://bucket/a", Some("a"), 1)]).await;
    respec(&site, |update| {
        update.add_field("id", Transform::Bucket(4), Some("b")).unwrap();
    })
    .await;
    site.append([of_spec(
        "s3://bucket/b",
        1,
        vec![Some(Value::string("a")), Some(Value::Int(3))],
    )])
    .await;
    site.append([of_spec("s3://bucket/c", 1, vec![Some(Value::string("a")), None])])
        .await;
    let files = site
        .rows(K::Files, "select spec_id, partition from m order by file_path")
        .await;
    assert_eq!(files, ["0|{p: a, b: NULL}", "1|{p: a, b: 3}", "1|{p: a, b: NULL}"]);
    // As in Java, equal values of specs with more or fewer fields are partitions of their own.
    let sql = "select spec_id, partition, record_count from m order by spec_id, partition['b'] nulls last";
    let partitions = site.rows(K::Partitions, sql).await;
    assert_eq!(
        partitions,
        ["0|{p: a, b: NULL}|1", "1|{p: a, b: 3}|1", "1|{p: a, b: NULL}|1"]
    );
    let filtered = "select file_path from m where partition['b'] = 3";
    assert_eq!(site.rows(K::Files, filtered).await, ["s3://bucket/b"]);
    let filtered = "select count(*) from m where partition['b'] is null";
    assert_eq!(site.rows(K::Files, filtered).await, ["2"]);
    let filtered = "select count(*) from m where partition['b'] is null and partition['p'] = 'a'";
    assert_eq!(site.rows(K::Partitions, filtered).await, ["2"]);
}

/// Java fails here: its struct would hold the name twice.
#[tokio::test]
async fn a_name_used_again_keeps_both_fields() {
    // No column has the name: partition fields may only have that of the column they partition by.
    let mut spec = by_p();
    spec.fields[0].name = "part".to_string();
    spec.fields[0].transform = Transform::Truncate(1);
    let site = Site::new(FormatVersion::V2, columns(), spec).await;
    site.append([data_file("s3://bucket/a", Some("a"), 1)]).await;
    respec(&site, |update| {
        update.remove_field("part").unwrap();
    })
    .await;
    respec(&site, |update| {
        update.add_field("id", Transform::Identity, Some("part")).unwrap();
    })
    .await;
    let spec_id = site.table().await.metadata.default_spec_id;
    site.append([of_spec("s3://bucket/b", spec_id, vec![Some(Value::Long(7))])])
        .await;
    let files = site.rows(K::Files, "select partition from m order by file_path").await;
    assert_eq!(files, ["{part_1000: a, part: NULL}", "{part_1000: NULL, part: 7}"]);
    assert_eq!(
        site.rows(K::Partitions, "select count(*) from m where partition['part'] = 7")
            .await,
        ["1"]
    );
}

/// Java: `Partitioning.partitionType` leaves fields out whose source the schema has no more.
#[tokio::test]
async fn fields_of_dropped_columns_are_left_out() {
    let site = Site::by_p(FormatVersion::V2).await;
    site.append([
        data_file("s3://bucket/a", Some("a"), 1),
        data_file("s3://bucket/b", Some("b"), 1),
    ])
    .await;
    respec(&site, |update| {
        update.remove_field("p").unwrap();
        update.add_field("id", Transform::Bucket(4), Some("b")).unwrap();
    })
    .await;
    site.update(|metadata| {
        let mut update = SchemaUpdate::new(metadata);
        update.delete_column("p").unwrap();
        update.finish().unwrap().0
    })
    .await;
    let files = site.rows(K::Files, "select partition, record_count from m").await;
    assert_eq!(files, ["{b: NULL}|1", "{b: NULL}|1"]);
    // Both partitions of the old spec look alike now and are counted as one, as in Java.
    assert_eq!(
        site.rows(K::Partitions, "select partition, file_count from m").await,
        ["{b: NULL}|2"]
    );
}
