use super::*;
use crate::spec::types::{ListType, NestedField, StructType};
use PrimitiveType as T;

fn schema() -> Schema {
    let inner = StructType::new(vec![
        NestedField::required(11, "x", T::Int),
        NestedField::optional(12, "y", T::String),
    ]);
    let outer = StructType::new(vec![NestedField::required(21, "x", T::Int)]);
    let list = ListType {
        element: Arc::new(NestedField::required(31, "element", T::Int)),
    };
    let fields = vec![
        NestedField::required(1, "id", T::Int),
        NestedField::optional(2, "Name", T::String),
        NestedField::optional(3, "f", T::Float),
        NestedField::optional(10, "opt", inner),
        NestedField::required(20, "req", outer),
        NestedField::optional(30, "list", list),
        NestedField::optional(40, "ts", T::Timestamp),
        NestedField::optional(50, "nothing", T::Unknown),
        NestedField::optional(60, "v", Type::Variant),
    ];
    Schema::new(0, StructType::new(fields), vec![]).unwrap()
}

fn bind(predicate: Predicate) -> BoundPredicate {
    predicate.bind(&schema(), CaseSensitivity::Sensitive).unwrap()
}

fn shown(predicate: Predicate) -> String {
    bind(predicate).to_string()
}

fn refused(predicate: Predicate) -> String {
    let error = predicate.bind(&schema(), CaseSensitivity::Sensitive).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::InvalidInput);
    error.to_string()
}

#[test]
fn names_resolve_by_case() {
    let wrong_case = Predicate::eq("NAME", "a");
    assert_eq!(refused(wrong_case.clone()), "there is no column 'NAME'");
    let bound = wrong_case.bind(&schema(), CaseSensitivity::Insensitive).unwrap();
    assert_eq!(bound.to_string(), "Name = 'a'");
    assert_eq!(bound.field_ids(), [2]);
    let nested = bind(Predicate::eq("opt.x", 1));
    assert_eq!(nested.term().unwrap().path.as_ref(), [10, 11]);
    assert!(refused(Predicate::eq("list.element", 1)).contains("list or map"));
}

#[test]
fn null_tests_of_required_columns_fold() {
    assert_eq!(bind(Predicate::is_null("id")), BoundPredicate::AlwaysFalse);
    assert_eq!(bind(Predicate::not_null("id")), BoundPredicate::AlwaysTrue);
    assert_eq!(bind(Predicate::is_null("req.x")), BoundPredicate::AlwaysFalse);
    // A required field of a null struct is null.
    assert_eq!(shown(Predicate::is_null("opt.x")), "opt.x IS NULL");
    assert_eq!(shown(Predicate::is_null("opt")), "opt IS NULL");
    assert_eq!(shown(Predicate::not_null("v")), "v IS NOT NULL");
    assert_eq!(bind(Predicate::is_null("nothing")), BoundPredicate::AlwaysTrue);
    assert_eq!(bind(Predicate::eq("nothing", 1)), BoundPredicate::AlwaysFalse);
    assert_eq!(bind(!Predicate::eq("nothing", 1)), BoundPredicate::AlwaysFalse);
}

#[test]
fn literals_out_of_range_keep_nulls_out() {
    let big = i64::MAX;
    assert_eq!(bind(Predicate::lt("id", big)), BoundPredicate::AlwaysTrue);
    assert_eq!(bind(Predicate::gt("id", big)), BoundPredicate::AlwaysFalse);
    assert_eq!(shown(!Predicate::gt("opt.x", big)), "opt.x IS NOT NULL");
    assert_eq!(shown(Predicate::not_eq("opt.x", big)), "opt.x IS NOT NULL");
    assert_eq!(shown(Predicate::not_in("opt.x", [big, -big])), "opt.x IS NOT NULL");
    assert_eq!(
        bind(Predicate::is_in("opt.x", [big, -big])),
        BoundPredicate::AlwaysFalse
    );
    assert_eq!(shown(Predicate::gt("id", 2.5)), "id >= 3");
    assert_eq!(shown(Predicate::lt_eq("id", 2.5)), "id <= 2");
    assert_eq!(bind(Predicate::eq("id", 2.5)), BoundPredicate::AlwaysFalse);
}

#[test]
fn sets_are_normalised() {
    assert_eq!(shown(Predicate::is_in("id", [3, 1, 3, 2])), "id IN (1, 2, 3)");
    assert_eq!(shown(Predicate::is_in("id", [3, 3])), "id = 3");
    assert_eq!(shown(Predicate::not_in("id", [3])), "id != 3");
    assert_eq!(
        bind(Predicate::is_in("id", Vec::<i32>::new())),
        BoundPredicate::AlwaysFalse
    );
    assert_eq!(
        bind(Predicate::not_in("Name", Vec::<&str>::new())),
        BoundPredicate::AlwaysTrue
    );
}

#[test]
fn not_is_pushed_down_and_constants_fold() {
    let predicate = !(Predicate::lt("id", 5).and(Predicate::is_null("Name").or(Predicate::AlwaysFalse)));
    assert_eq!(shown(predicate), "(id >= 5 OR Name IS NOT NULL)");
    let folded = Predicate::Or(vec![
        Predicate::eq("id", 1),
        Predicate::Not(Box::new(Predicate::AlwaysFalse)),
    ]);
    assert_eq!(bind(folded), BoundPredicate::AlwaysTrue);
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(refused(Predicate::is_nan("id")).contains("floating-point"));
    assert!(refused(Predicate::starts_with("id", 1)).contains("text"));
    assert!(refused(Predicate::eq("opt", 1)).contains("only be tested for null"));
    assert!(refused(Predicate::eq("v", 1)).contains("only be tested for null"));
    assert!(refused(Predicate::eq("id", "one")).contains("'one'"));
    assert_eq!(shown(Predicate::is_nan("f")), "is_nan(f)");
    let mut deep = Predicate::eq("id", 1);
    for _ in 0..1000 {
        deep = Predicate::Not(Box::new(deep));
    }
    assert!(refused(deep).contains("nested"));
}

#[test]
fn transform_terms_compare_in_the_result_type() {
    let day = |literal| Predicate::eq(Term::Transform(Transform::Day, "ts".to_string()), literal);
    assert_eq!(shown(day(Literal::Date(17_486))), "day(ts) = 2017-11-16");
    assert_eq!(shown(day(Literal::Int(17_486))), "day(ts) = 2017-11-16");
    let void = Predicate::is_null(Term::Transform(Transform::Void, "id".to_string()));
    assert_eq!(bind(void), BoundPredicate::AlwaysTrue);
    let illegal = Predicate::is_null(Term::Transform(Transform::Hour, "id".to_string()));
    assert!(refused(illegal).contains("hour"));
    let unknown = Predicate::is_null(Term::Transform(Transform::Unknown("z".to_string()), "id".to_string()));
    let error = unknown.bind(&schema(), CaseSensitivity::Sensitive).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
}
