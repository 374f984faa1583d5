use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::manifest::data_file::{DataContent, FileFormat};

fn vector(positions: &[u64]) -> DeletionVector {
    DeletionVector::from_positions(positions.iter().copied()).unwrap()
}

/// A blob around serialised bitmaps, right in everything else.
fn blob_of(bitmaps: &[u8]) -> Vec<u8> {
    let mut data = MAGIC.to_vec();
    data.extend_from_slice(bitmaps);
    let mut blob = (data.len() as u32).to_be_bytes().to_vec();
    blob.extend_from_slice(&data);
    blob.extend_from_slice(&crc32fast::hash(&data).to_be_bytes());
    blob
}

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn corrupt(blob: &[u8], part: &str) {
    let error = DeletionVector::from_blob(blob, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains(part), "{error}");
}

/// Position 1 alone: length, magic, one bitmap of key 0, cookie 12346, one container (key 0, cardinality 1 at offset 16),
/// the value, and the checksum that zlib gives for magic and vector.
const ONE: &str = "00000022 D1D33964 0100000000000000 00000000 3A300000 01000000 0000 0000 10000000 0100 EEBD85F4";

#[test]
fn the_specified_bytes() {
    assert_eq!(vector(&[1]).to_blob().unwrap(), hex(ONE));
    assert_eq!(DeletionVector::from_blob(&hex(ONE), Some(1)).unwrap(), vector(&[1]));
    let empty = blob_of(&[0; 8]);
    assert_eq!(DeletionVector::new().to_blob().unwrap(), empty);
    assert_eq!(
        DeletionVector::from_blob(&empty, Some(0)).unwrap(),
        DeletionVector::new()
    );
}

#[test]
fn positions_of_a_range_reach_over_containers_and_keys() {
    let all = [
        0,
        7,
        65_535,
        65_536,
        131_072,
        (1 << 32) - 1,
        1 << 32,
        (1 << 32) + 9,
        (5 << 32) | 1,
    ];
    let v = vector(&all);
    for start in all.iter().flat_map(|p| [p.saturating_sub(1), *p, p + 1]) {
        for end in all.iter().flat_map(|p| [*p, p + 1]) {
            let found: Vec<u64> = v.iter_in(start..end).collect();
            let expected: Vec<u64> = all.iter().copied().filter(|p| (start..end).contains(p)).collect();
            assert_eq!(found, expected, "{start}..{end}");
        }
    }
}

#[test]
fn all_container_kinds_and_keys() {
    let mut v = vector(&[5, 9, 1 << 32, (7 << 32) | 3, i64::MAX as u64]);
    v.insert_range(65_536..131_072).unwrap();
    for i in 0..20_000 {
        v.insert(200_000 + 2 * i).unwrap();
    }
    let read = DeletionVector::from_blob(&v.to_blob().unwrap(), Some(85_541)).unwrap();
    assert_eq!(read, v);
    assert_eq!(read.cardinality(), 5 + 65_536 + 20_000);
    assert!(read.contains(70_000) && read.contains((7 << 32) | 3) && !read.contains(200_001));
    assert_eq!(read.max(), Some(i64::MAX as u64));
    assert_eq!(read.cardinality_in(0..100_000), 2 + 34_464);
}

#[test]
fn empty_bitmaps_between_keys_are_skipped() {
    let empty = hex("3A300000 00000000");
    let mut bitmaps = hex("0300000000000000 00000000");
    bitmaps.extend(&empty);
    bitmaps.extend(hex("01000000"));
    bitmaps.extend(&empty);
    bitmaps.extend(hex("02000000 3A300000 01000000 0000 0000 10000000 0700"));
    let read = DeletionVector::from_blob(&blob_of(&bitmaps), Some(1)).unwrap();
    assert_eq!(read, vector(&[(2 << 32) | 7]));
    assert_eq!(read.max(), Some((2 << 32) | 7));
}

#[test]
fn ranges_cover_runs() {
    let mut v = vector(&[0, 1, 2, 10, (1 << 32) - 1, 1 << 32]);
    v.insert_range(1000..200_000).unwrap();
    let ranges: Vec<_> = v.ranges().collect();
    assert_eq!(
        ranges,
        [
            0..3,
            10..11,
            1000..200_000,
            (1 << 32) - 1..1 << 32,
            1 << 32..(1 << 32) + 1
        ]
    );
}

#[test]
fn positions_have_no_sign_bit() {
    let mut v = DeletionVector::new();
    assert_eq!(v.insert(1 << 63).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(
        v.insert_range(0..(1 << 63) + 1).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    v.insert_range(5..5).unwrap();
    assert!(v.is_empty());
}

#[test]
fn broken_blobs_are_corrupt() {
    let good = hex(ONE);
    for len in 0..good.len() {
        assert!(DeletionVector::from_blob(&good[..len], None).is_err(), "{len}");
    }
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        assert_eq!(
            DeletionVector::from_blob(&bad, None).unwrap_err().kind(),
            ErrorKind::Corrupt
        );
    }
    corrupt(&[], "only 0 bytes");
    corrupt(&[good.clone(), vec![0]].concat(), "says it has 34 bytes");
    let mut magic = good.clone();
    magic[4] = 0;
    corrupt(&magic, "magic 00D33964");
    let mut crc = good.clone();
    *crc.last_mut().unwrap() ^= 1;
    corrupt(&crc, "checksum");
    let error = DeletionVector::from_blob(&good, Some(2)).unwrap_err();
    assert!(error.to_string().contains("1 positions, 2 were promised"), "{error}");
}

#[test]
fn hostile_bitmaps_are_corrupt() {
    corrupt(&blob_of(&[]), "before its bitmap count");
    corrupt(&blob_of(&[0xff; 8]), "bitmaps, in 0 bytes");
    corrupt(&blob_of(&hex("0100000000000000 000000")), "bitmaps, in 3 bytes");
    let one = "3A300000 01000000 0000 0000 10000000 0700";
    corrupt(&blob_of(&hex(&format!("0100000000000000 00000080 {one}"))), "negative");
    corrupt(
        &blob_of(&hex(&format!("0200000000000000 01000000 {one} 01000000 {one}"))),
        "out of order",
    );
    corrupt(
        &blob_of(&hex(&format!("0200000000000000 01000000 {one} 00000000 {one}"))),
        "out of order",
    );
    corrupt(
        &blob_of(&hex(&format!("0100000000000000 01000000 {one} 00"))),
        "1 bytes after",
    );
    // A container count of 2^32 - 1, an unknown cookie, unsorted values, an end in the middle.
    for bitmap in [
        "3A300000 FFFFFFFF",
        "3B300000 01000000",
        "3A300000 01000000 0000 0100 10000000 0900 0100",
        "3A300000 01000000 0000 0500 10000000 0900",
        "3BFFFF00 01000000",
    ] {
        corrupt(&blob_of(&hex(&format!("0100000000000000 01000000 {bitmap}"))), "");
    }
}

#[tokio::test]
async fn entries_that_lie_are_corrupt() {
    let io = FileIo::memory();
    let blob = hex(ONE);
    io.write("/dv.puffin", [&b"PFA1"[..], &blob].concat().into())
        .await
        .unwrap();
    let entry = |offset: Option<i64>, size: Option<i64>, records: i64| {
        let mut file = DataFile::new(DataContent::PositionDeletes, "/dv.puffin", FileFormat::Puffin);
        (file.content_offset, file.content_size_in_bytes, file.record_count) = (offset, size, records);
        file
    };
    let good = DeletionVector::read(&io, &entry(Some(4), Some(42), 1)).await.unwrap();
    assert_eq!(good, vector(&[1]));
    for bad in [
        entry(None, Some(42), 1),
        entry(Some(4), None, 1),
        entry(Some(-4), Some(42), 1),
        entry(Some(4), Some(-1), 1),
        entry(Some(4), Some(0), 0),
        entry(Some(4), Some(i64::MAX), 1),
        entry(Some(i64::MAX), Some(42), 1),
        entry(Some(5), Some(42), 1),
        entry(Some(4), Some(41), 1),
        entry(Some(0), Some(42), 1),
        entry(Some(4), Some(42), 2),
        entry(Some(4), Some(42), -1),
    ] {
        let error = DeletionVector::read(&io, &bad).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{bad:?}: {error}");
        assert!(error.to_string().contains("/dv.puffin"), "{error}");
    }
    let parquet = DataFile::new(DataContent::PositionDeletes, "/f", FileFormat::Parquet);
    let error = DeletionVector::read(&io, &parquet).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

fn position() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0..300_000u64,
        1 => (0..4u64, 0..70_000u64).prop_map(|(key, low)| (key << 32) | low),
        1 => 0..=i64::MAX as u64,
    ]
}

fn positions() -> impl Strategy<Value = BTreeSet<u64>> {
    let scattered = prop::collection::btree_set(position(), 0..300);
    let runs = prop::collection::vec((position(), 0..9_000u64), 0..3);
    (scattered, runs).prop_map(|(mut set, runs)| {
        for (start, len) in runs {
            set.extend(start..start.saturating_add(len).min(i64::MAX as u64));
        }
        set
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn round_trips_like_a_set(a in positions(), b in positions(), probe in position()) {
        let mut v = DeletionVector::from_positions(a.iter().copied()).unwrap();
        let blob = v.to_blob().unwrap();
        let read = DeletionVector::from_blob(&blob, Some(a.len() as u64)).unwrap();
        prop_assert!(read.iter().eq(a.iter().copied()));
        prop_assert!(read.ranges().flatten().eq(a.iter().copied()));
        prop_assert_eq!(read.contains(probe), a.contains(&probe));
        prop_assert_eq!(read.max(), a.last().copied());
        v.union_with(&DeletionVector::from_positions(b.iter().copied()).unwrap());
        prop_assert!(v.iter().eq(a.union(&b).copied()));
    }

    #[test]
    fn any_bytes_give_a_vector_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for bytes in [bytes.clone(), blob_of(&bytes)] {
            if let Err(error) = DeletionVector::from_blob(&bytes, None) {
                prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
            }
        }
    }
}
