"""What the tables that Tarn made must look like to others. Written by hand from the Iceberg specification."""

# (id, name, type, required, doc) of the current schema, after `l` was renamed and `added` was added.
COLUMNS = [
    (1, "id", "long", True, "the key"),
    (2, "b", "boolean", False, None),
    (3, "i", "int", False, None),
    (4, "big", "long", False, None),
    (5, "f", "float", False, None),
    (6, "d", "double", False, None),
    (7, "dec", "decimal(9, 2)", False, None),
    (8, "dt", "date", False, None),
    (9, "tm", "time", False, None),
    (10, "ts", "timestamp", False, None),
    (11, "tz", "timestamptz", False, None),
    (12, "s", "string", False, None),
    (13, "u", "uuid", False, None),
    (14, "fx", "fixed[8]", False, None),
    (15, "bin", "binary", False, None),
    (16, "ts2", "timestamp", False, None),
    (17, "st", "struct<x: int, y: string>", False, None),
    (18, "li", "list<double>", False, None),
    (19, "ma", "map<string, long>", False, None),
]
V3_COLUMNS = {
    "tsn": "timestamp_ns",
    "tzn": "timestamptz_ns",
    "unk": "unknown",
    "var": "variant",
    "geom": "geometry",
    "geog": "geography(srid:4326, karney)",
    "def": "int",
}

# Spec id -> fields by name: transform and source column.
FIRST = {"id_bucket": ("bucket[8]", "id"), "s_trunc": ("truncate[4]", "s"), "b": ("identity", "b")}
SECOND = {**FIRST, "dt_year": ("year", "dt"), "ts_month": ("month", "ts")}
THIRD = {**SECOND, "tz_day": ("day", "tz"), "ts2_hour": ("hour", "ts2")}


def specs(version):
    third = dict(THIRD)
    if version == 1:
        third["b"] = ("void", "b")
    else:
        del third["b"]
    return {0: FIRST, 1: SECOND, 2: third}


SORT_ORDER = [("s", "identity", "asc", "nulls-first"), ("id", "bucket[8]", "desc", "nulls-last")]

# Live data files of main: records, bytes, spec, partition values by name (absent: not in the spec, or void).
FILES = {
    "f0": (10, 1000, 0, {"id_bucket": 3, "s_trunc": "abcd", "b": True}),
    "f2": (20, 2000, 1, {"id_bucket": 0, "s_trunc": "x", "b": False, "dt_year": 54, "ts_month": 648}),
    "f3": (
        30,
        3000,
        2,
        {
            "id_bucket": 7,
            "s_trunc": "zzzz",
            "dt_year": 54,
            "ts_month": 648,
            "tz_day": 19723,
            "ts2_hour": 19723 * 24,
        },
    ),
}


def operations(version):
    """Of the snapshots in the order of their making; the third one is on the branch."""
    done = ["append", "append", "append", "append", "delete"]
    return done + (["delete"] if version == 2 else [])


class Failures:
    """Collects differences, so that one run shows all of them."""

    def __init__(self):
        self.checks = 0
        self.failed = []

    def equal(self, what, found, expected):
        self.checks += 1
        if found != expected:
            self.failed.append(f"{what}:\n    expected {expected}\n    found    {found}")

    def attempt(self, what, check, *arguments):
        """Runs a check; what it raises is one more difference, and the others still run."""
        try:
            check(*arguments, self)
        except Exception as error:  # noqa: BLE001
            self.equal(what, f"{type(error).__name__}: {str(error).strip().splitlines()[0]}", "no error")

    def report(self, name):
        for failure in self.failed:
            print(f"{name}: FAILED {failure}")
        print(f"{name}: {self.checks - len(self.failed)} checks passed, {len(self.failed)} failed")
        return 1 if self.failed else 0
