use super::*;
use crate::error::ErrorKind;

fn data(s: &str) -> Bytes {
    Bytes::copy_from_slice(s.as_bytes())
}

#[tokio::test]
async fn the_nth_operation_fails_alone() {
    let store = FaultStore::memory();
    let io = store.file_io();
    store.set(Fault::nth(1));
    io.write("/a", data("a")).await.unwrap();
    let error = io.create("/b", data("b")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    io.create("/c", data("c")).await.unwrap();
    assert!(!io.exists("/b").await.unwrap());
    let asked: Vec<_> = store
        .records()
        .iter()
        .map(|r| (r.operation, r.path.clone(), r.fault))
        .collect();
    assert_eq!(
        asked,
        [
            (Operation::Write, "a".to_string(), None),
            (Operation::Create, "b".to_string(), Some(Effect::None)),
            (Operation::Create, "c".to_string(), None),
            (Operation::Head, "b".to_string(), None),
        ]
    );
    assert!(store.was_hit());
}

#[tokio::test]
async fn killed_stays_dead_until_healed() {
    let store = FaultStore::memory();
    let io = store.file_io();
    io.write("/a", data("a")).await.unwrap();
    store.set(Fault::killed_at(1).effect(Effect::Done));
    io.write("/b", data("b")).await.unwrap();
    assert!(io.create("/c", data("c")).await.is_err());
    assert!(io.read("/a").await.is_err());
    assert!(io.delete("/a").await.is_err());
    assert!(io.list("/").await.is_err());
    store.heal();
    let left: Vec<String> = io.list("/").await.unwrap().into_iter().map(|f| f.location).collect();
    assert_eq!(
        left,
        ["/a", "/b", "/c"],
        "the first failing write took effect, the delete did not"
    );
}

#[tokio::test]
async fn torn_writes_leave_half() {
    let store = FaultStore::memory();
    let io = store.file_io();
    store.set(Fault::nth(0).effect(Effect::Torn).cause(Cause::NoSpace));
    let error = io.write("/f", data("12345678")).await.unwrap_err();
    assert_eq!(error.message(), "no space is left on the device");
    assert_eq!(io.read("/f").await.unwrap(), "1234");
}

#[tokio::test]
async fn only_chosen_operations_count() {
    let store = FaultStore::memory();
    let io = store.file_io();
    store.set(Fault::nth(1).only(&[Operation::Delete]).effect(Effect::Done));
    for file in ["/a", "/b", "/c"] {
        io.write(file, data("x")).await.unwrap();
    }
    let failed = io.delete_many(&["/a", "/b", "/c"]).await;
    assert_eq!(failed.len(), 1);
    assert_eq!(io.list("/").await.unwrap(), []);
    assert_eq!(store.paths(Operation::Delete), ["a", "b", "c"]);
}

#[tokio::test]
async fn local_directories_and_uploads_fail_too() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().to_str().unwrap();
    let store = FaultStore::local();
    let io = store.file_io();
    store.set(Fault::nth(0).effect(Effect::Done));
    assert_eq!(
        io.create_dir(&format!("{base}/d")).await.unwrap_err().kind(),
        ErrorKind::Io
    );
    assert!(io.dir_exists(&format!("{base}/d")).await.unwrap());
    store.set(Fault::nth(0));
    assert!(io.delete_dir(&format!("{base}/d"), DeleteDir::IfEmpty).await.is_err());
    assert!(io.dir_exists(&format!("{base}/d")).await.unwrap());

    for operation in [Operation::UploadStart, Operation::UploadPart, Operation::UploadComplete] {
        store.set(Fault::nth(0).only(&[operation]));
        let written = async {
            let mut writer = io.writer(&format!("{base}/d/big"))?;
            for _ in 0..3 {
                writer.write(Bytes::from(vec![0; 8 << 20])).await?;
            }
            writer.finish().await
        };
        assert_eq!(written.await.unwrap_err().kind(), ErrorKind::Io, "{operation:?}");
        assert!(store.was_hit());
        assert!(!io.exists(&format!("{base}/d/big")).await.unwrap(), "{operation:?}");
    }
}
