use std::sync::Arc;

use super::*;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, ManifestEntry};

fn entry(status: ManifestStatus, sequence_number: Option<i64>, first_row_id: Option<i64>, rows: i64) -> ManifestEntry {
    let mut file = DataFile::new(DataContent::Data, "f", FileFormat::Parquet);
    (file.first_row_id, file.record_count) = (first_row_id, rows);
    ManifestEntry {
        status,
        snapshot_id: None,
        sequence_number,
        file_sequence_number: sequence_number,
        data_file: Arc::new(file),
    }
}

fn manifest(sequence_number: i64, first_row_id: Option<i64>) -> ManifestFile {
    ManifestFile {
        manifest_path: "m".to_string(),
        manifest_length: 1,
        partition_spec_id: 2,
        content: ManifestContent::Data,
        sequence_number,
        min_sequence_number: sequence_number,
        added_snapshot_id: Some(9),
        added_files_count: None,
        existing_files_count: None,
        deleted_files_count: None,
        added_rows_count: None,
        existing_rows_count: None,
        deleted_rows_count: None,
        partitions: Vec::new(),
        key_metadata: None,
        first_row_id,
    }
}

const STATUSES: [ManifestStatus; 3] = [ManifestStatus::Existing, ManifestStatus::Added, ManifestStatus::Deleted];

fn numbers(manifest: &ManifestFile, entries: &[ManifestEntry]) -> Vec<Option<i64>> {
    let columns = ManifestColumns::from_entries(entries).unwrap();
    let inheritance = Inheritance::new(manifest, &columns);
    (0..columns.len)
        .map(|i| inheritance.sequence_number(&columns, i))
        .collect()
}

#[test]
fn sequence_numbers_are_inherited_by_added_entries_only() {
    let without = STATUSES.map(|s| entry(s, None, None, 1));
    let with = STATUSES.map(|s| entry(s, Some(3), None, 1));
    assert_eq!(numbers(&manifest(5, None), &without), [None, Some(5), None]);
    assert_eq!(numbers(&manifest(5, None), &with), [Some(3); 3]);
    // v1, where nothing is stored and everything is 0.
    assert_eq!(numbers(&manifest(0, None), &without), [Some(0); 3]);
    // Not committed yet.
    assert_eq!(
        numbers(&manifest(UNASSIGNED_SEQUENCE_NUMBER, None), &without),
        [None; 3]
    );
}

fn row_ids(manifest: &ManifestFile, entries: &[ManifestEntry]) -> Vec<Option<i64>> {
    let columns = ManifestColumns::from_entries(entries).unwrap();
    let inheritance = Inheritance::new(manifest, &columns);
    (0..columns.len)
        .map(|i| columns.entry(i, &inheritance).data_file.first_row_id)
        .collect()
}

#[test]
fn row_ids_are_inherited_as_in_the_example_of_the_spec() {
    // Spec v3, "Row lineage example": manifest `added1`, first row id 1000.
    let entries = [
        entry(ManifestStatus::Existing, Some(1), Some(800), 25),
        entry(ManifestStatus::Added, None, None, 50),
        entry(ManifestStatus::Added, None, None, 50),
    ];
    assert_eq!(
        row_ids(&manifest(5, Some(1000)), &entries),
        [Some(800), Some(1000), Some(1050)]
    );
}

#[test]
fn existing_files_of_an_upgraded_table_get_row_ids_and_deleted_ones_do_not() {
    let entries = [
        entry(ManifestStatus::Deleted, Some(1), None, 7),
        entry(ManifestStatus::Existing, Some(1), None, 10),
        entry(ManifestStatus::Deleted, Some(1), Some(4), 7),
        entry(ManifestStatus::Added, None, None, 5),
    ];
    let assigned = row_ids(&manifest(5, Some(100)), &entries);
    assert_eq!(assigned, [None, Some(100), Some(4), Some(110)]);
}

#[test]
fn without_a_row_id_of_the_manifest_no_file_has_one() {
    let entries = [entry(ManifestStatus::Existing, Some(1), Some(4), 7)];
    assert_eq!(row_ids(&manifest(5, None), &entries), [None]);
    let mut deletes = manifest(5, Some(1));
    deletes.content = ManifestContent::Deletes;
    assert_eq!(row_ids(&deletes, &entries), [None]);
    // Before the commit what is stored is kept, so that merging does not lose it.
    assert_eq!(
        row_ids(&manifest(UNASSIGNED_SEQUENCE_NUMBER, None), &entries),
        [Some(4)]
    );
}
