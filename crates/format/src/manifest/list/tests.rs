use super::*;
use crate::manifest::avro::codec::Codec;
use crate::manifest::manifest_file::FieldSummary;
use crate::spec::table_metadata::FormatVersion;

fn manifest(path: &str) -> ManifestFile {
    ManifestFile {
        manifest_path: path.to_string(),
        manifest_length: 7000,
        partition_spec_id: 3,
        content: ManifestContent::Data,
        sequence_number: -1,
        min_sequence_number: -1,
        added_snapshot_id: Some(42),
        added_files_count: Some(2),
        existing_files_count: Some(1),
        deleted_files_count: Some(0),
        added_rows_count: Some(100),
        existing_rows_count: Some(25),
        deleted_rows_count: Some(0),
        partitions: vec![FieldSummary {
            contains_null: true,
            contains_nan: Some(false),
            lower_bound: Some(vec![1, 0, 0, 0]),
            upper_bound: None,
        }],
        key_metadata: Some(vec![9]),
        first_row_id: None,
    }
}

fn options(format_version: FormatVersion) -> ManifestListWriterOptions {
    ManifestListWriterOptions {
        format_version,
        snapshot_id: 42,
        parent_snapshot_id: Some(41),
        sequence_number: 8,
        first_row_id: 1000,
        codec: Codec::default(),
    }
}

#[test]
fn a_list_reads_back_as_it_was_assigned() {
    for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        let written = encode(options(version), &[manifest("a"), manifest("b")]).unwrap();
        assert_eq!(decode(&written.bytes).unwrap(), written.manifests);
    }
}

#[test]
fn new_manifests_get_the_sequence_number_of_the_snapshot() {
    let mut old = manifest("old");
    (old.sequence_number, old.min_sequence_number, old.added_snapshot_id) = (5, 4, Some(40));
    let mut half = manifest("half");
    half.min_sequence_number = 3;
    let written = encode(options(FormatVersion::V2), &[old, half, manifest("new")]).unwrap();
    let numbers = |m: &ManifestFile| (m.sequence_number, m.min_sequence_number);
    assert_eq!(
        written.manifests.iter().map(numbers).collect::<Vec<_>>(),
        [(5, 4), (8, 3), (8, 8)]
    );
}

#[test]
fn a_manifest_of_another_snapshot_must_have_its_sequence_number() {
    let mut foreign = manifest("foreign");
    foreign.added_snapshot_id = Some(40);
    let error = encode(options(FormatVersion::V2), &[foreign]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Validation);
}

#[test]
fn row_ids_are_assigned_as_in_the_example_of_the_spec() {
    // Spec v3, "Row lineage example".
    let with = |path: &str, added, existing, first| {
        let mut m = manifest(path);
        (m.added_rows_count, m.existing_rows_count, m.first_row_id) = (Some(added), Some(existing), first);
        m
    };
    let manifests = [
        with("existing", 75, 0, Some(925)),
        with("added1", 100, 25, None),
        with("added2", 0, 100, None),
        with("added3", 125, 25, None),
    ];
    let written = encode(options(FormatVersion::V3), &manifests).unwrap();
    let ids: Vec<_> = written.manifests.iter().map(|m| m.first_row_id).collect();
    assert_eq!(ids, [Some(925), Some(1000), Some(1125), Some(1225)]);
    assert_eq!(written.next_row_id, 1375);
}

#[test]
fn delete_manifests_have_no_row_ids_and_v1_has_no_delete_manifests() {
    let mut deletes = manifest("deletes");
    deletes.content = ManifestContent::Deletes;
    let written = encode(options(FormatVersion::V3), &[deletes.clone()]).unwrap();
    assert_eq!((written.manifests[0].first_row_id, written.next_row_id), (None, 1000));
    assert!(encode(options(FormatVersion::V1), &[deletes]).is_err());
}

#[test]
fn unknown_counts_are_kept_in_v1_and_refused_later() {
    let mut unknown = manifest("unknown");
    unknown.existing_rows_count = None;
    let written = encode(options(FormatVersion::V1), &[unknown.clone()]).unwrap();
    assert_eq!(decode(&written.bytes).unwrap()[0].existing_rows_count, None);
    assert!(encode(options(FormatVersion::V2), &[unknown]).is_err());
}
