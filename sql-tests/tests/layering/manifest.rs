//! The dependencies that a crate's manifest declares for what it ships: normal and build ones, of every target.

use toml::{Table, Value};

/// Package names (not the local names of renamed ones). Dev-dependencies are free, so they are left out.
pub fn dependencies(manifest: &str) -> Result<Vec<String>, toml::de::Error> {
    let manifest: Table = manifest.parse()?;
    let mut found = Vec::new();
    collect(&manifest, &mut found);
    let targets = manifest.get("target").and_then(Value::as_table);
    for target in targets.into_iter().flat_map(Table::values).filter_map(Value::as_table) {
        collect(target, &mut found);
    }
    Ok(found)
}

fn collect(section: &Table, found: &mut Vec<String>) {
    for kind in ["dependencies", "build-dependencies"] {
        let listed = section.get(kind).and_then(Value::as_table);
        for (name, value) in listed.into_iter().flatten() {
            let package = value.get("package").and_then(Value::as_str).unwrap_or(name);
            found.push(package.to_string());
        }
    }
}
