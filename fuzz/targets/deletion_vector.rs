//! Deletion vectors: what can be read is written, and read again as the same.
#![no_main]

mod seeds;

use libfuzzer_sys::fuzz_target;
use tarn_format::deletes::deletion_vector::DeletionVector;

fuzz_target!(init: seeds::write(generated()), |bytes: &[u8]| {
    check(bytes);
    // The checksum would stop nearly everything: the bitmaps are tried with the right one too.
    check(&framed(bytes));
});

fn check(blob: &[u8]) {
    let Ok(read) = DeletionVector::from_blob(blob, None) else {
        return;
    };
    let written = read.to_blob().expect("what was read can be written");
    let again = DeletionVector::from_blob(&written, Some(read.cardinality()));
    assert!(
        again.is_ok_and(|again| again == read),
        "a written vector must read as it was"
    );
    // A small blob can hold 2^32 positions in runs: only the ranges may be walked.
    let in_ranges: u64 = read.ranges().map(|range| range.end - range.start).sum();
    assert_eq!(in_ranges, read.cardinality(), "ranges must cover the positions");
    assert_eq!(read.ranges().last().map(|range| range.end - 1), read.max());
    for position in read.iter().take(1000) {
        assert!(read.contains(position));
    }
}

/// The bytes as the bitmaps of a blob that is right otherwise.
fn framed(bitmaps: &[u8]) -> Vec<u8> {
    let data = [&[0xD1, 0xD3, 0x39, 0x64], bitmaps].concat();
    let mut blob = (data.len() as u32).to_be_bytes().to_vec();
    blob.extend_from_slice(&data);
    blob.extend_from_slice(&crc32fast::hash(&data).to_be_bytes());
    blob
}

fn generated() -> Vec<Vec<u8>> {
    let mut mixed = DeletionVector::new();
    mixed.insert_range(5..70_000).expect("a seed");
    for i in 0..6000 {
        mixed.insert(200_000 + i * 7).expect("a seed");
    }
    mixed.insert(3 << 32).expect("a seed");
    let small = DeletionVector::from_positions([1, 4, 1 << 40]).expect("a seed");
    let blobs = [mixed, small, DeletionVector::new()].map(|v| v.to_blob().expect("a seed"));
    let bitmaps = blobs.clone().map(|blob| blob[8..blob.len() - 4].to_vec());
    blobs.into_iter().chain(bitmaps).collect()
}
