//! The queries: those of TPC-H with their validation parameters, and look-ups on tables of special layouts.

/// A name and its SQL, understood alike by Spark SQL, DataFusion and DuckDB.
pub type Query = (&'static str, &'static str);

/// All of them. `lineitem_part` is partitioned by month of `l_shipdate`; `many_small` has 2,000 files in order of
/// `l_orderkey`.
pub const ALL: &[Query] = &[
    ("q1", include_str!("sql/q1.sql")),
    ("q2", include_str!("sql/q2.sql")),
    ("q3", include_str!("sql/q3.sql")),
    ("q4", include_str!("sql/q4.sql")),
    ("q5", include_str!("sql/q5.sql")),
    ("q6", include_str!("sql/q6.sql")),
    ("q7", include_str!("sql/q7.sql")),
    ("q8", include_str!("sql/q8.sql")),
    ("q9", include_str!("sql/q9.sql")),
    ("q10", include_str!("sql/q10.sql")),
    ("q11", include_str!("sql/q11.sql")),
    ("q12", include_str!("sql/q12.sql")),
    ("q13", include_str!("sql/q13.sql")),
    ("q14", include_str!("sql/q14.sql")),
    ("q15", include_str!("sql/q15.sql")),
    ("q16", include_str!("sql/q16.sql")),
    ("q17", include_str!("sql/q17.sql")),
    ("q18", include_str!("sql/q18.sql")),
    ("q19", include_str!("sql/q19.sql")),
    ("q20", include_str!("sql/q20.sql")),
    ("q21", include_str!("sql/q21.sql")),
    ("q22", include_str!("sql/q22.sql")),
    ("count", "select count(*) as c from lineitem"),
    (
        "partition_lookup",
        "select count(*) as c, sum(l_extendedprice) as s from lineitem_part where l_shipdate = date '1995-03-15'",
    ),
    ("key_lookup", "select * from lineitem where l_orderkey = 3000000"),
    (
        MANY_LOOKUP,
        "select count(*) as c, sum(l_quantity) as s from many_small where l_orderkey between 3000000 and 3000100",
    ),
    ("many_count", "select count(*) as c from many_small"),
    ("many_sum", "select sum(l_quantity) as s from many_small"),
];

/// The look-up whose planning is measured by itself.
pub const MANY_LOOKUP: &str = "many_lookup";
