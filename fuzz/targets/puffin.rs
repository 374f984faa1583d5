//! Puffin footers, blobs and deletion vectors: any bytes end in a value or an error, and a vector that reads writes again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::deletes::puffin::parse_footer;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_footer(bytes, bytes.len() as u64);
    if let Ok(vector) = DeletionVector::from_blob(bytes, None)
        && let Ok(blob) = vector.to_blob()
    {
        let again = DeletionVector::from_blob(&blob, Some(vector.cardinality()));
        assert!(
            again.is_ok_and(|again| again == vector),
            "a written deletion vector must read as it was"
        );
    }
});
