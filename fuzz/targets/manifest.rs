//! Manifests and manifest lists: any bytes end in entries or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::inherit::Inheritance;
use tarn_format::manifest::manifest_file::{ManifestContent, ManifestFile};
use tarn_format::manifest::{list, reader};

fuzz_target!(|bytes: &[u8]| {
    let _ = list::decode(bytes);
    let _ = reader::decode(bytes, None, &MetricsProjection::Fields(vec![1, 4]));
    let Ok(columns) = reader::decode(bytes, None, &MetricsProjection::All) else {
        return;
    };
    let inheritance = Inheritance::new(&manifest(), &columns);
    for i in 0..columns.len {
        let entry = columns.entry(i, &inheritance);
        assert_eq!(entry.data_file.file_path.as_ref(), columns.path(i));
    }
});

/// What a list would say of the manifest.
fn manifest() -> ManifestFile {
    ManifestFile {
        manifest_path: String::new(),
        manifest_length: 0,
        partition_spec_id: 0,
        content: ManifestContent::Data,
        sequence_number: 1,
        min_sequence_number: 1,
        added_snapshot_id: Some(1),
        added_files_count: None,
        existing_files_count: None,
        deleted_files_count: None,
        added_rows_count: None,
        existing_rows_count: None,
        deleted_rows_count: None,
        partitions: Vec::new(),
        key_metadata: None,
        first_row_id: Some(0),
    }
}
