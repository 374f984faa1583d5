//! Tables that have to do with encryption (spec, "Table Metadata Fields", `encryption-keys`).

use arrow::array::{Int64Array, RecordBatch};
use tarn_format::ErrorKind;
use tarn_format::commit::append::fast_append;
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::commit::{Change, CommitOptions, Transaction, commit};
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat};
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::table_metadata::{EncryptedKey, FormatVersion};
use tarn_format::spec::types::{NestedField, PrimitiveType};
use tarn_format::update::TableUpdate;

use super::*;
use crate::Caches;
use crate::write::tests::{Making, Site};

async fn site() -> Site {
    let columns = vec![NestedField::required(1, "id", PrimitiveType::Long)];
    let site = Site::new(columns, Making::new().version(FormatVersion::V3)).await;
    let ids: RecordBatch = site.batch(vec![Arc::new(Int64Array::from_iter_values(0..100))]).await;
    site.append(ids).await.unwrap();
    site
}

async fn read(site: &Site) -> tarn_format::Result<usize> {
    let table = IcebergTable::new(site.table().await, SnapshotSelector::Current, Caches::default()).unwrap();
    let context = datafusion::prelude::SessionContext::new();
    let batches = context.read_table(Arc::new(table)).unwrap().collect().await;
    let batches = batches.map_err(crate::format_error)?;
    Ok(batches.iter().map(RecordBatch::num_rows).sum())
}

async fn refusal(site: &Site) -> tarn_format::Error {
    let error = read(site).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let told = error.to_string();
    assert!(told.contains("encrypted") && !told.contains('\n'), "{told}");
    error
}

#[tokio::test]
async fn keys_alone_do_not_matter() {
    let site = site().await;
    let table = site.table().await;
    let key = EncryptedKey {
        key_id: "k1".into(),
        encrypted_key_metadata: "aWNlYmVyZwo=".into(),
        encrypted_by_id: None,
        properties: Default::default(),
        extra: Default::default(),
    };
    let update = Transaction::of(&table).update(move |_| Ok(vec![TableUpdate::AddEncryptionKey(key.clone())]));
    update
        .commit(site.catalog.as_ref(), &CommitOptions::default())
        .await
        .unwrap();
    assert_eq!(site.table().await.metadata.encryption_keys.len(), 1);
    assert_eq!(read(&site).await.unwrap(), 100);
}

/// A file whose entry has a key is read if it is what it should be; what it is made of tells.
#[tokio::test]
async fn files_with_a_key_are_read_unless_they_are_encrypted() {
    let site = site().await;
    let mut file = site.file().await;
    let io = site.table().await.io;
    let plain = io.read(&file.file_path).await.unwrap();
    file.file_path = "s3://bucket/wh/db/t/data/plain.parquet".into();
    file.key_metadata = Some(vec![1, 2, 3]);
    io.write(&file.file_path, plain.clone()).await.unwrap();
    append(&site, file.clone()).await;
    assert_eq!(read(&site).await.unwrap(), 200);
    file.file_path = "s3://bucket/wh/db/t/data/secret.parquet".into();
    let secret: Vec<u8> = plain.iter().map(|byte| !byte).collect();
    io.write(&file.file_path, secret.into()).await.unwrap();
    append(&site, file).await;
    assert!(refusal(&site).await.to_string().contains("secret.parquet"));
}

#[tokio::test]
async fn an_encrypted_delete_file_is_refused() {
    let site = site().await;
    let mut deletes = DataFile::new(
        DataContent::EqualityDeletes,
        "s3://bucket/wh/db/t/data/d.parquet",
        FileFormat::Parquet,
    );
    deletes.record_count = 1;
    deletes.file_size_in_bytes = 100;
    deletes.equality_ids = vec![1];
    deletes.key_metadata = Some(vec![7]);
    let io = site.table().await.io;
    io.write(&deletes.file_path, vec![b'x'; 100].into()).await.unwrap();
    make(&site, RowDelta::new().add_deletes(Arc::new(deletes)).build()).await;
    assert!(refusal(&site).await.to_string().contains("d.parquet"));
}

/// Whose manifest entry says nothing of it.
#[tokio::test]
async fn an_encrypted_footer_is_told_from_a_broken_file() {
    let site = site().await;
    let file = site.file().await;
    let io = site.table().await.io;
    let mut bytes = io.read(&file.file_path).await.unwrap().to_vec();
    let end = bytes.len() - 4;
    bytes[..4].copy_from_slice(b"PARE");
    bytes[end..].copy_from_slice(b"PARE");
    io.write(&file.file_path, bytes.into()).await.unwrap();
    assert!(refusal(&site).await.to_string().contains(&*file.file_path));
}

async fn append(site: &Site, file: DataFile) {
    make(site, fast_append([Arc::new(file)])).await;
}

async fn make(site: &Site, change: Change) {
    let (table, options) = (site.table().await, CommitOptions::default());
    commit(site.catalog.as_ref(), &table, change, &options).await.unwrap();
}
