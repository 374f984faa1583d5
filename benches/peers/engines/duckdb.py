"""DuckDB: reads through `iceberg_scan`, writes through a REST catalog (there is no other way)."""

import glob
import importlib
import os

from engines import Dialect

DIALECT = Dialect(
    table="ice.changes.{}",
    parquet="read_parquet('{}')",
    create="create table {table}",
    insert_all="insert",
)


def extension_file(name):
    """The extension in the package `duckdb_extension_NAME`."""
    package = importlib.import_module(f"duckdb_extension_{name}")
    pattern = os.path.join(package.__path__[0], "extensions", "*", f"{name}.duckdb_extension")
    return glob.glob(pattern)[0]


class Engine:
    def __init__(self, threads, folder, catalog_uri=None):
        import duckdb

        self.library = duckdb
        self.connection = duckdb.connect()
        self.connection.execute(f"set threads={threads}")
        self.connection.execute("set enable_progress_bar=false")
        for extension in ["avro", "httpfs", "iceberg"]:
            self.connection.execute(f"load '{extension_file(extension)}'")
        if catalog_uri:
            options = f"type iceberg, endpoint '{catalog_uri}', authorization_type 'none'"
            self.connection.execute(f"attach '' as ice ({options})")
            self.connection.execute("create schema if not exists ice.changes")

    def version(self):
        return self.library.__version__

    def open(self, table):
        query = f"select * from iceberg_scan('{table['metadata']}')"
        self.connection.execute(f"create or replace view {table['name']} as {query}")

    def run(self, sql):
        return self.connection.execute(sql).to_arrow_table()

    def plan(self, sql):
        self.run(f"explain {sql}")
