//! Pushes NOT down to the leaves.
//!
//! This is sound in three-valued logic: De Morgan's laws hold there, and a comparison and its opposite are
//! unknown for the same values.

use super::predicate::Predicate;

impl Predicate {
    /// The same predicate without NOT.
    #[must_use]
    pub fn rewrite_not(self) -> Predicate {
        match self {
            Predicate::Not(child) => child.negate(),
            Predicate::And(children) => Predicate::And(children.into_iter().map(Predicate::rewrite_not).collect()),
            Predicate::Or(children) => Predicate::Or(children.into_iter().map(Predicate::rewrite_not).collect()),
            leaf => leaf,
        }
    }

    /// The opposite predicate, without NOT: false where this one is true, true where it is false.
    #[must_use]
    pub fn negate(self) -> Predicate {
        match self {
            Predicate::AlwaysTrue => Predicate::AlwaysFalse,
            Predicate::AlwaysFalse => Predicate::AlwaysTrue,
            Predicate::Not(child) => child.rewrite_not(),
            Predicate::And(children) => Predicate::Or(children.into_iter().map(Predicate::negate).collect()),
            Predicate::Or(children) => Predicate::And(children.into_iter().map(Predicate::negate).collect()),
            Predicate::Unary(op, term) => Predicate::Unary(op.negate(), term),
            Predicate::Compare(op, term, literal) => Predicate::Compare(op.negate(), term, literal),
            Predicate::Set(op, term, literals) => Predicate::Set(op.negate(), term, literals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_reaches_the_leaves() {
        let a = || Predicate::lt("a", 1);
        let b = || Predicate::is_null("b");
        let negated = (!(a().and(!b()))).rewrite_not();
        assert_eq!(negated, Predicate::gt_eq("a", 1).or(b()));
        let nested = !Predicate::Not(Box::new(Predicate::is_in("a", [1, 2]).or(!a())));
        assert_eq!(
            nested.rewrite_not(),
            Predicate::is_in("a", [1, 2]).or(Predicate::gt_eq("a", 1))
        );
        assert_eq!(
            Predicate::starts_with("s", "x").negate(),
            Predicate::not_starts_with("s", "x")
        );
        assert_eq!(Predicate::AlwaysTrue.negate(), Predicate::AlwaysFalse);
    }
}
