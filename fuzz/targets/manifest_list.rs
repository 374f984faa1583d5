//! Manifest lists: what can be read is written, and read again.
#![no_main]

mod sample;
mod seeds;

use libfuzzer_sys::fuzz_target;
use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::list::{ManifestListWriterOptions, decode, encode};
use tarn_format::spec::table_metadata::FormatVersion;

fuzz_target!(init: seeds::write(generated()), |bytes: &[u8]| {
    let Ok(manifests) = decode(bytes) else {
        return;
    };
    for version in sample::VERSIONS {
        // A list may hold what a version does not allow: then writing says so.
        if let Ok(written) = encode(options(version, Codec::Null), &manifests) {
            let again = decode(&written.bytes);
            assert!(again.is_ok_and(|again| again.len() == manifests.len()), "a written list must read");
        }
    }
});

fn options(format_version: FormatVersion, codec: Codec) -> ManifestListWriterOptions {
    ManifestListWriterOptions {
        format_version,
        snapshot_id: 7,
        parent_snapshot_id: Some(3),
        sequence_number: if format_version == FormatVersion::V1 { 0 } else { 2 },
        first_row_id: 100,
        codec,
    }
}

fn generated() -> Vec<Vec<u8>> {
    let (_, manifest) = sample::manifest(sample::options(FormatVersion::V2, Codec::Null));
    let manifests = [manifest.clone(), manifest];
    let codecs = [Codec::Null, Codec::Deflate(6)];
    let of = |version| {
        codecs.map(|codec| {
            encode(options(version, codec), &manifests)
                .expect("a seed")
                .bytes
                .to_vec()
        })
    };
    sample::VERSIONS.into_iter().flat_map(of).collect()
}
