//! The rules of the spec's "Scan Planning" one by one.

use std::sync::Arc;

use super::*;
use crate::error::ErrorKind;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use crate::scan::testing::{delete_entries, table};
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::spec::value_binary::to_bytes;

mod model;

/// Specs of [`table`]: none, identity of an int, identity of a double.
const UNPARTITIONED: i32 = 0;
const BY_PART: i32 = 1;
const BY_SCORE: i32 = 2;

fn file(content: DataContent, path: &str, format: FileFormat) -> DataFile {
    let mut file = DataFile::new(content, path, format);
    file.record_count = 10;
    file.file_size_in_bytes = 1000;
    file
}

fn data(path: &str) -> DataFile {
    file(DataContent::Data, path, FileFormat::Parquet)
}

fn position(path: &str) -> DataFile {
    file(DataContent::PositionDeletes, path, FileFormat::Parquet)
}

fn position_of(path: &str, target: &str) -> DataFile {
    DataFile {
        referenced_data_file: Some(Arc::from(target)),
        ..position(path)
    }
}

fn vector(path: &str, target: &str) -> DataFile {
    DataFile {
        referenced_data_file: Some(Arc::from(target)),
        content_offset: Some(4),
        content_size_in_bytes: Some(40),
        ..file(DataContent::PositionDeletes, path, FileFormat::Puffin)
    }
}

fn equality(path: &str, ids: &[i32]) -> DataFile {
    DataFile {
        equality_ids: ids.to_vec(),
        ..file(DataContent::EqualityDeletes, path, FileFormat::Parquet)
    }
}

fn in_partition(mut file: DataFile, spec_id: i32, value: Option<Value>) -> DataFile {
    file.spec_id = spec_id;
    file.partition = PartitionTuple(vec![value]);
    file
}

/// Sets counts and bounds of a field: `(values, nulls, range)`.
fn with_stats(
    mut file: DataFile,
    id: i32,
    ty: &PrimitiveType,
    (values, nulls, range): (i64, i64, Option<(Value, Value)>),
) -> DataFile {
    file.value_counts.insert(id, values);
    file.null_value_counts.insert(id, nulls);
    if let Some((lower, upper)) = range {
        file.lower_bounds.insert(id, to_bytes(&lower, ty).unwrap());
        file.upper_bounds.insert(id, to_bytes(&upper, ty).unwrap());
    }
    file
}

fn index(deletes: Vec<(DataFile, i64)>) -> Result<DeleteFileIndex> {
    let table = table();
    let mut builder = DeleteFileIndexBuilder::new(&table);
    for (file, sequence_number) in deletes {
        builder.add_manifest(&delete_entries(file.spec_id, vec![(file, sequence_number)]))?;
    }
    builder.build()
}

fn paths(index: &DeleteFileIndex, file: &DataFile, sequence_number: i64) -> Vec<String> {
    let found = index.deletes_of(DeleteTarget::new(file, sequence_number)).unwrap();
    found.iter().map(|d| d.path().to_string()).collect()
}

#[test]
fn position_deletes_apply_to_files_of_lower_or_equal_sequence_number() {
    let index = index(vec![(position("p3"), 3), (position("p1"), 1), (position("p2"), 2)]).unwrap();
    assert_eq!(paths(&index, &data("a"), 0), ["p1", "p2", "p3"]);
    assert_eq!(paths(&index, &data("a"), 2), ["p2", "p3"]);
    assert_eq!(paths(&index, &data("a"), 3), ["p3"]);
    assert!(paths(&index, &data("a"), 4).is_empty());
}

#[test]
fn equality_deletes_apply_to_files_of_strictly_lower_sequence_number() {
    let index = index(vec![(equality("e2", &[1]), 2), (equality("e1", &[1]), 1)]).unwrap();
    assert_eq!(paths(&index, &data("a"), 0), ["e1", "e2"]);
    assert_eq!(paths(&index, &data("a"), 1), ["e2"]);
    assert!(paths(&index, &data("a"), 2).is_empty());
}

#[test]
fn deletes_stay_in_their_spec_and_partition() {
    let seven = || Some(Value::Int(7));
    let index = index(vec![
        (in_partition(position("p7"), BY_PART, seven()), 5),
        (in_partition(position("pnull"), BY_PART, None), 5),
        (in_partition(equality("e7", &[1]), BY_PART, seven()), 5),
        (position("punpartitioned"), 5),
    ])
    .unwrap();
    assert_eq!(
        paths(&index, &in_partition(data("a"), BY_PART, seven()), 1),
        ["e7", "p7"]
    );
    assert_eq!(paths(&index, &in_partition(data("a"), BY_PART, None), 1), ["pnull"]);
    assert!(paths(&index, &in_partition(data("a"), BY_PART, Some(Value::Int(8))), 1).is_empty());
    let same_value_other_spec = in_partition(data("a"), BY_SCORE, Some(Value::Double(7.0)));
    assert!(paths(&index, &same_value_other_spec, 1).is_empty());
    assert_eq!(paths(&index, &data("a"), 1), ["punpartitioned"]);
}

#[test]
fn equality_deletes_of_unpartitioned_specs_are_global_and_position_deletes_are_not() {
    let index = index(vec![(equality("e", &[1]), 5), (position("p"), 5)]).unwrap();
    let partitioned = in_partition(data("a"), BY_PART, Some(Value::Int(1)));
    assert_eq!(paths(&index, &partitioned, 1), ["e"]);
    assert_eq!(paths(&index, &data("a"), 1), ["e", "p"]);
}

#[test]
fn float_partitions_are_equal_by_bits_with_one_nan() {
    let double = |bits: u64| Some(Value::Double(f64::from_bits(bits)));
    let index = index(vec![
        (
            in_partition(position("nan"), BY_SCORE, double(0xfff8_0000_0000_0001)),
            5,
        ),
        (
            in_partition(position("minus-zero"), BY_SCORE, Some(Value::Double(-0.0))),
            5,
        ),
    ])
    .unwrap();
    let nan = in_partition(data("a"), BY_SCORE, Some(Value::Double(f64::NAN)));
    assert_eq!(paths(&index, &nan, 1), ["nan"]);
    let zero = |z: f64| in_partition(data("a"), BY_SCORE, Some(Value::Double(z)));
    assert!(paths(&index, &zero(0.0), 1).is_empty());
    assert_eq!(paths(&index, &zero(-0.0), 1), ["minus-zero"]);
}

#[test]
fn position_deletes_of_one_file_are_found_by_its_path() {
    let mut by_bounds = position("bounds");
    let id = super::super::task::DELETE_FILE_PATH_ID;
    by_bounds.lower_bounds.insert(id, b"a".to_vec());
    by_bounds.upper_bounds.insert(id, b"a".to_vec());
    let mut of_many = position("many");
    of_many.lower_bounds.insert(id, b"a".to_vec());
    of_many.upper_bounds.insert(id, b"b".to_vec());
    let index = index(vec![
        (position_of("named", "a"), 3),
        (by_bounds, 2),
        (of_many, 1),
        (position_of("other", "b"), 3),
    ])
    .unwrap();
    assert_eq!(paths(&index, &data("a"), 1), ["many", "bounds", "named"]);
    assert_eq!(paths(&index, &data("a"), 3), ["named"]);
    assert_eq!(paths(&index, &data("c"), 1), ["many"]);
}

#[test]
fn a_deletion_vector_replaces_position_deletes_but_not_equality_deletes() {
    let index = index(vec![
        (vector("dv.puffin", "a"), 3),
        (position("p"), 4),
        (position_of("pa", "a"), 4),
        (equality("e", &[1]), 4),
    ])
    .unwrap();
    let found = index.deletes_of(DeleteTarget::new(&data("a"), 3)).unwrap();
    let kinds: Vec<DeleteKind> = found.iter().map(DeleteTask::kind).collect();
    assert_eq!(kinds, [DeleteKind::Equality, DeleteKind::DeletionVector]);
    assert_eq!(found[1].blob(), Some((4, 40)));
    assert_eq!(found[1].content_size_in_bytes(), 40);
    assert_eq!(paths(&index, &data("b"), 3), ["e", "p"]);
}

#[test]
fn two_deletion_vectors_of_one_file_are_corrupt() {
    let error = index(vec![(vector("dv1", "a"), 3), (vector("dv2", "a"), 4)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let text = error.to_string();
    assert!(
        text.contains("dv1") && text.contains("dv2") && text.contains("file: a"),
        "{text}"
    );
}

#[test]
fn a_deletion_vector_older_than_its_file_is_corrupt() {
    let index = index(vec![(vector("dv", "a"), 3)]).unwrap();
    let error = index.deletes_of(DeleteTarget::new(&data("a"), 4)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn deletes_that_name_a_file_of_another_partition_are_corrupt() {
    let target = in_partition(data("a"), BY_PART, Some(Value::Int(1)));
    for deletes in [
        vector("d", "a"),
        position_of("d", "a"),
        in_partition(position_of("d", "a"), BY_PART, Some(Value::Int(2))),
    ] {
        let index = index(vec![(deletes, 3)]).unwrap();
        let error = index.deletes_of(DeleteTarget::new(&target, 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn paths_match_by_string_first_and_without_scheme_second() {
    let other_scheme = vector("dv", "s3://bucket/t/a");
    assert_eq!(
        paths(&index(vec![(other_scheme, 3)]).unwrap(), &data("s3a://bucket/t/a"), 1),
        ["dv"]
    );
    let other_authority = position_of("p", "hdfs://old:8020/t/a");
    assert_eq!(
        paths(&index(vec![(other_authority, 3)]).unwrap(), &data("hdfs://new/t/a"), 1),
        ["p"]
    );

    let both = index(vec![
        (vector("exact", "s3://b1/t/a"), 3),
        (vector("elsewhere", "s3://b2/t/a"), 3),
    ])
    .unwrap();
    assert_eq!(paths(&both, &data("s3://b1/t/a"), 1), ["exact"]);
    assert_eq!(paths(&both, &data("s3://b2/t/a"), 1), ["elsewhere"]);
    // The same key in another bucket is another file.
    assert!(paths(&both, &data("s3://b3/t/a"), 1).is_empty());
    let other_bucket = index(vec![(position_of("p", "s3://b1/t/a"), 3)]).unwrap();
    assert!(paths(&other_bucket, &data("s3a://b2/t/a"), 1).is_empty());
    assert_eq!(paths(&other_bucket, &data("s3a://b1/t/a"), 1), ["p"]);
    let two_hosts = index(vec![
        (vector("one", "hdfs://n1/t/a"), 3),
        (vector("other", "hdfs://n2/t/a"), 3),
    ])
    .unwrap();
    let neither = two_hosts
        .deletes_of(DeleteTarget::new(&data("hdfs://n3/t/a"), 1))
        .unwrap_err();
    assert_eq!(neither.kind(), ErrorKind::Corrupt);

    let two_spellings = index(vec![
        (position_of("p1", "s3://b/a"), 3),
        (position_of("p2", "s3a://b/a"), 4),
    ])
    .unwrap();
    assert_eq!(paths(&two_spellings, &data("s3://b/a"), 1), ["p1", "p2"]);
    // A path that tells no store is not outdone by one that does: left out, its deletes would bring rows back.
    let unplaced = index(vec![(position_of("p1", "s3://b/a"), 3), (position_of("p2", "/a"), 4)]).unwrap();
    assert_eq!(paths(&unplaced, &data("s3://b/a"), 1), ["p1", "p2"]);
    assert_eq!(paths(&unplaced, &data("s3://c/a"), 1), ["p2"]);
    let other_file = index(vec![(position_of("p", "s3://b/x/a"), 3)]).unwrap();
    assert!(paths(&other_file, &data("s3://b/a"), 1).is_empty());
}

/// `(values, nulls, range)` of a data file and a delete file, and whether they may meet.
type Meeting = ((i64, i64, Option<(i32, i32)>), (i64, i64, Option<(i32, i32)>), bool);

#[test]
fn counts_and_bounds_rule_out_equality_deletes() {
    let cases: [Meeting; 9] = [
        ((10, 0, Some((1, 5))), (10, 0, Some((5, 9))), true),
        ((10, 0, Some((1, 5))), (10, 0, Some((6, 9))), false),
        ((10, 0, Some((6, 9))), (10, 0, Some((1, 5))), false),
        // Null meets null, wherever the bounds are.
        ((10, 1, Some((1, 5))), (10, 1, Some((6, 9))), true),
        ((10, 1, Some((1, 5))), (10, 0, Some((6, 9))), false),
        ((10, 10, None), (10, 0, Some((6, 9))), false),
        ((10, 0, Some((1, 5))), (10, 10, None), false),
        ((10, 10, None), (10, 10, None), true),
        ((10, 0, None), (10, 0, Some((6, 9))), true),
    ];
    let int = PrimitiveType::Int;
    let range = |r: Option<(i32, i32)>| r.map(|(l, u)| (Value::Int(l), Value::Int(u)));
    for (file, deletes, expected) in cases {
        let target = with_stats(data("a"), 1, &int, (file.0, file.1, range(file.2)));
        let deletes_file = with_stats(equality("e", &[1]), 1, &int, (deletes.0, deletes.1, range(deletes.2)));
        let index = index(vec![(deletes_file, 2)]).unwrap();
        assert_eq!(!paths(&index, &target, 1).is_empty(), expected, "{file:?} {deletes:?}");
    }
}

#[test]
fn unknown_counts_and_bounds_rule_out_nothing() {
    let int = PrimitiveType::Int;
    let known = with_stats(
        equality("e", &[1]),
        1,
        &int,
        (10, 0, Some((Value::Int(1), Value::Int(2)))),
    );
    let with_known = index(vec![(known, 2)]).unwrap();
    assert_eq!(paths(&with_known, &data("a"), 1), ["e"]);
    let with_unknown = index(vec![(equality("e", &[1]), 2)]).unwrap();
    let target = with_stats(data("a"), 1, &int, (10, 0, Some((Value::Int(5), Value::Int(6)))));
    assert_eq!(paths(&with_unknown, &target, 1), ["e"]);
    let unknown_column = index(vec![(equality("e", &[99]), 2)]).unwrap();
    assert_eq!(paths(&unknown_column, &target, 1), ["e"]);
}

#[test]
fn every_key_column_can_rule_deletes_out() {
    let int = PrimitiveType::Int;
    let stats = |file, id, at| with_stats(file, id, &int, (10, 0, Some((Value::Int(at), Value::Int(at)))));
    let index = index(vec![(stats(stats(equality("e", &[1, 3]), 1, 5), 3, 5), 2)]).unwrap();
    assert_eq!(paths(&index, &stats(stats(data("a"), 1, 5), 3, 5), 1), ["e"]);
    assert!(paths(&index, &stats(stats(data("a"), 1, 5), 3, 6), 1).is_empty());
}

#[test]
fn required_keys_hold_no_nulls_unless_their_parent_may() {
    let range = |at: i64| Some((Value::Long(at), Value::Long(at)));
    let long = PrimitiveType::Long;
    let mut deletes = with_stats(equality("e", &[7]), 7, &long, (10, 0, range(1)));
    let mut target = with_stats(data("a"), 7, &long, (10, 0, range(2)));
    deletes.null_value_counts.clear();
    target.null_value_counts.clear();
    assert!(paths(&index(vec![(deletes, 2)]).unwrap(), &target, 1).is_empty());

    let int = PrimitiveType::Int;
    let range = |at: i32| Some((Value::Int(at), Value::Int(at)));
    let deletes = with_stats(equality("e", &[6]), 6, &int, (10, 1, range(1)));
    let target = with_stats(data("a"), 6, &int, (10, 1, range(2)));
    assert_eq!(paths(&index(vec![(deletes, 2)]).unwrap(), &target, 1), ["e"]);

    // Rows whose parent is null need not be counted.
    let deletes = with_stats(equality("e", &[6]), 6, &int, (9, 0, range(1)));
    let target = with_stats(data("a"), 6, &int, (9, 0, range(2)));
    assert_eq!(paths(&index(vec![(deletes, 2)]).unwrap(), &target, 1), ["e"]);
}

#[test]
fn nan_and_signed_zero_lie_outside_of_bounds() {
    let double = PrimitiveType::Double;
    let range = |at: f64| Some((Value::Double(at), Value::Double(at)));
    let key = |file, at, nans: Option<i64>| {
        let mut file = with_stats(file, 4, &double, (10, 0, range(at)));
        file.nan_value_counts.extend(nans.map(|n| (4, n)));
        file
    };
    for (data_nans, delete_nans, expected) in [
        (Some(1), Some(1), true),
        (None, Some(1), true),
        (Some(0), Some(1), false),
        (None, Some(0), false),
        (Some(0), Some(0), false),
    ] {
        let index = index(vec![(key(equality("e", &[4]), 1.0, delete_nans), 2)]).unwrap();
        let found = paths(&index, &key(data("a"), 2.0, data_nans), 1);
        assert_eq!(!found.is_empty(), expected, "{data_nans:?} {delete_nans:?}");
    }
    let zero = index(vec![(key(equality("e", &[4]), 0.0, Some(0)), 2)]).unwrap();
    assert_eq!(paths(&zero, &key(data("a"), -0.0, Some(0)), 1), ["e"]);
}

#[test]
fn broken_bounds_rule_out_nothing() {
    let int = PrimitiveType::Int;
    let deletes = with_stats(
        equality("e", &[1]),
        1,
        &int,
        (10, 0, Some((Value::Int(1), Value::Int(2)))),
    );
    let index = index(vec![(deletes, 2)]).unwrap();
    let turned = with_stats(data("a"), 1, &int, (10, 0, Some((Value::Int(9), Value::Int(8)))));
    assert_eq!(paths(&index, &turned, 1), ["e"]);
    let mut short = with_stats(data("a"), 1, &int, (10, 0, None));
    short.lower_bounds.insert(1, vec![9]);
    short.upper_bounds.insert(1, vec![9]);
    assert_eq!(paths(&index, &short, 1), ["e"]);
}

#[test]
fn broken_delete_entries_are_refused() {
    let no_place = DataFile {
        content_offset: None,
        ..vector("dv", "a")
    };
    let no_target = DataFile {
        referenced_data_file: None,
        ..vector("dv", "a")
    };
    let unknown_spec = in_partition(position("p"), 77, None);
    for broken in [no_place, no_target, equality("e", &[]), data("a"), unknown_spec] {
        let path = broken.file_path.to_string();
        assert_eq!(
            index(vec![(broken, 2)]).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{path}"
        );
    }
}

#[test]
fn older_deletes_can_be_left_out_and_all_are_counted() {
    let table = table();
    let mut builder = DeleteFileIndexBuilder::new(&table).after_sequence_number(2);
    let files = vec![
        (position("p2"), 2),
        (position("p3"), 3),
        (equality("e3", &[1, 3]), 3),
        (vector("dv", "a"), 3),
    ];
    builder.add_manifest(&delete_entries(UNPARTITIONED, files)).unwrap();
    let index = builder.build().unwrap();
    assert_eq!(index.len(), 3);
    assert_eq!(index.equality_field_ids().iter().copied().collect::<Vec<_>>(), [1, 3]);
    let mut metrics = ScanMetrics::default();
    index.count_into(&mut metrics);
    let counts = (metrics.indexed_delete_files, metrics.equality_delete_files);
    assert_eq!(counts, (3, 1));
    assert_eq!((metrics.positional_delete_files, metrics.dvs), (1, 1));
}
