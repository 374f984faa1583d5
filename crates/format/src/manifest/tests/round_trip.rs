//! What is written is read back, in every version and codec.

use std::sync::Arc;

use proptest::prelude::*;

use super::tables::{file, options};
use crate::manifest::avro::codec::Codec;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::data_file::{DataFile, ManifestEntry, ManifestStatus};
use crate::manifest::inherit::Inheritance;
use crate::manifest::manifest_file::ManifestContent;
use crate::manifest::reader::{self, ManifestHeader};
use crate::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use crate::spec::table_metadata::FormatVersion;

fn status() -> impl Strategy<Value = ManifestStatus> {
    prop_oneof![
        Just(ManifestStatus::Existing),
        Just(ManifestStatus::Added),
        Just(ManifestStatus::Deleted)
    ]
}

fn version_and_content() -> impl Strategy<Value = (FormatVersion, ManifestContent)> {
    prop_oneof![
        Just((FormatVersion::V1, ManifestContent::Data)),
        Just((FormatVersion::V2, ManifestContent::Data)),
        Just((FormatVersion::V2, ManifestContent::Deletes)),
        Just((FormatVersion::V3, ManifestContent::Data)),
        Just((FormatVersion::V3, ManifestContent::Deletes)),
    ]
}

fn entries() -> impl Strategy<Value = (FormatVersion, ManifestContent, Vec<(ManifestStatus, i64, DataFile)>)> {
    version_and_content().prop_flat_map(|(version, content)| {
        let entry = (status(), 0..1000_i64, file(version, content));
        let entries = prop::collection::vec(entry, 0..12);
        (Just(version), Just(content), entries)
    })
}

fn write(options: ManifestWriterOptions, entries: &[ManifestEntry]) -> (Vec<u8>, Vec<ManifestEntry>) {
    let mut writer = ManifestWriter::new(options.clone()).unwrap();
    for entry in entries {
        match entry.status {
            ManifestStatus::Added => writer.added(&entry.data_file, entry.sequence_number).unwrap(),
            ManifestStatus::Existing => writer.existing(entry).unwrap(),
            ManifestStatus::Deleted => writer.deleted(entry).unwrap(),
        }
    }
    let (bytes, mut manifest) = writer.finish("m.avro").unwrap();
    manifest.sequence_number = if options.format_version == FormatVersion::V1 {
        0
    } else {
        1000
    };
    // Stored row ids are looked at, none is assigned.
    let columns = reader::decode(&bytes, Some(&options.partition_type), &MetricsProjection::All).unwrap();
    manifest.first_row_id = None;
    let mut inheritance = Inheritance::new(&manifest, &columns);
    if options.format_version == FormatVersion::V3 {
        let mut uncommitted = manifest.clone();
        uncommitted.sequence_number = -1;
        inheritance = Inheritance::new(&uncommitted, &columns);
    }
    let read = (0..columns.len).map(|i| columns.entry(i, &inheritance)).collect();
    (bytes.to_vec(), read)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_entry_reads_back((version, content, entries) in entries()) {
        let entries: Vec<ManifestEntry> = entries
            .into_iter()
            .map(|(status, number, file)| ManifestEntry {
                status,
                snapshot_id: Some(if status == ManifestStatus::Existing { number } else { 77 }),
                sequence_number: Some(if version == FormatVersion::V1 { 0 } else { number }),
                file_sequence_number: match (version, status) {
                    (FormatVersion::V1, _) => Some(0),
                    (FormatVersion::V2, ManifestStatus::Added) => Some(1000),
                    (_, ManifestStatus::Added) => None,
                    _ => Some(number + 1),
                },
                data_file: Arc::new(file),
            })
            .collect();
        let (_, read) = write(options(version, content), &entries);
        // NaN partition values are not equal to themselves, so their text is compared.
        prop_assert_eq!(format!("{:?}", read), format!("{entries:?}"));
    }
}

/// Entries whose maps are mostly alike, and of which some lack a field or have another.
fn alike() -> impl Strategy<Value = Vec<(std::collections::BTreeMap<i32, i64>, i64)>> {
    let usual = prop::collection::btree_map(prop_oneof![1..8_i32, 60..70_i32], any::<i64>(), 1..7);
    (
        usual,
        prop::collection::vec((0..20_i32, any::<i64>(), any::<bool>()), 1..40),
    )
        .prop_map(|(usual, changes)| {
            let change = |(id, value, drops): (i32, i64, bool)| {
                let mut map = usual.clone();
                map.values_mut()
                    .for_each(|v| *v = value.wrapping_add(*v >> (value & 63)));
                match (id, drops) {
                    (1..8, true) => drop(map.remove(&id)),
                    (1..8, false) => drop(map.insert(id, value)),
                    _ => {}
                }
                (map, value)
            };
            changes.into_iter().map(change).collect()
        })
}

proptest! {
    #[test]
    fn projected_metrics_are_what_was_written(
        maps in alike(),
        projected in prop::collection::btree_set(prop_oneof![1..8_i32, 60..70_i32], 1..4),
    ) {
        use crate::manifest::data_file::{DataContent, FileFormat, PartitionTuple};
        let mut writer = ManifestWriter::new(options(FormatVersion::V2, ManifestContent::Data)).unwrap();
        for (map, value) in &maps {
            let mut file = DataFile::new(DataContent::Data, "f", FileFormat::Parquet);
            file.partition = PartitionTuple(vec![None; 18]);
            file.record_count = *value;
            file.value_counts = map.clone();
            file.upper_bounds = map.iter().map(|(id, v)| (*id, v.to_string().into_bytes())).collect();
            writer.added(&file, None).unwrap();
        }
        let (bytes, _) = writer.finish("m").unwrap();
        let columns = reader::decode(&bytes, None, &MetricsProjection::fields(projected.clone())).unwrap();
        for (row, (map, value)) in maps.iter().enumerate() {
            prop_assert_eq!(columns.record_count(row), *value);
            for id in &projected {
                let metrics = columns.metrics_of(*id);
                prop_assert_eq!(metrics.and_then(|m| m.value_count.get(row)), map.get(id).copied());
                let bound = metrics.and_then(|m| m.upper_bound.get(row)).map(<[u8]>::to_vec);
                prop_assert_eq!(bound, map.get(id).map(|v| v.to_string().into_bytes()));
            }
        }
    }
}

#[test]
fn every_codec_reads_back() {
    let codecs = [
        Codec::Null,
        Codec::Deflate(0),
        Codec::Deflate(9),
        Codec::Snappy,
        Codec::Zstandard(3),
        Codec::Bzip2,
        Codec::Xz,
    ];
    // Enough entries for several blocks.
    let entry = |i: usize| {
        let path = format!("s3://bucket/table/data/part-{i:05}-{:x}.parquet", i * 7919);
        let file = DataFile::new(
            crate::manifest::data_file::DataContent::Data,
            path,
            crate::manifest::data_file::FileFormat::Parquet,
        );
        ManifestEntry {
            status: ManifestStatus::Existing,
            snapshot_id: Some(i as i64),
            sequence_number: Some(i as i64 * 3),
            file_sequence_number: None,
            data_file: Arc::new(DataFile {
                spec_id: 4,
                partition: crate::manifest::data_file::PartitionTuple(vec![None; 18]),
                ..file
            }),
        }
    };
    let entries: Vec<_> = (0..3000).map(entry).collect();
    for codec in codecs {
        let (bytes, read) = write(
            options(FormatVersion::V2, ManifestContent::Data).with_codec(codec),
            &entries,
        );
        assert_eq!(read, entries, "{codec:?}");
        assert!(bytes.len() > 2 * 16, "{codec:?}");
    }
}

#[test]
fn the_header_says_what_the_spec_requires() {
    let options = options(FormatVersion::V2, ManifestContent::Deletes);
    let (bytes, _) = ManifestWriter::new(options.clone()).unwrap().finish("m").unwrap();
    let header = ManifestHeader::read(&bytes).unwrap();
    assert_eq!(header.format_version, Some(2));
    assert_eq!(header.partition_spec_id, Some(4));
    assert_eq!(header.schema_id, Some(7));
    assert_eq!(header.content, Some(ManifestContent::Deletes));
    let fields: serde_json::Value = serde_json::from_str(&header.partition_spec_json.unwrap()).unwrap();
    assert_eq!(fields[2]["name"], "long col");
    let schema: crate::spec::schema::Schema = serde_json::from_str(&header.schema_json.unwrap()).unwrap();
    assert_eq!(schema, *options.schema);
}
