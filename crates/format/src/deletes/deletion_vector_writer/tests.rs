use super::*;
use crate::deletes::puffin::PuffinReader;
use crate::error::ErrorKind;
use crate::spec::value::Value;

fn data_file(path: &str, partition: i32) -> DataFile {
    let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
    file.spec_id = 3;
    file.partition = PartitionTuple(vec![Some(Value::Int(partition))]);
    file
}

#[tokio::test]
async fn several_vectors_share_a_file() {
    let io = FileIo::memory();
    let (a, b, untouched) = (data_file("/d/a", 1), data_file("/d/b", 2), data_file("/d/c", 2));
    let mut writer = DeletionVectorWriter::new(&io, "/d/deletes.puffin");
    writer.vector_of(&b).insert_range(10..20).unwrap();
    writer.vector_of(&a).insert(7).unwrap();
    writer.vector_of(&b).insert(3).unwrap();
    writer.vector_of(&untouched);
    let written = writer.finish().await.unwrap();
    assert_eq!(written.replaced, []);
    let [dv_a, dv_b] = written.added.as_slice() else {
        panic!("{written:?}");
    };
    assert_eq!(dv_a.referenced_data_file.as_deref(), Some("/d/a"));
    assert_eq!((dv_a.record_count, dv_b.record_count), (1, 11));
    assert_eq!((dv_b.spec_id, &dv_b.partition), (3, &b.partition));
    assert!(dv_a.is_deletion_vector() && dv_b.is_deletion_vector());
    let size = io.size("/d/deletes.puffin").await.unwrap() as i64;
    assert_eq!((dv_a.file_size_in_bytes, dv_b.file_size_in_bytes), (size, size));
    assert_eq!(dv_a.content_offset, Some(4));

    let read = DeletionVector::read(&io, dv_b).await.unwrap();
    assert!(read.iter().eq([3].into_iter().chain(10..20)));

    let puffin = PuffinReader::open(&io, "/d/deletes.puffin").await.unwrap();
    let blob = &puffin.footer().blobs[1];
    assert_eq!(blob.blob_type, "deletion-vector-v1");
    assert_eq!((blob.snapshot_id, blob.sequence_number), (-1, -1));
    assert_eq!(blob.fields, [2147483645]);
    assert_eq!(blob.compression_codec, None);
    assert_eq!(blob.properties["referenced-data-file"], "/d/b");
    assert_eq!(blob.properties["cardinality"], "11");
    assert_eq!(Some(blob.offset as i64), dv_b.content_offset);
    assert_eq!(Some(blob.length as i64), dv_b.content_size_in_bytes);
}

#[tokio::test]
async fn earlier_vectors_are_merged_once_and_replaced() {
    let io = FileIo::memory();
    let a = data_file("/d/a", 1);
    let mut first = DeletionVectorWriter::new(&io, "/d/1.puffin");
    first.vector_of(&a).insert(1).unwrap();
    let first = first.finish().await.unwrap().added.remove(0);

    let mut second = DeletionVectorWriter::new(&io, "/d/2.puffin");
    second.vector_of(&a).insert(2).unwrap();
    second.merge_previous(&a, &first).await.unwrap();
    second.merge_previous(&a, &first).await.unwrap();
    let other = second.merge_previous(&data_file("/d/b", 1), &first).await.unwrap_err();
    assert_eq!(other.kind(), ErrorKind::InvalidInput);
    let old_deletes = DataFile::new(DataContent::PositionDeletes, "/d/old.parquet", FileFormat::Parquet);
    let positions = DeletionVector::from_positions([9]).unwrap();
    second.merge_positions(&a, &positions, Some(&old_deletes));
    let written = second.finish().await.unwrap();
    assert_eq!(written.replaced, [first, old_deletes]);
    let read = DeletionVector::read(&io, &written.added[0]).await.unwrap();
    assert!(read.iter().eq([1, 2, 9]));
}

#[tokio::test]
async fn nothing_deleted_writes_nothing() {
    let io = FileIo::memory();
    let written = DeletionVectorWriter::new(&io, "/d/x.puffin").finish().await.unwrap();
    assert_eq!(written, DeletionVectorsWritten::default());
    assert!(!io.exists("/d/x.puffin").await.unwrap());
}

#[tokio::test]
async fn an_earlier_vector_may_spell_the_data_file_otherwise() {
    let io = FileIo::memory();
    let mut first = DeletionVectorWriter::new(&io, "/d/1.puffin");
    first.vector_of(&data_file("s3a://b/d/a", 1)).insert(1).unwrap();
    let first = first.finish().await.unwrap().added.remove(0);

    let mut second = DeletionVectorWriter::new(&io, "/d/2.puffin");
    let other_bucket = second
        .merge_previous(&data_file("s3://b2/d/a", 1), &first)
        .await
        .unwrap_err();
    assert_eq!(other_bucket.kind(), ErrorKind::InvalidInput);
    second
        .merge_previous(&data_file("s3://b/d/a", 1), &first)
        .await
        .unwrap();
    let written = second.finish().await.unwrap();
    assert_eq!(written.added[0].referenced_data_file.as_deref(), Some("s3://b/d/a"));
    assert_eq!(written.added[0].record_count, 1);
    assert_eq!(written.replaced, [first]);
}

#[tokio::test]
async fn one_data_file_in_two_spellings_gets_one_vector() {
    let io = FileIo::memory();
    let mut writer = DeletionVectorWriter::new(&io, "/d/deletes.puffin");
    for (position, path) in [(1, "s3://b/a"), (2, "s3a://b/a"), (3, "s3://c/a")] {
        writer.vector_of(&data_file(path, 1)).insert(position).unwrap();
    }
    let added = writer.finish().await.unwrap().added;
    let told = added
        .iter()
        .map(|d| (d.referenced_data_file.as_deref(), d.record_count));
    assert!(told.eq([(Some("s3://b/a"), 2), (Some("s3://c/a"), 1)]), "{added:?}");
}
