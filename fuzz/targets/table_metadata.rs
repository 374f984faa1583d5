//! Metadata JSON, gzipped or not: what can be read can be written, and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::view_metadata::ViewMetadata;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = TableMetadata::from_json(bytes)
        && let Ok(written) = read.to_json()
    {
        let again = TableMetadata::from_json(&written);
        assert!(
            again.is_ok_and(|again| again == read),
            "written metadata must read as it was"
        );
    }
    if let Ok(read) = ViewMetadata::from_json(bytes)
        && let Ok(written) = read.to_json()
    {
        let again = ViewMetadata::from_json(&written);
        assert!(
            again.is_ok_and(|again| again == read),
            "a written view must read as it was"
        );
    }
});
