"""Tarn, PyIceberg and Spark commit to the same tables in turn, and each sees what the others did.

usage: check_interleaved.py DIRECTORY PEER   (after `tarn-interop-peer make DIRECTORY`)
"""

import sys

import pyarrow as pa

import engines
from expected import Failures

ROUNDS = 3


def check_sqlite(session, tarn, directory, failures):
    """One SQLite catalog, three engines."""
    session.sql("DELETE FROM lake.db.shared_v2")
    python = engines.pyiceberg(directory)
    before = len(tarn.describe("lake", "shared_v2")["snapshots"])
    ids = []
    for round in range(ROUNDS):
        base = round * 100
        tarn.append("lake", "shared_v2", [base + 1, base + 2], f"turn-{round}")
        table = python.load_table("db.shared_v2")
        rows = pa.table({"id": pa.array([base + 3], pa.int64()), "writer": pa.array(["python"])})
        table.append(rows)
        session.sql(f"INSERT INTO lake.db.shared_v2 VALUES ({base + 4}, 'spark')")
        ids += [base + 1, base + 2, base + 3, base + 4]
        seen = {
            "tarn": tarn.describe("lake", "shared_v2")["records"],
            "python": python.load_table("db.shared_v2").scan().to_arrow().num_rows,
            "spark": session.table("lake.db.shared_v2").count(),
        }
        failures.equal(f"round {round} rows", seen, dict.fromkeys(seen, len(ids)))
    python_ids = sorted(python.load_table("db.shared_v2").scan().to_arrow()["id"].to_pylist())
    spark_ids = sorted(r.id for r in session.table("lake.db.shared_v2").collect())
    failures.equal("ids as PyIceberg reads them", python_ids, ids)
    failures.equal("ids as Spark reads them", spark_ids, ids)
    described = tarn.describe("lake", "shared_v2")
    failures.equal("total-records of the summary", described["total-records"], str(len(ids)))
    failures.equal("snapshots", len(described["snapshots"]), before + 3 * ROUNDS)


def check_v3(session, tarn, catalog, failures):
    """Row lineage: Tarn's appends give ids that Java goes on from, and the other way round."""
    name = f"{catalog}.db.shared_v3"
    for round in range(ROUNDS):
        tarn.append(catalog, "shared_v3", [round * 10 + 1, round * 10 + 2], f"{catalog}-lineage-{round}")
        session.sql(f"INSERT INTO {name} VALUES ({round * 10 + 3}, 'spark')")
    rows = session.sql(f"SELECT id, _row_id FROM {name} ORDER BY id").collect()
    failures.equal(f"{name} ids", [r[0] for r in rows], [r * 10 + i for r in range(ROUNDS) for i in (1, 2, 3)])
    failures.equal(f"{name} row ids", sorted(r[1] for r in rows), list(range(3 * ROUNDS)))
    failures.equal(f"{name} next row id", tarn.describe(catalog, "shared_v3")["next-row-id"], 3 * ROUNDS)
    session.sql(f"DELETE FROM {name} WHERE id = 1")
    tarn.append(catalog, "shared_v3", [1000], f"{catalog}-after-delete")
    left = sorted(r.id for r in session.table(name).collect())
    expected = [r * 10 + i for r in range(ROUNDS) for i in (1, 2, 3)][1:] + [1000]
    failures.equal(f"{name} rows after a delete", left, expected)


def main(directory, peer):
    failures = Failures()
    session = engines.spark(directory)
    tarn = engines.Tarn(peer, directory)
    failures.attempt("three engines in turn", check_sqlite, session, tarn, directory)
    for catalog in ("lake", "hadoop"):
        failures.attempt(f"{catalog} row lineage", check_v3, session, tarn, catalog)
    return failures.report("interleaved")


sys.exit(main(*sys.argv[1:3]))
