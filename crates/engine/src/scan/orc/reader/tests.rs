use arrow::array::{
    Array, AsArray, BinaryArray, BooleanArray, Date32Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Decimal128Type, Int16Type, Int32Type, TimeUnit};
use arrow::util::display::array_value_to_string;
use bytes::Bytes;
use orc_rust::ArrowWriterBuilder;
use orc_rust::compression::CompressionType;
use tarn_format::io::fault::FaultStore;
use tarn_format::{Error, ErrorKind};

use super::super::made::{self, *};
use super::super::protobuf::put_bytes;
use super::*;
use crate::arrow::schema::field_id;

const LOCATION: &str = "s3://bucket/f.orc";

async fn opened(bytes: Vec<u8>) -> Result<OrcFile> {
    let io = FaultStore::memory().file_io();
    io.write(LOCATION, Bytes::from(bytes)).await.unwrap();
    OrcFile::open(&io, LOCATION).await
}

async fn rows_of(file: OrcFile, columns: &[usize], range: Option<Range<u64>>) -> Result<Vec<(i64, RecordBatch)>> {
    let mut batches = file.batches(columns, 7, range);
    let mut read = Vec::new();
    while let Some(rows) = batches.next_batch().await? {
        read.push((rows.first, rows.batch));
    }
    Ok(read)
}

/// All rows of all columns.
async fn all(bytes: Vec<u8>) -> Result<RecordBatch> {
    let file = opened(bytes).await?;
    let schema = Arc::clone(file.schema());
    let columns: Vec<usize> = (0..schema.fields().len()).collect();
    let read = rows_of(file, &columns, None).await?;
    Ok(concat_batches(&schema, read.iter().map(|(_, batch)| batch)).unwrap())
}

fn flat(rows: i64) -> RecordBatch {
    let some = |i: &i64| i % 3 != 1;
    let days = (0..rows as i32).map(|i| (i % 5 != 0).then_some(i - 700_000));
    let micros = (0..rows).map(|i| Some((i - rows / 2) * 1_000_003_000));
    RecordBatch::try_from_iter([
        (
            "i",
            Arc::new(Int32Array::from_iter(
                (0..rows).map(|i| some(&i).then_some(i as i32 * 77)),
            )) as ArrayRef,
        ),
        (
            "l",
            Arc::new(Int64Array::from_iter(
                (0..rows).map(|i| Some(i.wrapping_mul(0x1234_5678_9abc))),
            )),
        ),
        (
            "d",
            Arc::new(Float64Array::from_iter(
                (0..rows).map(|i| some(&i).then_some(i as f64 / 7.0)),
            )),
        ),
        (
            "t",
            Arc::new(StringArray::from_iter(
                (0..rows).map(|i| some(&i).then(|| format!("text {}", i % 11))),
            )),
        ),
        (
            "b",
            Arc::new(BooleanArray::from_iter(
                (0..rows).map(|i| some(&i).then_some(i % 2 == 0)),
            )),
        ),
        (
            "x",
            Arc::new(BinaryArray::from_iter(
                (0..rows).map(|i| some(&i).then(|| i.to_le_bytes())),
            )),
        ),
        ("day", Arc::new(Date32Array::from_iter(days))),
        (
            "at",
            Arc::new(TimestampMicrosecondArray::from_iter(micros).with_timezone("UTC")),
        ),
    ])
    .unwrap()
}

/// A file of another writer, its rows in stripes of about `stripe_bytes`.
fn written(batch: &RecordBatch, codec: Option<CompressionType>, stripe_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = ArrowWriterBuilder::new(&mut bytes, batch.schema())
        .with_batch_size(100)
        .with_stripe_byte_size(stripe_bytes)
        .with_compression_block_size(1 << 12);
    if let Some(codec) = codec {
        builder = builder.with_compression(codec);
    }
    let mut writer = builder.try_build().unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[tokio::test]
async fn files_of_another_writer_in_every_codec() {
    let batch = flat(1000);
    let codecs = [
        None,
        Some(CompressionType::Zlib),
        Some(CompressionType::Snappy),
        Some(CompressionType::Lz4),
        Some(CompressionType::Zstd),
    ];
    for codec in codecs {
        let read = all(written(&batch, codec, 1 << 20)).await.unwrap();
        assert_eq!(read.columns(), batch.columns(), "{codec:?}");
    }
}

#[tokio::test]
async fn pieces_read_each_stripe_once_with_its_positions() {
    let batch = flat(2000);
    let bytes = written(&batch, None, 1 << 10);
    let len = bytes.len() as u64;
    assert!(opened(bytes.clone()).await.unwrap().stripes.len() > 5);
    for pieces in [1, 2, 3, 50] {
        let mut positions = Vec::new();
        for piece in 0..pieces {
            let range = len * piece / pieces..len * (piece + 1) / pieces;
            for (first, rows) in rows_of(opened(bytes.clone()).await.unwrap(), &[1, 3], Some(range))
                .await
                .unwrap()
            {
                let expected = batch.project(&[1, 3]).unwrap().slice(first as usize, rows.num_rows());
                assert_eq!(rows.columns(), expected.columns());
                positions.extend(first..first + rows.num_rows() as i64);
            }
        }
        assert_eq!(positions, (0..2000).collect::<Vec<_>>(), "{pieces} pieces");
    }
}

#[tokio::test]
async fn rows_without_columns_are_counted() {
    let read = rows_of(opened(written(&flat(20), None, 1 << 20)).await.unwrap(), &[], None)
        .await
        .unwrap();
    let counts: Vec<_> = read.iter().map(|(first, batch)| (*first, batch.num_rows())).collect();
    assert_eq!(counts, [(0, 7), (7, 7), (14, 6)]);
}

/// `s: struct<l: list<int>, c: char(4)>`, `m: map<string, decimal(9, 2)>`, `n: smallint`, in encodings of version 1.
fn nested() -> (Vec<Made>, MadeStripe) {
    let types = vec![
        Made::new(STRUCT).children(&[1, 5, 8]).names(&["s", "m", "n"]),
        Made::new(STRUCT).children(&[2, 4]).names(&["l", "c"]).id(1),
        Made::new(LIST).children(&[3]).id(4),
        Made::new(INT).id(6).attribute("iceberg.required", "true"),
        Made::new(CHAR).id(5),
        Made::new(MAP).children(&[6, 7]).id(2),
        Made::new(STRING).id(7),
        Made::decimal(9, 2).id(8),
        Made::new(SHORT).id(3),
    ];
    let stripe = MadeStripe {
        rows: 4,
        streams: vec![
            (ROW_INDEX, 1, vec![1, 2, 3]),
            // The second struct is null.
            (PRESENT, 1, vec![0xff, 0b1011_0000]),
            // Of the three that are there, the second list is null; the others have 2 items and none.
            (PRESENT, 2, vec![0xff, 0b1010_0000]),
            (LENGTH, 2, vec![0xfe, 2, 0]),
            (DATA, 3, vec![0xfe, 20, 3]),
            (LENGTH, 4, vec![0xfe, 4, 4]),
            (DICTIONARY, 4, b"ab  z   ".to_vec()),
            (DATA, 4, vec![0xfd, 1, 0, 1]),
            (LENGTH, 5, vec![0xfc, 1, 0, 2, 0]),
            (LENGTH, 6, vec![0xfd, 1, 2, 0]),
            (DATA, 6, b"kxy".to_vec()),
            // 1.5 at scale 1, null, -2 at scale 0.
            (PRESENT, 7, vec![0xff, 0b1010_0000]),
            (DATA, 7, vec![30, 3]),
            (SECONDARY, 7, vec![0xfe, 2, 0]),
            // Four numbers from -1 up by 2.
            (DATA, 8, vec![0x01, 0x02, 0x01]),
        ],
        encodings: vec![(0, 0), (0, 0), (0, 0), (0, 0), (1, 2), (0, 0), (0, 0), (0, 0), (0, 0)],
        zone: None,
    };
    (types, stripe)
}

fn shown(column: &ArrayRef) -> Vec<String> {
    (0..column.len())
        .map(|row| array_value_to_string(column, row).unwrap())
        .collect()
}

#[tokio::test]
async fn nested_columns_with_their_ids() {
    let (types, stripe) = nested();
    let read = all(made::file(&types, &[stripe.clone(), stripe])).await.unwrap();
    let structs = ["{l: [10, -2], c: z}", "", "{l: , c: ab}", "{l: [], c: z}"];
    assert_eq!(shown(read.column(0))[..4], structs);
    assert_eq!(shown(read.column(1))[..4], ["{k: 1.50}", "{}", "{xy: , : -2.00}", "{}"]);
    assert_eq!(read.column(2).as_primitive::<Int16Type>().values()[..4], [-1, 1, 3, 5]);
    assert_eq!(read.slice(0, 4), read.slice(4, 4));
    let schema = read.schema();
    assert_eq!(
        schema.fields().iter().filter_map(|f| field_id(f)).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    let DataType::Struct(fields) = schema.field(0).data_type() else {
        panic!("{schema}");
    };
    let DataType::List(element) = fields[0].data_type() else {
        panic!("{schema}");
    };
    assert_eq!(
        (field_id(&fields[0]), field_id(element), element.is_nullable()),
        (Some(4), Some(6), false)
    );
    assert_eq!(
        read.column(1)
            .as_map()
            .values()
            .as_primitive::<Decimal128Type>()
            .value(0),
        150
    );
    assert_eq!(
        read.column(0)
            .as_struct()
            .column(0)
            .as_list::<i32>()
            .values()
            .as_primitive::<Int32Type>()
            .len(),
        4
    );
}

/// Java's `ORCSchemaUtil` tells types apart by attributes.
#[tokio::test]
async fn attributes_make_types() {
    let types = [
        Made::new(STRUCT)
            .children(&[1, 2, 3, 4, 5])
            .names(&["time", "uuid", "fixed", "nanos", "long"]),
        Made::new(LONG).id(1).attribute("iceberg.long-type", "TIME"),
        Made::new(BINARY).id(2).attribute("iceberg.binary-type", "UUID"),
        Made::new(BINARY)
            .id(3)
            .attribute("iceberg.binary-type", "FIXED")
            .attribute("iceberg.length", "2"),
        Made::new(TIMESTAMP).id(4).attribute("iceberg.timestamp-unit", "NANOS"),
        Made::new(LONG)
            .attribute("iceberg.long-type", "LONG")
            .id(5)
            .attribute("iceberg.required", "true"),
    ];
    let stripe = MadeStripe {
        rows: 2,
        streams: vec![
            (DATA, 1, vec![0xfe, 2, 4]),
            (PRESENT, 2, vec![0xff, 0b0100_0000]),
            (LENGTH, 2, vec![0xff, 16]),
            (DATA, 2, (1..=16).collect()),
            (LENGTH, 3, vec![0xfe, 2, 2]),
            (DATA, 3, vec![1, 2, 3, 4]),
            (DATA, 4, vec![0xfe, 0, 2]),
            (SECONDARY, 4, vec![0xfe, 7 << 3, 0]),
            (DATA, 5, vec![0xfe, 1, 0]),
        ],
        encodings: vec![(0, 0); 6],
        zone: Some("UTC"),
    };
    let read = all(made::file(&types, std::slice::from_ref(&stripe))).await.unwrap();
    let field = |name: &str, data_type: DataType| (name.to_string(), data_type);
    let found: Vec<_> = read
        .schema()
        .fields()
        .iter()
        .map(|f| field(f.name(), f.data_type().clone()))
        .collect();
    let expected = [
        field("time", DataType::Time64(TimeUnit::Microsecond)),
        field("uuid", DataType::FixedSizeBinary(16)),
        field("fixed", DataType::FixedSizeBinary(2)),
        field("nanos", DataType::Timestamp(TimeUnit::Nanosecond, None)),
        field("long", DataType::Int64),
    ];
    assert_eq!(found, expected);
    assert!(!read.schema().field(4).is_nullable() && read.schema().field(0).is_nullable());
    assert_eq!(shown(read.column(0)), ["00:00:00.000001", "00:00:00.000002"]);
    assert_eq!(shown(read.column(1)), ["", "0102030405060708090a0b0c0d0e0f10"]);
    assert_eq!(shown(read.column(2)), ["0102", "0304"]);
    assert_eq!(
        shown(read.column(3)),
        ["2015-01-01T00:00:00.000000007", "2015-01-01T00:00:01"]
    );

    let mut stripe = stripe;
    stripe.streams[4].2 = vec![0xfe, 2, 1];
    let error = all(made::file(&types, &[stripe])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}

fn refused(error: &Error, kind: ErrorKind, said: &str) {
    let text = error.to_string();
    assert!(
        error.kind() == kind && text.contains(said) && text.contains(LOCATION),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let root = |children: &[u64]| Made::new(STRUCT).children(children).names(&["a", "b", "c"]);
    let refusals = [
        (
            vec![root(&[1]), Made::new(UNION)],
            ErrorKind::Unsupported,
            "'a' in the ORC file is a union",
        ),
        (vec![root(&[1]), Made::new(99)], ErrorKind::Unsupported, "number 99"),
        (vec![root(&[0])], ErrorKind::Corrupt, "no tree"),
        (vec![root(&[1, 1]), Made::new(INT)], ErrorKind::Corrupt, "no tree"),
        (
            vec![root(&[1]), Made::new(LIST).children(&[1])],
            ErrorKind::Corrupt,
            "no tree",
        ),
        (vec![root(&[7])], ErrorKind::Corrupt, "no tree"),
        (vec![root(&[1]), Made::new(LIST)], ErrorKind::Corrupt, "no items"),
        (
            vec![root(&[1]), Made::decimal(39, 2)],
            ErrorKind::Corrupt,
            "decimal(39, 2)",
        ),
        (vec![Made::new(INT)], ErrorKind::Corrupt, "no rows of columns"),
        (
            vec![root(&[1]), Made::new(INT).attribute("iceberg.id", "x")],
            ErrorKind::Corrupt,
            "'x'",
        ),
    ];
    for (types, kind, said) in refusals {
        refused(&opened(made::file(&types, &[])).await.unwrap_err(), kind, said);
    }
    let deep: Vec<Made> = (0..2000)
        .map(|i| Made::new(if i == 0 { STRUCT } else { LIST }).children(&[i + 1]))
        .collect();
    refused(
        &opened(made::file(&deep, &[])).await.unwrap_err(),
        ErrorKind::Corrupt,
        "no tree",
    );

    let mut encrypted = Vec::new();
    put_bytes(&mut encrypted, 10, &[]);
    let error = opened(made::with_footer(b"ORC".to_vec(), &encrypted))
        .await
        .unwrap_err();
    refused(&error, ErrorKind::Unsupported, "encrypted");
    for bytes in [&b"ORC"[..], b"not a file of any kind", &[0], &[255; 300]] {
        refused(
            &opened(bytes.to_vec()).await.unwrap_err(),
            ErrorKind::Corrupt,
            "no ORC file",
        );
    }
}

/// A few bytes that claim many rows, items or bytes take no memory for them.
#[tokio::test]
async fn claims_of_hugeness_are_refused() {
    let types = [
        Made::new(STRUCT).children(&[1, 3]).names(&["l", "t"]),
        Made::new(LIST).children(&[2]).id(1),
        Made::new(BOOLEAN).id(2),
        Made::new(STRING).id(3),
    ];
    let lengths = |value: [u8; 8]| [&[0x38 | 4][..], &value].concat();
    let claims = [
        ([0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff], ErrorKind::Corrupt),
        ([0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], ErrorKind::Corrupt),
        ([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], ErrorKind::Corrupt),
        ([0, 0, 0, 0, 0x10, 0, 0, 0], ErrorKind::ResourcesExhausted),
    ];
    for (claim, kind) in claims {
        for (column, encoding) in [(1, 2), (3, 2), (3, 3)] {
            let stripe = MadeStripe {
                rows: 7,
                streams: vec![(LENGTH, column, lengths(claim)), (DATA, column, vec![0x0a, 0, 0])],
                encodings: vec![(0, 0), (2, 0), (2, 0), (encoding, 7)],
                zone: None,
            };
            let index = usize::from(column == 3);
            let file = opened(made::file(&types, &[stripe])).await.unwrap();
            let error = rows_of(file, &[index], None).await.unwrap_err();
            assert!(error.kind() == kind || column == 3, "{claim:?} {column}: {error}");
        }
    }
    let stripe = MadeStripe {
        rows: u64::MAX / 2 + 9,
        ..MadeStripe::default()
    };
    assert!(opened(made::file(&types, &[stripe])).await.is_err());
    let stripe = MadeStripe {
        rows: 1 << 40,
        encodings: vec![(0, 0), (2, 0), (2, 0), (3, 1 << 60)],
        ..MadeStripe::default()
    };
    let file = opened(made::file(&types, &[stripe])).await.unwrap();
    assert!(rows_of(file, &[1], None).await.is_err());
}

/// Whatever bytes change, there is an answer or an error of one line.
#[tokio::test]
async fn damaged_files_never_panic() {
    let (types, stripe) = nested();
    let files = [
        made::file(&types, &[stripe]),
        written(&flat(40), None, 1 << 20),
        written(&flat(40), Some(CompressionType::Zlib), 1 << 20),
        written(&flat(40), Some(CompressionType::Snappy), 1 << 20),
        written(&flat(40), Some(CompressionType::Lz4), 1 << 20),
        written(&flat(40), Some(CompressionType::Zstd), 1 << 20),
    ];
    for bytes in files {
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= [0x01, 0x80, 0xff][place % 3];
            // A damaged count of rows may be huge: the first batches tell enough.
            if let Err(error) = first_batches(damaged).await {
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
        }
        for len in 0..bytes.len() {
            assert!(opened(bytes[..len].to_vec()).await.is_err(), "cut at {len}");
        }
    }
}

async fn first_batches(bytes: Vec<u8>) -> Result<()> {
    let file = opened(bytes).await?;
    let columns: Vec<usize> = (0..file.schema().fields().len()).collect();
    let mut batches = file.batches(&columns, 16, None);
    for _ in 0..10 {
        if batches.next_batch().await?.is_none() {
            break;
        }
    }
    Ok(())
}
