"""Makes what is measured: raw files, Iceberg tables of them, sources of row changes, and the right answers.

usage: generate.py SCALE DIR

The raw files are tpchgen's. PyIceberg, which is not ranked, writes the tables, with its defaults: format version 2,
Parquet with zstd. `DIR/catalog.json` tells where they are. DuckDB reads the raw files for the answers.
"""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import MonthTransform

import change_sources
from answers import rows
from queries import DERIVED, MANY_PLAN, TABLES, reads

MANY_COMMITS = 100
FILES_PER_COMMIT = 20


def make_raw(scale, directory):
    tool = Path(sys.executable).parent / "tpchgen-cli"
    command = [tool, "parquet", "-s", str(scale), "--output-dir", directory, "--overwrite"]
    subprocess.run(command, check=True, stdout=sys.stderr)


def read_raw(path):
    """Strings as PyIceberg takes them."""
    table = pq.read_table(path)
    types = [pa.string() if pa.types.is_string_view(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema([pa.field(n, t) for n, t in zip(table.schema.names, types)]))


def write_many(catalog, lineitem):
    """2,000 files, by a target size that a commit's rows fill 20 times."""
    per_commit = -(-lineitem.num_rows // MANY_COMMITS)
    target = int(lineitem.nbytes / lineitem.num_rows * per_commit / FILES_PER_COMMIT * 1.02)
    properties = {"write.target-file-size-bytes": str(target)}
    table = catalog.create_table("tpch.many_small", lineitem.schema, properties=properties)
    for commit in range(MANY_COMMITS):
        table.append(lineitem.slice(commit * per_commit, per_commit).combine_chunks())


def write_by_month(catalog, lineitem):
    table = catalog.create_table("tpch.lineitem_part", lineitem.schema)
    with table.update_spec() as spec:
        spec.add_field("l_shipdate", MonthTransform(), "l_shipdate_month")
    table.append(lineitem)


def make_tables(directory, raw):
    lake = directory / "lake"
    lake.mkdir()
    catalog = SqlCatalog("tpch", uri=f"sqlite:///{lake}/catalog.db", warehouse=f"file://{lake}")
    catalog.create_namespace("tpch")
    for name in TABLES:
        raw_rows = read_raw(raw / f"{name}.parquet")
        catalog.create_table(f"tpch.{name}", raw_rows.schema).append(raw_rows)
        if name == "lineitem":
            write_by_month(catalog, raw_rows)
            write_many(catalog, raw_rows)
    for name in TABLES + DERIVED:
        table = catalog.load_table(f"tpch.{name}")
        places = {"metadata": table.metadata_location, "location": table.location()}
        yield {"name": name, **{k: v.removeprefix("file://") for k, v in places.items()}}


def answers(raw, scale):
    connection = duckdb.connect()
    for name in TABLES:
        connection.execute(f"create view {name} as select * from '{raw}/{name}.parquet'")
    for name in DERIVED:
        connection.execute(f"create view {name} as select * from lineitem")
    return {name: rows(connection.execute(sql).to_arrow_table()) for name, sql in reads(scale).items() if name != MANY_PLAN}


def main():
    scale, directory = float(sys.argv[1]), Path(sys.argv[2])
    raw = directory / "raw"
    raw.mkdir(parents=True)
    make_raw(scale, raw)
    change_sources.make_sources(duckdb.connect(), raw, directory)
    (directory / "answers.json").write_text(json.dumps(answers(raw, scale)))
    # Written last: a folder that has it is complete.
    (directory / "catalog.json").write_text(json.dumps(list(make_tables(directory, raw)), indent=1))


main()
