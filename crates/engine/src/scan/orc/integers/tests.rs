use bytes::Bytes;

use super::super::stream::Compression;
use super::*;

fn runs(bytes: &[u8], version: Version, sign: Sign) -> IntegerRuns {
    let compression = Compression {
        codec: None,
        chunk_bytes: 0,
    };
    let stream = Stream::new(Some(Bytes::copy_from_slice(bytes)), compression);
    IntegerRuns::new(stream, version, sign)
}

/// All of a stream, read in pieces of three.
fn read(bytes: &[u8], version: Version, sign: Sign) -> Vec<i64> {
    let mut runs = runs(bytes, version, sign);
    let mut out = Vec::new();
    while runs.read(1, &mut out).is_ok() {
        let _ = runs.read(2, &mut out);
    }
    out
}

/// The examples of the specification, "Integer Run Length Encoding, version 1".
#[test]
fn version_one() {
    let expected: Vec<i64> = vec![7; 100];
    assert_eq!(read(&[0x61, 0x00, 0x07], Version::One, Sign::Unsigned), expected);
    let expected: Vec<i64> = (1..=100).rev().collect();
    assert_eq!(read(&[0x61, 0xff, 0x64], Version::One, Sign::Unsigned), expected);
    let literals = [0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b];
    assert_eq!(read(&literals, Version::One, Sign::Unsigned), [2, 3, 6, 7, 11]);
    assert_eq!(read(&literals, Version::One, Sign::Signed), [1, -2, 3, -4, -6]);
}

/// The examples of the specification, "Integer Run Length Encoding, version 2".
#[test]
fn version_two() {
    let unsigned = |bytes: &[u8]| read(bytes, Version::Two, Sign::Unsigned);
    assert_eq!(unsigned(&[0x0a, 0x27, 0x10]), [10_000; 5]);
    let direct = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
    assert_eq!(unsigned(&direct), [23_713, 43_806, 57_005, 48_879]);
    let patched = [
        0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e,
        0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
    ];
    let expected = [
        2030, 2000, 2020, 1_000_000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130, 2140, 2150, 2160,
        2170, 2180, 2190,
    ];
    assert_eq!(unsigned(&patched), expected);
    let delta = [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46];
    assert_eq!(unsigned(&delta), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
}

#[test]
fn deltas_go_down_and_may_be_fixed() {
    // Five values from 10 down by 2: the delta's width is 0.
    let fixed = [0xc0, 0x04, 0x14, 0x03];
    assert_eq!(read(&fixed, Version::Two, Sign::Signed), [10, 8, 6, 4, 2]);
    // A first step of -1, then steps of 3 and 1 in 2 bits each.
    let varying = [0xc2, 0x03, 0x14, 0x01, 0b1101_0000];
    assert_eq!(read(&varying, Version::Two, Sign::Signed), [10, 9, 6, 5]);
    // A run of one.
    assert_eq!(read(&[0xc0, 0x00, 0x14, 0x03], Version::Two, Sign::Signed), [10]);
}

/// Widths of more than a byte that do not end at one, and the widest.
#[test]
fn packed_integers_of_every_width() {
    for code in 0..32_u8 {
        let width = super::width(code);
        let mask = 1_u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1);
        let values: Vec<u64> = (1..=9_u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask)
            .collect();
        let mut bits: Vec<bool> = values
            .iter()
            .flat_map(|v| (0..width).rev().map(move |b| v >> b & 1 == 1))
            .collect();
        bits.resize(bits.len().next_multiple_of(8), false);
        let packed = bits
            .chunks(8)
            .map(|byte| byte.iter().fold(0_u8, |sum, bit| sum << 1 | u8::from(*bit)));
        let stored: Vec<u8> = [0x40 | code << 1, 8].into_iter().chain(packed).collect();
        let read = read(&stored, Version::Two, Sign::Unsigned);
        assert_eq!(
            read,
            values.iter().map(|v| *v as i64).collect::<Vec<_>>(),
            "width {width}"
        );
    }
}

#[test]
fn broken_runs_are_refused() {
    let patches_beyond = [0x80, 0x00, 0x00, 0xe1, 0x01, 0x80, 0xff, 0xff];
    let ends_early = [0x5e, 0x03, 0x5c];
    let endless = [
        0xc0, 0x04, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ];
    for bytes in [&patches_beyond[..], &ends_early, &endless, &[]] {
        let error = runs(bytes, Version::Two, Sign::Signed)
            .read(1, &mut Vec::new())
            .unwrap_err();
        assert_eq!(error.kind(), tarn_format::ErrorKind::Corrupt, "{bytes:?}");
    }
}
