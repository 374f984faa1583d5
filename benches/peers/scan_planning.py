"""Plans the same scan with PyIceberg: prints cold and warm milliseconds and the number of files.

Usage: scan_planning.py METADATA_JSON LOW HIGH
"""

import sys
import time

from pyiceberg.expressions import And, GreaterThanOrEqual, LessThan
from pyiceberg.table import StaticTable


def main() -> None:
    location, low, high = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    row_filter = And(GreaterThanOrEqual("c1", low), LessThan("c1", high))
    started = time.perf_counter()
    table = StaticTable.from_metadata(location)
    times = []
    files = 0
    for _ in range(2):
        files = sum(1 for _ in table.scan(row_filter=row_filter).plan_files())
        times.append((time.perf_counter() - started) * 1000)
        started = time.perf_counter()
    print(f"{times[0]:.1f} {times[1]:.1f} {files}")


main()
