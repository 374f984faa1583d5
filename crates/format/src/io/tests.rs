use super::*;

fn bytes(s: &str) -> Bytes {
    Bytes::copy_from_slice(s.as_bytes())
}

/// Every behaviour that local and memory must share runs on both.
async fn on_both(test: impl AsyncFn(FileIo, String)) {
    let dir = tempfile::tempdir().unwrap();
    test(FileIo::local(), dir.path().to_str().unwrap().to_string()).await;
    test(FileIo::memory(), "memory://wh/root".to_string()).await;
    test(FileIo::memory(), "/root".to_string()).await;
}

fn locations(files: &[FileStatus], base: &str) -> Vec<String> {
    let relative = |f: &FileStatus| f.location.strip_prefix(base).unwrap().to_string();
    files.iter().map(relative).collect()
}

#[tokio::test]
async fn write_read_replace_delete() {
    on_both(async |io, base| {
        let file = format!("{base}/a/b/f.txt");
        assert!(!io.exists(&file).await.unwrap());
        assert_eq!(io.read(&file).await.unwrap_err().kind(), ErrorKind::NotFound);
        io.write(&file, bytes("one")).await.unwrap();
        io.write(&file, bytes("twelve")).await.unwrap();
        assert_eq!(io.read(&file).await.unwrap(), "twelve");
        assert_eq!(io.size(&file).await.unwrap(), 6);
        io.delete(&file).await.unwrap();
        io.delete(&file).await.unwrap();
        assert!(!io.exists(&file).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn create_refuses_an_existing_file() {
    on_both(async |io, base| {
        let file = format!("{base}/v1.json");
        io.create(&file, bytes("first")).await.unwrap();
        let error = io.create(&file, bytes("second")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(error.to_string().contains(&file));
        assert_eq!(io.read(&file).await.unwrap(), "first");
        assert_eq!(io.list(&base).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn ranges_and_tails() {
    on_both(async |io, base| {
        let file = format!("{base}/f");
        io.write(&file, bytes("0123456789")).await.unwrap();
        assert_eq!(io.read_range(&file, 2..5).await.unwrap(), "234");
        let ranges = io.read_ranges(&file, &[8..10, 3..3, 0..1]).await.unwrap();
        assert_eq!(ranges, ["89", "", "0"]);
        assert_eq!(io.read_tail(&file, 4).await.unwrap(), (bytes("6789"), 10));
        assert_eq!(io.read_tail(&file, 99).await.unwrap(), (bytes("0123456789"), 10));
        for range in [5..11, 10..11, 50..60, 0..u64::MAX] {
            let error = io.read_range(&file, range.clone()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{range:?}: {error}");
        }
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = io.read_range(&file, 5..2).await.unwrap_err();
        assert_eq!(reversed.kind(), ErrorKind::Corrupt);
        let missing = io.read_range(&format!("{base}/g"), 0..1).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    })
    .await;
}

#[tokio::test]
async fn listing() {
    on_both(async |io, base| {
        assert_eq!(io.list(&base).await.unwrap(), []);
        for name in ["t/b", "t/a/x", "t/a/y", "t2/z"] {
            io.write(&format!("{base}/{name}"), bytes(name)).await.unwrap();
        }
        let all = io.list(&format!("{base}/")).await.unwrap();
        assert_eq!(locations(&all, &base), ["/t/a/x", "/t/a/y", "/t/b", "/t2/z"]);
        assert_eq!(all[2].size_bytes, 3);
        assert!(all[0].last_modified_ms > 1_600_000_000_000);
        let t = io.list(&format!("{base}/t")).await.unwrap();
        assert_eq!(locations(&t, &base), ["/t/a/x", "/t/a/y", "/t/b"]);
        let level = io.list_dir(&format!("{base}/t")).await.unwrap();
        assert_eq!(locations(&level.files, &base), ["/t/b"]);
        assert_eq!(level.dirs, [format!("{base}/t/a")]);
        let missing = io.list_dir(&format!("{base}/nothing")).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    })
    .await;
}

#[tokio::test]
async fn directories() {
    on_both(async |io, base| {
        let dir = format!("{base}/ns/sub");
        assert!(!io.dir_exists(&dir).await.unwrap());
        io.create_dir(&dir).await.unwrap();
        assert_eq!(io.create_dir(&dir).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(io.list_dir(&dir).await.unwrap(), DirListing::default());
        assert_eq!(
            io.list_dir(&format!("{base}/ns")).await.unwrap().dirs,
            std::slice::from_ref(&dir)
        );
        assert_eq!(io.list(&base).await.unwrap(), []);
        io.write(&format!("{dir}/f"), bytes("x")).await.unwrap();
        let full = io.delete_dir(&dir, DeleteDir::IfEmpty).await.unwrap_err();
        assert_eq!(full.kind(), ErrorKind::NotEmpty);
        io.delete(&format!("{dir}/f")).await.unwrap();
        io.delete_dir(&dir, DeleteDir::IfEmpty).await.unwrap();
        io.delete_dir(&dir, DeleteDir::IfEmpty).await.unwrap();
        assert!(!io.dir_exists(&dir).await.unwrap());
        io.write(&format!("{dir}/a/b/f"), bytes("x")).await.unwrap();
        io.delete_dir(&format!("{base}/ns"), DeleteDir::WithContents)
            .await
            .unwrap();
        assert_eq!(io.list(&base).await.unwrap(), []);
        assert!(!io.dir_exists(&format!("{base}/ns")).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn many_deletions_go_on_after_a_failure() {
    on_both(async |io, base| {
        let files = [
            format!("{base}/a"),
            format!("{base}/../b"),
            format!("{base}/missing"),
            format!("{base}/c"),
        ];
        for file in [&files[0], &files[3]] {
            io.write(file, bytes("x")).await.unwrap();
        }
        let failed = io.delete_many(&files).await;
        assert_eq!(failed.len(), 1);
        assert!(failed[0].to_string().contains("/../b"));
        assert_eq!(io.list(&base).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn streamed_files_appear_when_finished() {
    on_both(async |io, base| {
        let file = format!("{base}/big");
        let chunk = Bytes::from(vec![7u8; 3 << 20]);
        for parts in [0, 1, 9] {
            let mut writer = io.writer(&file).unwrap();
            for _ in 0..parts {
                writer.write(chunk.clone()).await.unwrap();
            }
            assert!(!io.exists(&file).await.unwrap());
            let size = parts * (3 << 20);
            assert_eq!(writer.finish().await.unwrap(), size);
            assert_eq!(io.size(&file).await.unwrap(), size);
            io.delete(&file).await.unwrap();
        }
        let mut writer = io.writer(&format!("{base}/gone")).unwrap();
        for _ in 0..6 {
            writer.write(chunk.clone()).await.unwrap();
        }
        writer.abort().await.unwrap();
        assert_eq!(io.list(&base).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn climbing_and_relative_locations_are_refused() {
    let io = FileIo::memory();
    for location in ["/a/../b", "s3://b/x/../../y", "a/b", "file:a", ""] {
        let error = io.read(location).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{location}");
        let error = io.write(location, bytes("x")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{location}");
    }
}

#[tokio::test]
async fn unknown_schemes_say_what_to_configure() {
    let error = FileIo::local().read("s3a://bucket/t/f").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let text = error.to_string();
    assert!(
        text.contains("'s3'") && text.contains("'bucket'") && text.contains("s3a://bucket/t/f"),
        "{text}"
    );
    let error = FileIo::local().read("file://host/t/f").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[tokio::test]
async fn stores_by_scheme_and_bucket() {
    let one: Arc<dyn ObjectStore> = Arc::new(object_store::memory::InMemory::new());
    let other: Arc<dyn ObjectStore> = Arc::new(object_store::memory::InMemory::new());
    let io = FileIo::builder()
        .with_store("s3a", one.clone())
        .with_bucket_store("s3", "special", other.clone())
        .build();
    io.write("s3://b/k", bytes("1")).await.unwrap();
    io.write("s3n://special/k", bytes("2")).await.unwrap();
    assert_eq!(io.read("s3a://b/k").await.unwrap(), "1");
    assert_eq!(one.get(&Path::from("b/k")).await.unwrap().bytes().await.unwrap(), "1");
    assert_eq!(other.get(&Path::from("k")).await.unwrap().bytes().await.unwrap(), "2");
    let doubled = io.read("s3://special/a//k").await.unwrap_err();
    assert_eq!(doubled.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn relocated_tables_open_and_list_under_their_old_name() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().to_str().unwrap();
    std::fs::create_dir_all(dir.path().join("t/data")).unwrap();
    std::fs::write(dir.path().join("t/data/f"), "x").unwrap();
    let io = FileIo::builder()
        .with_location_prefix("s3://old/wh", here)
        .with_location_prefix("relative", here)
        .build();
    assert_eq!(io.read("s3a://old/wh/t/data/f").await.unwrap(), "x");
    assert_eq!(io.read("relative/t/data/f").await.unwrap(), "x");
    let listed = io.list("s3a://old/wh/t").await.unwrap();
    assert_eq!(listed[0].location, "s3a://old/wh/t/data/f");
    let level = io.list_dir("relative/t/").await.unwrap();
    assert_eq!(level.dirs, ["relative/t/data"]);
    let climbing = io.read("s3://old/wh/../../etc/passwd").await.unwrap_err();
    assert_eq!(climbing.kind(), ErrorKind::InvalidInput);
    let error = io.read("s3://old/wh/t/data/g").await.unwrap_err();
    assert!(error.to_string().contains("s3://old/wh/t/data/g"), "{error}");
}

#[tokio::test]
async fn open_knows_the_length() {
    let io = FileIo::memory();
    io.write("/f", bytes("abc")).await.unwrap();
    let file = io.open("/f").await.unwrap();
    assert_eq!((file.location(), file.size_bytes()), ("/f", 3));
    assert_eq!(file.read_range(1..3).await.unwrap(), "bc");
    assert_eq!(io.open("/g").await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn full_disks_are_named() {
    let enospc = std::io::Error::from_raw_os_error(28);
    let error = store_error(object_store::Error::Generic {
        store: "local",
        source: enospc.into(),
    });
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(error.message(), "no space is left on the device");
}
