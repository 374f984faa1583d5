"""Types, transforms and values of the tables that one engine writes and another reads, one column `c` beside an `id`.

The values are those of peer/values.rs, in a form that any engine's answer can be brought to: times as integers in their
unit since midnight or 1970, uuids and bytes as bytes, the rest as Python has it. The last is always NULL.
"""

import math
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

# 2017-11-16T22:31:08 in microseconds.
MOMENT = 1_510_871_468_000_000
UUIDS = [bytes(16), UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes, b"\x7f" * 16, b"\xff" * 16]


def decimals(precision, scale):
    # By digits: arithmetic would round them.
    digits = lambda value: tuple(map(int, str(abs(value))))
    # Not all nines: truncation would give such a number one digit more than its type has, which PyIceberg and Java refuse.
    unscaled = [-(10**precision - 10), 1420, 0, -1]
    return [Decimal((int(value < 0), digits(value), -scale)) for value in unscaled] + [None]


MOMENTS = [-1, 0, MOMENT, MOMENT + 1, None]
NANOS = [-1, 0, MOMENT * 1000, MOMENT * 1000 + 1001, None]
NUMBERS = ["bucket4", "truncate10"]
DATES = ["bucket4", "year", "month", "day"]
TIMES = [*DATES, "hour"]
FLOATS = [-1.5, -0.0, math.nan, math.inf, None]

# Name: values, transforms beside identity and void, first format version.
TYPES = {
    "boolean": ([True, False, True, None, None], [], 1),
    "int": ([-(2**31), -1, 34, 2**31 - 1, None], NUMBERS, 1),
    "long": ([-(2**63), -1, 34, 2**63 - 1, None], NUMBERS, 1),
    "float": (FLOATS, [], 1),
    "double": (FLOATS, [], 1),
    "decimal9": (decimals(9, 2), NUMBERS, 1),
    "decimal18": (decimals(18, 4), NUMBERS, 1),
    "decimal38": (decimals(38, 10), NUMBERS, 1),
    "date": ([-719_162, -1, 0, 17_486, None], DATES, 1),
    "time": ([0, 1, 81_068_000_000, 86_399_999_999, None], ["bucket4"], 1),
    "timestamp": (MOMENTS, TIMES, 1),
    "timestamptz": (MOMENTS, TIMES, 1),
    "timestamp_ns": (NANOS, TIMES, 3),
    "timestamptz_ns": (NANOS, TIMES, 3),
    "string": (["", "a", "iceberg", "é😀 x/y=z", None], ["bucket4", "truncate2"], 1),
    "uuid": ([*UUIDS, None], ["bucket4"], 1),
    "fixed": ([b"\0\1\2\3", b"\xff" * 4, b"\x80\0\0\0", b"abcd", None], ["bucket4"], 1),
    "binary": ([b"", b"\0\1\2\3", b"\xff\xff", b"abc", None], ["bucket4", "truncate2"], 1),
}


def tables(version):
    """(type, transform) of every table of a format version."""
    for name, (_, transforms, since) in TYPES.items():
        if since <= version:
            for transform in ["identity", "void", *transforms]:
                yield name, transform


def plain(kind, value):
    """A value of a table, as an engine gave it, in the form of TYPES."""
    if value is None:
        return None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, UUID):
        return value.bytes
    if kind == "uuid":
        return UUID(value).bytes
    return value


def same(found, expected):
    """Whether two values are one, the sign of zero and NaN included."""
    if isinstance(expected, float) and isinstance(found, float):
        return (math.isnan(found) and math.isnan(expected)) or (
            found == expected and math.copysign(1, found) == math.copysign(1, expected)
        )
    return type(found) is type(expected) and found == expected


def arrow_values(kind, column):
    """The values of an Arrow column in the form of TYPES."""
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    elif pa.types.is_time(column.type) or pa.types.is_timestamp(column.type):
        unit = "ns" if kind.endswith("_ns") else "us"
        if column.type.unit != unit:
            raise ValueError(f"unit {column.type.unit} for {kind}")
        column = column.view(pa.int64())
    return [plain(kind, value) for value in column.to_pylist()]


def text(kind, value):
    """A value as the golden scenarios write it, which is what Tarn's peer prints."""
    if value is None:
        return "NULL"
    if kind == "boolean":
        return str(value).lower()
    if kind in ("float", "double"):
        return {math.inf: "Infinity"}.get(value, "NaN" if math.isnan(value) else repr(value))
    if kind.startswith("decimal"):
        return f"{value:f}"
    if kind == "date":
        return str(date(1970, 1, 1) + timedelta(days=value))
    if kind == "time":
        # Arrow cuts the fraction by threes.
        seconds, micros = divmod(value, 1_000_000)
        shown = str(datetime(1970, 1, 1) + timedelta(seconds=seconds)).split(" ")[1]
        return shown if micros == 0 else f"{shown}.{micros:06}"
    if kind.startswith("timestamp"):
        digits, per_second = (9, 10**9) if kind.endswith("_ns") else (6, 10**6)
        seconds, fraction = divmod(value, per_second)
        shown = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        return shown if fraction == 0 else f"{shown}.{fraction:0{digits}}".rstrip("0")
    if isinstance(value, bytes):
        return value.hex()
    return "(empty)" if value == "" else str(value)
