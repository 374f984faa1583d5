use std::sync::Barrier;

use crate::error::ErrorKind;
use crate::io::{DeleteDir, FileIo};

use super::*;

fn data(s: &str) -> Bytes {
    Bytes::copy_from_slice(s.as_bytes())
}

fn names(dir: &FsPath) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_str().unwrap().to_string())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn names_are_literal_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let io = FileIo::local();
    let odd = [
        "a b%20c=é#?.parquet",
        "f#1",
        "100%",
        "%2E%2E",
        "~[x]{y}|^`<>\"\\*",
        "ts=2020-01-01T00:00:00",
        "日本語 ☃",
        ".hidden",
        "trailing.",
        "+a&b;c",
    ];
    for name in odd {
        fs::write(dir.path().join(name), name).unwrap();
        let location = format!("{}/{name}", dir.path().display());
        for form in [
            location.clone(),
            format!("file:{location}"),
            format!("file://{location}"),
            format!("file://localhost{location}"),
        ] {
            assert_eq!(io.read(&form).await.unwrap(), name, "{form}");
        }
        let copy = format!("{}/out/{name}", dir.path().display());
        io.create(&copy, data(name)).await.unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("out").join(name)).unwrap(), name);
    }
    let base = format!("file:{}/out", dir.path().display());
    let mut expected: Vec<String> = odd.iter().map(|name| format!("{base}/{name}")).collect();
    expected.sort();
    let listed = io.list(&base).await.unwrap();
    assert_eq!(listed.into_iter().map(|f| f.location).collect::<Vec<_>>(), expected);
}

#[test]
fn exactly_one_racing_create_wins() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 20;
    let dir = tempfile::tempdir().unwrap();
    let barrier = Barrier::new(THREADS);
    let wins: usize = std::thread::scope(|scope| {
        let run = |thread: usize| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            // Each thread its own instance, as another process would have.
            let io = FileIo::local();
            let mut wins = 0;
            for round in 0..ROUNDS {
                let location = format!("{}/d{round}/v1.json", dir.path().display());
                barrier.wait();
                match runtime.block_on(io.create(&location, data(&format!("thread {thread}")))) {
                    Ok(()) => {
                        wins += 1;
                        let text = fs::read_to_string(&location).unwrap();
                        assert_eq!(text, format!("thread {thread}"));
                    }
                    Err(e) => assert_eq!(e.kind(), ErrorKind::AlreadyExists, "{e}"),
                }
            }
            wins
        };
        let threads: Vec<_> = (0..THREADS).map(|t| scope.spawn(move || run(t))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(wins, ROUNDS);
    for round in 0..ROUNDS {
        assert_eq!(names(&dir.path().join(format!("d{round}"))), ["v1.json"]);
    }
}

#[test]
fn exactly_one_racing_create_dir_wins() {
    let dir = tempfile::tempdir().unwrap();
    let location = format!("{}/a/b", dir.path().display());
    let barrier = Barrier::new(6);
    let wins = std::thread::scope(|scope| {
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            barrier.wait();
            runtime.block_on(FileIo::local().create_dir(&location)).is_ok()
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(run)).collect();
        threads
            .into_iter()
            .filter(|_| true)
            .map(|t| t.join().unwrap())
            .filter(|won| *won)
            .count()
    });
    assert_eq!(wins, 1);
}

#[tokio::test]
async fn readers_never_see_half_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let location = format!("{}/hint", dir.path().display());
    let io = FileIo::builder().with_durability(Durability::OsCache).build();
    io.write(&location, Bytes::from(vec![0u8; 1 << 20])).await.unwrap();
    let writer = {
        let (io, location) = (io.clone(), location.clone());
        tokio::spawn(async move {
            for i in 1..20u8 {
                io.write(&location, Bytes::from(vec![i; 1 << 20])).await.unwrap();
            }
        })
    };
    while !writer.is_finished() {
        let seen = io.read(&location).await.unwrap();
        assert_eq!(seen.len(), 1 << 20);
        assert!(seen.iter().all(|b| *b == seen[0]));
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn staging_files_are_hidden_and_cleaned() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let staged = Staged::new(&path, Durability::OsCache).unwrap();
    let base = dir.path().to_str().unwrap();
    assert_eq!(names(dir.path()).len(), 1);
    assert_eq!(FileIo::local().list(base).await.unwrap(), []);
    assert_eq!(FileIo::local().list_dir(base).await.unwrap().files, []);
    drop(staged);
    assert_eq!(names(dir.path()), Vec::<String>::new());

    fs::write(&path, "x").unwrap();
    let lost = Staged::new(&path, Durability::Synced).unwrap().publish_new();
    assert!(matches!(lost, Err(Error::AlreadyExists { .. })));
    assert_eq!(names(dir.path()), ["f"]);

    let mut writer = FileIo::local().writer(&format!("{base}/g")).unwrap();
    for _ in 0..4 {
        writer.write(Bytes::from(vec![1u8; 8 << 20])).await.unwrap();
    }
    drop(writer);
    // A part being written keeps the staging file until its thread is done.
    let waited = std::time::Instant::now();
    while names(dir.path()) != ["f"] {
        assert!(waited.elapsed().as_secs() < 30, "staging file stays");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn failures_of_writing_are_io_errors() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    let io = FileIo::local();
    let below_a_file = format!("{}/file/f", dir.path().display());
    let error = io.write(&below_a_file, data("x")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("part of the path is a file"), "{error}");
    assert_eq!(io.read(&below_a_file).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!io.exists(&below_a_file).await.unwrap());
    io.delete(&below_a_file).await.unwrap();

    let onto_a_directory = dir.path().to_str().unwrap();
    assert_eq!(
        io.write(onto_a_directory, data("x")).await.unwrap_err().kind(),
        ErrorKind::Io
    );
    assert!(!io.exists(onto_a_directory).await.unwrap());
    assert_eq!(io.read(onto_a_directory).await.unwrap_err().kind(), ErrorKind::NotFound);
    let long = format!("{onto_a_directory}/{}", "n".repeat(300));
    let error = io.write(&long, data("x")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let as_dir = io
        .delete_dir(&format!("{onto_a_directory}/file"), DeleteDir::IfEmpty)
        .await;
    assert_eq!(as_dir.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(names(dir.path()), ["file"]);
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_and_loops_end() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("far"), "x").unwrap();
    fs::create_dir_all(dir.path().join("t/data")).unwrap();
    fs::write(dir.path().join("t/data/near"), "x").unwrap();
    symlink(elsewhere.path(), dir.path().join("t/disk2")).unwrap();
    symlink(dir.path().join("t"), dir.path().join("t/data/up")).unwrap();
    symlink(elsewhere.path(), elsewhere.path().join("self")).unwrap();
    symlink("/nowhere/at/all", dir.path().join("t/broken")).unwrap();
    let base = dir.path().join("t").to_str().unwrap().to_string();
    let listed = FileIo::local().list(&base).await.unwrap();
    let found: Vec<_> = listed.iter().map(|f| f.location.strip_prefix(&base).unwrap()).collect();
    assert_eq!(found, ["/data/near", "/disk2/far"]);
}

#[cfg(unix)]
#[tokio::test]
async fn names_that_no_location_holds_are_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"bad\xff")), "x").unwrap();
    fs::write(dir.path().join("line\nbreak"), "x").unwrap();
    fs::write(dir.path().join("good"), "x").unwrap();
    let listed = FileIo::local().list(dir.path().to_str().unwrap()).await.unwrap();
    assert_eq!(listed.len(), 1);
}

#[tokio::test]
async fn copies_through_the_store_interface() {
    use object_store::ObjectStoreExt;
    let dir = tempfile::tempdir().unwrap();
    let (io, base) = (FileIo::local(), dir.path().to_str().unwrap());
    io.write(&format!("{base}/a"), data("x")).await.unwrap();
    let (store, a) = io.object(&format!("{base}/a")).unwrap();
    let (_, b) = io.object(&format!("{base}/b")).unwrap();
    store.copy(&a, &b).await.unwrap();
    assert!(store.copy_if_not_exists(&a, &b).await.is_err());
    assert_eq!(io.read(&format!("{base}/b")).await.unwrap(), "x");
}

#[tokio::test]
async fn a_directory_is_renamed_with_its_contents_but_never_over_another() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/deep")).unwrap();
    fs::write(dir.path().join("a/deep/f"), "x").unwrap();
    fs::create_dir(dir.path().join("taken")).unwrap();
    let io = FileIo::local();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let over = io.rename_dir(&at("a"), &at("taken")).await.unwrap_err();
    assert_eq!(over.kind(), ErrorKind::AlreadyExists);
    io.rename_dir(&at("a"), &at("b")).await.unwrap();
    assert_eq!(names(dir.path()), ["b", "taken"]);
    assert_eq!(fs::read(dir.path().join("b/deep/f")).unwrap(), b"x");
    let missing = io.rename_dir(&at("a"), &at("c")).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let elsewhere = FileIo::memory().rename_dir("/a", "/b").await.unwrap_err();
    assert_eq!(elsewhere.kind(), ErrorKind::Unsupported);
}
