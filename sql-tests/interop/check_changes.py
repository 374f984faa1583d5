"""Tarn deletes, updates and merges rows in every mode; PyIceberg and DuckDB read what is left.

usage: check_changes.py DIRECTORY PEER   (after `tarn-interop-peer make DIRECTORY`)
"""

import sys

import pyarrow as pa
import pyarrow.parquet as parquet

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


# Changes of a table of ROWS rows in files of several row groups, each of which only some change, and what they make of a
# row (id, number, text); nothing where it goes.
ROWS = 60_000
PATCHES = [
    ("UPDATE {t} SET text = 'changed' WHERE id % 10000 = 17", lambda i, n, t: (i, n, "changed") if i % 10000 == 17 else (i, n, t)),
    ("DELETE FROM {t} WHERE id BETWEEN 20000 AND 20100", lambda i, n, t: None if 20000 <= i <= 20100 else (i, n, t)),
    ("UPDATE {t} SET number = number + 1 WHERE id > 50000", lambda i, n, t: (i, n + 1, t) if i > 50000 else (i, n, t)),
    ("UPDATE {t} SET number = -1, text = NULL WHERE id = 33333", lambda i, n, t: (i, -1, None) if i == 33333 else (i, n, t)),
    (
        "MERGE INTO {t} AS t USING (SELECT id FROM {t} WHERE id % 40 = 0) AS s ON t.id = s.id "
        "WHEN MATCHED AND t.id % 80 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET text = 'merged'",
        lambda i, n, t: (i, n, t) if i % 40 else (i, n, "merged") if i % 80 else None,
    ),
]


def check_row_groups(tarn, connection, directory, version, failures):
    """Files of which parts are copied are read alike by all, and filtered by statistics, page indexes and bloom filters."""
    table = f"patched_v{version}"
    tarn.sql(
        f"CREATE TABLE {table} (id int, number double, text string) TBLPROPERTIES ('format-version'='{version}', "
        "'write.parquet.row-group-size-bytes'='100000', 'write.parquet.page-row-limit'='1000', "
        "'write.parquet.compression-codec'='uncompressed', 'write.parquet.bloom-filter-enabled.column.id'='true')"
    )
    values = "CAST(id AS int), id / 4.0, concat('the text of row ', CAST(id AS string))"
    tarn.sql(f"INSERT INTO {table} SELECT {values} FROM range(0, {ROWS}) ORDER BY id")
    expected = [(i, i / 4, f"the text of row {i}") for i in range(ROWS)]
    for number, (statement, change) in enumerate(PATCHES):
        tarn.sql(statement.format(t=table))
        expected = [row for row in (change(*row) for row in expected) if row]
        loaded = engines.pyiceberg(directory).load_table(f"db.{table}")
        paths = [task.file.file_path.removeprefix("file://") for task in loaded.scan().plan_files()]
        rows = lambda read: sorted((r["id"], r["number"], r["text"]) for r in read.to_pylist())
        seen = {
            "pyiceberg": rows(loaded.scan().to_arrow()),
            "pyarrow": rows(parquet.read_table(paths)),
            "duckdb": sorted(connection.execute(f"SELECT id, number, text FROM read_parquet({paths})").fetchall()),
        }
        failures.equal(f"{table} after statement {number}", {k: v == expected for k, v in seen.items()}, dict.fromkeys(seen, True))
        for filter in ("id = 33333", "id BETWEEN 39990 AND 40010", "number = -1", "text = 'changed'"):
            count = f"SELECT count(*) FROM read_parquet({paths}) WHERE {filter}"
            found = {
                "tarn": int(tarn.sql(f"SELECT count(*) FROM {table} WHERE {filter}")[0][0]),
                "duckdb": connection.execute(count).fetchone()[0],
                "pyiceberg": loaded.scan(row_filter=filter.replace("=", "==") if "=" in filter else "id >= 39990 and id <= 40010").to_arrow().num_rows,
            }
            whole = duckdb_count(connection, expected, filter)
            failures.equal(f"{table} after statement {number}, {filter}", found, dict.fromkeys(found, whole))
        chunks = [parquet.ParquetFile(path).metadata for path in paths]
        indexed = all(m.row_group(g).column(c).has_offset_index for m in chunks for g in range(m.num_row_groups) for c in range(3))
        failures.equal(f"{table} after statement {number}: page indexes", indexed, True)


def duckdb_count(connection, rows, filter):
    """How many of these rows match."""
    names = dict(zip(("id", "number", "text"), map(pa.array, zip(*rows))))
    memory = pa.table(names)
    return connection.execute(f"SELECT count(*) FROM memory WHERE {filter}").fetchone()[0]


def main(directory, peer):
    failures = Failures()
    tarn = engines.Tarn(peer, directory)
    connection = engines.duckdb()
    for name in WAYS:
        for partitioning in ("", "PARTITIONED BY (part)"):
            failures.attempt(f"changes {name} {partitioning}", check, tarn, connection, directory, name, partitioning)
    for version in ("1", "2", "3"):
        failures.attempt(f"row groups v{version}", check_row_groups, tarn, connection, directory, version)
    return failures.report("changes")


sys.exit(main(*sys.argv[1:3]))
