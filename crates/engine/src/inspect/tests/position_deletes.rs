//! Position delete files and deletion vectors, row by row.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields, Schema as ArrowSchema};
use datafusion::parquet::arrow::ArrowWriter;
use tarn_format::ErrorKind;
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::deletes::deletion_vector_writer::DeletionVectorWriter;
use tarn_format::manifest::data_file::{DataFile, FileFormat};
use tarn_format::spec::table_metadata::FormatVersion;

use super::{MetadataTableKind as K, Site, data_file, position_deletes};
use crate::arrow::schema::FIELD_ID_KEY;

fn with_id(name: &str, data_type: DataType, id: i32) -> Field {
    Field::new(name, data_type, true).with_metadata(HashMap::from([(FIELD_ID_KEY.to_string(), id.to_string())]))
}

/// Writes a file of position deletes, whose rows are `id`s, with the reserved field ids of the spec.
async fn write_deletes(site: &Site, location: &str, rows: &[(Option<&str>, i64)], ids: Option<&[i64]>) -> i64 {
    let paths: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().map(|(path, _)| *path)));
    let positions: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|(_, pos)| *pos)));
    let mut fields = vec![
        with_id("file_path", DataType::Utf8, 2_147_483_546),
        with_id("pos", DataType::Int64, 2_147_483_545),
    ];
    let mut columns = vec![paths, positions];
    if let Some(ids) = ids {
        // The column was called otherwise when the rows were deleted.
        let old = Fields::from(vec![with_id("old_id", DataType::Int64, 1)]);
        fields.push(with_id("row", DataType::Struct(old.clone()), 2_147_483_544));
        let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
        columns.push(Arc::new(StructArray::new(old, vec![ids], None)));
    }
    let schema = Arc::new(ArrowSchema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let size = bytes.len() as i64;
    site.table().await.io.write(location, bytes.into()).await.unwrap();
    size
}

async fn add(site: &Site, file: DataFile) {
    site.commit(RowDelta::new().add_deletes(Arc::new(file)).build()).await;
}

#[tokio::test]
async fn parquet_files_give_their_rows() {
    let site = Site::by_p(FormatVersion::V2).await;
    let a = data_file("s3://bucket/a", Some("a"), 10);
    site.append([a.clone()]).await;
    let rows = [
        (Some("s3://bucket/a"), 1),
        (None, 2),
        (Some("s3://bucket/a"), 3),
        (Some("s3://bucket/a"), 4),
    ];
    let location = "s3://bucket/wh/d1.parquet";
    let mut file = position_deletes(location, &a, 4);
    file.file_size_in_bytes = write_deletes(&site, location, &rows, None).await;
    add(&site, file).await;
    // A null path names no file.
    let expected = [1, 3, 4].map(|pos| format!("s3://bucket/a|{pos}|NULL|{{p: a}}|0|{location}"));
    assert_eq!(
        site.rows(K::PositionDeletes, "select * from m order by pos").await,
        expected
    );
    assert_eq!(site.rows(K::PositionDeletes, "select count(*) from m").await, ["3"]);
    let other = site
        .rows(K::PositionDeletes, "select pos from m where partition['p'] = 'b'")
        .await;
    assert!(other.is_empty());
}

#[tokio::test]
async fn deleted_rows_are_read_by_field_id() {
    let site = Site::by_p(FormatVersion::V2).await;
    let a = data_file("s3://bucket/a", Some("a"), 10);
    site.append([a.clone()]).await;
    let location = "s3://bucket/wh/d1.parquet";
    let mut file = position_deletes(location, &a, 2);
    let rows = [(Some("s3://bucket/a"), 1), (Some("s3://bucket/a"), 2)];
    file.file_size_in_bytes = write_deletes(&site, location, &rows, Some(&[10, 20])).await;
    add(&site, file).await;
    let sql = "select pos, row from m order by pos";
    assert_eq!(
        site.rows(K::PositionDeletes, sql).await,
        ["1|{id: 10, p: NULL}", "2|{id: 20, p: NULL}"]
    );
    assert_eq!(
        site.rows(K::PositionDeletes, "select sum(row['id']) from m").await,
        ["30"]
    );
}

/// A file may be longer or shorter than its manifest says.
#[tokio::test]
async fn a_wrong_size_is_found_out() {
    let site = Site::by_p(FormatVersion::V2).await;
    let a = data_file("s3://bucket/a", Some("a"), 10);
    site.append([a.clone()]).await;
    let location = "s3://bucket/wh/d1.parquet";
    let mut file = position_deletes(location, &a, 1);
    file.file_size_in_bytes = write_deletes(&site, location, &[(Some("s3://bucket/a"), 5)], None).await + 7;
    add(&site, file).await;
    assert_eq!(site.rows(K::PositionDeletes, "select pos from m").await, ["5"]);
}

#[tokio::test]
async fn deletion_vectors_give_their_positions() {
    let site = Site::by_p(FormatVersion::V3).await;
    let files = [
        data_file("s3://bucket/a", Some("a"), 10),
        data_file("s3://bucket/b", Some("b"), 10),
    ];
    site.append(files.clone()).await;
    let location = "s3://bucket/wh/dv.puffin";
    let mut writer = DeletionVectorWriter::new(&site.table().await.io, location);
    writer.vector_of(&files[0]).insert_range(2..5).unwrap();
    writer.vector_of(&files[1]).insert(0).unwrap();
    writer.vector_of(&files[1]).insert(1 << 33).unwrap();
    let written = writer.finish().await.unwrap();
    let mut delta = RowDelta::new();
    for file in &written.added {
        delta = delta.add_deletes(Arc::new(file.clone()));
    }
    site.commit(delta.build()).await;
    let sql = "select file_path, pos, row, partition['p'], spec_id, delete_file_path, content_offset,
               content_size_in_bytes from m order by file_path, pos";
    let blob = |i: usize| {
        let file = &written.added[i];
        format!(
            "{}|{}",
            file.content_offset.unwrap(),
            file.content_size_in_bytes.unwrap()
        )
    };
    let row =
        |path: &str, pos: i64, p: &str, i: usize| format!("s3://bucket/{path}|{pos}|NULL|{p}|0|{location}|{}", blob(i));
    let expected = [
        row("a", 2, "a", 0),
        row("a", 3, "a", 0),
        row("a", 4, "a", 0),
        row("b", 0, "b", 1),
        row("b", 1 << 33, "b", 1),
    ];
    assert_eq!(site.rows(K::PositionDeletes, sql).await, expected);
    assert_eq!(
        site.rows(K::PositionDeletes, "select count(*) from m where pos > 2")
            .await,
        ["3"]
    );
}

#[tokio::test]
async fn broken_files_are_refused_by_name() {
    let site = Site::by_p(FormatVersion::V2).await;
    let a = data_file("s3://bucket/a", Some("a"), 10);
    site.append([a.clone()]).await;
    let mut file = position_deletes("s3://bucket/d.orc", &a, 1);
    file.file_format = FileFormat::Orc;
    let io = site.table().await.io.clone();
    io.write("s3://bucket/d.orc", "PAR1 is no ORC".into()).await.unwrap();
    add(&site, file).await;
    let context = site.context(K::PositionDeletes).await;
    let error = context
        .sql("select * from m")
        .await
        .unwrap()
        .collect()
        .await
        .unwrap_err();
    let datafusion::error::DataFusionError::External(inner) = error.find_root() else {
        panic!("{error}");
    };
    let ours = inner.downcast_ref::<tarn_format::Error>().unwrap();
    assert_eq!(ours.kind(), ErrorKind::Corrupt);
    let text = ours.to_string();
    assert!(
        text.contains("ORC") && text.contains("s3://bucket/d.orc") && text.contains("db.t"),
        "{text}"
    );
}
