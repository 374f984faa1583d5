"""One peer in a process of its own. Requests are lines of JSON on standard input, each answered by a line of JSON.

usage: session.py ENGINE THREADS FOLDER [CATALOG_URI]

A request has one of the keys `open` (a table's name, `metadata` and `location` beside it), `run` (a statement) and `plan`
(a query that is only planned). An answer has `wall_ms`, `cpu_ms` (user and system time of all threads) and `rows` as
text, or `error`. The time ends when the last row is there, in the peer's or in Arrow's form; making text comes after.
"""

import importlib
import json
import os
import sys
import time

from answers import rows


def answer(engine, request):
    cpu, wall = time.process_time(), time.perf_counter()
    result = None
    if "open" in request:
        engine.open({"name": request["open"], **request})
    elif "plan" in request:
        engine.plan(request["plan"])
    else:
        result = engine.run(request["run"])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = rows(result) if hasattr(result, "columns") else []
    return {"wall_ms": wall * 1e3, "cpu_ms": cpu * 1e3, "rows": found}


def main():
    # Whatever a library prints goes to standard error: the answers have standard output for themselves.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name, threads, folder, *catalog_uri = sys.argv[1:]
    engine = importlib.import_module(f"engines.{name}").Engine(int(threads), folder, *catalog_uri)
    print(json.dumps({"version": engine.version()}), file=output, flush=True)
    for line in sys.stdin:
        try:
            reply = answer(engine, json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=output, flush=True)
    # Servers in this process may have threads that would be waited for.
    os._exit(0)


main()
