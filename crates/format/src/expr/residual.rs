//! What is left of a predicate for the rows of one partition (Java `ResidualEvaluator`).

use super::bound::BoundPredicate;
use super::partition_evaluator::{Verdict, verdict};
use super::project::{self, Kind};
use crate::manifest::data_file::PartitionTuple;
use crate::spec::partition::PartitionSpec;
use crate::spec::schema::Schema;
use crate::spec::types::FieldId;

/// A predicate prepared for the partitions of one spec.
#[derive(Debug, Clone)]
pub struct Residual {
    root: Node,
    field_ids: Vec<FieldId>,
}

#[derive(Debug, Clone)]
enum Node {
    Constant(BoundPredicate),
    And(Vec<Node>),
    Or(Vec<Node>),
    Leaf {
        leaf: BoundPredicate,
        inclusive: BoundPredicate,
        strict: BoundPredicate,
    },
}

impl Residual {
    /// Prepares a predicate over the columns of `schema`.
    pub fn new(predicate: &BoundPredicate, spec: &PartitionSpec, schema: &Schema) -> Self {
        Residual {
            root: node(predicate, spec, schema),
            field_ids: spec.fields.iter().map(|f| f.field_id).collect(),
        }
    }

    /// A predicate that matches the same rows of the partition, without the leaves that the partition decides.
    pub fn for_partition(&self, partition: &PartitionTuple) -> BoundPredicate {
        self.reduce(&self.root, partition)
    }

    fn reduce(&self, node: &Node, partition: &PartitionTuple) -> BoundPredicate {
        let of = |child: &Node| self.reduce(child, partition);
        match node {
            Node::Constant(predicate) => predicate.clone(),
            Node::And(children) => BoundPredicate::and(children.iter().map(of)),
            Node::Or(children) => BoundPredicate::or(children.iter().map(of)),
            Node::Leaf { strict, .. } if verdict(strict, &self.field_ids, partition) == Verdict::All => {
                BoundPredicate::AlwaysTrue
            }
            Node::Leaf { inclusive, .. } if verdict(inclusive, &self.field_ids, partition) == Verdict::None => {
                BoundPredicate::AlwaysFalse
            }
            Node::Leaf { leaf, .. } => leaf.clone(),
        }
    }
}

fn node(predicate: &BoundPredicate, spec: &PartitionSpec, schema: &Schema) -> Node {
    let all = |children: &[BoundPredicate]| children.iter().map(|c| node(c, spec, schema)).collect();
    match predicate {
        BoundPredicate::AlwaysTrue | BoundPredicate::AlwaysFalse => Node::Constant(predicate.clone()),
        BoundPredicate::And(children) => Node::And(all(children)),
        BoundPredicate::Or(children) => Node::Or(all(children)),
        leaf => {
            let projected =
                |kind| project::fields_of(leaf, spec, schema).filter_map(move |f| project::project(leaf, f, kind));
            Node::Leaf {
                leaf: leaf.clone(),
                inclusive: BoundPredicate::and(projected(Kind::Inclusive)),
                strict: BoundPredicate::or(projected(Kind::Strict)),
            }
        }
    }
}
