//! The report on a puffin file.

use tarn_format::Result;
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::deletes::puffin::{BlobMetadata, DELETION_VECTOR_V1, PuffinReader};
use tarn_format::io::FileIo;

use crate::report::{Cell, Report};

/// Describes the blobs of a puffin file. Deletion vectors are read, so that broken ones are told.
///
/// # Errors
/// `Corrupt` when the file is no puffin file or a deletion vector in it is broken.
pub async fn describe(report: &mut Report, io: &FileIo, file: &str) -> Result<()> {
    let reader = PuffinReader::open(io, file).await?;
    let footer = reader.footer();
    let mut rows = Vec::new();
    for blob in &footer.blobs {
        let fields: Vec<String> = blob.fields.iter().map(ToString::to_string).collect();
        let properties: Vec<String> = blob.properties.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let deleted = match blob.blob_type == DELETION_VECTOR_V1 {
            true => Cell::Number(deleted_rows(&reader, blob).await?),
            false => Cell::Missing,
        };
        rows.push(vec![
            Cell::text(&blob.blob_type),
            Cell::text(fields.join(", ")),
            Cell::Number(blob.snapshot_id),
            Cell::Number(blob.sequence_number),
            number(blob.offset),
            Cell::Bytes(i64::try_from(blob.length).unwrap_or(i64::MAX)),
            deleted,
            Cell::text(properties.join(", ")),
        ]);
    }
    report.facts(
        "Puffin file",
        [
            ("file", Cell::text(file)),
            (
                "size",
                Cell::Bytes(i64::try_from(reader.file_size()).unwrap_or(i64::MAX)),
            ),
        ],
    );
    let columns = [
        "type",
        "fields",
        "snapshot",
        "sequence",
        "offset",
        "length",
        "deleted rows",
        "properties",
    ];
    report.rows("Blobs", &columns, rows);
    report.facts("Properties", footer.properties.iter().map(|(k, v)| (k, Cell::text(v))));
    Ok(())
}

async fn deleted_rows(reader: &PuffinReader, blob: &BlobMetadata) -> Result<i64> {
    let bytes = reader.read_blob(blob).await?;
    let vector = DeletionVector::from_blob(&bytes, None)?;
    Ok(i64::try_from(vector.cardinality()).unwrap_or(i64::MAX))
}

fn number(value: impl TryInto<i64>) -> Cell {
    Cell::Number(value.try_into().unwrap_or(i64::MAX))
}
