//! Manifests and lists of real tables, when `TARN_FIXTURES` names the folder that holds them.

use std::path::{Path, PathBuf};

use crate::manifest::avro::container::read_header;
use crate::manifest::columns::MetricsProjection;
use crate::manifest::{list, reader};

fn avro_files(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            avro_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "avro") {
            files.push(path);
        }
    }
}

/// A made-up manifest whose only entry is of format RAWBLOB and climbs out of the table.
const REFUSED: &str = "manifest_outside.avro";

#[test]
fn every_manifest_and_list_decodes() {
    let Some(root) = std::env::var_os("TARN_FIXTURES") else {
        return;
    };
    let mut files = Vec::new();
    avro_files(Path::new(&root), &mut files);
    let (mut manifests, mut entries, mut lists, mut listed) = (0, 0, 0, 0);
    let mut failed = Vec::new();
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let Ok((header, _)) = read_header(&bytes) else { continue };
        let name: serde_json::Value =
            serde_json::from_str(header.text("avro.schema").unwrap_or("0")).unwrap_or_default();
        let result = match name["name"].as_str() {
            Some("manifest_entry") => reader::decode(&bytes, None, &MetricsProjection::All).map(|c| {
                manifests += 1;
                entries += c.len;
            }),
            Some("manifest_file") => list::decode(&bytes).map(|l| {
                lists += 1;
                listed += l.len();
            }),
            _ => continue,
        };
        if path.ends_with(REFUSED) {
            let message = result.unwrap_err().to_string();
            assert!(message.contains("file format"), "{message}");
        } else if let Err(e) = result {
            failed.push(format!("{}: {e}", path.display()));
        }
    }
    println!("{manifests} manifests with {entries} entries, {lists} lists with {listed} manifests");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(manifests > 0 && lists > 0);
}
