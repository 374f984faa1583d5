"""Sail: a Spark Connect server in this process, and the Spark client."""

import warnings

from engines import SPARK_PROPERTIES, Dialect

DIALECT = Dialect(
    table="{}",
    parquet="parquet.`{}`",
    create="create table {table} using iceberg location 'file://{folder}/{name}' " + SPARK_PROPERTIES,
    insert_all="insert *",
)


class Engine:
    def __init__(self, threads, folder, catalog_uri=None):
        warnings.filterwarnings("ignore")
        from importlib.metadata import version

        from pysail.spark import SparkConnectServer
        from pyspark.sql import SparkSession

        self.release = version("pysail")
        self.server = SparkConnectServer(port=0)
        self.server.start(background=True)
        _, port = self.server.listening_address
        self.session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()

    def version(self):
        return self.release

    def open(self, table):
        location = f"file://{table['location']}"
        self.run(f"create table {table['name']} using iceberg location '{location}'")

    def run(self, sql):
        return self.session.sql(sql).toArrow()

    def plan(self, sql):
        self.run(f"explain {sql}")
