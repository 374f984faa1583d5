//! The queries: five of TPC-H in their published form, and look-ups on tables of special layouts.

/// A name and its SQL, understood alike by Spark SQL, DataFusion and DuckDB.
pub type Query = (&'static str, &'static str);

const Q1: &str = "select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty, sum(l_extendedprice) as sum_base_price, \
    sum(l_extendedprice * (1 - l_discount)) as sum_disc_price, \
    sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge, avg(l_quantity) as avg_qty, \
    avg(l_extendedprice) as avg_price, avg(l_discount) as avg_disc, count(*) as count_order \
    from lineitem where l_shipdate <= date '1998-09-02' \
    group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus";

const Q3: &str = "select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate, o_shippriority \
    from customer, orders, lineitem where c_mktsegment = 'BUILDING' and c_custkey = o_custkey \
    and l_orderkey = o_orderkey and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15' \
    group by l_orderkey, o_orderdate, o_shippriority order by revenue desc, o_orderdate limit 10";

const Q6: &str = "select sum(l_extendedprice * l_discount) as revenue from lineitem \
    where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' \
    and l_discount between 0.05 and 0.07 and l_quantity < 24";

const Q9: &str = "select nation, o_year, sum(amount) as sum_profit from (select n_name as nation, \
    extract(year from o_orderdate) as o_year, \
    l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity as amount \
    from part, supplier, lineitem, partsupp, orders, nation where s_suppkey = l_suppkey and ps_suppkey = l_suppkey \
    and ps_partkey = l_partkey and p_partkey = l_partkey and o_orderkey = l_orderkey and s_nationkey = n_nationkey \
    and p_name like '%green%') as profit group by nation, o_year order by nation, o_year desc";

const Q18: &str = "select c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) as sum_qty \
    from customer, orders, lineitem where o_orderkey in \
    (select l_orderkey from lineitem group by l_orderkey having sum(l_quantity) > 300) \
    and c_custkey = o_custkey and o_orderkey = l_orderkey \
    group by c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice \
    order by o_totalprice desc, o_orderdate limit 100";

/// All of them. `lineitem_part` is partitioned by month of `l_shipdate`; `many_small` has 2,000 files in order of
/// `l_orderkey`.
pub const ALL: &[Query] = &[
    ("q1", Q1),
    ("q3", Q3),
    ("q6", Q6),
    ("q9", Q9),
    ("q18", Q18),
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
