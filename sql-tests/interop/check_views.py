"""Views made by Tarn's SQL read by Spark, and views made by Spark read by Tarn, in one SQLite catalog.

Tarn's statements that write come first: Java's JdbcCatalog on SQLite keeps a read lock as long as it lives.
Spark looks for unqualified names where the view was made, but not for those with versions and not for metadata tables:
they are qualified here.

usage: check_views.py DIRECTORY PEER   (after `tarn-interop-peer make DIRECTORY`)
"""

import sys

import engines
from expected import Failures

TARN = """
CREATE TABLE base (id int, name string, price decimal(8,2));
INSERT INTO base VALUES (1, 'a', 1.50), (2, 'b', 2.50), (3, 'a', NULL);
ALTER TABLE base CREATE TAG first;
INSERT INTO base VALUES (4, 'c', 9.00);
CREATE VIEW named (key COMMENT 'the key', twice) COMMENT 'about it' TBLPROPERTIES ('team'='x')
  AS SELECT id, price * 2 FROM base WHERE id > 1;
CREATE VIEW over_view AS SELECT count(*) AS n, max(key) AS top FROM named;
CREATE VIEW at_first AS SELECT id FROM lake.db.base VERSION AS OF 'first';
CREATE VIEW operations AS SELECT operation FROM lake.db.base.snapshots;
CREATE VIEW unnamed AS SELECT id + 1, upper(name) FROM base;
CREATE VIEW changed AS SELECT id FROM base;
CREATE OR REPLACE VIEW changed AS SELECT name, id FROM base WHERE name <> 'a';
ALTER VIEW changed SET TBLPROPERTIES ('reviewed'='yes');
"""

# What Spark is asked of Tarn's views. Names are resolved where the view was made, whatever Spark's namespace is.
ASKED_OF_SPARK = {
    "SELECT key, twice FROM lake.db.named ORDER BY key": [(2, "5.00"), (3, None), (4, "18.00")],
    "SELECT n, top FROM lake.db.over_view": [(3, 4)],
    "SELECT id FROM lake.db.at_first ORDER BY id": [(1,), (2,), (3,)],
    "SELECT operation FROM lake.db.operations": [("append",), ("append",)],
    "SELECT * FROM lake.db.unnamed ORDER BY 1": [(2, "A"), (3, "B"), (4, "A"), (5, "C")],
    "SELECT name, id FROM lake.db.changed ORDER BY id": [("b", 2), ("c", 4)],
    "DESCRIBE lake.db.named": [("key", "int", "the key"), ("twice", "decimal(10,2)", "")],
    "SHOW TBLPROPERTIES lake.db.named ('team')": [("team", "x")],
    "SHOW TBLPROPERTIES lake.db.changed ('reviewed')": [("reviewed", "yes")],
}

SPARK = [
    "CREATE NAMESPACE IF NOT EXISTS lake.other",
    "USE lake.db",
    "CREATE VIEW from_spark (k COMMENT 'spark says', p) TBLPROPERTIES ('team'='y') AS SELECT id, price FROM base",
    "CREATE VIEW starred AS SELECT *, id + 100 FROM base",
    "CREATE VIEW with_cte AS WITH few AS (SELECT name, count(*) AS n FROM base GROUP BY name) SELECT * FROM few",
    "CREATE VIEW other.elsewhere AS SELECT id FROM named JOIN base ON key = id",
    "CREATE OR REPLACE VIEW unnamed AS SELECT date_add(DATE '2024-01-31', id) AS day FROM base",
]

# What Tarn is asked of Spark's views.
ASKED_OF_TARN = {
    "SELECT k, p FROM from_spark ORDER BY k": [["1", "1.50"], ["2", "2.50"], ["3", "NULL"], ["4", "9.00"]],
    "SELECT * FROM starred WHERE id = 4": [["4", "c", "9.00", "104"]],
    "SELECT name, n FROM with_cte ORDER BY name": [["a", "2"], ["b", "1"], ["c", "1"]],
    "SELECT id FROM other.elsewhere ORDER BY id": [["2"], ["3"], ["4"]],
    "SELECT day FROM unnamed ORDER BY day LIMIT 1": [["2024-02-01"]],
    "DESCRIBE from_spark": [["k", "int", "spark says"], ["p", "decimal(8,2)", "(empty)"]],
    "DESCRIBE from_spark k": [["col_name", "k"], ["data_type", "int"], ["comment", "spark says"]],
    "SHOW TBLPROPERTIES from_spark ('team')": [["team", "y"]],
}


def check_spark(session, failures):
    session.sql("USE lake")
    for sql, expected in ASKED_OF_SPARK.items():
        rows = [tuple(v if v is None or isinstance(v, int) else str(v) for v in row) for row in session.sql(sql).collect()]
        failures.equal(f"Spark: {sql}", rows, expected)
    views = {row.viewName for row in session.sql("SHOW VIEWS IN lake.db").collect()}
    made = {"named", "over_view", "at_first", "operations", "unnamed", "changed"}
    failures.equal("Spark: SHOW VIEWS", made - views, set())
    statement = session.sql("SHOW CREATE TABLE lake.db.named").collect()[0][0]
    failures.equal("Spark: SHOW CREATE TABLE", "SELECT id, price * 2 FROM base WHERE id > 1" in statement, True)


def check_tarn(session, tarn, failures):
    for statement in SPARK:
        session.sql(statement)
    for sql, expected in ASKED_OF_TARN.items():
        failures.equal(f"Tarn: {sql}", tarn.sql(sql), expected)


def main(directory, peer):
    failures = Failures()
    tarn = engines.Tarn(peer, directory)
    tarn.sql(TARN)
    session = engines.spark(directory)
    for what, check, arguments in (
        ("Tarn's views in Spark", check_spark, (session,)),
        ("Spark's views in Tarn", check_tarn, (session, tarn)),
    ):
        failures.attempt(what, check, *arguments)
    return failures.report("views")


sys.exit(main(*sys.argv[1:3]))
