//! Listing local directories. Staging files are left out, and so are names that no location can hold.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path as FsPath, PathBuf};

use object_store::path::{Path, PathPart};
use object_store::{ListResult, ObjectMeta, Result};

use super::staged::is_staging_name;
use super::{fs_path, object_meta, os_error};

/// All files below `root`, sorted by path; none when it does not exist. Links to directories are followed,
/// each target once, so that loops end.
pub(super) fn recursive(root: &Path) -> Result<Vec<ObjectMeta>> {
    let mut found = Vec::new();
    let mut linked = HashSet::new();
    let mut pending = vec![root.clone()];
    while let Some(dir) = pending.pop() {
        let path = fs_path(&dir);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            // Also a directory that another process removes while we walk.
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            Err(e) => return Err(os_error(&path, e)),
        };
        for entry in entries {
            let entry = entry.map_err(|e| os_error(&path, e))?;
            match classify(&dir, &entry)? {
                Found::File(meta) => found.push(meta),
                Found::Directory(child) => pending.push(child),
                Found::LinkedDirectory(child, target) => {
                    if !path_is_within(&path, &target) && linked.insert(target) {
                        pending.push(child);
                    }
                }
                Found::Nothing => {}
            }
        }
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    Ok(found)
}

/// Files and directories directly below `root`, sorted.
pub(super) fn one_level(root: &Path) -> Result<ListResult> {
    let path = fs_path(root);
    let mut listed = ListResult {
        common_prefixes: Vec::new(),
        objects: Vec::new(),
    };
    for entry in fs::read_dir(&path).map_err(|e| os_error(&path, e))? {
        let entry = entry.map_err(|e| os_error(&path, e))?;
        match classify(root, &entry)? {
            Found::File(meta) => listed.objects.push(meta),
            Found::Directory(child) | Found::LinkedDirectory(child, _) => listed.common_prefixes.push(child),
            Found::Nothing => {}
        }
    }
    listed.objects.sort_by(|a, b| a.location.cmp(&b.location));
    listed.common_prefixes.sort();
    Ok(listed)
}

enum Found {
    File(ObjectMeta),
    Directory(Path),
    LinkedDirectory(Path, PathBuf),
    Nothing,
}

fn classify(dir: &Path, entry: &DirEntry) -> Result<Found> {
    let name = entry.file_name();
    let Some(name) = name
        .to_str()
        .filter(|n| !is_staging_name(n) && PathPart::parse(n).is_ok())
    else {
        return Ok(Found::Nothing);
    };
    let child = if dir.is_root() {
        Path::parse(name)
    } else {
        Path::parse(format!("{dir}/{name}"))
    }?;
    let path = entry.path();
    // Follows links; a broken one, or a file deleted meanwhile, is nothing.
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(_) if is_link(entry) => return Ok(Found::Nothing),
        Err(e) => return Err(os_error(&path, e)),
    };
    if metadata.is_file() {
        return Ok(Found::File(object_meta(child, &metadata)?));
    }
    if !metadata.is_dir() {
        return Ok(Found::Nothing);
    }
    if !is_link(entry) {
        return Ok(Found::Directory(child));
    }
    let target = fs::canonicalize(&path).map_err(|e| os_error(&path, e))?;
    Ok(Found::LinkedDirectory(child, target))
}

fn is_link(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|t| t.is_symlink())
}

/// Whether `path` lies in `target`, so that following a link to `target` would come back.
fn path_is_within(path: &FsPath, target: &FsPath) -> bool {
    fs::canonicalize(path).is_ok_and(|real| real.starts_with(target))
}
