"""PyIceberg opens what Tarn wrote: schema, specs, sort order, refs, snapshots, files and statistics are as made.

usage: check_pyiceberg.py DIRECTORY   (after `tarn-interop-peer make DIRECTORY`)
"""

import sys

import engines
import expected
from expected import Failures


def type_name(kind):
    """PyIceberg's spelling without field ids and nullability."""
    from pyiceberg.types import ListType, MapType, StructType

    if isinstance(kind, StructType):
        return "struct<" + ", ".join(f"{f.name}: {type_name(f.field_type)}" for f in kind.fields) + ">"
    if isinstance(kind, ListType):
        return f"list<{type_name(kind.element_type)}>"
    if isinstance(kind, MapType):
        return f"map<{type_name(kind.key_type)}, {type_name(kind.value_type)}>"
    return str(kind)


def check(table, version, failures):
    metadata = table.metadata
    name = f"all_v{version}"
    failures.equal(f"{name} format version", metadata.format_version, version)
    columns = [(f.field_id, f.name, type_name(f.field_type), f.required, f.doc) for f in table.schema().fields]
    added = columns[-1]
    failures.equal(f"{name} columns", columns[:-1], expected.COLUMNS)
    failures.equal(f"{name} added column", added[1:], ("added", "string", False, "came later"))
    failures.equal(f"{name} schemas", len(table.schemas()), 2)
    failures.equal(f"{name} identifier fields", table.schema().identifier_field_ids, [1])

    source = {f.field_id: f.name for f in table.schema().fields}
    specs = {
        id: {f.name: (str(f.transform), source[f.source_id]) for f in spec.fields} for id, spec in table.specs().items()
    }
    failures.equal(f"{name} specs", specs, expected.specs(version))
    ids = {}
    for spec in table.specs().values():
        for f in spec.fields:
            ids.setdefault(f.name, set()).add(f.field_id)
    failures.equal(f"{name} partition field ids", {k: len(v) for k, v in ids.items()}, {k: 1 for k in ids})
    order = [
        (source[f.source_id], str(f.transform), f.direction.value, f.null_order.value) for f in table.sort_order().fields
    ]
    failures.equal(f"{name} sort order", order, expected.SORT_ORDER)

    snapshots = sorted(table.snapshots(), key=lambda s: (s.sequence_number or 0, s.timestamp_ms))
    operations = [s.summary.operation.value for s in snapshots]
    failures.equal(f"{name} operations", operations, expected.operations(version))
    refs = {n: (r.snapshot_ref_type.value, r.max_ref_age_ms, r.min_snapshots_to_keep) for n, r in table.refs().items()}
    failures.equal(
        f"{name} refs",
        refs,
        {"main": ("branch", None, None), "v1": ("tag", 86400000, None), "audit": ("branch", 86400000, 3)},
    )
    failures.equal(f"{name} tag", table.refs()["v1"].snapshot_id, snapshots[0].snapshot_id)
    failures.equal(f"{name} branch", table.refs()["audit"].snapshot_id, snapshots[2].snapshot_id)
    failures.equal(f"{name} branch parent", snapshots[2].parent_snapshot_id, snapshots[0].snapshot_id)
    failures.equal(f"{name} main parent", snapshots[3].parent_snapshot_id, snapshots[1].snapshot_id)
    failures.equal(f"{name} total records", table.current_snapshot().summary["total-records"], "60")
    failures.equal(f"{name} total files", table.current_snapshot().summary["total-data-files"], "3")

    # `inspect.files()` cannot show metrics of uuid columns, so the manifests are read themselves.
    files = {}
    for manifest in table.current_snapshot().manifests(table.io):
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
            file = entry.data_file
            stem = file.file_path.rsplit("/", 1)[1].removesuffix(".parquet")
            names = [f.name for f in table.specs()[manifest.partition_spec_id].fields]
            partition = {n: file.partition[i] for i, n in enumerate(names) if file.partition[i] is not None}
            files[stem] = (file.record_count, file.file_size_in_bytes, manifest.partition_spec_id, partition)
            if file.content == 0:
                bounds = [int.from_bytes(b[4], "little", signed=True) for b in (file.lower_bounds, file.upper_bounds)]
                failures.equal(f"{name} {stem} bounds", bounds, [-5, 9])
                failures.equal(f"{name} {stem} null count", file.null_value_counts[4], 1)
    deletes = {"d0": (2, 200, 0, expected.FILES["f0"][3])} if version == 2 else {}
    failures.equal(f"{name} files", files, {**expected.FILES, **deletes})
    planned = sorted(task.file.file_path.rsplit("/", 1)[1] for task in table.scan(row_filter="id >= 0").plan_files())
    failures.equal(f"{name} planned files", planned, ["f0.parquet", "f2.parquet", "f3.parquet"])
    none = [task for task in table.scan(row_filter="big > 9").plan_files()]
    failures.equal(f"{name} files that bounds exclude", none, [])
    statistics = [(s.snapshot_id, [b.type for b in s.blob_metadata]) for s in metadata.statistics]
    current = table.current_snapshot().snapshot_id
    failures.equal(f"{name} statistics", statistics, [(current, ["apache-datasketches-theta-v1"])])


def main(directory):
    failures = Failures()
    catalog = engines.pyiceberg(directory)
    for version in (1, 2):
        failures.attempt(f"v{version}", check, catalog.load_table(f"db.all_v{version}"), version)
    failures.equal("tables", sorted(t[-1] for t in catalog.list_tables("db"))[:2], ["all_v1", "all_v2"])
    return failures.report("pyiceberg")


sys.exit(main(sys.argv[1]))
