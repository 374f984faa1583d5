"""PyIceberg opens tables that lived random lives under Tarn: same schema, partitioning, order, refs, and rows of each snapshot.

usage: check_lives.py DIRECTORY [PEER]   (after `TARN_LIVES_KEPT=DIRECTORY/lives cargo test … -- lives/sqlite`)
"""

import datetime
import decimal
import json
import pathlib
import re
import shutil
import sys

import engines
from expected import Failures
from pyiceberg.types import ListType, MapType, StructType

TRANSFORMS = {"{}": "identity", "bucket(4, {})": "bucket[4]", "truncate(2, {})": "truncate[2]", "days({})": "day"}
TYPES = {"int": "int", "long": "bigint", "date": "date", "float": "float", "double": "double", "string": "string"}


def sql_type(kind):
    """PyIceberg's type in Tarn's SQL."""
    if isinstance(kind, StructType):
        return "struct<" + ", ".join(f"{f.name}: {sql_type(f.field_type)}" for f in kind.fields) + ">"
    if isinstance(kind, ListType):
        return f"array<{sql_type(kind.element_type)}>"
    if isinstance(kind, MapType):
        return f"map<{sql_type(kind.key_type)}, {sql_type(kind.value_type)}>"
    return TYPES.get(str(kind)) or re.sub(r"\s", "", str(kind))


def cell(value, kind):
    """A value as the report has it.

    PyIceberg 0.12 makes empty lists and maps of NULL ones where it rebuilds them for their structs; no life has empty ones.
    """
    if value is None or value == []:
        return None
    if isinstance(kind, StructType):
        return [[f.name, cell(value[f.name], f.field_type)] for f in kind.fields]
    if isinstance(kind, ListType):
        return [cell(v, kind.element_type) for v in value]
    if isinstance(kind, MapType):
        return sorted([k, cell(v, kind.value_type)] for k, v in value)
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


def rows_of(table, snapshot_id):
    scan = table.scan(snapshot_id=snapshot_id)
    fields = scan.projection().fields
    found = [[cell(row[f.name], f.field_type) for f in fields] for row in scan.to_arrow().to_pylist()]
    return [f.name for f in fields], sorted(found, key=json.dumps)


def check(report, failures):
    table = engines.pyiceberg(report["directory"]).load_table("db.t")
    schema, name = table.schema(), report["name"]
    equal = lambda what, found, expected: failures.equal(f"{name}: {what}", found, expected)
    equal("columns", [[f.name, sql_type(f.field_type)] for f in schema.fields], report["columns"])
    identifier = [report["identifier"]] if report["identifier"] else []
    equal("identifier", sorted(schema.identifier_field_names()), identifier)
    fields = [[schema.find_column_name(f.source_id), str(f.transform)] for f in table.spec().fields]
    fields = [f for f in fields if f[1] != "void"]
    key = lambda pair: (str(pair[0]), str(pair[1]))
    expected = [[source, TRANSFORMS[transform]] for source, transform in report["partition"]]
    equal("partition fields", sorted(fields, key=key), sorted(expected, key=key))
    order = [
        [schema.find_column_name(f.source_id), str(f.transform), f.direction.name, f.null_order.value.split("-")[1].upper()]
        for f in table.sort_order().fields
    ]
    equal("order", order, [[s, TRANSFORMS[t], d, n] for s, t, d, n in report["order"]])
    refs = table.refs()
    equal("current", table.metadata.current_snapshot_id, report["current"])
    branches = {n for n, r in refs.items() if r.snapshot_ref_type.value == "branch"}
    equal("branches", branches | {"main"}, set(report["branches"]))
    tags = {n: r.snapshot_id for n, r in refs.items() if r.snapshot_ref_type.value == "tag"}
    equal("tags", tags, report["tags"])
    for snapshot_id, state in report["snapshots"].items():
        names, found = rows_of(table, int(snapshot_id))
        equal(f"columns of snapshot {snapshot_id}", names, state["columns"])
        equal(f"rows of snapshot {snapshot_id}", found, sorted(state["rows"], key=json.dumps))


def main(directory, _peer=None):
    failures = Failures()
    for path in sorted(pathlib.Path(directory, "lives").glob("*.json")):
        report = json.loads(path.read_text())
        report["name"] = path.stem
        failures.attempt(path.stem, check, report)
        shutil.rmtree(report["directory"])
    failures.equal("lives were lived", failures.checks > 0, True)
    return failures.report("lives")


sys.exit(main(*sys.argv[1:3]))
