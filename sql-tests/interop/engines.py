"""The engines of the checks: Tarn's peer program, PyIceberg and Spark, all on the same catalogs."""

import json
import os
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq

ICEBERG = "org/apache/iceberg/iceberg-spark-runtime-3.5_2.12/1.10.1/iceberg-spark-runtime-3.5_2.12-1.10.1.jar"
SQLITE = "org/xerial/sqlite-jdbc/3.50.3.0/sqlite-jdbc-3.50.3.0.jar"


class Tarn:
    """Runs Tarn's peer program."""

    def __init__(self, peer, directory):
        self.peer, self.directory = peer, directory

    def run(self, command, *arguments):
        done = subprocess.run(
            [self.peer, command, self.directory, *map(str, arguments)], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"tarn {command} {arguments}: {done.stderr.strip()}")
        return done.stdout.strip()

    def describe(self, catalog, table):
        return json.loads(self.run("describe", catalog, table))

    def sql(self, statements):
        """The rows of the last statement, as texts."""
        return json.loads(self.run("sql", statements))

    def append(self, catalog, table, ids, name):
        """Appends rows (id, 'tarn')."""
        self.run("append", catalog, table, write_rows(self.directory, ids, "tarn", name), len(ids))


def write_rows(directory, ids, writer, name):
    """A Parquet file of rows (id, writer) with field ids; gives its path."""
    field = lambda id, name, kind: pa.field(name, kind, metadata={"PARQUET:field_id": str(id)})
    schema = pa.schema([field(1, "id", pa.int64()), field(2, "writer", pa.string())])
    path = os.path.join(directory, f"{name}.parquet")
    pq.write_table(pa.table([pa.array(ids), pa.array([writer] * len(ids))], schema=schema), path)
    return path


class Java:
    """Java's JdbcCatalog, opened for each commit and closed after it.

    On SQLite it keeps a read lock as long as it lives, which keeps everybody else from committing, PyIceberg too.
    """

    def __init__(self, session, directory):
        self.jvm, self.directory = session._jvm, directory

    def append(self, table, ids, name):
        """Appends rows (id, 'java')."""
        path = write_rows(self.directory, ids, "java", name)
        java = self.jvm.org.apache.iceberg
        catalog = java.jdbc.JdbcCatalog()
        properties = self.jvm.java.util.HashMap()
        properties.put("uri", f"jdbc:sqlite:{self.directory}/catalog.db")
        properties.put("warehouse", f"{self.directory}/warehouse")
        properties.put("jdbc.schema-version", "V1")
        catalog.setConf(self.jvm.org.apache.hadoop.conf.Configuration())
        catalog.initialize("lake", properties)
        try:
            loaded = catalog.loadTable(java.catalog.TableIdentifier.parse(f"db.{table}"))
            file = java.DataFiles.builder(loaded.spec()).withPath(path).withFormat("parquet")
            file = file.withFileSizeInBytes(os.path.getsize(path)).withRecordCount(len(ids)).build()
            loaded.newFastAppend().appendFile(file).commit()
        finally:
            catalog.close()


def pyiceberg(directory):
    """PyIceberg's SQL catalog on the shared database."""
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog("lake", uri=f"sqlite:///{directory}/catalog.db", warehouse=f"file://{directory}/warehouse")


def metadata_location(directory, table):
    """The current metadata file of a table in the shared database, for engines that know no such catalog."""
    import sqlite3

    with sqlite3.connect(f"{directory}/catalog.db") as database:
        query = "SELECT metadata_location FROM iceberg_tables WHERE table_namespace = 'db' AND table_name = ?"
        (location,) = database.execute(query, (table,)).fetchone()
    return location.removeprefix("file://")


def duckdb():
    """DuckDB with its Avro and Iceberg extensions, from their packages instead of DuckDB's own server."""
    import importlib
    import pathlib

    import duckdb

    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("avro", "iceberg"):
        package = importlib.import_module(f"duckdb_extension_{name}")
        (path,) = pathlib.Path(package.__file__).parent.rglob("*.duckdb_extension")
        connection.execute(f"LOAD '{path}'")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def spark(directory):
    """Spark with Java's JdbcCatalog on the shared database (`lake`) and its hadoop catalog (`hadoop`)."""
    from pyspark.sql import SparkSession

    repository = os.path.expanduser("~/.m2/repository")
    jars = ",".join(os.path.join(repository, jar) for jar in (ICEBERG, SQLITE))
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jars)
    settings = {
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "jdbc",
        "spark.sql.catalog.lake.uri": f"jdbc:sqlite:{directory}/catalog.db",
        "spark.sql.catalog.lake.warehouse": f"{directory}/warehouse",
        "spark.sql.catalog.lake.jdbc.schema-version": "V1",
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.catalog.hadoop": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.hadoop.type": "hadoop",
        "spark.sql.catalog.hadoop.warehouse": f"{directory}/hadoop",
        "spark.sql.catalog.hadoop.cache-enabled": "false",
        "spark.sql.session.timeZone": "UTC",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
