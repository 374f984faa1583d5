//! Files that lie: an error each time, never a panic, a hang or memory beyond what the file holds.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::tables::{file, options};
use crate::error::ErrorKind;
use crate::manifest::avro::codec::{Codec, Compressor};
use crate::manifest::avro::container::{ContainerWriter, read_header};
use crate::manifest::avro::encoder::Encoder;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::data_file::DataFile;
use crate::manifest::list::{self, ManifestListWriterOptions};
use crate::manifest::manifest_file::ManifestContent;
use crate::manifest::reader;
use crate::manifest::writer::ManifestWriter;
use crate::spec::table_metadata::FormatVersion;

fn sample(codec: Codec) -> Vec<u8> {
    let mut runner = TestRunner::deterministic();
    let files = file(FormatVersion::V3, ManifestContent::Data);
    let mut writer = ManifestWriter::new(options(FormatVersion::V3, ManifestContent::Data).with_codec(codec)).unwrap();
    for _ in 0..2 {
        let file: DataFile = files.new_tree(&mut runner).unwrap().current();
        writer.added(&file, Some(3)).unwrap();
    }
    writer.finish("m").unwrap().0.to_vec()
}

/// With every projection, because each takes other paths.
fn decode_all(bytes: &[u8]) -> Vec<crate::Result<usize>> {
    let partition_type = options(FormatVersion::V3, ManifestContent::Data).partition_type;
    [
        MetricsProjection::None,
        MetricsProjection::fields([1, 7]),
        MetricsProjection::All,
    ]
    .into_iter()
    .flat_map(|p| {
        [
            reader::decode(bytes, None, &p),
            reader::decode(bytes, Some(&partition_type), &p),
        ]
    })
    .map(|r| r.map(|c| c.len))
    .collect()
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for codec in [Codec::Null, Codec::Deflate(6), Codec::Snappy] {
        let bytes = sample(codec);
        let header = bytes.len() - reader_rest(&bytes);
        for cut in 0..header {
            assert!(read_header(&bytes[..cut]).is_err(), "{codec:?} cut at {cut}");
        }
        for cut in header..bytes.len() {
            let result = reader::decode(&bytes[..cut], None, &MetricsProjection::All);
            // A file that ends behind its header has no entries; every other cut is seen.
            assert_eq!(result.is_ok(), cut == header, "{codec:?} cut at {cut}");
        }
    }
}

fn reader_rest(bytes: &[u8]) -> usize {
    read_header(bytes).unwrap().1.len()
}

#[test]
fn a_flipped_byte_never_panics() {
    let bytes = sample(Codec::Null);
    let header = bytes.len() - reader_rest(&bytes);
    // Most of the header is JSON, in which one byte in a few tells as much as all.
    for i in (0..header).step_by(101).chain(header - 20..bytes.len()) {
        for flip in [0x01, 0x80] {
            let mut bad = bytes.clone();
            bad[i] ^= flip;
            let _ = decode_all(&bad);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>()) {
        let mut bytes = sample(Codec::Null);
        let at = at.index(bytes.len());
        bytes.truncate(at);
        bytes.extend_from_slice(&noise);
        let _ = decode_all(&bytes);
        let _ = list::decode(&bytes);
    }
}

/// A manifest of one hand-made entry; `metrics` writes the value of `value_counts`.
fn hand_made(fields: &str, write: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let schema = format!(
        r#"{{"type":"record","name":"manifest_entry","fields":[
            {{"name":"status","type":"int","field-id":0}},
            {{"name":"data_file","field-id":2,"type":{{"type":"record","name":"r2","fields":[
                {{"name":"file_path","type":"string","field-id":100}},
                {{"name":"record_count","type":"long","field-id":103}},
                {{"name":"file_size_in_bytes","type":"long","field-id":104}},{fields}]}}}}]}}"#
    );
    let mut writer = ContainerWriter::new(&schema, &[], Codec::Null);
    writer
        .record(|e| {
            e.long(1);
            e.sized(b"p");
            e.long(10);
            e.long(20);
            write(e);
        })
        .unwrap();
    writer.finish().unwrap()
}

const VALUE_COUNTS: &str = r#"{"name":"value_counts","field-id":109,"type":{"type":"array","items":
    {"type":"record","name":"k119_v120","fields":[{"name":"key","type":"int"},{"name":"value","type":"long"}]}}}"#;

#[test]
fn counts_and_lengths_that_lie_are_refused() {
    for count in [i64::MAX, i64::MIN, 1 << 40, -(1 << 40), 1000] {
        let bytes = hand_made(VALUE_COUNTS, |e| {
            e.long(count);
            e.long(1 << 40);
        });
        for result in decode_all(&bytes) {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt, "{count}");
        }
    }
    for len in [-1, i64::MIN, i64::MAX, 1 << 33, 100] {
        let bytes = hand_made(r#"{"name":"x","type":"bytes"}"#, |e| e.long(len));
        for result in decode_all(&bytes) {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt, "{len}");
        }
    }
}

#[test]
fn negative_counts_with_sizes_are_read_and_jumped() {
    let bytes = hand_made(VALUE_COUNTS, |e| {
        e.long(-2);
        e.long(4);
        (1..=4).for_each(|n| e.long(n));
        e.long(1);
        e.long(5);
        e.long(6);
        e.long(0);
    });
    for result in decode_all(&bytes) {
        assert_eq!(result.unwrap(), 1);
    }
    let columns = reader::decode(&bytes, None, &MetricsProjection::fields([3, 5])).unwrap();
    assert_eq!(columns.metrics_of(3).unwrap().value_count.get(0), Some(4));
    assert_eq!(columns.metrics_of(5).unwrap().value_count.get(0), Some(6));
    assert_eq!(columns.metrics_of(1), None);
}

/// Who reads the items and who jumps over them by their size would go on from different places.
#[test]
fn items_that_end_elsewhere_than_their_size_says_are_refused() {
    for size_bytes in [2, 3, 5, 6] {
        let bytes = hand_made(VALUE_COUNTS, |e| {
            e.long(-2);
            e.long(size_bytes);
            (1..=4).for_each(|n| e.long(n));
            // Whichever place is gone on from, the map ends there.
            (0..4).for_each(|_| e.long(0));
        });
        let error = reader::decode(&bytes, None, &MetricsProjection::All).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{size_bytes}");
    }
}

#[test]
fn any_number_of_items_without_bytes_takes_no_time() {
    let nulls = r#"{"name":"x","type":{"type":"array","items":{"type":"record","name":"e","fields":[]}}}"#;
    let bytes = hand_made(nulls, |e| {
        e.long(i64::MAX);
        e.long(0);
    });
    for result in decode_all(&bytes) {
        assert_eq!(result.unwrap(), 1);
    }
}

#[test]
fn types_that_double_at_every_level_take_no_time() {
    let mut definition = r#"{"type":"record","name":"n0","fields":[{"name":"a","type":"int"}]}"#.to_string();
    for i in 1..40 {
        let below = format!("n{}", i - 1);
        definition = format!(
            r#"{{"type":"record","name":"n{i}","fields":[{{"name":"a","type":{definition}}},{{"name":"b","type":"{below}"}}]}}"#
        );
    }
    let bytes = hand_made(&format!(r#"{{"name":"x","type":{definition}}}"#), |e| e.long(0));
    for result in decode_all(&bytes) {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn types_that_nest_without_end_are_refused() {
    // Each is named within the next, so the JSON itself is flat.
    let mut fields =
        r#"{"name":"d0","type":{"type":"record","name":"n0","fields":[{"name":"a","type":"int"}]}}"#.to_string();
    for i in 1..20_000 {
        let below = i - 1;
        fields += &format!(
            r#",{{"name":"d{i}","type":{{"type":"record","name":"n{i}","fields":[{{"name":"a","type":"n{below}"}}]}}}}"#
        );
    }
    let bytes = hand_made(
        &format!(r#"{{"name":"x","type":{{"type":"record","name":"x","fields":[{fields}]}}}}"#),
        |e| {
            e.long(0);
        },
    );
    // One level too many, on fewer fields than a record may have.
    let few = fields.split(",{\"name\":\"d150\"").next().unwrap();
    let deep = hand_made(
        &format!(r#"{{"name":"x","type":{{"type":"record","name":"x","fields":[{few}]}}}}"#),
        |e| {
            e.long(0);
        },
    );
    for result in decode_all(&bytes).into_iter().chain(decode_all(&deep)) {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn many_fields_that_nobody_wants_are_skipped_in_a_row() {
    let fields: Vec<String> = (0..9_000)
        .map(|i| {
            format!(
                r#"{{"name":"u{i}","type":"{}"}}"#,
                if i % 2 == 0 { "string" } else { "long" }
            )
        })
        .collect();
    let bytes = hand_made(&fields.join(","), |e| {
        for i in 0..9_000 {
            if i % 2 == 0 {
                e.sized(b"text");
            } else {
                e.long(i);
            }
        }
    });
    for result in decode_all(&bytes) {
        assert_eq!(result.unwrap(), 1);
    }
}

#[test]
fn types_within_themselves_and_paths_that_are_not_text_are_refused() {
    let recursive = r#"{"name":"x","type":{"type":"record","name":"t","fields":[{"name":"t","type":["null","t"]}]}}"#;
    let bytes = hand_made(recursive, |e| e.long(0));
    assert_eq!(
        reader::decode(&bytes, None, &MetricsProjection::None)
            .unwrap_err()
            .kind(),
        ErrorKind::Corrupt
    );

    let path = r#"{"name":"referenced_data_file","type":"string","field-id":143}"#;
    let bytes = hand_made(path, |e| e.sized(&[0xff, 0xfe]));
    let error = reader::decode(&bytes, None, &MetricsProjection::None).unwrap_err();
    assert!(error.message().contains("UTF-8"), "{error}");
}

#[test]
fn a_field_id_of_its_own_in_every_entry_costs_no_more_than_its_value() {
    let mut runner = TestRunner::deterministic();
    let template: DataFile = file(FormatVersion::V2, ManifestContent::Data)
        .new_tree(&mut runner)
        .unwrap()
        .current();
    let mut writer = ManifestWriter::new(options(FormatVersion::V2, ManifestContent::Data)).unwrap();
    for id in 0..3000 {
        let mut file = DataFile::new(template.content, "p", template.file_format);
        file.partition = template.partition.clone();
        file.value_counts.insert(id, 1);
        writer.added(&file, None).unwrap();
    }
    let (bytes, _) = writer.finish("m").unwrap();
    let columns = reader::decode(&bytes, None, &MetricsProjection::All).unwrap();
    assert_eq!(columns.metrics_of(2999).unwrap().value_count.get(2999), Some(1));
    assert_eq!(columns.metrics_of(2999).unwrap().value_count.get(2998), None);
    // Dense columns would take 3000 × 3000 × 8 bytes.
    assert!(columns.size_bytes() < 4 << 20, "{}", columns.size_bytes());
}

#[test]
fn a_block_that_inflates_without_end_is_refused() {
    let zeros = vec![0; 600 << 20];
    let mut bomb = Vec::new();
    Compressor::new(Codec::Zstandard(1))
        .compress(&zeros, &mut bomb)
        .unwrap();
    let mut out = crate::manifest::avro::codec::BlockBuffer::default();
    let mut decompressor = crate::manifest::avro::codec::Decompressor::new(Codec::Zstandard(1));
    let error = decompressor.decompress(&bomb, &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
}

#[test]
fn a_cut_manifest_list_is_refused() {
    let (_, mut manifest) = ManifestWriter::new(options(FormatVersion::V2, ManifestContent::Data))
        .unwrap()
        .finish("m")
        .unwrap();
    manifest.partitions.truncate(2);
    let written = list::encode(
        ManifestListWriterOptions {
            format_version: FormatVersion::V2,
            snapshot_id: 77,
            parent_snapshot_id: None,
            sequence_number: 1,
            first_row_id: 0,
            codec: Codec::Null,
        },
        &[Arc::new(manifest).as_ref().clone()],
    )
    .unwrap();
    let header = written.bytes.len() - reader_rest(&written.bytes);
    for cut in 0..written.bytes.len() {
        assert_eq!(
            list::decode(&written.bytes[..cut]).is_ok(),
            cut == header,
            "cut at {cut}"
        );
    }
}
