use super::*;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat};
use crate::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::table_metadata::FormatVersion;

const FILES: usize = 2000;

/// A manifest whose files have metrics of fields 1, 2 and 3.
async fn manifest(io: &FileIo, location: &str) -> ManifestFile {
    let schema = Arc::new(Schema::new(0, StructType::default(), Vec::new()).unwrap());
    let spec = Arc::new(PartitionSpec::unpartitioned());
    let options = ManifestWriterOptions::new(FormatVersion::V2, spec, schema).with_snapshot_id(1);
    let mut writer = ManifestWriter::new(options).unwrap();
    for i in 0..FILES {
        let mut file = DataFile::new(DataContent::Data, path(i), FileFormat::Parquet);
        (file.record_count, file.file_size_in_bytes, file.sort_order_id) = (i as i64, 1 << 20, Some(0));
        for id in 1..4 {
            file.value_counts.insert(id, i as i64);
            file.lower_bounds.insert(id, vec![0; 8]);
            file.upper_bounds.insert(id, vec![9; 8]);
        }
        writer.added(&file, None).unwrap();
    }
    let (bytes, manifest) = writer.finish(location).unwrap();
    io.write(location, bytes).await.unwrap();
    manifest
}

fn path(i: usize) -> String {
    format!("memory://table/data/{i:040}.parquet")
}

#[tokio::test]
async fn a_wider_projection_serves_a_narrower_one_without_the_file() {
    let io = FileIo::memory();
    let cache = ManifestCache::default();
    let manifest = manifest(&io, "memory://table/m.avro").await;
    let wide = cache
        .get(&io, &manifest, None, &MetricsProjection::fields([1, 3]))
        .await
        .unwrap();
    io.delete(&manifest.manifest_path).await.unwrap();
    for narrow in [MetricsProjection::None, MetricsProjection::fields([3])] {
        let got = cache.get(&io, &manifest, None, &narrow).await.unwrap();
        assert!(Arc::ptr_eq(&got, &wide));
    }
    // Field 2 is not there, so the file is asked for again.
    let error = cache.get(&io, &manifest, None, &MetricsProjection::fields([2])).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
    // A failure leaves what was cached.
    assert!(cache.get(&io, &manifest, None, &MetricsProjection::None).await.is_ok());
}

#[tokio::test]
async fn more_fields_are_added_to_those_that_were_cached() {
    let io = FileIo::memory();
    let cache = ManifestCache::default();
    let manifest = manifest(&io, "memory://table/m.avro").await;
    for id in [1, 2] {
        let projection = MetricsProjection::fields([id]);
        let got = cache.get(&io, &manifest, None, &projection).await.unwrap();
        assert_eq!(got.metrics_of(id).unwrap().value_count.get(7), Some(7));
    }
    io.delete(&manifest.manifest_path).await.unwrap();
    let both = MetricsProjection::fields([2, 1]);
    assert_eq!(cache.get(&io, &manifest, None, &both).await.unwrap().projection, both);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_callers_share_one_decoding() {
    let io = FileIo::memory();
    let cache = ManifestCache::default();
    let manifest = Arc::new(manifest(&io, "memory://table/m.avro").await);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (io, cache, manifest) = (io.clone(), cache.clone(), Arc::clone(&manifest));
            tokio::spawn(async move { cache.get(&io, &manifest, None, &MetricsProjection::All).await.unwrap() })
        })
        .collect();
    let mut got = Vec::new();
    for task in tasks {
        got.push(task.await.unwrap());
    }
    assert!(
        got.iter().all(|c| Arc::ptr_eq(c, &got[0])),
        "each caller has the same columns"
    );
}

#[tokio::test]
async fn the_budget_is_kept_and_counts_what_is_held() {
    let io = FileIo::memory();
    let one = {
        let cache = ManifestCache::default();
        let manifest = manifest(&io, "memory://table/m.avro").await;
        cache.get(&io, &manifest, None, &MetricsProjection::None).await.unwrap();
        cache.size_bytes().await
    };
    let cache = ManifestCache::new(one * 5 / 2);
    for i in 0..6 {
        let manifest = manifest(&io, &format!("memory://table/{i}.avro")).await;
        let got = cache.get(&io, &manifest, None, &MetricsProjection::None).await.unwrap();
        assert_eq!(got.len, FILES, "also what does not stay in the cache is served");
        assert!(cache.size_bytes().await <= one * 5 / 2);
    }
}

#[tokio::test]
async fn a_cached_file_takes_at_most_200_bytes_beside_its_path() {
    let io = FileIo::memory();
    let cache = ManifestCache::default();
    let manifest = manifest(&io, "memory://table/m.avro").await;
    cache.get(&io, &manifest, None, &MetricsProjection::None).await.unwrap();
    let held = cache.size_bytes().await as usize;
    assert!(held <= FILES * (path(0).len() + 200), "{held}");
    assert!(held >= FILES * path(0).len(), "{held} leaves the paths out");
}

#[tokio::test]
async fn one_location_in_two_stores_is_two_files() {
    let cache = ManifestCache::default();
    let location = "s3://table/m.avro";
    let (one, two) = (FileIo::memory(), FileIo::memory());
    let full = manifest(&one, location).await;
    let options = ManifestWriterOptions::new(
        FormatVersion::V2,
        Arc::new(PartitionSpec::unpartitioned()),
        Arc::new(Schema::new(0, StructType::default(), Vec::new()).unwrap()),
    );
    let (bytes, _) = ManifestWriter::new(options).unwrap().finish(location).unwrap();
    two.write(location, bytes).await.unwrap();
    for (io, files) in [(&one, FILES), (&two, 0), (&one, FILES)] {
        let got = cache.get(io, &full, None, &MetricsProjection::None).await.unwrap();
        assert_eq!(got.len, files);
    }
}

#[tokio::test]
async fn one_file_is_decoded_once_whatever_it_is_called_and_whoever_reads_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = format!("{}/m.avro", directory.path().display());
    let cache = ManifestCache::default();
    let written = manifest(&FileIo::local(), &path).await;
    let got = cache
        .get(&FileIo::local(), &written, None, &MetricsProjection::None)
        .await
        .unwrap();
    let moved = FileIo::builder()
        .with_location_prefix("s3://bucket/t", &directory.path().display().to_string())
        .build();
    for (io, spelled) in [
        (FileIo::local(), format!("file://{path}")),
        (moved, "s3a://bucket/t/m.avro".into()),
    ] {
        let named = ManifestFile {
            manifest_path: spelled,
            ..written.clone()
        };
        let again = cache.get(&io, &named, None, &MetricsProjection::None).await.unwrap();
        assert!(Arc::ptr_eq(&got, &again), "{}", named.manifest_path);
    }
}
