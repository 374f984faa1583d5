//! The table: what each crate may see of this repository, and which foreign crates it must never see.

/// What one crate may see.
pub struct Rule {
    /// Its folder below `crates/`.
    pub folder: &'static str,
    /// The crates of this repository it may see.
    may_see: &'static [&'static str],
    /// Foreign crates it must not see: a name, or a family such as `datafusion*`.
    never: &'static [&'static str],
    /// Exceptions to `never`.
    except: &'static [&'static str],
}

/// The format is what this project exists for, so nobody else's implementation of it is linked anywhere.
const NEVER_ANYWHERE: &[&str] = &["iceberg", "iceberg-*"];

/// One row per crate; a crate without a row fails the test.
pub const RULES: &[Rule] = &[
    Rule {
        folder: "format",
        may_see: &[],
        never: &["datafusion*", "parquet*", "sqlparser", "arrow", "arrow-*", "sqlx*"],
        except: &["arrow-array", "arrow-buffer"],
    },
    Rule {
        folder: "catalogs",
        may_see: &["tarn-format"],
        never: &["datafusion*", "sqlparser"],
        except: &[],
    },
    Rule {
        folder: "engine",
        may_see: &["tarn-format"],
        never: &["sqlparser", "sqlx*"],
        except: &[],
    },
    Rule {
        folder: "sql",
        may_see: &["tarn-format", "tarn-engine"],
        never: &["tonic*", "rustyline"],
        except: &[],
    },
    Rule {
        folder: "tarn",
        may_see: &["tarn-format", "tarn-catalogs", "tarn-engine", "tarn-sql"],
        never: &["tonic*", "rustyline"],
        except: &[],
    },
    Rule {
        folder: "server",
        may_see: &["tarn-format", "tarn-catalogs", "tarn-engine", "tarn-sql", "tarn"],
        never: &["rustyline"],
        except: &[],
    },
    Rule {
        folder: "cli",
        may_see: &["tarn-format", "tarn-catalogs", "tarn", "tarn-server"],
        never: &[],
        except: &[],
    },
];

impl Rule {
    /// Why this crate must not see `dependency` (its package name); `None` when it may.
    pub fn forbids(&self, dependency: &str) -> Option<String> {
        if dependency == "tarn" || dependency.starts_with("tarn-") {
            let own = match self.folder {
                "tarn" => "tarn".to_string(),
                folder => format!("tarn-{folder}"),
            };
            let allowed = dependency == own || self.may_see.contains(&dependency);
            return (!allowed).then(|| format!("{} is not below {}", dependency, self.folder));
        }
        if self.except.contains(&dependency) {
            return None;
        }
        let mut never = self.never.iter().chain(NEVER_ANYWHERE);
        let pattern = never.find(|pattern| matches(pattern, dependency))?;
        Some(format!("{} must never see {pattern}", self.folder))
    }
}

/// Whether a name is the pattern, or begins with what stands before its `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(family) => name.starts_with(family),
        None => name == pattern,
    }
}
