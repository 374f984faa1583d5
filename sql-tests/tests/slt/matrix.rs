//! The combinations in which a scenario runs: catalogs, and the values of its `# matrix:` line.

use std::fmt;

/// One way to run a file: labels such as `mode=merge-on-read`, the catalog among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combination {
    labels: Vec<(String, String)>,
}

impl Combination {
    /// All labels, name and value.
    pub fn labels(&self) -> Vec<(String, String)> {
        self.labels.clone()
    }

    /// All labels as `name=value`.
    pub fn shown_labels(&self) -> Vec<String> {
        self.labels
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    /// The value of the label `name`, such as `catalog`.
    pub fn value(&self, name: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether a condition's label, such as `format_version=3`, holds.
    pub fn has(&self, label: &str) -> bool {
        self.labels
            .iter()
            .any(|(name, value)| label.split_once('=') == Some((name, value)))
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown_labels().join(" "))
    }
}

/// What a folder of files runs on where a file says nothing else.
#[derive(Debug)]
pub struct Defaults {
    /// Catalogs of unmarked files.
    catalogs: &'static [&'static str],
    /// Catalogs of files marked `# catalog: memory`: they need views or RENAME.
    marked: &'static [&'static str],
    /// Table format versions; none when tables say it themselves.
    versions: &'static [&'static str],
}

impl Defaults {
    /// Whether new tables have the combination's format version without saying so.
    pub fn sets_version(&self) -> bool {
        !self.versions.is_empty()
    }
}

/// The golden scenarios (`golden/README.md`).
pub const GOLDEN: Defaults = Defaults {
    catalogs: &["hadoop", "sqlite"],
    marked: &["memory", "sqlite"],
    versions: &[],
};

/// Our own scenarios. New tables have the combination's version unless they say it themselves.
pub const EVERYWHERE: Defaults = Defaults {
    catalogs: &["memory", "hadoop", "sqlite"],
    marked: &["memory", "sqlite"],
    versions: &["1", "2", "3"],
};

/// The axes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    axes: Vec<(String, Vec<String>)>,
}

impl Matrix {
    /// Reads the `# catalog:` and `# matrix:` lines of a file.
    pub fn parse(text: &str, defaults: &Defaults) -> Result<Self, String> {
        let mut axes = vec![axis("catalog", defaults.catalogs)];
        if !defaults.versions.is_empty() {
            axes.push(axis("format_version", defaults.versions));
        }
        for line in text.lines().filter_map(|l| l.strip_prefix('#')).map(str::trim) {
            if let Some(catalog) = line.strip_prefix("catalog:") {
                match catalog.trim() {
                    "memory" => axes[0] = axis("catalog", defaults.marked),
                    other => return Err(format!("unknown '# catalog: {other}'")),
                }
            }
            if let Some(matrix) = line.strip_prefix("matrix:") {
                for part in matrix.split(';') {
                    let (name, values) = part
                        .split_once('=')
                        .ok_or_else(|| format!("no '=' in '# matrix:{matrix}'"))?;
                    let values: Vec<&str> = values.split(',').map(str::trim).collect();
                    if values.iter().any(|v| v.is_empty()) {
                        return Err(format!("an empty value in '# matrix:{matrix}'"));
                    }
                    axes.retain(|(known, _)| known != name.trim());
                    axes.push(axis(name.trim(), &values));
                }
            }
        }
        Ok(Matrix { axes })
    }

    /// The product of all axes, the last one varying fastest.
    pub fn combinations(&self) -> Vec<Combination> {
        let mut all = vec![Combination { labels: Vec::new() }];
        for (name, values) in &self.axes {
            let extend = |c: Combination| {
                values.iter().map(move |value| {
                    let mut labels = c.labels.clone();
                    labels.push((name.clone(), value.clone()));
                    Combination { labels }
                })
            };
            all = all.into_iter().flat_map(extend).collect();
        }
        all
    }
}

fn axis(name: &str, values: &[&str]) -> (String, Vec<String>) {
    (name.to_string(), values.iter().map(|v| (*v).to_string()).collect())
}
