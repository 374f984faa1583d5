use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, col, in_list, lit, not};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};

use super::to_predicate;

fn schema() -> Schema {
    let columns = vec![
        NestedField::optional(1, "n", PrimitiveType::Int),
        NestedField::optional(2, "s", PrimitiveType::String),
        NestedField::optional(3, "ok", PrimitiveType::Boolean),
        NestedField::optional(4, "d", PrimitiveType::Date),
    ];
    Schema::new(0, StructType::new(columns), vec![]).unwrap()
}

fn pushed(filter: Expr) -> String {
    to_predicate(&[filter], &schema()).to_string()
}

fn unknown() -> Expr {
    (col("n") + lit(1)).gt(lit(5))
}

#[test]
fn comparisons_are_pushed_whichever_side_the_column_is_on() {
    assert_eq!(pushed(col("n").gt(lit(5))), pushed(lit(5).lt(col("n"))));
    assert_eq!(
        pushed(col("n").between(lit(1), lit(5))),
        pushed(col("n").gt_eq(lit(1)).and(col("n").lt_eq(lit(5))))
    );
    assert_eq!(pushed(col("ok")), pushed(col("ok").eq(lit(true))));
}

#[test]
fn what_is_not_understood_widens_the_filter() {
    let known = col("n").eq(lit(1));
    assert_eq!(pushed(known.clone().and(unknown())), pushed(known.clone()));
    assert_eq!(pushed(known.clone().or(unknown())), "true");
    assert_eq!(pushed(unknown()), "true");
    // Negation turns "at least" into "at most": nothing may be left out below NOT.
    assert_eq!(pushed(not(known.clone().and(unknown()))), "true");
    assert_eq!(pushed(not(col("s").like(lit("ab%c")))), "true");
}

#[test]
fn prefixes_of_patterns_are_pushed() {
    assert_eq!(pushed(col("s").like(lit("ab%c"))), pushed(col("s").like(lit("ab_"))));
    assert_eq!(pushed(col("s").like(lit("ab"))), pushed(col("s").eq(lit("ab"))));
    assert_eq!(pushed(col("s").like(lit("a\\%b%"))), pushed(col("s").like(lit("a%"))));
}

#[test]
fn nulls_in_lists_follow_three_valued_logic() {
    let list = vec![lit(1), lit(ScalarValue::Int32(None))];
    assert_eq!(
        pushed(in_list(col("n"), list.clone(), false)),
        pushed(in_list(col("n"), vec![lit(1)], false))
    );
    assert_eq!(pushed(in_list(col("n"), list, true)), "true");
    assert_eq!(pushed(col("n").eq(lit(ScalarValue::Int32(None)))), "true");
}

#[test]
fn literals_that_do_not_fit_the_column_are_left_to_the_engine() {
    assert_eq!(pushed(col("d").eq(lit("not a date"))), "true");
    assert_eq!(pushed(col("missing").eq(lit(1))), "true");
}
