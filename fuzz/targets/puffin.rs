//! Puffin files: what the footer names lies in the file, and blobs unfold or fail.
#![no_main]

mod seeds;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tarn_format::deletes::puffin::{
    Blob, BlobCodec, DELETION_VECTOR_V1, FooterCompression, FooterParse, PuffinEncoder, decode_blob, parse_footer,
};

fuzz_target!(init: seeds::write(generated()), |bytes: &[u8]| {
    let Ok(parsed) = parse_footer(bytes, bytes.len() as u64) else {
        return;
    };
    let FooterParse::Complete(footer, start) = parsed else {
        panic!("the whole file was given");
    };
    let bytes = Bytes::copy_from_slice(bytes);
    for blob in &footer.blobs {
        let end = blob.offset + blob.length;
        assert!(end <= start, "a blob must end before the footer");
        let _ = decode_blob(blob, bytes.slice(blob.offset as usize..end as usize));
    }
});

fn generated() -> Vec<Vec<u8>> {
    let codecs = [BlobCodec::None, BlobCodec::Lz4, BlobCodec::Zstd];
    let compressions = [FooterCompression::None, FooterCompression::Lz4];
    compressions
        .map(|compression| {
            let mut encoder = PuffinEncoder::new(compression);
            for codec in codecs {
                let blob = Blob {
                    blob_type: DELETION_VECTOR_V1,
                    fields: vec![1, 2],
                    snapshot_id: -1,
                    sequence_number: 7,
                    data: b"some text, some text, some text, some text",
                    codec,
                    properties: [("cardinality".to_string(), "3".to_string())].into(),
                };
                encoder.push(&blob).expect("a seed");
            }
            encoder.finish().expect("a seed").bytes
        })
        .into()
}
