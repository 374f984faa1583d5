"""Tarn deletes, updates and merges rows in every mode; PyIceberg and DuckDB read what is left.

usage: check_changes.py DIRECTORY PEER   (after `tarn-interop-peer make DIRECTORY`)
"""

import sys

import engines
from expected import Failures

WAYS = {
    "v1": ("1", "copy-on-write", "file"),
    "v2_copied": ("2", "copy-on-write", "file"),
    "v2_by_file": ("2", "merge-on-read", "file"),
    "v2_by_partition": ("2", "merge-on-read", "partition"),
    "v3_copied": ("3", "copy-on-write", "file"),
    "v3_vectors": ("3", "merge-on-read", "file"),
}

# A statement, and the rows (id, part, text) after it.
STATEMENTS = [
    (
        "INSERT INTO {t} VALUES (1, 'a', 'one'), (2, 'a', 'two'), (3, 'b', 'three'), (4, 'b', NULL), (5, NULL, 'five')",
        [(1, "a", "one"), (2, "a", "two"), (3, "b", "three"), (4, "b", None), (5, None, "five")],
    ),
    (
        "INSERT INTO {t} VALUES (6, 'a', 'six'), (7, 'b', 'seven'), (8, 'a', 'eight')",
        [(1, "a", "one"), (2, "a", "two"), (3, "b", "three"), (4, "b", None), (5, None, "five"),
         (6, "a", "six"), (7, "b", "seven"), (8, "a", "eight")],
    ),
    (
        "DELETE FROM {t} WHERE id IN (2, 6)",
        [(1, "a", "one"), (3, "b", "three"), (4, "b", None), (5, None, "five"), (7, "b", "seven"), (8, "a", "eight")],
    ),
    (
        "UPDATE {t} SET text = concat(coalesce(text, 'none'), '!') WHERE id >= 4 AND id < 8",
        [(1, "a", "one"), (3, "b", "three"), (4, "b", "none!"), (5, None, "five!"), (7, "b", "seven!"), (8, "a", "eight")],
    ),
    (
        "MERGE INTO {t} AS t USING (SELECT * FROM (VALUES (1, 'c', 'moved'), (7, 'b', 'gone'), (9, NULL, 'nine')) AS v (id, part, text)) AS s "
        "ON t.id = s.id WHEN MATCHED AND s.text = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *",
        [(1, "c", "moved"), (3, "b", "three"), (4, "b", "none!"), (5, None, "five!"), (8, "a", "eight"), (9, None, "nine")],
    ),
    (
        "DELETE FROM {t} WHERE text LIKE '%!'",
        [(1, "c", "moved"), (3, "b", "three"), (8, "a", "eight"), (9, None, "nine")],
    ),
]


def seen_by_tarn(tarn, table):
    rows = tarn.sql(f"SELECT id, part, text FROM {table}")
    return [(int(id), *(None if v == "NULL" else v for v in rest)) for id, *rest in rows]


def seen_by_python(directory, table):
    rows = engines.pyiceberg(directory).load_table(f"db.{table}").scan().to_arrow().to_pylist()
    return [(r["id"], r["part"], r["text"]) for r in rows]


def seen_by_duckdb(connection, directory, table):
    location = engines.metadata_location(directory, table)
    return connection.execute(f"SELECT id, part, text FROM iceberg_scan('{location}')").fetchall()


def check(tarn, connection, directory, name, partitioning, failures):
    version, mode, granularity = WAYS[name]
    table = f"changed_{name}" + ("_parts" if partitioning else "")
    modes = ", ".join(f"'write.{word}.mode'='{mode}'" for word in ("delete", "update", "merge"))
    tarn.sql(
        f"CREATE TABLE {table} (id int, part string, text string) {partitioning} "
        f"TBLPROPERTIES ('format-version'='{version}', 'write.delete.granularity'='{granularity}', {modes})"
    )
    for number, (statement, expected) in enumerate(STATEMENTS):
        tarn.sql(statement.format(t=table))
        order = lambda rows: sorted(rows, key=lambda row: row[0])
        seen = {
            "tarn": order(seen_by_tarn(tarn, table)),
            "pyiceberg": order(seen_by_python(directory, table)),
            "duckdb": order(seen_by_duckdb(connection, directory, table)),
        }
        failures.equal(f"{table} after statement {number}", seen, dict.fromkeys(seen, expected))


def main(directory, peer):
    failures = Failures()
    tarn = engines.Tarn(peer, directory)
    connection = engines.duckdb()
    for name in WAYS:
        for partitioning in ("", "PARTITIONED BY (part)"):
            failures.attempt(f"changes {name} {partitioning}", check, tarn, connection, directory, name, partitioning)
    return failures.report("changes")


sys.exit(main(*sys.argv[1:3]))
