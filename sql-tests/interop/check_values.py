"""All types under all transforms: PyIceberg and DuckDB read what Tarn wrote, and Tarn reads what PyIceberg wrote.

usage: check_values.py DIRECTORY PEER   (after `tarn-interop-peer make DIRECTORY` and `… values DIRECTORY`)

What another engine cannot do stands in a list with the reason. A listed case that works fails the check.
"""

import re
import sys

import engines
import values
from expected import Failures


class Known:
    """Cases that an engine cannot do: the name's pattern, the error's pattern, the reason."""

    def __init__(self, engine, cases, failures):
        self.engine, self.cases, self.failures = engine, cases, failures
        self.met = {reason: 0 for _, _, reason in cases}

    def attempt(self, name, work, compare):
        """Runs `work`, and compares its answer unless the case is known to fail."""
        case = next((c for c in self.cases if re.fullmatch(c[0], name)), None)
        try:
            answer = work()
        except Exception as error:  # noqa: BLE001
            shown = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            known = case is not None and re.search(case[1], shown) is not None
            self.failures.equal(f"{self.engine} {name}", "known" if known else shown, "known" if known else "no error")
            if known:
                self.met[case[2]] += 1
            return
        if case is not None:
            self.failures.equal(f"{self.engine} {name}", "works", f"listed as failing: {case[2]}")
            return
        compare(answer)

    def report(self):
        for reason, count in self.met.items():
            print(f"  {self.engine}: {count} cases known to fail: {reason}")


def compare(engine, name, kind, failures):
    """Compares (ids, values) with what was written."""
    expected = values.TYPES[kind][0]

    def check(answer):
        ids, found = answer
        agrees = ids == list(range(5)) and len(found) == 5 and all(map(values.same, found, expected))
        failures.equal(f"{engine} {name}", "as written" if agrees else (ids, found), "as written")

    return check


PYICEBERG = [
    (
        r"v3_timestamp(tz)?_ns_(identity|void)",
        r"timestamp-nanos",
        "it does not know the Avro type of partition values in nanoseconds (spec, Appendix A)",
    ),
]
DUCKDB = [
    (r"v3_timestamptz_ns_.*", r"Unrecognized primitive type: timestamptz_ns", "it has no type timestamptz_ns"),
]
# What PyIceberg cannot write.
PYICEBERG_WRITES = [
    (r"py_v3_.*", r"Writing V3 is not yet supported", "it writes no tables of version 3"),
    (r"py_v\d_(float|double)_identity", r"division by zero", "it loses the rows of a NaN partition and divides by their number"),
    (r"py_v\d_time_bucket4", r"no attribute 'hour'", "it cannot name the bucket of a time"),
    (r"py_v\d_uuid_(identity|void)", r"Keys of type extension<arrow.uuid>", "Arrow cannot group rows by uuids"),
]


def check_pyiceberg(directory, failures):
    catalog = engines.pyiceberg(directory)
    known = Known("pyiceberg", PYICEBERG, failures)
    for version in (1, 2, 3):
        for kind, transform in values.tables(version):
            name = f"v{version}_{kind}_{transform}"

            def read():
                rows = catalog.load_table(f"db.{name}").scan().to_arrow().sort_by("id")
                return rows["id"].to_pylist(), values.arrow_values(kind, rows["c"])

            known.attempt(name, read, compare("pyiceberg", name, kind, failures))
    known.report()


def check_duckdb(directory, failures):
    catalog, duckdb = engines.pyiceberg(directory), engines.duckdb()
    known = Known("duckdb", DUCKDB, failures)
    for version in (1, 2, 3):
        for kind, transform in values.tables(version):
            name = f"v{version}_{kind}_{transform}"

            def read():
                # The catalog's row names the file; DuckDB knows no SQLite catalogs.
                location = engines.metadata_location(directory, name)
                query = f"SELECT id, c FROM iceberg_scan('{location}') ORDER BY id"
                rows = duckdb.execute(query).to_arrow_table()
                return rows["id"].to_pylist(), values.arrow_values(kind, rows["c"])

            known.attempt(name, read, compare("duckdb", name, kind, failures))
    known.report()


def pyiceberg_type(kind):
    """The column's type in PyIceberg and in Arrow."""
    import pyarrow as pa
    from pyiceberg import types

    decimal = re.fullmatch(r"decimal(\d+)", kind)
    if decimal is not None:
        precision = int(decimal[1])
        scale = {9: 2, 18: 4, 38: 10}[precision]
        return types.DecimalType(precision, scale), pa.decimal128(precision, scale)
    return {
        "boolean": (types.BooleanType(), pa.bool_()),
        "int": (types.IntegerType(), pa.int32()),
        "long": (types.LongType(), pa.int64()),
        "float": (types.FloatType(), pa.float32()),
        "double": (types.DoubleType(), pa.float64()),
        "date": (types.DateType(), pa.date32()),
        "time": (types.TimeType(), pa.time64("us")),
        "timestamp": (types.TimestampType(), pa.timestamp("us")),
        "timestamptz": (types.TimestamptzType(), pa.timestamp("us", "UTC")),
        "timestamp_ns": (types.TimestampNanoType(), pa.timestamp("ns")),
        "timestamptz_ns": (types.TimestamptzNanoType(), pa.timestamp("ns", "UTC")),
        "string": (types.StringType(), pa.string()),
        "uuid": (types.UUIDType(), pa.uuid()),
        "fixed": (types.FixedType(4), pa.binary(4)),
        "binary": (types.BinaryType(), pa.binary()),
    }[kind]


def write_by_pyiceberg(catalog, name, kind, transform, version):
    """A table of the same rows, by PyIceberg."""
    import pyarrow as pa
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import parse_transform
    from pyiceberg.types import IntegerType, NestedField

    iceberg, arrow = pyiceberg_type(kind)
    schema = Schema(NestedField(1, "id", IntegerType(), required=True), NestedField(2, "c", iceberg, required=False))
    spelled = re.sub(r"(\d+)", r"[\1]", transform)
    field = PartitionField(source_id=2, field_id=1000, transform=parse_transform(spelled), name=f"c_{transform}")
    properties = {"format-version": str(version)}
    table = catalog.create_table(f"db.{name}", schema, partition_spec=PartitionSpec(field), properties=properties)
    ids = pa.array(range(5), pa.int32())
    raw = values.TYPES[kind][0]
    if pa.types.is_temporal(arrow):
        width = pa.int32() if pa.types.is_date32(arrow) else pa.int64()
        column = pa.array(raw, width).view(arrow) if arrow != pa.time64("us") else pa.array(raw, width).cast(arrow)
    elif kind == "uuid":
        column = pa.ExtensionArray.from_storage(arrow, pa.array(raw, pa.binary(16)))
    else:
        column = pa.array(raw, arrow)
    columns = pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("c", arrow)])
    table.append(pa.table([ids, column], schema=columns))


def check_tarn(directory, tarn, failures):
    """Tarn reads what PyIceberg wrote."""
    catalog = engines.pyiceberg(directory)
    known = Known("pyiceberg writes, tarn reads:", PYICEBERG_WRITES, failures)
    for version in (1, 2, 3):
        for kind, transform in values.tables(version):
            name = f"py_v{version}_{kind}_{transform}"
            expected = [[str(id), values.text(kind, v)] for id, v in enumerate(values.TYPES[kind][0])]

            def work():
                write_by_pyiceberg(catalog, name, kind, transform, version)
                return name

            def compare_rows(name):
                found = tarn.sql(f"SELECT id, c FROM {name} ORDER BY id")
                failures.equal(f"tarn reads {name}", found, expected)

            known.attempt(name, work, compare_rows)
    known.report()


def main(directory, peer):
    failures = Failures()
    failures.attempt("pyiceberg reads", check_pyiceberg, directory)
    failures.attempt("duckdb reads", check_duckdb, directory)
    failures.attempt("tarn reads", check_tarn, directory, engines.Tarn(peer, directory))
    return failures.report("values")


sys.exit(main(*sys.argv[1:3]))
