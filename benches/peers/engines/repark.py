"""repark: Spark SQL on DataFusion, with a hadoop catalog for what it writes."""

import re

from engines import SPARK_PROPERTIES, Dialect

DIALECT = Dialect(
    table="ice.changes.{}",
    parquet="parquet.`{}`",
    create="create table {table} using iceberg " + SPARK_PROPERTIES,
    insert_all="insert *",
)

CATALOG = "spark.sql.catalog.ice"


class Engine:
    def __init__(self, threads, folder, catalog_uri=None):
        from importlib.metadata import version

        from repark import ReparkSession

        self.release = version("repark")
        builder = ReparkSession.builder.config("repark.target.partitions", str(threads))
        builder = builder.config(CATALOG, "org.apache.iceberg.spark.SparkCatalog")
        builder = builder.config(f"{CATALOG}.type", "hadoop").config(f"{CATALOG}.warehouse", folder)
        self.session = builder.getOrCreate()
        self.run("create namespace ice.changes")

    def version(self):
        return self.release

    def open(self, table):
        frame = self.session.read.format("iceberg").load(table["metadata"])
        frame.createOrReplaceTempView(table["name"])

    def run(self, sql):
        return self.session.sql(re.sub(r"parquet\.`([^`]+)`", self.view_of_file, sql)).toArrow()

    def view_of_file(self, match):
        """A Parquet file is no relation of its SQL."""
        view = re.sub(r"\W", "_", match[1])
        self.session.read.parquet(match[1]).createOrReplaceTempView(view)
        return view

    def plan(self, sql):
        self.run(f"explain {sql}")
