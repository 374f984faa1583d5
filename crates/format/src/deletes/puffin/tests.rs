use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::error::{ErrorKind, Result};
use crate::io::FileIo;

/// The smallest file of the spec: magic, and a footer without blobs.
const EMPTY: &[u8] = b"PFA1PFA1{\"blobs\":[]}\x0c\0\0\0\0\0\0\0PFA1";

fn blob<'a>(data: &'a [u8], codec: BlobCodec) -> Blob<'a> {
    Blob {
        blob_type: "some-blob",
        fields: vec![1, 5],
        snapshot_id: 14,
        sequence_number: 3,
        data,
        codec,
        properties: [("k".to_string(), "v".to_string())].into(),
    }
}

fn file(blobs: &[Blob<'_>], compression: FooterCompression) -> Vec<u8> {
    let mut encoder = PuffinEncoder::new(compression);
    for blob in blobs {
        encoder.push(blob).unwrap();
    }
    encoder.finish().unwrap().bytes
}

fn parse(bytes: &[u8]) -> Result<Footer> {
    match parse_footer(bytes, bytes.len() as u64)? {
        FooterParse::Complete(footer, _) => Ok(footer),
        FooterParse::NeedsBytes(n) => panic!("needs {n} of {} bytes", bytes.len()),
    }
}

/// A file with this payload and no blobs' bytes but `body`.
fn with_payload(body: &[u8], payload: &[u8], flags: [u8; 4]) -> Vec<u8> {
    let len = (payload.len() as i32).to_le_bytes();
    [&MAGIC[..], body, &MAGIC[..], payload, &len[..], &flags[..], &MAGIC[..]].concat()
}

#[test]
fn the_specified_bytes() {
    assert_eq!(parse(EMPTY).unwrap(), Footer::default());
    let json = r#"{"blobs":[{"type":"t","fields":[1],"snapshot-id":2,"sequence-number":1,"offset":4,"length":3,"x":{}}],
        "properties":{"created-by":"Test 1234"},"unknown":1}"#;
    let footer = parse(&with_payload(b"abc", json.as_bytes(), [0; 4])).unwrap();
    assert_eq!(footer.properties["created-by"], "Test 1234");
    let expected = BlobMetadata {
        blob_type: "t".to_string(),
        fields: vec![1],
        snapshot_id: 2,
        sequence_number: 1,
        offset: 4,
        length: 3,
        compression_codec: None,
        properties: BTreeMap::new(),
    };
    assert_eq!(footer.blobs, [expected]);
}

#[tokio::test]
async fn blobs_of_every_codec_round_trip() {
    let io = FileIo::memory();
    let text = b"abcdefghi".repeat(1000);
    for compression in [FooterCompression::None, FooterCompression::Lz4] {
        let mut writer = PuffinWriter::new(&io, "/p", compression).unwrap();
        writer.set_property("k", "v");
        for codec in [BlobCodec::None, BlobCodec::Lz4, BlobCodec::Zstd] {
            writer.add(&blob(&text, codec)).await.unwrap();
            writer.add(&blob(b"", codec)).await.unwrap();
        }
        let end = writer.finish().await.unwrap();
        assert_eq!(io.size("/p").await.unwrap(), end.file_size);
        let sized = PuffinReader::open_sized(&io, "/p", end.file_size, Some(end.footer_size)).await;
        for reader in [sized.unwrap(), PuffinReader::open(&io, "/p").await.unwrap()] {
            assert_eq!(reader.footer(), &end.footer);
            assert_eq!(reader.footer().properties["k"], "v");
            assert!(reader.footer().properties["created-by"].starts_with("Tarn "));
            for (i, blob) in reader.footer().blobs.iter().enumerate() {
                let expected = if i % 2 == 0 { &text[..] } else { b"" };
                assert_eq!(reader.read_blob(blob).await.unwrap(), expected);
            }
            assert!(reader.footer().blobs[2].length < 1000);
        }
    }
}

#[tokio::test]
async fn long_footers_take_a_second_read() {
    let io = FileIo::memory();
    let blobs = vec![blob(b"x", BlobCodec::None); 1000];
    let bytes = file(&blobs, FooterCompression::None);
    assert!(bytes.len() > 100_000);
    io.write("/p", bytes.into()).await.unwrap();
    assert_eq!(PuffinReader::open(&io, "/p").await.unwrap().footer().blobs.len(), 1000);
}

#[tokio::test]
async fn unknown_codecs_are_kept_and_refused_when_read() {
    let io = FileIo::memory();
    let json = br#"{"blobs":[{"type":"new","fields":[],"snapshot-id":2,"sequence-number":1,"offset":4,"length":3,
        "compression-codec":"brotli"}]}"#;
    io.write("/p", with_payload(b"abc", json, [0; 4]).into()).await.unwrap();
    let reader = PuffinReader::open(&io, "/p").await.unwrap();
    let blob = &reader.footer().blobs[0];
    assert_eq!(
        (blob.blob_type.as_str(), blob.compression_codec.as_deref()),
        ("new", Some("brotli"))
    );
    let error = reader.read_blob(blob).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("/p"), "{error}");
}

#[test]
fn broken_files_are_refused() {
    let good = file(&[blob(b"abc", BlobCodec::None)], FooterCompression::None);
    for len in 0..good.len() {
        assert_eq!(parse(&good[..len]).unwrap_err().kind(), ErrorKind::Corrupt, "{len}");
    }
    let kind = |bytes: Vec<u8>| parse(&bytes).unwrap_err().kind();
    let valid = br#"{"blobs":[]}"#;
    assert_eq!(kind(with_payload(b"", valid, [2, 0, 0, 0])), ErrorKind::Unsupported);
    assert_eq!(kind(with_payload(b"", valid, [0, 0, 0, 1])), ErrorKind::Unsupported);
    assert_eq!(kind(with_payload(b"", valid, [1, 0, 0, 0])), ErrorKind::Corrupt);
    assert_eq!(kind([b"PFA2", &EMPTY[4..]].concat()), ErrorKind::Corrupt);
    for len in [-1, i32::MIN, i32::MAX, 13, 11] {
        let mut bytes = EMPTY.to_vec();
        let at = bytes.len() - 12;
        bytes[at..at + 4].copy_from_slice(&i32::to_le_bytes(len));
        assert_eq!(kind(bytes), ErrorKind::Corrupt, "{len}");
    }
    for payload in [
        "",
        "{}",
        "[]",
        "{\"blobs\":[]} x",
        "{\"blobs\":[{\"type\":\"t\"}]}",
        "{\"blobs\":[],\"properties\":{\"a\":1}}",
        "\u{feff}{\"blobs\":[]}",
    ] {
        assert_eq!(
            kind(with_payload(b"", payload.as_bytes(), [0; 4])),
            ErrorKind::Corrupt,
            "{payload}"
        );
    }
    let deep = "[".repeat(100_000);
    assert_eq!(kind(with_payload(b"", deep.as_bytes(), [0; 4])), ErrorKind::Corrupt);
}

#[test]
fn blobs_must_lie_in_the_file() {
    for (offset, length) in [
        (4, 4),
        (3, 1),
        (0, 0),
        (-1, 1),
        (4, -1),
        (8, 0),
        (i64::MAX, i64::MAX),
        (4, i64::MAX),
    ] {
        let json = format!(
            r#"{{"blobs":[{{"type":"t","fields":[],"snapshot-id":1,"sequence-number":1,"offset":{offset},"length":{length}}}]}}"#
        );
        let error = parse(&with_payload(b"abc", json.as_bytes(), [0; 4])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{offset} {length}");
    }
}

#[test]
fn bombs_do_not_explode() {
    let zeros = vec![0u8; 1 << 20];
    for codec in [BlobCodec::Lz4, BlobCodec::Zstd] {
        let small = codec.compress(&zeros).unwrap();
        assert!(small.len() < 10_000);
        assert_eq!(codec.decompress(&small, 1 << 20).unwrap(), zeros);
        let error = codec.decompress(&small, (1 << 20) - 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
        let cut = codec.decompress(&small[..small.len() / 2], 1 << 20).unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::Corrupt);
    }
}

#[tokio::test]
async fn wrong_sizes_are_corrupt() {
    let io = FileIo::memory();
    let bytes = file(&[blob(b"abc", BlobCodec::None)], FooterCompression::None);
    let size = bytes.len() as u64;
    io.write("/p", bytes.into()).await.unwrap();
    for (size, footer) in [
        (size - 1, None),
        (size + 1, None),
        (0, None),
        (0, Some(5)),
        (size, Some(3)),
    ] {
        let error = PuffinReader::open_sized(&io, "/p", size, footer).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{size} {footer:?}: {error}");
    }
    for footer in [Some(0), Some(20), Some(u64::MAX), None] {
        let opened = PuffinReader::open_sized(&io, "/p", size, footer).await;
        assert_eq!(opened.is_ok(), footer != Some(0), "{footer:?}");
    }
}

/// Reads what other writers left, where the collection of their files is at hand.
#[tokio::test]
async fn files_of_other_writers() {
    let Some(root) = std::env::var_os("TARN_FIXTURES") else {
        return;
    };
    let root = root.to_str().unwrap().to_string();
    let io = FileIo::local();
    let mut opened = 0;
    for status in io.list(&root).await.unwrap() {
        if !status.location.ends_with(".puffin") && !status.location.ends_with(".stats") {
            continue;
        }
        let name = status.location.strip_prefix(&root).unwrap();
        let known_bad = ["/corrupt_file", "/legacy-bare"].iter().any(|bad| name.contains(bad));
        let read = read_all(&io, &status.location).await;
        assert_eq!(read.is_err(), known_bad, "{name}: {read:?}");
        opened += usize::from(read.is_ok());
    }
    assert!(opened > 20, "{opened}");
}

async fn read_all(io: &FileIo, location: &str) -> Result<usize> {
    let reader = PuffinReader::open(io, location).await?;
    for blob in &reader.footer().blobs {
        let data = reader.read_blob(blob).await?;
        if blob.blob_type == DELETION_VECTOR_V1 {
            let cardinality = blob.properties.get("cardinality").and_then(|c| c.parse().ok());
            crate::deletes::deletion_vector::DeletionVector::from_blob(&data, cardinality)?;
        }
    }
    Ok(reader.footer().blobs.len())
}

fn codecs() -> impl Strategy<Value = BlobCodec> {
    prop_oneof![Just(BlobCodec::None), Just(BlobCodec::Lz4), Just(BlobCodec::Zstd)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn files_round_trip(
        contents in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..300), codecs()), 0..6),
        compressed in any::<bool>(),
    ) {
        let compression = if compressed { FooterCompression::Lz4 } else { FooterCompression::None };
        let blobs: Vec<_> = contents.iter().map(|(data, codec)| blob(data, *codec)).collect();
        let bytes = Bytes::from(file(&blobs, compression));
        let footer = parse(&bytes).unwrap();
        prop_assert_eq!(footer.blobs.len(), blobs.len());
        for (metadata, blob) in footer.blobs.iter().zip(&blobs) {
            let raw = bytes.slice(metadata.offset as usize..(metadata.offset + metadata.length) as usize);
            prop_assert_eq!(&decode_blob(metadata, raw).unwrap()[..], blob.data);
            prop_assert_eq!(&metadata.fields, &blob.fields);
            prop_assert_eq!(&metadata.properties, &blob.properties);
        }
    }

    #[test]
    fn any_change_gives_a_footer_or_an_error(at in 0..1000usize, byte in any::<u8>(), compressed in any::<bool>()) {
        let compression = if compressed { FooterCompression::Lz4 } else { FooterCompression::None };
        let mut bytes = file(&[blob(b"abc", BlobCodec::Zstd)], compression);
        let at = at % bytes.len();
        bytes[at] = byte;
        match parse_footer(&bytes, bytes.len() as u64) {
            Ok(FooterParse::Complete(footer, start)) => {
                prop_assert!(footer.blobs.iter().all(|b| b.offset + b.length <= start));
            }
            Ok(FooterParse::NeedsBytes(_)) => prop_assert!(false, "all bytes were given"),
            Err(e) => prop_assert!(matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported)),
        }
    }
}
