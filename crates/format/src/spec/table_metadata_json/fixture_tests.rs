//! Reads every metadata file below `$TARN_FIXTURES` and compares what is written back with what was read.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::*;
use crate::error::ErrorKind;
use crate::spec::view_metadata::ViewMetadata;

fn metadata_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            metadata_files(&path, found);
        } else if !name.starts_with('.') && (name.ends_with(".metadata.json") || name.ends_with(".metadata.json.gz")) {
            found.push(path);
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Json> {
    let mut text = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(bytes), &mut text).ok()?;
    } else {
        text.extend_from_slice(bytes);
    }
    serde_json::from_slice(&text).ok()
}

/// Brings both sides to one form: drops nulls, empty optional collections and fields whose absence means the same, and
/// spells types, uuids and locations one way. `ours` also loses what the writer adds for readers of v1.
fn normalise(metadata: &mut Json) {
    let v1 = metadata["format-version"] == json!(1);
    let object = metadata.as_object_mut().unwrap();
    for legacy in ["schema", "partition-spec"] {
        object.remove(legacy);
    }
    if v1 {
        for filled in [
            "schemas",
            "partition-specs",
            "last-column-id",
            "last-partition-id",
            "last-sequence-number",
        ] {
            object.remove(filled);
        }
        for filled in [
            "current-schema-id",
            "default-spec-id",
            "default-sort-order-id",
            "sort-orders",
        ] {
            object.remove(filled);
        }
    }
    if object.get("next-row-id") == Some(&json!(0)) {
        object.remove("next-row-id");
    }
    if object.get("current-snapshot-id") == Some(&json!(-1)) {
        object.remove("current-snapshot-id");
    }
    if let Some(location) = object.get("location").and_then(Json::as_str) {
        let location = location.trim_end_matches('/').to_string();
        object.insert("location".into(), location.into());
    }
    if let Some(id) = object.get("current-snapshot-id").filter(|id| !id.is_null()).cloned() {
        let refs = object.entry("refs").or_insert_with(|| json!({}));
        let refs = refs.as_object_mut().unwrap();
        refs.entry("main")
            .or_insert_with(|| json!({"snapshot-id": id, "type": "branch"}));
    }
    drop_empty(metadata);
}

fn drop_empty(json: &mut Json) {
    match json {
        Json::Number(n) if n.as_i64().is_none() && n.is_u64() => *json = json!(n.as_u64().unwrap() as i64),
        Json::Object(object) => {
            if object.get("sequence-number") == Some(&json!(0)) && object.contains_key("manifest-list") {
                object.remove("sequence-number");
            }
            for name in ["type", "element", "key", "value"] {
                if let Some(Json::String(text)) = object.get_mut(name) {
                    *text = text.replace(", ", ",");
                }
            }
            for name in ["initial-default", "write-default"] {
                if let Some(Json::String(text)) = object.get_mut(name) {
                    *text = text.to_lowercase().replace(".000000", "");
                }
            }
            object.values_mut().for_each(drop_empty);
            object.retain(|_, v| {
                !(v.is_null() || v.as_array().is_some_and(Vec::is_empty) || v.as_object().is_some_and(|o| o.is_empty()))
            });
        }
        Json::Array(items) => items.iter_mut().for_each(drop_empty),
        _ => {}
    }
}

#[test]
fn fixtures_are_read_and_written_back_whole() {
    let Some(root) = std::env::var_os("TARN_FIXTURES") else {
        return;
    };
    let mut files = Vec::new();
    metadata_files(Path::new(&root), &mut files);
    files.sort();
    assert!(!files.is_empty(), "no metadata files below TARN_FIXTURES");
    let (mut tables, mut views, mut refused, mut differ) = (0, 0, Vec::new(), Vec::new());
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let input = parse(&bytes);
        let is_view = input.as_ref().is_some_and(|j| j.get("view-uuid").is_some());
        let read = if is_view {
            ViewMetadata::from_json(&bytes).map(|m| {
                (
                    m.to_json().unwrap(),
                    ViewMetadata::from_json(&m.to_json().unwrap()).unwrap() == m,
                )
            })
        } else {
            TableMetadata::from_json(&bytes).map(|m| {
                (
                    m.to_json().unwrap(),
                    TableMetadata::from_json(&m.to_json().unwrap()).unwrap() == m,
                )
            })
        };
        match read {
            Ok((output, stable)) => {
                assert!(stable, "{}: written and read again it differs", path.display());
                let (mut input, mut output) = (input.unwrap(), parse(&output).unwrap());
                normalise(&mut input);
                normalise(&mut output);
                if input != output {
                    differ.push(format!("{}\n  {input}\n  {output}", path.display()));
                }
                if is_view { views += 1 } else { tables += 1 }
            }
            Err(e) => {
                assert!(matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{e:?}");
                refused.push(format!("{}: {e}", path.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    println!("{tables} tables, {views} views, {} refused", refused.len());
    refused.iter().for_each(|line| println!("  {line}"));
    assert!(differ.is_empty(), "written back otherwise:\n{}", differ.join("\n"));
    assert!(tables > 10 * refused.len(), "too many metadata files were refused");
}
