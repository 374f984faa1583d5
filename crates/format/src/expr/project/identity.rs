//! Through `identity`: the same predicate, inclusive and strict.

use super::Target;
use crate::expr::bound::BoundPredicate;

pub(super) fn project(target: &Target<'_>, leaf: &BoundPredicate) -> Option<BoundPredicate> {
    target.with_term(leaf)
}
