"""Tarn, PyIceberg and Spark commit to the same tables in turn, and each sees what the others did.

usage: check_interleaved.py DIRECTORY PEER   (after `tarn-interop-peer make DIRECTORY`)
"""

import sys

import pyarrow as pa

import engines
from expected import Failures

ROUNDS = 3


def check_sqlite(session, tarn, directory, failures):
    """One SQLite catalog, three engines. Spark reads only at the end, because its catalog then keeps a lock."""
    python = engines.pyiceberg(directory)
    java = engines.Java(session, directory)
    ids = python.load_table("db.shared_v2").scan().to_arrow()["id"].to_pylist()
    before = len(tarn.describe("lake", "shared_v2")["snapshots"])
    for round in range(ROUNDS):
        base = 1000 + round * 100
        tarn.sql(f"INSERT INTO shared_v2 VALUES ({base + 1}, 'tarn'), ({base + 2}, 'tarn')")
        rows = pa.table({"id": pa.array([base + 3], pa.int64()), "writer": pa.array(["python"])})
        python.load_table("db.shared_v2").append(rows)
        java.append("shared_v2", [base + 4], f"java-turn-{round}")
        ids += [base + 1, base + 2, base + 3, base + 4]
        # PyIceberg writes the files of the rows that stay anew.
        python.load_table("db.shared_v2").delete(f"id = {base + 2}")
        ids.remove(base + 2)
        seen = {
            "tarn's metadata": tarn.describe("lake", "shared_v2")["records"],
            "tarn": int(tarn.sql("SELECT count(*) FROM shared_v2")[0][0]),
            "python": python.load_table("db.shared_v2").scan().to_arrow().num_rows,
        }
        failures.equal(f"round {round} rows", seen, dict.fromkeys(seen, len(ids)))
        tarn.sql(f"INSERT INTO shared_v3 VALUES ({round * 10 + 1}, 'tarn'), ({round * 10 + 2}, 'tarn')")
        java.append("shared_v3", [round * 10 + 3], f"java-lineage-{round}")
    python_ids = sorted(python.load_table("db.shared_v2").scan().to_arrow()["id"].to_pylist())
    failures.equal("ids as PyIceberg reads them", python_ids, sorted(ids))
    tarn_ids = [int(row[0]) for row in tarn.sql("SELECT id FROM shared_v2 ORDER BY id")]
    failures.equal("ids as Tarn reads them", tarn_ids, sorted(ids))
    writers = tarn.sql(f"SELECT writer, count(*) FROM shared_v2 WHERE id >= 1000 GROUP BY 1 ORDER BY 1")
    counts = [["java", str(ROUNDS)], ["python", str(ROUNDS)], ["tarn", str(ROUNDS)]]
    failures.equal("rows by writer as Tarn reads them", writers, counts)
    described = tarn.describe("lake", "shared_v2")
    failures.equal("total-records of the summary", described["total-records"], str(len(ids)))
    failures.equal("snapshots", len(described["snapshots"]), before + 4 * ROUNDS)
    failures.equal("next row id", tarn.describe("lake", "shared_v3")["next-row-id"], 3 * ROUNDS)

    spark_ids = sorted(r.id for r in session.table("lake.db.shared_v2").collect())
    failures.equal("ids as Spark reads them", spark_ids, sorted(ids))
    check_row_ids(session, "lake.db.shared_v3", failures)


def check_row_ids(session, name, failures):
    """Every row has an id of its own, counted from 0 over all writers."""
    rows = session.sql(f"SELECT id, _row_id FROM {name} ORDER BY id").collect()
    failures.equal(f"{name} ids", [r[0] for r in rows], [r * 10 + i for r in range(ROUNDS) for i in (1, 2, 3)])
    failures.equal(f"{name} row ids", sorted(r[1] for r in rows), list(range(3 * ROUNDS)))


def check_hadoop(session, tarn, failures):
    """A directory, in turn with Spark; Spark deletes by deletion vector, and Tarn goes on from there."""
    name = "hadoop.db.shared_v3"
    for round in range(ROUNDS):
        tarn.sql(f"INSERT INTO {name} VALUES ({round * 10 + 1}, 'tarn'), ({round * 10 + 2}, 'tarn')")
        session.sql(f"INSERT INTO {name} VALUES ({round * 10 + 3}, 'spark')")
    check_row_ids(session, name, failures)
    failures.equal(f"{name} next row id", tarn.describe("hadoop", "shared_v3")["next-row-id"], 3 * ROUNDS)
    session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.delete.mode'='merge-on-read')")
    session.sql(f"DELETE FROM {name} WHERE id = 1")
    failures.equal(f"{name} deletion vectors", tarn.describe("hadoop", "shared_v3")["delete-files"], 1)
    tarn.append("hadoop", "shared_v3", [1000], "hadoop-after-delete")
    left = sorted(r.id for r in session.table(name).collect())
    expected = [r * 10 + i for r in range(ROUNDS) for i in (1, 2, 3)][1:] + [1000]
    failures.equal(f"{name} rows after a delete", left, expected)


def main(directory, peer):
    failures = Failures()
    session = engines.spark(directory)
    tarn = engines.Tarn(peer, directory)
    failures.attempt("three engines in turn", check_sqlite, session, tarn, directory)
    failures.attempt("a directory in turn", check_hadoop, session, tarn)
    return failures.report("interleaved")


sys.exit(main(*sys.argv[1:3]))
