"""chDB, ClickHouse in a process: the engine `IcebergLocal`."""

import os
import re


def with_decimals(sql):
    """ClickHouse reads 0.05 as a binary fraction, and compares decimals with that."""
    return re.sub(r"between (0\.\d+) and (0\.\d+)", r"between toDecimal64('\1', 2) and toDecimal64('\2', 2)", sql)


class Engine:
    def __init__(self, threads, folder, catalog_uri=None):
        from importlib.metadata import version

        from chdb import session

        self.release = version("chdb-core")
        # It reads no file outside the folder that it is started in.
        os.chdir("/")
        self.session = session.Session()
        self.session.query(f"set max_threads={threads}")

    def version(self):
        return self.release

    def open(self, table):
        self.session.query(f"create table {table['name']} engine=IcebergLocal('{table['location']}')")

    def run(self, sql):
        return self.session.query(with_decimals(sql), "ArrowTable")

    def plan(self, sql):
        self.run(f"explain {sql}")
