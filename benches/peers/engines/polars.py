"""Polars: `scan_iceberg` and its SQL, by the streaming engine."""

import os


class Engine:
    def __init__(self, threads, folder, catalog_uri=None):
        os.environ["POLARS_MAX_THREADS"] = str(threads)
        import polars

        self.library = polars
        self.context = polars.SQLContext()

    def version(self):
        return self.library.__version__

    def open(self, table):
        self.context.register(table["name"], self.library.scan_iceberg(table["metadata"]))

    def run(self, sql):
        return self.context.execute(sql).collect(engine="streaming").to_arrow()

    def plan(self, sql):
        self.context.execute(sql).explain()
