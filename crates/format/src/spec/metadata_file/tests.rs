//! Metadata files in memory and on disk.

use super::*;
use crate::spec::table_metadata::TableMetadata;
use crate::update::test_tables;

#[test]
fn names_tell_the_codec() {
    for (name, codec) in [
        ("v1.metadata.json", MetadataCodec::None),
        ("v1.gz.metadata.json", MetadataCodec::Gzip),
        ("00001-x.metadata.json.gz", MetadataCodec::Gzip),
        ("v1.gz", MetadataCodec::None),
    ] {
        assert_eq!(MetadataCodec::from_file_name(name), codec, "{name}");
    }
    assert_eq!(
        MetadataCodec::from_name("GZIP").unwrap().extension(),
        ".gz.metadata.json"
    );
    assert!(MetadataCodec::from_name("zstd").is_err());
}

#[test]
fn gzipped_bytes_are_read_whatever_the_name() {
    let table = test_tables::two_columns();
    let plain = table.to_json().unwrap();
    let gzipped = MetadataCodec::Gzip.encode(plain.clone()).unwrap();
    assert!(gzipped.starts_with(&GZIP_MAGIC));
    assert_eq!(TableMetadata::from_json(&gzipped).unwrap(), *table);
    assert_eq!(TableMetadata::from_json(&plain).unwrap(), *table);
    let cut = TableMetadata::from_json(&gzipped[..gzipped.len() / 2]).unwrap_err();
    assert_eq!(cut.kind(), ErrorKind::Corrupt);
}

#[test]
fn every_cut_of_the_json_is_an_error() {
    let json = test_tables::two_columns().to_json().unwrap();
    for end in 0..json.len() {
        let refused = TableMetadata::from_json(&json[..end]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "cut at {end}");
    }
}

#[tokio::test]
async fn files_are_created_once() {
    let dir = tempfile::tempdir().unwrap();
    let io = FileIo::local();
    let table = test_tables::two_columns();
    for name in ["v1.metadata.json", "v1.gz.metadata.json"] {
        let location = format!("{}/{name}", dir.path().display());
        table.write(&io, &location, WriteMode::Create).await.unwrap();
        assert_eq!(TableMetadata::read(&io, &location).await.unwrap(), *table);
        let again = table.write(&io, &location, WriteMode::Create).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        table.write(&io, &location, WriteMode::Overwrite).await.unwrap();
    }
    let broken = format!("{}/v2.metadata.json", dir.path().display());
    io.write(&broken, Bytes::from_static(b"{}")).await.unwrap();
    let refused = TableMetadata::read(&io, &broken).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
    assert!(refused.to_string().contains("v2.metadata.json"), "{refused}");
}
