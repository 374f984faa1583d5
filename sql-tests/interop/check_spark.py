"""Spark with Iceberg's Java library opens what Tarn wrote, views and v3 included, through JDBC and hadoop catalogs.

The strongest check is the last: Java parses our metadata, writes it again, and nothing differs.

usage: check_spark.py DIRECTORY PEER   (after `tarn-interop-peer make DIRECTORY`)
"""

import json
import sys

import engines
import expected
from expected import Failures


def java_table(session, name):
    return session._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session._jsparkSession, name)


def check_table(session, catalog, version, failures):
    java = session._jvm.org.apache.iceberg
    name = f"{catalog}.db.all_v{version}"
    table = java_table(session, name)
    schema = json.loads(java.SchemaParser.toJson(table.schema()))
    fields = {f["name"]: f for f in schema["fields"]}
    simple = [c for c in expected.COLUMNS if not c[2].startswith(("struct", "list", "map"))]
    found = [
        (fields[n]["id"], n, fields[n]["type"], fields[n]["required"], fields[n].get("doc")) for _, n, *_ in simple
    ]
    failures.equal(f"{name} columns", found, simple)
    failures.equal(f"{name} identifier fields", schema["identifier-field-ids"], [1])
    if version == 3:
        kinds = {n: fields[n]["type"] for n in expected.V3_COLUMNS}
        failures.equal(f"{name} v3 columns", kinds, expected.V3_COLUMNS)
        defaults = (fields["def"].get("initial-default"), fields["def"].get("write-default"))
        failures.equal(f"{name} defaults", defaults, (7, 8))

    column = {f["id"]: f["name"] for f in schema["fields"]}
    specs = {}
    for entry in table.specs().entrySet():
        spec = json.loads(java.PartitionSpecParser.toJson(entry.getValue()))
        specs[spec["spec-id"]] = {f["name"]: (f["transform"], column[f["source-id"]]) for f in spec["fields"]}
    failures.equal(f"{name} specs", specs, expected.specs(version))
    order = json.loads(java.SortOrderParser.toJson(table.sortOrder()))["fields"]
    order = [(column[f["source-id"]], f["transform"], f["direction"], f["null-order"]) for f in order]
    failures.equal(f"{name} sort order", order, expected.SORT_ORDER)
    operations = [s.operation() for s in table.snapshots()]
    failures.equal(f"{name} operations", operations, expected.operations(version))
    refs = {entry.getKey(): entry.getValue().type().name() for entry in table.refs().entrySet()}
    failures.equal(f"{name} refs", refs, {"main": "BRANCH", "v1": "TAG", "audit": "BRANCH"})

    tasks = table.newScan().includeColumnStats().planFiles()
    anything = session._jvm.java.lang.Class.forName("java.lang.Object")
    files = {}
    for task in each(tasks):
        file = task.file()
        spec = json.loads(java.PartitionSpecParser.toJson(task.spec()))
        names = [f["name"] for f in spec["fields"]]
        values = {n: plain(file.partition().get(i, anything)) for i, n in enumerate(names)}
        partition = {k: v for k, v in values.items() if v is not None}
        stem = str(file.path()).rsplit("/", 1)[1].removesuffix(".parquet")
        files[stem] = (file.recordCount(), file.fileSizeInBytes(), task.spec().specId(), partition)
        expected_deletes = 1 if version == 2 and stem == "f0" else 0
        failures.equal(f"{name} {stem} deletes", len(task.deletes()), expected_deletes)
    tasks.close()
    failures.equal(f"{name} files", files, expected.FILES)
    statistics = [s.blobMetadata()[0].type() for s in table.statisticsFiles()]
    failures.equal(f"{name} statistics", statistics, ["apache-datasketches-theta-v1"])
    check_metadata(java, table, name, failures)


def check_metadata(java, table, name, failures):
    """What Java writes of our metadata equals what we wrote, key by key."""
    metadata = table.operations().current()
    ours = json.load(open(metadata.metadataFileLocation().removeprefix("file:")))
    theirs = json.loads(java.TableMetadataParser.toJson(metadata))
    for key in sorted(set(ours) | set(theirs)):
        failures.equal(f"{name} metadata '{key}'", ordered(ours.get(key)), ordered(theirs.get(key)))


def each(iterable):
    """The items of a Java iterable that is not a collection."""
    iterator = iterable.iterator()
    while iterator.hasNext():
        yield iterator.next()


def ordered(value):
    return json.dumps(value, sort_keys=True)


def plain(value):
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def check_view(session, tarn, failures):
    session.sql("INSERT INTO lake.db.shared_v2 VALUES (1, 'spark'), (-1, 'spark')")
    rows = [tuple(r) for r in session.sql("SELECT * FROM lake.db.tarn_view").collect()]
    failures.equal("rows of Tarn's view", rows, [(1, "spark")])
    session.sql("CREATE VIEW lake.db.spark_view AS SELECT writer FROM lake.db.shared_v2")
    seen = json.loads(tarn.run("view", "lake", "spark_view"))["representations"]
    failures.equal("Spark's view as Tarn sees it", [r["sql"] for r in seen], ["SELECT writer FROM lake.db.shared_v2"])


def main(directory, peer):
    failures = Failures()
    session = engines.spark(directory)
    for catalog in ("lake", "hadoop"):
        for version in (1, 2, 3):
            failures.attempt(f"{catalog} v{version}", check_table, session, catalog, version)
    failures.attempt("views", check_view, session, engines.Tarn(peer, directory))
    return failures.report("spark")


sys.exit(main(*sys.argv[1:3]))
