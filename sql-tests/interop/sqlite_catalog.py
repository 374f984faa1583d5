#!/usr/bin/env python3
"""One step of PyIceberg's SQL catalog on a SQLite file that another engine uses as well.

usage: sqlite_catalog.py DATABASE WAREHOUSE CATALOG STEP [ARGUMENT...]

Steps, each printing one line of JSON:
  tables NAMESPACE              names of the tables in it
  namespaces [NAMESPACE]        namespaces below it
  namespace NAMESPACE           its properties
  describe NAMESPACE.TABLE      what the table is
  create NAMESPACE.TABLE        makes the namespace (with a property) and a table
  set NAMESPACE.TABLE KEY VALUE commits one property
  race NAMESPACE.TABLE WHO N    commits N properties WHO-0 ..., each until it lands
  rename FROM TO                renames a table
  drop NAMESPACE.TABLE          drops a table
"""

import json
import sys

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "data", StringType(), required=False),
)


def describe(table):
    metadata = table.metadata
    return {
        "uuid": str(metadata.table_uuid),
        "format_version": metadata.format_version,
        "location": metadata.location,
        "metadata_location": table.metadata_location,
        "properties": dict(metadata.properties),
        "columns": [[field.field_id, field.name, str(field.field_type), field.required] for field in table.schema().fields],
        "snapshots": [snapshot.snapshot_id for snapshot in metadata.snapshots],
        "metadata_log": [entry.metadata_file for entry in metadata.metadata_log],
    }


def set_property(catalog, name, key, value):
    with catalog.load_table(name).transaction() as transaction:
        transaction.set_properties({key: value})


def race(catalog, name, who, count):
    conflicts = 0
    for number in range(count):
        while True:
            try:
                set_property(catalog, name, f"{who}-{number}", "landed")
                break
            except CommitFailedException:
                conflicts += 1
    return {"landed": count, "conflicts": conflicts}


def run(catalog, step, arguments):
    if step == "tables":
        return sorted(".".join(name) for name in catalog.list_tables(arguments[0]))
    if step == "namespaces":
        return sorted(".".join(name) for name in catalog.list_namespaces(*arguments))
    if step == "namespace":
        return catalog.load_namespace_properties(arguments[0])
    if step == "describe":
        return describe(catalog.load_table(arguments[0]))
    if step == "create":
        namespace = arguments[0].rpartition(".")[0]
        if not catalog.namespace_exists(namespace):
            catalog.create_namespace(namespace, {"made-by": "pyiceberg"})
        return describe(catalog.create_table(arguments[0], SCHEMA, properties={"made-by": "pyiceberg"}))
    if step == "set":
        set_property(catalog, *arguments)
        return describe(catalog.load_table(arguments[0]))
    if step == "race":
        return race(catalog, arguments[0], arguments[1], int(arguments[2]))
    if step == "rename":
        return describe(catalog.rename_table(*arguments))
    if step == "drop":
        catalog.drop_table(arguments[0])
        return {}
    raise SystemExit(__doc__)


def main():
    if len(sys.argv) < 5:
        raise SystemExit(__doc__)
    database, warehouse, name, step, *arguments = sys.argv[1:]
    catalog = SqlCatalog(name, uri=f"sqlite:///{database}", warehouse=warehouse)
    print(json.dumps(run(catalog, step, arguments)))


if __name__ == "__main__":
    main()
