//! Names: case, qualifiers, scopes, ambiguity.

use super::TestSession;

async fn session() -> TestSession {
    let session = TestSession::new();
    session
        .run(
            "CREATE TABLE T (Id INT, `Mixed Case` STRING, s STRUCT<A: INT, b: STRUCT<C: STRING>>);
             CREATE TABLE u (ID INT, x ARRAY<STRUCT<f: INT>>);
             INSERT INTO T VALUES (1, 'one', named_struct('A', 10, 'b', named_struct('C', 'c1'))), (2, 'two', NULL);
             INSERT INTO u VALUES (1, array(named_struct('f', 7))), (3, NULL)",
        )
        .await
        .expect("tables");
    session
}

async fn check(sql: &str, expected: &[&str]) {
    let rows = session().await.rows(sql).await;
    let rows = rows.unwrap_or_else(|e| panic!("{sql}: {e}"));
    assert_eq!(rows, expected, "{sql}");
}

async fn refused(sql: &str, part: &str) {
    let error = session().await.rows(sql).await.expect_err(sql).to_string();
    assert!(error.contains(part), "{sql}: {error}");
}

#[tokio::test]
async fn columns_and_fields_in_any_case() {
    check(
        "SELECT ID, `mixed case`, S.a, t.s.B.c FROM t WHERE iD = 1",
        &["1 one 10 c1"],
    )
    .await;
    check(
        "SELECT LAKE.DB.T.ID, db.t.id FROM lake.db.t ORDER BY iD DESC",
        &["2 2", "1 1"],
    )
    .await;
    check("SELECT u.X[0].F, x.f FROM U ORDER BY id", &["7 [7]", "NULL NULL"]).await;
}

#[tokio::test]
async fn scopes() {
    check(
        "SELECT a.id FROM t a WHERE EXISTS (SELECT 1 FROM u WHERE u.id = A.ID)",
        &["1"],
    )
    .await;
    check("SELECT id FROM t WHERE id IN (SELECT ID FROM u)", &["1"]).await;
    check(
        "SELECT (SELECT max(u.id) FROM u WHERE u.id = t.id) FROM t ORDER BY t.id",
        &["1", "NULL"],
    )
    .await;
    check(
        "WITH t AS (SELECT id + 1 AS N FROM t) SELECT n FROM T ORDER BY 1",
        &["2", "3"],
    )
    .await;
    check("SELECT Q FROM (SELECT id AS q, s.a FROM t) WHERE A = 10", &["1"]).await;
    check("SELECT count(*) FROM (SELECT * FROM t JOIN u ON t.id = u.id)", &["1"]).await;
    check("SELECT id, id FROM t ORDER BY ID", &["1 1", "2 2"]).await;
    check("SELECT t.id, u.id FROM t JOIN u USING (id)", &["1 1"]).await;
    check("SELECT ID FROM t FULL JOIN u USING (id) ORDER BY id", &["1", "2", "3"]).await;
    check("SELECT * EXCEPT (s) FROM t NATURAL JOIN (SELECT id FROM u)", &["1 one"]).await;
    check(
        "SELECT a, b FROM VALUES (1, 2), (3, 4) AS v (A, B) ORDER BY a DESC",
        &["3 4", "1 2"],
    )
    .await;
    check(
        "SELECT id * 10 AS k, count(*) FROM t GROUP BY K HAVING k > 10",
        &["20 1"],
    )
    .await;
    check("SELECT id AS a, a + 1 AS b FROM t ORDER BY B DESC LIMIT 1", &["2 3"]).await;
    check(
        "SELECT t.id FROM t, LATERAL (SELECT u.id FROM u WHERE u.id = t.id) l",
        &["1"],
    )
    .await;
    check(
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT N + 1 FROM r WHERE n < 3) SELECT sum(n) FROM r",
        &["6"],
    )
    .await;
    check(
        "SELECT id FROM t UNION ALL SELECT id FROM u ORDER BY ID DESC LIMIT 2",
        &["3", "2"],
    )
    .await;
    check(
        "SELECT id, row_number() OVER (ORDER BY id DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY 2",
        &["2 1", "1 2"],
    )
    .await;
}

#[tokio::test]
async fn operators_are_sparks() {
    check("SELECT 7 / 2, 7 div 2, -7 % 4, 1 / 0, 5 % 0", &["3.5 3 -3 NULL NULL"]).await;
    check("SELECT 1 <=> NULL, NULL <=> NULL, 'a' || 1", &["false true a1"]).await;
    check(
        "SELECT CAST('x' AS INT), CAST(300 AS TINYINT), CAST(' 7 ' AS BIGINT), try_cast(300 AS TINYINT)",
        &["NULL 44 7 NULL"],
    )
    .await;
    check(
        "SELECT CAST(TIMESTAMP '2024-01-31 12:00:00.500' AS STRING), DATE '2024-01-31' + 1",
        &["2024-01-31 12:00:00.5 2024-02-01"],
    )
    .await;
    check(
        "SELECT map('a', 1)['a'], map('a', 1)['b'], array(1, 2)[0], array(1, 2)[5]",
        &["1 NULL 1 NULL"],
    )
    .await;
    check("SELECT count(*) FROM t WHERE id = '1' OR id IN ('2')", &["2"]).await;
    check(
        "SELECT unix_millis(TIMESTAMP '1970-01-01 00:00:01.5'), year(DATE '2024-02-29'), month(DATE '2024-02-29')",
        &["1500 2024 2"],
    )
    .await;
    check(
        "SELECT -2147483648, 2147483648, 1.50, 1e2",
        &["-2147483648 2147483648 1.50 100.0"],
    )
    .await;
    check(
        "SELECT d > 1.5, d IN (1.0, 2.5) FROM VALUES (CAST('NaN' AS DOUBLE)), (1.0) AS v (d)",
        &["true false", "false true"],
    )
    .await;
}

#[tokio::test]
async fn the_rest_of_sql() {
    for (sql, expected) in [
        (
            "SELECT sum(n), g FROM VALUES (1, 'a'), (2, 'b'), (3, 'a') v (n, g) GROUP BY ROLLUP (g) ORDER BY 1",
            "2 b|4 a|6 NULL",
        ),
        (
            "SELECT g, count(*) c FROM VALUES (1, 'a'), (2, 'b') v (n, g) GROUP BY g WITH ROLLUP ORDER BY C DESC, G",
            "NULL 2|a 1|b 1",
        ),
        (
            "SELECT n FROM VALUES (1), (2), (3) v (n) QUALIFY row_number() OVER (ORDER BY N DESC) = 1",
            "3",
        ),
        (
            "SELECT n FROM VALUES (1), (2), (3) v (n) WHERE n NOT IN (SELECT id FROM t) ORDER BY n",
            "3",
        ),
        (
            "SELECT sum(n) OVER w FROM VALUES (1), (2) v (n) WINDOW w AS (ORDER BY N) ORDER BY 1",
            "1|3",
        ),
        (
            "SELECT DATE '1998-12-01' - INTERVAL '90' DAY, DATE '1998-12-01' + INTERVAL 1 MONTH",
            "1998-09-02 1999-01-01",
        ),
        (
            "SELECT extract(YEAR FROM DATE '2024-02-29'), substring('abc', 2, 1), upper('x'), length('é')",
            "2024 b X 1",
        ),
        ("SELECT x.id FROM (t x JOIN u y ON x.id = y.ID)", "1"),
        ("SELECT j.id FROM (t JOIN u USING (id)) AS j", "1"),
        ("SELECT id FROM t LEFT SEMI JOIN u ON t.id = u.id", "1"),
        ("SELECT id FROM t LEFT ANTI JOIN u ON t.id = u.id", "2"),
        ("SELECT id FROM t EXCEPT SELECT id FROM u", "2"),
        ("SELECT id FROM t INTERSECT SELECT id FROM u", "1"),
        (
            "SELECT CASE WHEN ID > 1 THEN 'big' ELSE 'small' END AS size FROM t ORDER BY Size",
            "big|small",
        ),
        (
            "SELECT count(DISTINCT id), sum(id), avg(id), max(s.a) FILTER (WHERE id = 1) FROM t",
            "2 3 1.5 10",
        ),
        (
            "SELECT if(id = 1, 'a', 'b'), nullif(id, 1), coalesce(nullif(id, 2), 0) FROM t ORDER BY id",
            "a NULL 1|b 2 0",
        ),
        (
            "SELECT 'abc' LIKE 'a%', 'abc' RLIKE 'b', NOT 'abc' RLIKE 'z', 1 IN (2, NULL), 2 BETWEEN 1 AND 3",
            "true true true NULL true",
        ),
        (
            "SELECT X'0AFF', TIMESTAMP_NTZ '2024-01-01 00:00:01', CAST(1.5 AS DECIMAL(9, 3)), 3L",
            "0aff 2024-01-01 00:00:01 1.500 3",
        ),
        (
            "SELECT struct(id, `Mixed Case`) FROM t WHERE id = 1",
            "{Id: 1, Mixed Case: one}",
        ),
        (
            "SELECT id + 1 FROM t GROUP BY id + 1 HAVING count(*) = 1 ORDER BY id + 1",
            "2|3",
        ),
        ("SELECT max(id) AS id FROM t HAVING id > 1", "2"),
        (
            "SELECT sum(id) AS id FROM t GROUP BY `mixed case` ORDER BY sum(id) DESC LIMIT 1",
            "2",
        ),
        ("SELECT DISTINCT id AS k FROM t ORDER BY k DESC", "2|1"),
        ("SELECT a.id, b.id FROM t a, t b WHERE a.id < b.id", "1 2"),
        ("SELECT (SELECT count(*) FROM t)", "2"),
        ("SELECT T.*, 1 FROM t WHERE id = 2", "2 two NULL 1"),
        ("TABLE u", "1 [{f: 7}]|3 NULL"),
        ("SELECT id FROM range(3) ORDER BY id", "0|1|2"),
        ("SELECT transform(array(1, 2), x -> x + 1)", "[2, 3]"),
        ("SELECT explode(array(1, 2)) AS e ORDER BY e", "1|2"),
        (
            "SELECT v.g FROM (VALUES (1, named_struct('H', 5))) AS v (i, g) WHERE v.g.h = 5",
            "{H: 5}",
        ),
        (
            "SELECT coalesce(d, 0.5) FROM VALUES (CAST('NaN' AS DOUBLE)) v (d)",
            "NaN",
        ),
        ("SELECT CASE WHEN false THEN 1.5 ELSE CAST('NaN' AS DOUBLE) END", "NaN"),
        (
            "SELECT current_timestamp() > TIMESTAMP '2020-01-01 00:00:00', current_date() > '2020-01-01'",
            "true true",
        ),
    ] {
        check(sql, &expected.split('|').collect::<Vec<_>>()).await;
    }
}

#[tokio::test]
async fn versions_are_constants() {
    use crate::planner::RelationVersion as V;
    let cases = [
        ("VERSION AS OF 12", V::Snapshot(12)),
        ("FOR VERSION AS OF 'dev'", V::Ref("dev".to_string())),
        ("TIMESTAMP AS OF 86400", V::TimestampMs(86_400_000)),
        ("TIMESTAMP AS OF '1970-01-02 00:00:00.001'", V::TimestampMs(86_400_001)),
        ("FOR SYSTEM_TIME AS OF DATE '1970-01-02'", V::TimestampMs(86_400_000)),
        (
            "TIMESTAMP AS OF (TIMESTAMP '1970-01-02' - INTERVAL '1' MILLISECOND)",
            V::TimestampMs(86_399_999),
        ),
    ];
    for (clause, expected) in cases {
        let session = session().await;
        session.tables.versions.lock().expect("lock").clear();
        let sql = format!("SELECT a.id FROM t {clause} AS a WHERE a.id = 1");
        session.rows(&sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(*session.tables.versions.lock().expect("lock"), [expected], "{sql}");
    }
    for clause in ["current_timestamp()", "(current_timestamp() + INTERVAL '1' DAY)"] {
        check(&format!("SELECT count(*) FROM t TIMESTAMP AS OF {clause}"), &["2"]).await;
    }
    for clause in [
        "TIMESTAMP AS OF NULL",
        "TIMESTAMP AS OF 'soon'",
        "TIMESTAMP AS OF id",
        "VERSION AS OF NULL",
    ] {
        let result = session().await.rows(&format!("SELECT 1 FROM t {clause}")).await;
        assert!(result.is_err(), "{clause}");
    }
}

#[tokio::test]
async fn unknown_and_ambiguous() {
    refused("SELECT ident FROM t", "column 'ident' does not exist; did you mean Id").await;
    refused("SELECT id FROM t JOIN u ON true", "ambiguous").await;
    refused("SELECT x.id FROM t", "column 'x.id' does not exist").await;
    refused("SELECT s.zz FROM t", "no field 'zz'").await;
    refused("SELECT nofunction(1)", "function 'nofunction' does not exist").await;
    refused("SELECT * FROM nowhere", "does not exist").await;
    refused("SELECT 1 FROM t WHERE id + 1", "").await;
    refused("SELECT 1 FROM t WHERE count(*) > 1", "").await;
    refused("SELECT * FROM t LIMIT -1", "must not be negative").await;
}

#[tokio::test]
async fn clauses_of_relations_are_not_ignored() {
    for (from, part) in [
        ("t TABLESAMPLE (50 PERCENT)", "TABLESAMPLE"),
        ("t TABLESAMPLE (1 ROWS) AS x", "TABLESAMPLE"),
        ("(SELECT id FROM t) TABLESAMPLE (1 ROWS)", "TABLESAMPLE"),
        ("range(3) WITH ORDINALITY", "WITH ORDINALITY"),
    ] {
        let sql = format!("SELECT count(*) FROM {from}");
        let error = session().await.rows(&sql).await.expect_err(&sql);
        assert!(error.to_string().contains(part), "{sql}: {error}");
    }
}

#[tokio::test]
async fn what_a_star_changes_must_be_there() {
    refused("SELECT * EXCEPT (idd) FROM t", "column 'idd' does not exist").await;
    // Of other dialects.
    refused("SELECT * REPLACE (1 AS id) FROM t", "syntax error").await;
    refused("SELECT * RENAME id AS x FROM t", "syntax error").await;
}
