"""Rows as text, and whether a peer's are right. Right is what DuckDB finds in the raw files, without Iceberg."""

import datetime
import decimal


def text(cell):
    """A cell as every peer's answers are compared."""
    if cell is None:
        return None
    if isinstance(cell, decimal.Decimal):
        return format(cell, "f")
    if isinstance(cell, bytes):
        return cell.decode()
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return str(cell)


def rows(table):
    """The rows of an Arrow table."""
    columns = [column.to_pylist() for column in table.columns]
    return [[text(cell) for cell in row] for row in zip(*columns)]


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def is_fraction(text):
    return text is not None and "." in text and number(text) is not None


def last_digit(text):
    """What the last digit after a number's point is worth."""
    digits = text.lower().partition("e")[0]
    return 10.0 ** -len(digits.partition(".")[2])


def agree(found, expected):
    """Whole numbers and text agree exactly. Of fractions, the last digit that both print may differ by one: averages and
    quotients have other scales in other engines, and some cut off where others round."""
    if found == expected:
        return True
    a, b = number(found), number(expected)
    if a is None or b is None:
        return False
    if is_fraction(found) and is_fraction(expected):
        unit = max(last_digit(found), last_digit(expected))
        return abs(a - b) <= max(unit, abs(b) * 1e-9) * 1.000001
    return a == b


def sorted_rows(rows, fractions):
    """Exact columns count first: fractions that differ in the last digit may sort differently in two engines."""

    def key(row):
        exact = tuple(cell or "" for i, cell in enumerate(row) if i not in fractions)
        return exact, tuple(round(number(row[i]) or 0, 2) for i in fractions)

    return sorted(rows, key=key)


def difference(found, expected):
    """One line that says how the rows differ; `None` when they don't. Their order is not compared."""
    if len(found) != len(expected):
        return f"{len(found)} rows instead of {len(expected)}"
    if not expected:
        return None
    if len(found[0]) != len(expected[0]):
        return f"{len(found[0])} columns instead of {len(expected[0])}"
    fractions = [i for i in range(len(expected[0])) if any(is_fraction(row[i]) for row in expected)]
    for ours, theirs in zip(sorted_rows(found, fractions), sorted_rows(expected, fractions)):
        if not all(agree(a, b) for a, b in zip(ours, theirs)):
            return f"{ours} instead of {theirs}"
    return None
