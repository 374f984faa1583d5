//! Against apache-avro, an independent implementation: it reads what we write, and we read what it writes.

use apache_avro::types::Value as Avro;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::tables::{file, options};
use crate::manifest::avro::codec::Codec;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::data_file::{DataFile, FileFormat, ManifestStatus, PartitionTuple};
use crate::manifest::manifest_file::ManifestContent;
use crate::manifest::reader;
use crate::manifest::writer::ManifestWriter;
use crate::spec::table_metadata::FormatVersion;
use crate::spec::types::{NestedField, PrimitiveType, StructType};
use crate::spec::value::Value;

fn field<'a>(value: &'a Avro, name: &str) -> &'a Avro {
    let Avro::Record(fields) = value else {
        panic!("{value:?} is no record")
    };
    let (_, value) = fields.iter().find(|(n, _)| n == name).unwrap();
    match value {
        Avro::Union(_, inner) => inner,
        value => value,
    }
}

#[test]
fn apache_avro_reads_what_we_write() {
    let mut runner = TestRunner::deterministic();
    for (version, content) in [
        (FormatVersion::V1, ManifestContent::Data),
        (FormatVersion::V2, ManifestContent::Deletes),
        (FormatVersion::V3, ManifestContent::Data),
        (FormatVersion::V3, ManifestContent::Deletes),
    ] {
        let files = file(version, content);
        let mut files: Vec<DataFile> = (0..20)
            .map(|_| files.new_tree(&mut runner).unwrap().current())
            .collect();
        // apache-avro 0.21 takes every uuid for text, also the spec's fixed of 16 bytes.
        files.iter_mut().for_each(|f| f.partition.0[15] = None);
        let mut writer = ManifestWriter::new(options(version, content).with_codec(Codec::Null)).unwrap();
        for file in &files {
            writer.added(file, Some(5)).unwrap();
        }
        let (bytes, _) = writer.finish("m").unwrap();
        let read = apache_avro::Reader::new(&bytes[..]).unwrap();
        let entries: Vec<Avro> = read.map(Result::unwrap).collect();
        assert_eq!(entries.len(), files.len());
        for (entry, file) in entries.iter().zip(&files) {
            assert_same(entry, file, version);
        }
    }
}

fn assert_same(entry: &Avro, file: &DataFile, version: FormatVersion) {
    assert_eq!(field(entry, "status"), &Avro::Int(1));
    assert_eq!(field(entry, "snapshot_id"), &Avro::Long(77));
    let read = field(entry, "data_file");
    assert_eq!(field(read, "file_path"), &Avro::String(file.file_path.to_string()));
    assert_eq!(field(read, "record_count"), &Avro::Long(file.record_count));
    if version > FormatVersion::V1 {
        assert_eq!(field(entry, "sequence_number"), &Avro::Long(5));
        assert_eq!(field(read, "content"), &Avro::Int(file.content as i32));
    }
    match (field(read, "upper_bounds"), file.upper_bounds.is_empty()) {
        (Avro::Null, is_empty) => assert!(is_empty),
        (Avro::Array(pairs), _) => {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|p| (field(p, "key").clone(), field(p, "value").clone()))
                .collect();
            let bounds = file.upper_bounds.iter();
            let expected: Vec<_> = bounds.map(|(k, v)| (Avro::Int(*k), Avro::Bytes(v.clone()))).collect();
            assert_eq!(pairs, expected);
        }
        (other, _) => panic!("{other:?} is no map"),
    }
    let partition = field(read, "partition");
    // Names of `long col`, `9digits` and `straße.ö`.
    for (name, place) in [
        ("long_x20col", 2),
        ("_9digits", 5),
        ("stra_xDFe_x2E_xF6", 14),
        ("date", 8),
    ] {
        let value = match field(partition, name) {
            Avro::Null => None,
            Avro::Long(v) => Some(Value::Long(*v)),
            Avro::Date(v) => Some(Value::Int(*v)),
            Avro::String(s) => Some(Value::string(s)),
            Avro::Decimal(d) => {
                let bytes = <Vec<u8>>::try_from(d).unwrap();
                Some(Value::Decimal(
                    crate::spec::value_binary::decimal_from_bytes(&bytes).unwrap(),
                ))
            }
            other => panic!("{other:?} is unexpected"),
        };
        assert_eq!(value, file.partition.0[place], "{name}");
    }
}

/// Fields in another order, without ids, with strangers among them, null last in unions, ints for longs, an older
/// partition type.
const FOREIGN: &str = r#"{"type":"record","name":"entry","namespace":"a.b","fields":[
    {"name":"stranger","type":{"type":"map","values":["null","string",{"type":"enum","name":"e","symbols":["A","B"]}]}},
    {"name":"data_file","type":{"type":"record","name":"f","fields":[
        {"name":"lower_bounds","type":[{"type":"array","logicalType":"map","items":{"type":"record","name":"kv",
            "fields":[{"name":"key","type":"int"},{"name":"value","type":"bytes"}]}},"null"]},
        {"name":"upper_bounds","type":["null",{"type":"array","items":"kv"}]},
        {"name":"record_count","type":"int"},
        {"name":"partition","type":{"type":"record","name":"p","fields":[
            {"name":"day","type":["null",{"type":"int","logicalType":"date"}]},
            {"name":"gone","type":["string","null"]},
            {"name":"number","type":["null","int"]}]}},
        {"name":"file_size_in_bytes","type":"long"},
        {"name":"file_format","type":"string"},
        {"name":"twice","type":["null","f16",{"type":"array","items":"double"}]},
        {"name":"file_path","type":"string"}]}},
    {"name":"snapshot_id","type":["long","null"]},
    {"name":"status","type":"int"}]}"#;

fn foreign() -> Vec<u8> {
    let text = FOREIGN.replace(r#""f16""#, r#"{"type":"fixed","name":"f16","size":3}"#);
    let schema = apache_avro::Schema::parse_str(&text).unwrap();
    let mut writer = apache_avro::Writer::with_codec(&schema, Vec::new(), apache_avro::Codec::Null);
    for i in 0..500_i32 {
        let pair = |key, value: &[u8]| {
            Avro::Record(vec![
                ("key".into(), Avro::Int(key)),
                ("value".into(), Avro::Bytes(value.to_vec())),
            ])
        };
        let partition = Avro::Record(vec![
            ("day".into(), Avro::Union(1, Box::new(Avro::Date(i / 100)))),
            ("gone".into(), Avro::Union(0, Box::new(Avro::String("x".into())))),
            (
                "number".into(),
                Avro::Union(
                    u32::from(i % 2 == 0),
                    Box::new(if i % 2 == 0 { Avro::Int(-7) } else { Avro::Null }),
                ),
            ),
        ]);
        let twice = match i % 3 {
            0 => Avro::Union(0, Box::new(Avro::Null)),
            1 => Avro::Union(1, Box::new(Avro::Fixed(3, vec![1, 2, 3]))),
            _ => Avro::Union(2, Box::new(Avro::Array(vec![Avro::Double(0.5); 40]))),
        };
        let bounds = vec![pair(70_000, b"far"), pair(3, &i.to_le_bytes()), pair(2, &[b'x'; 300])];
        let file = Avro::Record(vec![
            ("lower_bounds".into(), Avro::Union(0, Box::new(Avro::Array(bounds)))),
            ("upper_bounds".into(), Avro::Union(0, Box::new(Avro::Null))),
            ("record_count".into(), Avro::Int(i)),
            ("partition".into(), partition),
            ("file_size_in_bytes".into(), Avro::Long(i64::from(i) << 33)),
            ("file_format".into(), Avro::String("orc".into())),
            ("twice".into(), twice),
            ("file_path".into(), Avro::String(format!("file-{i}"))),
        ]);
        let stranger = Avro::Map([("k".to_string(), Avro::Union(2, Box::new(Avro::Enum(1, "B".into()))))].into());
        let entry = Avro::Record(vec![
            ("stranger".into(), stranger),
            ("data_file".into(), file),
            (
                "snapshot_id".into(),
                Avro::Union(0, Box::new(Avro::Long(i64::MIN + i64::from(i)))),
            ),
            ("status".into(), Avro::Int(i % 3)),
        ]);
        writer.append(entry).unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn we_read_what_apache_avro_writes_by_name_when_there_are_no_ids() {
    // The number was promoted to long and the day to timestamp since; the spec calls the dropped field nothing.
    let partition_type = StructType::new(vec![
        NestedField::optional(1001, "number", PrimitiveType::Long),
        NestedField::optional(1000, "day", PrimitiveType::Timestamp),
    ]);
    let columns = reader::decode(
        &foreign(),
        Some(&partition_type),
        &MetricsProjection::fields([3, 70_000]),
    )
    .unwrap();
    assert_eq!(columns.len, 500);
    for i in 0..500_i64 {
        let row = i as usize;
        assert_eq!(columns.path(row), format!("file-{i}"));
        assert_eq!(columns.record_count(row), i);
        assert_eq!(columns.file_size_in_bytes(row), i << 33);
        assert_eq!(columns.file_format(row), FileFormat::Orc);
        assert_eq!(columns.snapshot_id.get(row), Some(i64::MIN + i));
        assert_eq!(columns.status(row) == ManifestStatus::Deleted, i % 3 == 2);
        let number = (i % 2 == 0).then_some(Value::Long(-7));
        let day = Some(Value::Long(i / 100 * 86_400_000_000));
        assert_eq!(*columns.partition(row), PartitionTuple(vec![number, day]));
        let metrics = columns.metrics_of(3).unwrap();
        assert_eq!(metrics.lower_bound.get(row), Some(&(i as i32).to_le_bytes()[..]));
        assert_eq!(metrics.upper_bound.get(row), None);
        assert_eq!(
            columns.metrics_of(70_000).unwrap().lower_bound.get(row),
            Some(&b"far"[..])
        );
    }
    assert_eq!(columns.partitions.len(), 10, "five days, with and without the number");
    assert_eq!(columns.metrics.len(), 2);
}
