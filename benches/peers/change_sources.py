"""The rows that `row_changes` appends and merges, and what its table has to add up to afterwards."""

import json

from row_changes import CHECK, ROUNDS, delete, merge, update


def make_sources(connection, raw, directory):
    """Parquet files of source rows in `directory/changes`, and `sums.json`: the sums after each number of rounds."""
    lineitem = f"'{raw}/lineitem.parquet'"
    folder = directory / "changes"
    folder.mkdir()
    (count,) = connection.execute(f"select count(*) from {lineitem}").fetchone()

    def copy(query, name):
        connection.execute(f"copy ({query}) to '{folder}/{name}.parquet' (compression zstd)")

    shifted = "select * replace (l_orderkey + 100000000 as l_orderkey)"
    copy(f"{shifted} from {lineitem} limit {count // 6}", "append")
    number = "row_number() over (order by hash(l_orderkey * 8 + l_linenumber)) - 1 as n"
    rows = f"select *, {number} from {lineitem} qualify n < {ROUNDS * 10_000}"
    connection.execute(f"create table shuffled as {rows}")
    for round in range(ROUNDS):
        changed = "(l_quantity + 1)::decimal(15, 2) as l_quantity"
        changed = f"select * exclude n replace ({changed}, 'merged {round}' as l_comment)"
        new = f"l_orderkey + {(round + 1) * 10_000_000} as l_orderkey, 'new {round}' as l_comment"
        new = f"select * exclude n replace ({new})"
        start = round * 10_000
        copy(
            f"{changed} from shuffled where n >= {start} and n < {start + 9_000} "
            f"union all {new} from shuffled where n >= {start + 9_000} and n < {start + 10_000}",
            f"merge_{round}",
        )
    sums = {rounds: expected(connection, lineitem, folder, rounds) for rounds in range(1, ROUNDS + 1)}
    (folder / "sums.json").write_text(json.dumps(sums))


def expected(connection, lineitem, folder, rounds):
    connection.execute(f"create or replace table changed as select * from {lineitem}")
    for round in range(rounds):
        connection.execute(merge("changed", f"'{folder}/merge_{round}.parquet'", "insert"))
    for round in range(rounds):
        connection.execute(update("changed", round))
    for round in range(rounds):
        connection.execute(delete("changed", round))
    return [str(cell) for cell in connection.execute(CHECK.format(table="changed")).fetchone()]
