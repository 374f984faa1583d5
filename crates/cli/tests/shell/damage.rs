//! Tables whose files are gone or broken: one line says which file, table and snapshot, and what to do.

use std::fs;
use std::path::PathBuf;

use crate::running::Place;

/// A table of two files; gives the first one's path.
fn table(place: &Place) -> PathBuf {
    let setup = "CREATE TABLE trips (id INT, city STRING); INSERT INTO trips VALUES (1, 'Oslo')";
    assert_eq!(place.run(&["-c", setup]).code, 0);
    let data = place.path().join("tarn-lake/default/trips/data");
    let file = fs::read_dir(data).unwrap().next().unwrap().unwrap().path();
    assert_eq!(place.run(&["-c", "INSERT INTO trips VALUES (2, 'Rome')"]).code, 0);
    file
}

fn fails(place: &Place, query: &str, told: &[&str]) {
    let ran = place.run(&["-c", query]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert_eq!(ran.stderr.trim_end().lines().count(), 1, "{ran:?}");
    for text in told {
        assert!(ran.stderr.contains(text), "{text}: {ran:?}");
    }
}

#[test]
fn a_data_file_that_is_gone_is_named_with_its_snapshot() {
    let place = Place::new();
    let file = table(&place);
    fs::remove_file(&file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let told = [name, "is gone", "table: default.trips", "snapshot: "];
    fails(&place, "SELECT * FROM trips", &told);
    fails(&place, "SELECT max(city) FROM trips WHERE id < 2", &told);
    // What needs no data file is still answered, and so is what is in the other one.
    let ran = place.run(&[
        "--format",
        "csv",
        "-c",
        "SELECT count(*) FROM trips; SELECT city FROM trips WHERE id = 2",
    ]);
    assert_eq!(ran.stdout, "count(*)\n2\ncity\nRome\n", "{ran:?}");
}

#[test]
fn broken_data_files_are_named() {
    let place = Place::new();
    let file = table(&place);
    let name = file.file_name().unwrap().to_str().unwrap();
    let whole = fs::read(&file).unwrap();
    let mut without_pages = whole.clone();
    without_pages[4..100].fill(0);
    for broken in [
        whole[..whole.len() / 2].to_vec(),
        vec![0; whole.len()],
        without_pages,
        Vec::new(),
    ] {
        fs::write(&file, broken).unwrap();
        fails(
            &place,
            "SELECT * FROM trips",
            &[name, "table: default.trips", "snapshot: "],
        );
    }
}

#[test]
fn a_manifest_that_is_gone_is_named_with_its_snapshot() {
    let place = Place::new();
    table(&place);
    let metadata = fs::read_dir(place.path().join("tarn-lake/default/trips/metadata")).unwrap();
    let is_manifest = |p: &PathBuf| p.to_string_lossy().ends_with("-m0.avro");
    let manifests: Vec<PathBuf> = metadata.map(|e| e.unwrap().path()).filter(is_manifest).collect();
    for manifest in &manifests {
        fs::remove_file(manifest).unwrap();
    }
    fails(
        &place,
        "SELECT * FROM trips",
        &["-m0.avro", "table: default.trips", "snapshot: "],
    );
}
