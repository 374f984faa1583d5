use super::*;
use crate::error::ErrorKind;

fn provider(location: &str, properties: &[(&str, &str)]) -> LocationProvider {
    let properties = properties.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    LocationProvider::new(location, &properties).unwrap()
}

const HASHED: (&str, &str) = (OBJECT_STORE_ENABLED, "true");

#[test]
fn default_layout() {
    let p = provider("s3://b/db/t/", &[]);
    assert_eq!(p.new_data_location("", "f").unwrap(), "s3://b/db/t/data/f");
    assert_eq!(
        p.new_data_location("a=1/b=x", "f").unwrap(),
        "s3://b/db/t/data/a=1/b=x/f"
    );
    let p = provider("s3://b/db/t", &[(DATA_PATH, "gs://elsewhere/x//")]);
    assert_eq!(p.new_data_location("a=1", "f").unwrap(), "gs://elsewhere/x/a=1/f");
}

/// The hashes are those of Java's `TestLocationProvider`.
#[test]
fn hashed_layout_has_javas_directories() {
    let p = provider("/wh/t", &[HASHED]);
    for (name, dirs) in [
        ("a", "0101/0110/1001/10110010"),
        ("b", "1110/0111/1110/00000011"),
        ("c", "0010/1101/0110/01011111"),
        ("d", "1001/0001/0100/01110011"),
    ] {
        assert_eq!(
            p.new_data_location("", name).unwrap(),
            format!("/wh/t/data/{dirs}/{name}")
        );
    }
    let p = provider("/wh/t", &[HASHED, (OBJECT_STORE_PARTITIONED_PATHS, "false")]);
    let got = p.new_data_location("data=val", "test.parquet").unwrap();
    assert_eq!(got, "/wh/t/data/0110/1010/0011/11101000-test.parquet");
}

#[test]
fn hashed_layout_hashes_the_partition_too_and_names_the_table_outside_of_it() {
    let p = provider("/wh/t", &[HASHED]);
    let got = p.new_data_location("data%231=val%231", "test.parquet").unwrap();
    let parts: Vec<&str> = got.split('/').collect();
    assert_eq!(parts[3], "data");
    assert_eq!(parts[8..], ["data%231=val%231", "test.parquet"]);
    assert_ne!(
        got,
        p.new_data_location("data%231=val%232", "test.parquet")
            .unwrap()
            .replace("232", "231")
    );

    let p = provider("s3://b/db/t", &[HASHED, (DATA_PATH, "s3://shared/files")]);
    let got = p.new_data_location("", "a").unwrap();
    assert_eq!(got, "s3://shared/files/0101/0110/1001/10110010/db/t/a");
    let p = provider("s3://b/t", &[HASHED, (DATA_PATH, "s3://shared/files")]);
    let got = p.new_data_location("", "a").unwrap();
    assert_eq!(got, "s3://shared/files/0101/0110/1001/10110010/t/a");
}

#[test]
fn withdrawn_properties_and_own_classes_are_refused_when_data_is_written() {
    let kind = |properties: &[(&str, &str)]| {
        let p = provider("/t", properties);
        p.new_data_location("", "f").map_err(|e| (e.kind(), e.to_string()))
    };
    let (class_kind, message) = kind(&[(PROVIDER_IMPL, "com.example.Mine")]).unwrap_err();
    assert_eq!(class_kind, ErrorKind::Unsupported);
    assert!(message.contains("com.example.Mine"), "{message}");
    for properties in [
        &[(FOLDER_STORAGE_PATH, "/x")][..],
        &[HASHED, (FOLDER_STORAGE_PATH, "/x")],
        &[HASHED, (OBJECT_STORE_PATH, "/x")],
    ] {
        let (kind, message) = kind(properties).unwrap_err();
        assert_eq!(kind, ErrorKind::InvalidInput);
        assert!(message.contains(DATA_PATH), "{message}");
    }
    // Java looks at them only where they would be used.
    assert_eq!(kind(&[(OBJECT_STORE_PATH, "/x")]).unwrap(), "/t/data/f");
    assert_eq!(kind(&[(FOLDER_STORAGE_PATH, "/x"), (DATA_PATH, "/d")]).unwrap(), "/d/f");
    let p = provider("/t", &[(PROVIDER_IMPL, "com.example.Mine")]);
    assert!(p.new_metadata_file_location(1).is_ok());
    let empty = LocationProvider::new("", &Properties::new()).unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::InvalidInput);
}

#[test]
fn metadata_files() {
    let name = |properties: &[(&str, &str)]| provider("/t", properties).new_metadata_file_location(7);
    let got = name(&[]).unwrap();
    let middle = got
        .strip_prefix("/t/metadata/00007-")
        .and_then(|rest| rest.strip_suffix(".metadata.json"))
        .unwrap();
    assert!(Uuid::parse_str(middle).is_ok(), "{got}");
    assert!(
        name(&[(METADATA_CODEC, "GZIP")])
            .unwrap()
            .ends_with(".gz.metadata.json")
    );
    assert_eq!(
        name(&[(METADATA_CODEC, "zip")]).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert!(
        name(&[(METADATA_PATH, "s3://m/x/")])
            .unwrap()
            .starts_with("s3://m/x/00007-")
    );
}

#[test]
fn versions_in_names() {
    assert_eq!(
        metadata_file_version("s3://b-1/t/metadata/00012-0f1e.metadata.json"),
        Some(12)
    );
    assert_eq!(metadata_file_version("123456-x.gz.metadata.json"), Some(123456));
    for other in [
        "/t/metadata/v3.metadata.json",
        "/t/abc-1.metadata.json",
        "-1.metadata.json",
        "",
        "99999999999-x",
    ] {
        assert_eq!(metadata_file_version(other), None, "{other}");
    }
}
