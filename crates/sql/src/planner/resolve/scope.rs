//! What names mean at one place of a query: the relations of FROM, and the scope around it.

use sqlparser::ast::Expr;
use tarn_format::{Error, Result};

use super::builders::column;
use super::suggest::unknown_column;
use crate::planner::CaseSensitivity;

/// A column of a query's output or of a relation: what users call it, and what it is called in the rewritten query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputColumn {
    pub(crate) visible: String,
    pub(crate) internal: String,
}

impl OutputColumn {
    pub(crate) fn same(name: impl Into<String>) -> Self {
        let visible = name.into();
        OutputColumn {
            internal: visible.clone(),
            visible,
        }
    }
}

/// Whether columns can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exposure {
    /// They can.
    Exposed,
    /// Only in the join condition: the other side of a semi or anti join.
    Hidden,
}

/// A relation of FROM.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// Its alias in the rewritten query, unique there.
    pub(crate) qualifier: String,
    /// Its name to users: the alias, or catalog, namespace and table, by whose ends columns may be qualified.
    pub(crate) path: Vec<String>,
    pub(crate) columns: Vec<OutputColumn>,
    /// Columns that are found by name and never by `*`.
    pub(crate) metadata: Vec<String>,
    /// Which loaded relation it is.
    pub(crate) source: Option<usize>,
    pub(crate) exposure: Exposure,
}

/// A column of USING or NATURAL: one to users, of several relations.
#[derive(Debug, Clone)]
pub(crate) struct Merged {
    pub(crate) visible: String,
    pub(crate) value: Expr,
    pub(crate) members: Vec<(String, String)>,
}

/// The relations of one FROM, or of a part of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Relations {
    pub(crate) relations: Vec<Relation>,
    pub(crate) merged: Vec<Merged>,
}

impl Relations {
    pub(crate) fn append(&mut self, other: Relations) {
        self.relations.extend(other.relations);
        self.merged.extend(other.merged);
    }

    pub(crate) fn exposed(&self) -> impl Iterator<Item = &Relation> {
        self.relations.iter().filter(|r| r.exposure == Exposure::Exposed)
    }

    fn is_member(&self, relation: &Relation, internal: &str) -> bool {
        let member = |m: &Merged| m.members.iter().any(|(q, c)| *q == relation.qualifier && c == internal);
        self.merged.iter().any(member)
    }

    /// What `*` stands for: merged columns first, as the standard says, then the rest.
    pub(crate) fn all_columns(&self) -> Vec<(String, Expr)> {
        let merged = self.merged.iter().map(|m| (m.visible.clone(), m.value.clone()));
        let rest = self.exposed().flat_map(|r| {
            let own = r.columns.iter().filter(|c| !self.is_member(r, &c.internal));
            own.map(|c| (c.visible.clone(), column(&r.qualifier, &c.internal)))
        });
        merged.chain(rest).collect()
    }
}

/// A use of a metadata column, which the scan must then give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MetadataUse {
    pub(crate) source: usize,
    pub(crate) column: String,
}

/// What a dotted name was found to be.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The column in the rewritten query.
    pub(crate) value: Expr,
    /// Its declared name.
    pub(crate) name: String,
    /// How many parts of the dotted name it took; the rest are fields of structs.
    pub(crate) taken: usize,
    pub(crate) metadata: Option<MetadataUse>,
}

/// The scope of an expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'p> {
    pub(crate) relations: &'p Relations,
    pub(crate) parent: Option<&'p Scope<'p>>,
    pub(crate) case: CaseSensitivity,
}

impl Scope<'_> {
    /// The column that a dotted name means, here or around here.
    pub(crate) fn find(&self, parts: &[String]) -> Result<Option<Found>> {
        if let Some(found) = self.find_here(parts)? {
            return Ok(Some(found));
        }
        match self.parent {
            Some(parent) => parent.find(parts),
            None => Ok(None),
        }
    }

    /// Longer qualifiers win over shorter ones, and those over structs.
    pub(crate) fn find_here(&self, parts: &[String]) -> Result<Option<Found>> {
        for qualifiers in (0..parts.len()).rev() {
            let (qualifier, rest) = parts.split_at(qualifiers);
            let Some(name) = rest.first() else { continue };
            let mut matches = if qualifier.is_empty() {
                self.unqualified(name)
            } else {
                self.qualified(qualifier, name)
            };
            if matches.len() > 1 {
                return Err(ambiguous(&parts[..=qualifiers], self.relations));
            }
            if let Some(mut found) = matches.pop() {
                found.taken = qualifiers + 1;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn unqualified(&self, name: &str) -> Vec<Found> {
        let merged = self
            .relations
            .merged
            .iter()
            .filter(|m| self.case.same(&m.visible, name));
        let merged = merged.map(|m| Found {
            value: m.value.clone(),
            name: m.visible.clone(),
            taken: 1,
            metadata: None,
        });
        let own = self.relations.exposed().flat_map(|r| {
            let columns = r.columns.iter().filter(|c| self.case.same(&c.visible, name));
            let free = columns.filter(|c| !self.relations.is_member(r, &c.internal));
            free.map(|c| found(r, c))
        });
        let matches: Vec<Found> = merged.chain(own).collect();
        if !matches.is_empty() {
            return matches;
        }
        let relations = self.relations.exposed();
        relations.flat_map(|r| self.metadata_column(r, name)).collect()
    }

    fn qualified(&self, qualifier: &[String], name: &str) -> Vec<Found> {
        let relations = self.relations.exposed().filter(|r| self.is_called(r, qualifier));
        relations
            .flat_map(|r| {
                let own: Vec<Found> = r
                    .columns
                    .iter()
                    .filter(|c| self.case.same(&c.visible, name))
                    .map(|c| found(r, c))
                    .collect();
                if own.is_empty() {
                    self.metadata_column(r, name).into_iter().collect()
                } else {
                    own
                }
            })
            .collect()
    }

    fn metadata_column(&self, relation: &Relation, name: &str) -> Option<Found> {
        let declared = relation.metadata.iter().find(|m| self.case.same(m, name))?;
        Some(Found {
            value: column(&relation.qualifier, declared),
            name: declared.clone(),
            taken: 1,
            metadata: relation.source.map(|source| MetadataUse {
                source,
                column: declared.clone(),
            }),
        })
    }

    /// Whether the relation's name ends with these parts.
    fn is_called(&self, relation: &Relation, qualifier: &[String]) -> bool {
        let path = &relation.path;
        path.len() >= qualifier.len()
            && path
                .iter()
                .rev()
                .zip(qualifier.iter().rev())
                .all(|(own, wanted)| self.case.same(own, wanted))
    }

    /// The relations of this scope that `qualifier.*` means.
    pub(crate) fn relations_called(&self, qualifier: &[String]) -> Vec<&Relation> {
        let all = self.relations.exposed();
        all.filter(|r| self.is_called(r, qualifier)).collect()
    }

    /// The error that nothing has this name.
    pub(crate) fn unknown(&self, parts: &[String]) -> Error {
        let mut known = Vec::new();
        let mut scope = Some(self);
        while let Some(s) = scope {
            for relation in s.relations.exposed() {
                let qualifier = relation.path.last().cloned().unwrap_or_default();
                known.extend(relation.columns.iter().map(|c| (qualifier.clone(), c.visible.clone())));
            }
            scope = s.parent;
        }
        unknown_column(parts, &known)
    }
}

fn found(relation: &Relation, c: &OutputColumn) -> Found {
    Found {
        value: column(&relation.qualifier, &c.internal),
        name: c.visible.clone(),
        taken: 1,
        metadata: None,
    }
}

fn ambiguous(parts: &[String], relations: &Relations) -> Error {
    let tables: Vec<String> = relations.exposed().map(|r| r.path.join(".")).collect();
    Error::invalid(format!(
        "column '{}' is ambiguous: more than one column of {} has that name",
        parts.join("."),
        tables.join(", ")
    ))
}
