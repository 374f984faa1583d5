//! Manifests: every projection decodes the same entries, and each entry can be taken out.
#![no_main]

mod sample;
mod seeds;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::inherit::Inheritance;
use tarn_format::manifest::manifest_file::{ManifestContent, ManifestFile};
use tarn_format::manifest::reader::{ManifestHeader, decode};
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::StructType;

/// Made once: making them costs more than most inputs do.
static PARTITION_TYPE: LazyLock<StructType> =
    LazyLock::new(|| sample::options(FormatVersion::V2, Codec::Null).partition_type);
static MANIFESTS: LazyLock<[ManifestFile; 2]> = LazyLock::new(|| {
    [
        unknown_manifest(ManifestContent::Data, Some(i64::MAX - 5)),
        unknown_manifest(ManifestContent::Deletes, None),
    ]
});

fuzz_target!(init: seeds::write(generated()), |bytes: &[u8]| {
    let _ = ManifestHeader::read(bytes);
    let _ = decode(bytes, Some(&PARTITION_TYPE), &MetricsProjection::fields([1, 2]));
    let all = decode(bytes, None, &MetricsProjection::All);
    let none = decode(bytes, None, &MetricsProjection::None);
    let Ok(columns) = all else {
        return;
    };
    assert!(none.is_ok_and(|none| none.len == columns.len), "a projection must not change the entries");
    for manifest in MANIFESTS.iter() {
        let inheritance = Inheritance::new(manifest, &columns);
        for i in 0..columns.len {
            let entry = columns.entry(i, &inheritance);
            assert_eq!(entry.data_file.file_path.as_ref(), columns.path(i));
            assert_eq!(entry.is_live(), columns.is_live(i));
        }
    }
});

/// A manifest of which nothing else is known.
fn unknown_manifest(content: ManifestContent, first_row_id: Option<i64>) -> ManifestFile {
    let (_, mut manifest) = sample::manifest(sample::options(FormatVersion::V2, Codec::Null));
    manifest.content = content;
    manifest.first_row_id = first_row_id;
    manifest
}

fn generated() -> Vec<Vec<u8>> {
    let codecs = [
        Codec::Null,
        Codec::Deflate(6),
        Codec::Snappy,
        Codec::Zstandard(3),
        Codec::Bzip2,
        Codec::Xz,
    ];
    let versions = sample::VERSIONS.map(|version| sample::options(version, Codec::Null));
    let compressed = codecs.map(|codec| sample::options(FormatVersion::V2, codec));
    let all = versions.into_iter().chain(compressed);
    all.map(|options| sample::manifest(options).0).collect()
}
