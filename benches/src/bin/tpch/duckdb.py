"""DuckDB's iceberg extension on the same tables: prints one JSON object, query -> [wall ms, CPU ms], medians of warm runs.

usage: duckdb.py RUNS THREADS < {"tables": {name: metadata file}, "queries": {name: sql}}
"""

import glob
import importlib
import json
import os
import statistics
import sys
import time

import duckdb


def load_extension(con, name):
    """From the package `duckdb-extension-NAME`; else one that DuckDB itself has installed."""
    try:
        package = importlib.import_module(f"duckdb_extension_{name}")
        files = glob.glob(os.path.join(package.__path__[0], "extensions", "*", f"{name}.duckdb_extension"))
        con.execute(f"load '{files[0]}'")
    except ImportError:
        con.execute(f"load {name}")


runs, threads = int(sys.argv[1]), int(sys.argv[2])
work = json.load(sys.stdin)
con = duckdb.connect()
con.execute(f"set threads={threads}")
con.execute("set enable_progress_bar=false")
load_extension(con, "avro")
load_extension(con, "iceberg")
for name, metadata in work["tables"].items():
    con.execute(f"create view {name} as select * from iceberg_scan('{metadata}')")
result = {}
for name, sql in work["queries"].items():
    costs = []
    for _ in range(runs + 1):
        cpu, wall = time.process_time(), time.perf_counter()
        con.execute(sql).fetchall()
        costs.append(((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3))
    first, warm = costs[0], costs[1:]
    result[name] = [statistics.median(c[0] for c in warm), statistics.median(c[1] for c in warm), *first]
json.dump(result, sys.stdout)
