"""The peers, one per module; each has a class `Engine`.

    Engine(threads, folder, catalog_uri)   everything that is done once; `folder` is the process's own
    version() -> str
    open(table)                             makes an Iceberg table readable by its name; `table` as in `catalog.json`
    run(sql) -> pyarrow.Table               a statement, to its last row
    plan(sql)                               a query's plan, without its rows

A module that changes rows has a `DIALECT` besides. Libraries are imported by the engine, not by the module: what is here
is also read where they are not installed.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """How a peer spells the statements of `row_changes`."""

    table: str
    """A table's full name, from its short one."""
    parquet: str
    """A Parquet file as a relation, from its path."""
    create: str
    """What stands before AS SELECT, from `table`, its short `name`, `version`, `mode` and the process's `folder`."""
    insert_all: str
    """MERGE's insertion of every column."""


SPARK_PROPERTIES = (
    "tblproperties('format-version'='{version}', 'write.delete.mode'='{mode}', "
    "'write.update.mode'='{mode}', 'write.merge.mode'='{mode}')"
)
