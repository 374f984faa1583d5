"""The queries: those of TPC-H as `benches/src/bin/tpch` has them, and look-ups on tables of special layouts."""

from pathlib import Path

TPCH = Path(__file__).resolve().parent.parent / "src/bin/tpch/sql"

TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]

DERIVED = ["lineitem_part", "many_small"]
"""`lineitem` by month of `l_shipdate`, and in 2,000 files in order of `l_orderkey`."""


def lookup_key(scale):
    """An order in the middle. Of every 32 keys only the first eight exist."""
    return int(3_000_000 * scale) // 32 * 32


def tpch(number):
    return (TPCH / f"q{number}.sql").read_text()


def reads(scale):
    """Name -> SQL, understood alike by Spark SQL, DataFusion and DuckDB."""
    queries = {f"q{n}": tpch(n) for n in range(1, 23)}
    queries["count"] = "select count(*) as c from lineitem"
    queries["partition_lookup"] = (
        "select count(*) as c, sum(l_extendedprice) as s from lineitem_part where l_shipdate = date '1995-03-15'"
    )
    queries["key_lookup"] = f"select * from lineitem where l_orderkey = {lookup_key(scale)}"
    queries.update(many(scale))
    return queries


MANY_PLAN = "many_plan"
"""Planning `many_lookup` without running it."""


def many(scale):
    """Those on 2,000 files."""
    key = lookup_key(scale)
    lookup = (
        "select count(*) as c, sum(l_quantity) as s from many_small "
        f"where l_orderkey between {key} and {key + 100}"
    )
    return {
        "many_lookup": lookup,
        "many_count": "select count(*) as c from many_small",
        "many_sum": "select sum(l_quantity) as s from many_small",
        MANY_PLAN: lookup,
    }
