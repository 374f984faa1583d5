//! A predicate over columns whose leaves are ready to be evaluated, on one set of statistics or on many files at once.

use std::marker::PhantomData;

use super::bound::BoundPredicate;
use super::column_domain::Domain;
use super::column_leaf::{Leaf, LeafKind};
use super::column_test::{Column, FieldStats, NoStats, Question, ValueTest};
use crate::manifest::columns::{FieldMetrics, ManifestColumns};
use crate::manifest::data_file::DataFile;
use crate::spec::types::FieldId;

/// A prepared predicate.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    Constant(bool),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Leaf(Leaf),
}

impl Tree {
    /// Prepares a predicate.
    pub(super) fn new(predicate: &BoundPredicate) -> Tree {
        let all = |children: &[BoundPredicate]| children.iter().map(Tree::new).collect();
        match predicate {
            BoundPredicate::AlwaysTrue => Tree::Constant(true),
            BoundPredicate::AlwaysFalse => Tree::Constant(false),
            BoundPredicate::And(children) => Tree::And(all(children)),
            BoundPredicate::Or(children) => Tree::Or(all(children)),
            leaf => Leaf::new(leaf).map_or(Tree::Constant(true), Tree::Leaf),
        }
    }

    /// The answer when `leaf` answers for the leaves.
    pub(super) fn ask(&self, leaf: &impl Fn(&Leaf) -> bool) -> bool {
        match self {
            Tree::Constant(holds) => *holds,
            Tree::And(children) => children.iter().all(|c| c.ask(leaf)),
            Tree::Or(children) => children.iter().any(|c| c.ask(leaf)),
            Tree::Leaf(l) => leaf(l),
        }
    }

    /// The answer for one file.
    pub(super) fn ask_file<Q: Question>(&self, file: &DataFile) -> bool {
        self.ask(&|leaf: &Leaf| {
            let field_id = leaf.column.field_id;
            leaf.ask::<Q, _>(&FileStats { file, field_id })
        })
    }

    /// Clears the flags of the files for which the answer is no. Flags that are clear already are not looked at.
    pub(super) fn narrow<Q: Question>(&self, files: &ManifestColumns, flags: &mut [bool]) {
        match self {
            Tree::Constant(true) => {}
            Tree::Constant(false) => flags.fill(false),
            Tree::And(children) => children.iter().for_each(|c| c.narrow::<Q>(files, flags)),
            Tree::Or(children) => {
                let mut open = flags.to_vec();
                let mut found = vec![false; flags.len()];
                for child in children {
                    let mut now = open.clone();
                    child.narrow::<Q>(files, &mut now);
                    for ((found, open), now) in found.iter_mut().zip(&mut open).zip(now) {
                        *found |= now;
                        *open &= !now;
                    }
                }
                flags.copy_from_slice(&found);
            }
            Tree::Leaf(leaf) => match files.metrics_of(leaf.column.field_id) {
                Some(metrics) => narrow_leaf::<Q>(leaf, metrics, flags),
                None if leaf.ask::<Q, _>(&NoStats) => {}
                None => flags.fill(false),
            },
        }
    }
}

fn narrow_leaf<Q: Question>(leaf: &Leaf, metrics: &FieldMetrics, flags: &mut [bool]) {
    // One loop per domain, so that the kind of leaf is not looked at for every file.
    let column = &leaf.column;
    match &leaf.kind {
        LeafKind::Unary(op) => each(flags, |row| Q::ask_unary(*op, column, &RowStats { metrics, row })),
        LeafKind::Long(test) => each_value::<Q, _>(test, column, metrics, flags),
        LeafKind::Real(test) => each_value::<Q, _>(test, column, metrics, flags),
        LeafKind::Decimal(test) => each_value::<Q, _>(test, column, metrics, flags),
        LeafKind::Bytes(test) => each_value::<Q, _>(test, column, metrics, flags),
        LeafKind::Uuid(test) => each_value::<Q, _>(test, column, metrics, flags),
        LeafKind::Opaque if Q::UNKNOWN => {}
        LeafKind::Opaque => flags.fill(false),
    }
}

fn each_value<Q: Question, V: Domain>(
    test: &ValueTest<V>,
    column: &Column,
    metrics: &FieldMetrics,
    flags: &mut [bool],
) {
    each(flags, |row| Q::ask(test, column, &RowStats { metrics, row }));
}

#[inline]
fn each(flags: &mut [bool], mut ask: impl FnMut(usize) -> bool) {
    for (row, flag) in flags.iter_mut().enumerate() {
        if *flag {
            *flag = ask(row);
        }
    }
}

/// A predicate with the question asked of it.
#[derive(Debug, Clone)]
pub(super) struct MetricsTree<Q> {
    tree: Tree,
    question: PhantomData<Q>,
}

impl<Q: Question> MetricsTree<Q> {
    pub(super) fn new(predicate: &BoundPredicate) -> Self {
        MetricsTree {
            tree: Tree::new(predicate),
            question: PhantomData,
        }
    }

    pub(super) fn file(&self, file: &DataFile) -> bool {
        file.record_count != 0 && self.tree.ask_file::<Q>(file)
    }

    pub(super) fn row(&self, files: &ManifestColumns, row: usize) -> bool {
        let leaf = |leaf: &Leaf| match files.metrics_of(leaf.column.field_id) {
            Some(metrics) => leaf.ask::<Q, _>(&RowStats { metrics, row }),
            None => leaf.ask::<Q, _>(&NoStats),
        };
        files.record_count(row) != 0 && self.tree.ask(&leaf)
    }

    pub(super) fn narrow(&self, files: &ManifestColumns, flags: &mut [bool]) {
        for (row, flag) in flags.iter_mut().enumerate() {
            *flag &= files.record_count(row) != 0;
        }
        self.tree.narrow::<Q>(files, flags);
    }
}

/// Counts as a file states them. A negative count, or more nulls than values, is a lie and says nothing.
#[derive(Clone, Copy)]
struct Counts {
    values: Option<i64>,
    part: Option<i64>,
}

impl Counts {
    #[inline]
    fn is_all(self) -> bool {
        matches!((self.values, self.part), (Some(values), Some(part)) if values > 0 && part == values)
    }
}

/// One field of one file of a manifest.
struct RowStats<'a> {
    metrics: &'a FieldMetrics,
    row: usize,
}

impl FieldStats for RowStats<'_> {
    #[inline]
    fn lower(&self) -> Option<&[u8]> {
        self.metrics.lower_bound.get(self.row)
    }

    #[inline]
    fn upper(&self) -> Option<&[u8]> {
        self.metrics.upper_bound.get(self.row)
    }

    fn all_null(&self) -> bool {
        let values = self.metrics.value_count.get(self.row);
        let part = self.metrics.null_count.get(self.row);
        Counts { values, part }.is_all()
    }

    #[inline]
    fn no_null(&self) -> bool {
        self.metrics.null_count.get(self.row) == Some(0)
    }

    fn all_nan(&self) -> bool {
        let values = self.metrics.value_count.get(self.row);
        let part = self.metrics.nan_count.get(self.row);
        Counts { values, part }.is_all()
    }

    #[inline]
    fn no_nan(&self) -> bool {
        self.metrics.nan_count.get(self.row) == Some(0)
    }
}

/// One field of a file.
struct FileStats<'a> {
    file: &'a DataFile,
    field_id: FieldId,
}

impl FieldStats for FileStats<'_> {
    fn lower(&self) -> Option<&[u8]> {
        self.file.lower_bounds.get(&self.field_id).map(Vec::as_slice)
    }

    fn upper(&self) -> Option<&[u8]> {
        self.file.upper_bounds.get(&self.field_id).map(Vec::as_slice)
    }

    fn all_null(&self) -> bool {
        let values = self.file.value_counts.get(&self.field_id).copied();
        let part = self.file.null_value_counts.get(&self.field_id).copied();
        Counts { values, part }.is_all()
    }

    fn no_null(&self) -> bool {
        self.file.null_value_counts.get(&self.field_id) == Some(&0)
    }

    fn all_nan(&self) -> bool {
        let values = self.file.value_counts.get(&self.field_id).copied();
        let part = self.file.nan_value_counts.get(&self.field_id).copied();
        Counts { values, part }.is_all()
    }

    fn no_nan(&self) -> bool {
        self.file.nan_value_counts.get(&self.field_id) == Some(&0)
    }
}
