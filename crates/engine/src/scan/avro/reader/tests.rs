//! Avro files made byte by byte, where another library would not make them.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Decimal128Type, Int32Type, Int64Type};
use futures::executor::block_on;
use tarn_format::ErrorKind;
use tarn_format::io::fault::FaultStore;
use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::avro::container::ContainerWriter;
use tarn_format::manifest::avro::encoder::Encoder;

use super::*;

fn record(fields: &str) -> String {
    format!(r#"{{"type": "record", "name": "r", "fields": [{fields}]}}"#)
}

/// A file of one record for each closure.
fn file(fields: &str, codec: Codec, rows: &[&dyn Fn(&mut Encoder)]) -> Vec<u8> {
    let mut writer = ContainerWriter::new(&record(fields), &[], codec);
    rows.iter().for_each(|row| writer.record(row).unwrap());
    writer.finish().unwrap()
}

fn open(bytes: Vec<u8>) -> Result<AvroFile> {
    block_on(async {
        let io = FileIo::memory();
        io.write("memory:///f.avro", bytes.into()).await?;
        AvroFile::open(&io, "memory:///f.avro").await
    })
}

fn batches(bytes: Vec<u8>, batch_rows: usize) -> Result<Vec<RecordBatch>> {
    let file = open(bytes)?;
    let all: Vec<usize> = (0..file.schema().fields().len()).collect();
    let mut read = file.batches(&all, batch_rows)?;
    let mut found = Vec::new();
    while let Some(batch) = block_on(read.next_batch())? {
        found.push(batch);
    }
    Ok(found)
}

/// The single batch of a file.
fn batch(bytes: Vec<u8>) -> RecordBatch {
    let mut all = batches(bytes, 1000).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn every_codec_is_read() {
    let codecs = [
        Codec::Null,
        Codec::default(),
        Codec::Snappy,
        Codec::Zstandard(3),
        Codec::Bzip2,
        Codec::Xz,
    ];
    for codec in codecs {
        let mut writer = ContainerWriter::new(&record(r#"{"name": "a", "type": "long"}"#), &[], codec);
        // Several blocks.
        (0..100_000).for_each(|i| writer.record(|e| e.long(i)).unwrap());
        let found = batches(writer.finish().unwrap(), 7_000).unwrap();
        assert!(found.iter().all(|b| b.num_rows() <= 7_000));
        let values = found
            .iter()
            .flat_map(|b| b.column(0).as_primitive::<Int64Type>().values());
        assert!(values.copied().eq(0..100_000), "{codec:?}");
    }
}

/// Larger than what is fetched at a time, with a header and a block that are so too.
#[test]
fn a_file_is_fetched_piece_by_piece() {
    let note = [("note", "n".repeat(9 << 20))];
    let mut writer = ContainerWriter::new(&record(r#"{"name": "a", "type": "bytes"}"#), &note, Codec::Null);
    let sizes = [1_usize, 3 << 20, 20 << 20, 3 << 20, 3 << 20, 3 << 20, 7];
    for size in sizes {
        writer.record(|e| e.sized(&vec![size as u8; size])).unwrap();
        writer.flush().unwrap();
    }
    let store = FaultStore::memory();
    let io = store.file_io();
    let bytes = writer.finish().unwrap();
    let read: Vec<usize> = block_on(async {
        io.write("memory:///f.avro", bytes.into()).await.unwrap();
        store.clear_records();
        let file = AvroFile::open(&io, "memory:///f.avro").await.unwrap();
        let mut batches = file.batches(&[0], 1).unwrap();
        let mut read = Vec::new();
        while let Some(batch) = batches.next_batch().await.unwrap() {
            let values = batch.column(0).as_binary::<i32>();
            read.extend(values.iter().map(|v| v.unwrap().len()));
        }
        read
    });
    assert_eq!(read, sizes);
    // The header in two, and not the rest at once.
    assert!(store.count() >= 5, "{:?}", store.records());
}

#[test]
fn null_may_be_either_branch() {
    let fields = r#"{"name": "a", "type": ["int", "null"]}, {"name": "b", "type": ["null", "int"]}"#;
    let row = |e: &mut Encoder| [0, 5, 0].into_iter().for_each(|n| e.long(n));
    let nulls = |e: &mut Encoder| [1, 1, 6].into_iter().for_each(|n| e.long(n));
    let read = batch(file(fields, Codec::Null, &[&row, &nulls]));
    let column = |i: usize| read.column(i).as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
    assert_eq!(column(0), [Some(5), None]);
    assert_eq!(column(1), [None, Some(6)]);
    let unknown = |e: &mut Encoder| e.long(2);
    let error = batches(file(fields, Codec::Null, &[&unknown]), 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn decimals_may_be_of_any_length() {
    let decimal = r#""logicalType": "decimal", "precision": 38, "scale": 1}"#;
    let fields = format!(
        r#"{{"name": "a", "type": {{"type": "bytes", {decimal}}},
           {{"name": "b", "type": {{"type": "fixed", "name": "f", "size": 20, {decimal}}}"#
    );
    let row = |bytes: &'static [u8], n: i128| {
        move |e: &mut Encoder| {
            e.sized(bytes);
            let sign = if n < 0 { 0xff } else { 0 };
            e.raw(&[sign; 4]);
            e.raw(&n.to_be_bytes());
        }
    };
    let most = 10_i128.pow(38) - 1;
    let rows: [&dyn Fn(&mut Encoder); 3] = [&row(&[], 0), &row(&[0xff], -most), &row(&[0, 0, 1, 0], most)];
    let read = batch(file(&fields, Codec::Null, &rows));
    let column = |i: usize| read.column(i).as_primitive::<Decimal128Type>().values().to_vec();
    assert_eq!(column(0), [0, -1, 256]);
    assert_eq!(column(1), [0, -most, most]);
    let too_long = |e: &mut Encoder| {
        e.sized(&[1; 17]);
        e.raw(&[0; 20]);
    };
    let error = batches(file(&fields, Codec::Null, &[&too_long]), 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn uuids_are_bytes_or_text() {
    let fields = r#"{"name": "a", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "b", "type": {"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"}}"#;
    let row = |e: &mut Encoder| {
        e.sized(b"00010203-0405-0607-0809-0a0b0c0d0e0f");
        e.raw(&std::array::from_fn::<u8, 16, _>(|i| i as u8));
    };
    let read = batch(file(fields, Codec::Null, &[&row]));
    assert_eq!(read.column(0).as_ref(), read.column(1).as_ref());
    assert_eq!(read.column(0).as_fixed_size_binary().value(0)[15], 15);
    let no_uuid = |e: &mut Encoder| {
        e.sized(b"0001");
        e.raw(&[0; 16]);
    };
    let error = batches(file(fields, Codec::Null, &[&no_uuid]), 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn milliseconds_become_microseconds() {
    let fields = r#"{"name": "a", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "b", "type": {"type": "long", "logicalType": "timestamp-millis"}}"#;
    let row = |b| {
        move |e: &mut Encoder| {
            e.long(86_399_999);
            e.long(b);
        }
    };
    let read = batch(file(fields, Codec::Null, &[&row(-1)]));
    let shown = |i: usize| arrow::util::display::array_value_to_string(read.column(i), 0).unwrap();
    assert_eq!(shown(0), "23:59:59.999");
    assert_eq!(shown(1), "1969-12-31T23:59:59.999");
    let error = batches(file(fields, Codec::Null, &[&row(i64::MAX)]), 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn a_batch_ends_before_it_is_too_large() {
    let fields = r#"{"name": "a", "type": "bytes"}"#;
    let large = vec![7; 10 << 20];
    let row: &dyn Fn(&mut Encoder) = &|e| e.sized(&large);
    let read = batches(file(fields, Codec::Null, &[row; 8]), 1000).unwrap();
    let rows: Vec<usize> = read.iter().map(RecordBatch::num_rows).collect();
    assert_eq!(rows, [4, 4]);
    // Nulls that are large in memory make batches short.
    let fields = r#"{"name": "a", "type": ["null", {"type": "fixed", "name": "f", "size": 10000000}]}"#;
    let null: &dyn Fn(&mut Encoder) = &|e| e.long(0);
    let read = batches(file(fields, Codec::Null, &[null; 7]), 1000).unwrap();
    let rows: Vec<usize> = read.iter().map(RecordBatch::num_rows).collect();
    assert_eq!(rows, [3, 3, 1]);
}

#[test]
fn what_would_not_fit_in_memory_is_refused() {
    let null = r#"["null", {"type": "fixed", "name": "f", "size": 1000000}]"#;
    let items = |count: i64| {
        move |e: &mut Encoder| {
            e.long(count);
            (0..count).for_each(|_| e.long(0));
            e.long(0);
        }
    };
    let fields = format!(r#"{{"name": "a", "type": {{"type": "array", "items": {null}}}}}"#);
    assert_eq!(
        batch(file(&fields, Codec::Null, &[&items(10)]))
            .column(0)
            .as_list::<i32>()
            .values()
            .len(),
        10
    );
    let error = batches(file(&fields, Codec::Null, &[&items(100_000)]), 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let wide = r#"{"name": "a", "type": {"type": "fixed", "name": "f", "size": 2000000000}}"#;
    let error = batches(file(wide, Codec::Null, &[]), 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    for nothing in [r#""null""#, r#"{"type": "array", "items": "null"}"#] {
        let fields = format!(r#"{{"name": "a", "type": {nothing}}}"#);
        let error = batches(file(&fields, Codec::Null, &[]), 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn types_that_iceberg_does_not_have_are_refused() {
    for unknown in [
        r#"["int", "string"]"#,
        r#"{"type": "enum", "name": "e", "symbols": ["x"]}"#,
    ] {
        let fields = format!(r#"{{"name": "odd", "type": {unknown}}}"#);
        let error = batches(file(&fields, Codec::Null, &[]), 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("'odd'"), "{error}");
    }
    let error = open(ContainerWriter::new("\"int\"", &[], Codec::Null).finish().unwrap());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt);
}

/// A file with every kind of column.
fn varied() -> Vec<u8> {
    let fields = r#"{"name": "a", "type": ["null", "string"]},
        {"name": "b", "type": {"type": "array", "items": ["null", "double"]}},
        {"name": "c", "type": {"type": "map", "values": "boolean"}},
        {"name": "d", "type": ["null", {"type": "record", "name": "n", "fields": [
            {"name": "x", "type": "int"}, {"name": "y", "type": {"type": "fixed", "name": "f", "size": 3}}]}]}"#;
    let row = |e: &mut Encoder| {
        e.long(1);
        e.sized("text".as_bytes());
        e.array([1.5_f64, 2.5].into_iter(), |e, v| {
            e.long(1);
            e.raw(&v.to_le_bytes());
        });
        e.array([("k", true)].into_iter(), |e, (key, value)| {
            e.sized(key.as_bytes());
            e.boolean(value);
        });
        e.long(1);
        e.long(300);
        e.raw(b"abc");
    };
    let nulls = |e: &mut Encoder| [0, 0, 0, 0].into_iter().for_each(|n| e.long(n));
    file(fields, Codec::Null, &[&row, &nulls, &row])
}

#[test]
fn broken_files_are_refused_or_read_but_never_panic() {
    let whole = varied();
    assert_eq!(batch(whole.clone()).num_rows(), 3);
    for end in 0..whole.len() {
        match batches(whole[..end].to_vec(), 10) {
            // It ends with the header, or with a block.
            Ok(read) => assert!(read.is_empty(), "cut at {end}"),
            Err(e) => assert!(matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{e}"),
        }
    }
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut broken = whole.clone();
            broken[at] ^= flip;
            if let Err(e) = batches(broken, 10) {
                assert!(matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{e}");
            }
        }
    }
}
