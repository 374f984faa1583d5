"""Structs, lists and maps inside each other, Tarn's read by PyIceberg and DuckDB, PyIceberg's and DuckDB's read by Tarn;
and tables that DuckDB makes by COPY … (FORMAT iceberg).

usage: check_nested.py DIRECTORY PEER   (after `tarn-interop-peer make DIRECTORY`)
"""

import os
import sys

import engines
from expected import Failures

COLUMNS = """id INT NOT NULL,
  place STRUCT<city: STRING, at: STRUCT<lat: DOUBLE, lon: DOUBLE>>,
  tags ARRAY<STRING>,
  stops ARRAY<STRUCT<name: STRING, minutes: ARRAY<INT>>>,
  prices MAP<STRING, DECIMAL(9, 2)>,
  notes MAP<INT, STRUCT<text: STRING, tags: ARRAY<STRING>>>"""

INSERT = """INSERT INTO {} VALUES
  (1, named_struct('city', 'Ghent', 'at', named_struct('lat', 51.05D, 'lon', 3.72D)), array('a', 'b'),
   array(named_struct('name', 'x', 'minutes', array(1, 2)), named_struct('name', CAST(NULL AS STRING), 'minutes', array(3))),
   map('bus', 2.50BD, 'boat', CAST(NULL AS DECIMAL(9, 2))),
   map(7, named_struct('text', 'seven', 'tags', array('t', CAST(NULL AS STRING))))),
  (2, NULL, NULL, NULL, NULL, NULL),
  (3, named_struct('city', CAST(NULL AS STRING), 'at', NULL), array(), array(), map(), map())"""

# As Python has them; maps as lists of pairs.
ROWS = [
    [
        1,
        {"city": "Ghent", "at": {"lat": 51.05, "lon": 3.72}},
        ["a", "b"],
        [{"name": "x", "minutes": [1, 2]}, {"name": None, "minutes": [3]}],
        [("bus", "2.50"), ("boat", None)],
        [(7, {"text": "seven", "tags": ["t", None]})],
    ],
    [2, None, None, None, None, None],
    [3, {"city": None, "at": None}, [], [], [], []],
]

# The same rows as the golden scenarios write them, which is what Tarn's peer prints: maps sorted by key.
TEXTS = [
    [
        "1",
        "{city: Ghent, at: {lat: 51.05, lon: 3.72}}",
        "[a, b]",
        "[{name: x, minutes: [1, 2]}, {name: NULL, minutes: [3]}]",
        "{boat: NULL, bus: 2.50}",
        "{7: {text: seven, tags: [t, NULL]}}",
    ],
    ["2", "NULL", "NULL", "NULL", "NULL", "NULL"],
    ["3", "{city: NULL, at: NULL}", "[]", "[]", "{}", "{}"],
]

# PyIceberg 0.12 makes lists and maps of structs anew from their offsets, and NULL ones come out empty; DuckDB, on the same
# files, has them as NULL.
PYICEBERG_ROWS = [ROWS[0], [2, None, None, [], None, []], ROWS[2]]
PYICEBERG_TEXTS = [TEXTS[0], ["2", "NULL", "NULL", "[]", "NULL", "{}"], TEXTS[2]]


def plain(column, value):
    """An engine's value in the form of ROWS."""
    if column == "prices" and value is not None:
        return [(key, None if price is None else str(price)) for key, price in pairs(value)]
    if column == "notes" and value is not None:
        return pairs(value)
    return value


def pairs(entries):
    return list(entries.items()) if isinstance(entries, dict) else [tuple(entry) for entry in entries]


def arrow_rows(table):
    return [[plain(name, row[name]) for name in table.column_names] for row in table.sort_by("id").to_pylist()]


def check_tarn_writes(directory, tarn, failures):
    """PyIceberg and DuckDB read nested values that Tarn wrote, in every version of the format."""
    duckdb, catalog = engines.duckdb(), engines.pyiceberg(directory)
    for version in (1, 2, 3):
        name = f"nested_v{version}"
        tarn.sql(f"CREATE TABLE {name} ({COLUMNS}) TBLPROPERTIES ('format-version' = '{version}'); {INSERT.format(name)}")
        failures.equal(f"pyiceberg {name}", arrow_rows(catalog.load_table(f"db.{name}").scan().to_arrow()), PYICEBERG_ROWS)
        location = engines.metadata_location(directory, name)
        rows = duckdb.execute(f"SELECT * FROM iceberg_scan('{location}')").to_arrow_table()
        failures.equal(f"duckdb {name}", arrow_rows(rows), ROWS)
        failures.equal(f"tarn {name}", tarn.sql(f"SELECT * FROM {name} ORDER BY id"), TEXTS)


def check_pyiceberg_writes(directory, tarn, failures):
    """Tarn reads nested values that PyIceberg wrote."""
    catalog = engines.pyiceberg(directory)
    for version in (1, 2):
        source = catalog.load_table(f"db.nested_v{version}")
        name = f"py_nested_v{version}"
        table = catalog.create_table(f"db.{name}", source.schema(), properties={"format-version": str(version)})
        table.append(source.scan().to_arrow())
        # What PyIceberg read is what it wrote.
        failures.equal(f"tarn reads {name}", tarn.sql(f"SELECT * FROM {name} ORDER BY id"), PYICEBERG_TEXTS)
        filtered = tarn.sql(f"SELECT id FROM {name} WHERE place.at.lat > 51 AND stops[0].minutes[1] = 2")
        failures.equal(f"tarn filters {name}", filtered, [["1"]])


# Type in DuckDB, value there, text of the value in Tarn.
DUCKDB_VALUES = [
    ("boolean", "true", "true"),
    ("integer", "-7", "-7"),
    ("bigint", "9223372036854775807", "9223372036854775807"),
    ("float", "'nan'", "NaN"),
    ("double", "1.5", "1.5"),
    ("decimal(9, 2)", "1.5", "1.50"),
    ("decimal(38, 10)", "-0.0000000001", "-0.0000000001"),
    ("date", "'1969-12-31'", "1969-12-31"),
    ("time", "'01:02:03'", "01:02:03"),
    ("timestamp", "'2020-01-01 00:00:00.123456'", "2020-01-01 00:00:00.123456"),
    ("timestamptz", "'2020-01-01 00:00:00.5+00'", "2020-01-01 00:00:00.5"),
    ("varchar", "'é😀'", "é😀"),
    ("uuid", "'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "f79c3e09677c4bbda4793f349cb785e7"),
    ("blob", "'ab'", "6162"),
    ("integer[]", "[1, NULL]", "[1, NULL]"),
    ("map(varchar, integer)", "map {'a': 1}", "{a: 1}"),
    ("struct(a integer, b varchar[])", "{'a': 1, 'b': ['x']}", "{a: 1, b: [x]}"),
]


def check_duckdb_writes(directory, tarn, failures):
    """Tarn reads tables that DuckDB makes: they know no catalog and no last sequence number."""
    duckdb = engines.duckdb()
    for number, (kind, value, text) in enumerate(DUCKDB_VALUES):
        path = os.path.join(directory, "duckdb", str(number))
        rows = f"(SELECT 1::INTEGER AS id, ({value})::{kind} AS c UNION ALL SELECT 2, NULL)"
        duckdb.execute(f"COPY {rows} TO '{path}' (FORMAT iceberg)")
        found = tarn.sql(f"SELECT id, c FROM iceberg_scan('{path}') ORDER BY id")
        failures.equal(f"tarn reads DuckDB's {kind}", found, [["1", text], ["2", "NULL"]])


def main(directory, peer):
    failures, tarn = Failures(), engines.Tarn(peer, directory)
    failures.attempt("tarn writes nested values", check_tarn_writes, directory, tarn)
    failures.attempt("pyiceberg writes nested values", check_pyiceberg_writes, directory, tarn)
    failures.attempt("duckdb writes", check_duckdb_writes, directory, tarn)
    return failures.report("nested")


sys.exit(main(*sys.argv[1:3]))
