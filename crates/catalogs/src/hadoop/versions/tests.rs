use bytes::Bytes;
use tarn_format::io::FileIo;

use super::*;

const TABLE: &str = "/wh/db/t";

async fn directory(files: &[(&str, &str)]) -> FileIo {
    let io = FileIo::memory();
    for (name, content) in files {
        let location = join(&metadata_dir(TABLE), name);
        io.write(&location, Bytes::copy_from_slice(content.as_bytes()))
            .await
            .unwrap();
    }
    io
}

async fn current(files: &[(&str, &str)]) -> Option<String> {
    let io = directory(files).await;
    let found = current_metadata(&io, TABLE).await.unwrap();
    found.map(|c| file_name(c.location()).to_owned())
}

#[test]
fn only_names_of_versions_have_numbers() {
    assert_eq!(version_number("v12.metadata.json"), Some(12));
    assert_eq!(version_number("v0.metadata.json"), Some(0));
    assert_eq!(version_number("v12.gz.metadata.json"), Some(12));
    assert_eq!(version_number("v12.metadata.json.gz"), Some(12));
    for other in [
        "v1.gc_disabled.metadata.json",
        "v01.metadata.json",
        "v.metadata.json",
        "v+1.metadata.json",
        "00001-a.metadata.json",
        "v99999999999999999999.metadata.json",
        "v1.metadata.json.tmp",
        "snap-1.avro",
    ] {
        assert_eq!(version_number(other), None, "{other}");
    }
}

#[tokio::test]
async fn no_directory_is_no_table() {
    assert_eq!(current(&[]).await, None);
    assert_eq!(current(&[("version-hint.text", "3")]).await, None);
}

#[tokio::test]
async fn a_missing_empty_misnamed_or_wrong_hint_does_not_matter() {
    let versions = [
        ("v1.metadata.json", ""),
        ("v2.metadata.json", ""),
        ("v10.metadata.json", ""),
    ];
    let hints = ["", "\n", "x", "99", "-1", "0", "1", "18446744073709551615", "2.0", "v2"];
    for hint in hints {
        let mut files = versions.to_vec();
        files.push(("version-hint.text", hint));
        assert_eq!(
            current(&files).await.as_deref(),
            Some("v10.metadata.json"),
            "hint {hint:?}"
        );
    }
    let mut files = versions.to_vec();
    files.push(("version-hint.txt", "1"));
    assert_eq!(current(&files).await.as_deref(), Some("v10.metadata.json"));
}

#[tokio::test]
async fn readers_go_past_the_hint() {
    let files = [
        ("version-hint.text", "2\n"),
        ("v1.metadata.json", ""),
        ("v2.metadata.json", ""),
        ("v3.gz.metadata.json", ""),
        ("v4.metadata.json.gz", ""),
    ];
    assert_eq!(current(&files).await.as_deref(), Some("v4.metadata.json.gz"));
}

#[tokio::test]
async fn a_version_made_again_after_its_deletion_is_not_current() {
    // v4 was deleted after the commit of v9; a late writer made it again and died, and the hint is stale.
    let files = [
        ("version-hint.text", "4"),
        ("v4.metadata.json", ""),
        ("v8.metadata.json", ""),
        ("v9.metadata.json", ""),
    ];
    assert_eq!(current(&files).await.as_deref(), Some("v9.metadata.json"));
    let files = [
        ("version-hint.text", "1"),
        ("v1.metadata.json", ""),
        ("v8.metadata.json", ""),
        ("v9.metadata.json", ""),
    ];
    assert_eq!(current(&files).await.as_deref(), Some("v9.metadata.json"));
}

#[tokio::test]
async fn plain_wins_over_compressed_of_the_same_version() {
    let files = [
        ("v1.metadata.json", ""),
        ("v1.gz.metadata.json", ""),
        ("v1.gc_disabled.metadata.json", ""),
    ];
    assert_eq!(current(&files).await.as_deref(), Some("v1.metadata.json"));
}

#[tokio::test]
async fn directories_of_other_catalogs_are_read_by_their_hint_or_number() {
    let one = "00000-acdf842e-3a9d-4b9b-ad87-daf785831925.metadata.json";
    let two = "00001-19739cda-f528-4429-84cc-377ffdd24c75.metadata.json";
    assert_eq!(current(&[(one, ""), (two, "")]).await.as_deref(), Some(two));
    let hint = "00000-acdf842e-3a9d-4b9b-ad87-daf785831925";
    assert_eq!(
        current(&[(one, ""), (two, ""), ("version-hint.text", hint)])
            .await
            .as_deref(),
        Some(one)
    );
    let io = directory(&[(one, "")]).await;
    let found = current_metadata(&io, TABLE).await.unwrap();
    assert!(matches!(found, Some(CurrentMetadata::Foreign { .. })));
}
