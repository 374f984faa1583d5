use super::*;
use crate::error::ErrorKind;

fn parts(location: &str) -> (&str, &str, &str) {
    let l = Location::parse(location);
    (l.scheme, l.authority, l.path)
}

#[test]
fn parses_every_form() {
    assert_eq!(parts("/a/b"), ("", "", "/a/b"));
    assert_eq!(parts("a/b"), ("", "", "a/b"));
    assert_eq!(parts("file:/a/b"), ("file", "", "/a/b"));
    assert_eq!(parts("file:///a/b"), ("file", "", "/a/b"));
    assert_eq!(parts("file://wh/b"), ("file", "wh", "/b"));
    assert_eq!(parts("s3a://bucket/k/f"), ("s3a", "bucket", "/k/f"));
    assert_eq!(parts("s3://bucket"), ("s3", "bucket", ""));
    assert_eq!(
        parts("abfss://c@acc.dfs.core.windows.net/k"),
        ("abfss", "c@acc.dfs.core.windows.net", "/k")
    );
    assert_eq!(parts("/a/ts=10:00:00/f"), ("", "", "/a/ts=10:00:00/f"));
    assert_eq!(parts("dir/ts=10:00:00"), ("", "", "dir/ts=10:00:00"));
    assert_eq!(parts(""), ("", "", ""));
    assert_eq!(parts("://x"), ("", "", "://x"));
}

#[test]
fn query_and_fragment_are_part_of_the_name() {
    assert_eq!(parts("s3://b/a b%20c=é#?.parquet").2, "/a b%20c=é#?.parquet");
    let path = object_path("s3://b/x/a b%20c=é#?.parquet", Addressing::Path, EmptySegments::Refuse).unwrap();
    assert_eq!(path.as_ref(), "x/a b%20c=é#?.parquet");
}

#[test]
fn climbing_is_refused_and_named() {
    for location in [
        "/a/../b",
        "/..",
        "..",
        "../x",
        "s3://b/..",
        "s3://../x",
        "file:/a/./b",
        "/a/b/.",
        "file://../etc",
    ] {
        let error = refuse_climbing(location).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{location}");
        assert!(error.to_string().contains(location), "{error}");
    }
    for location in ["/a/..b", "/a/b..", "/a/.hidden", "/a/...", "s3://b/a..b/c"] {
        assert!(refuse_climbing(location).is_ok(), "{location}");
    }
}

#[test]
fn object_paths() {
    let key = |l, a, e| object_path(l, a, e).map(|p| p.to_string());
    use Addressing::*;
    use EmptySegments::*;
    assert_eq!(key("/a//b/", Path, Collapse).unwrap(), "a/b");
    assert_eq!(key("memory://wh/a", AuthorityAndPath, Collapse).unwrap(), "wh/a");
    assert_eq!(key("s3://b/a", Path, Refuse).unwrap(), "a");
    assert_eq!(key("s3://b", Path, Refuse).unwrap(), "");
    assert_eq!(
        key("s3://b/a//c", Path, Refuse).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert_eq!(
        key("/a/\u{0}b", Path, Collapse).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        key("/a/b\nc", Path, Collapse).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn one_file_has_many_spellings() {
    use Spelling::{Exact, SamePath, SameStore, Unplaced};
    for (a, b, expected) in [
        ("s3://b/t/f", "s3://b/t/f", Some(Exact)),
        ("s3://b/t/f", "s3a://b/t/f", Some(SameStore)),
        ("S3N://b/t/f", "s3a://b/t/f", Some(SameStore)),
        ("abfs://c@a/t/f", "abfss://c@a/t/f", Some(SameStore)),
        ("gcs://b/t/f", "gs://b/t/f", Some(SameStore)),
        ("file:/t/f", "/t/f", Some(SameStore)),
        ("file:/t/f", "file:///t/f", Some(SameStore)),
        ("hdfs:///t/f", "hdfs://nn/t/f", Some(Unplaced)),
        ("s3://b/t/f", "/t/f", Some(Unplaced)),
        ("s3://b/t/f", "file:///t/f", Some(Unplaced)),
        ("file:///t/f", "hdfs://nn/t/f", Some(Unplaced)),
        ("hdfs://nn1:8020/t/f", "hdfs://nn2/t/f", Some(SamePath)),
        ("viewfs://c/t/f", "hdfs://nn2/t/f", Some(SamePath)),
        ("file://localhost/t/f", "hdfs://nn/t/f", Some(SamePath)),
        ("s3://b1/t/f", "s3://b2/t/f", None),
        ("s3://b/t/f", "s3a://b2/t/f", None),
        ("s3://b/t/f", "gs://b/t/f", None),
        ("abfs://c1@a/t/f", "abfs://c2@a/t/f", None),
        ("hdfs://nn/t/f", "s3://b/t/f", None),
        ("s3://b/t/f", "s3://b/t/g", None),
        ("s3://b/t/f", "s3://b/x/t/f", None),
    ] {
        assert_eq!(spelling(a, b), expected, "{a} {b}");
        assert_eq!(spelling(b, a), expected, "{b} {a}");
        assert_eq!(same_file(a, b), expected.is_some(), "{a} {b}");
    }
}

#[test]
fn names_and_parents() {
    assert_eq!(file_name("s3://b/a/f.avro"), "f.avro");
    assert_eq!(file_name("f.avro"), "f.avro");
    assert_eq!(file_name("s3://b"), "");
    assert_eq!(parent("s3://b/a/f"), Some("s3://b/a"));
    assert_eq!(parent("s3://b/a"), Some("s3://b"));
    assert_eq!(parent("s3://b"), None);
    assert_eq!(parent("/a"), Some("/"));
    assert_eq!(parent("/"), None);
    assert_eq!(parent("/a/b/"), Some("/a"));
    assert_eq!(parent("file:/a/b"), Some("file:/a"));
    assert_eq!(join("s3://b/t/", "/data/f"), "s3://b/t/data/f");
    assert_eq!(join("/", "a"), "/a");
}

#[test]
fn trailing_slashes() {
    assert_eq!(strip_trailing_slash("s3://b/t//"), "s3://b/t");
    assert_eq!(strip_trailing_slash("s3://"), "s3://");
    assert_eq!(strip_trailing_slash("file:///"), "file://");
    assert_eq!(strip_trailing_slash("/"), "/");
    assert_eq!(strip_trailing_slash("/a"), "/a");
}

#[test]
fn store_schemes() {
    for (location, scheme) in [
        ("s3a://b/k", "s3"),
        ("S3N://b/k", "s3"),
        ("/x", "file"),
        ("FILE:/x", "file"),
        ("abfss://c@a/x", "abfs"),
        ("oss://b/x", "oss"),
    ] {
        assert_eq!(Location::parse(location).store_scheme(), scheme);
    }
}

#[test]
fn local_paths_become_absolute() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap();
    std::fs::create_dir(real.join("a")).unwrap();
    let got = from_local_path(&real.join("a/../a/missing/f")).unwrap();
    assert_eq!(got, format!("{}/a/missing/f", real.display()));
    assert!(from_local_path(FsPath::new("relative")).unwrap().starts_with('/'));
    assert!(from_local_path(&real.join("missing/../x")).is_err());
}
