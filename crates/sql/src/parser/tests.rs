use tarn_format::spec::types::{Nullability, PrimitiveType};
use tarn_format::transform::Transform;

use super::parse;
use crate::ast::*;
use crate::dialect::{DoubleQuotes, TarnDialect};

fn one(sql: &str) -> Statement {
    let mut all = parse(sql, &TarnDialect::default()).unwrap();
    assert_eq!(all.len(), 1, "{sql}");
    all.remove(0)
}

fn refused(sql: &str) -> String {
    parse(sql, &TarnDialect::default()).unwrap_err().to_string()
}

fn create(sql: &str) -> CreateTable {
    match one(sql) {
        Statement::CreateTable(table) => *table,
        other => panic!("{other:?}"),
    }
}

fn name(parts: &[&str]) -> Name {
    Name(parts.iter().map(|p| p.to_string()).collect())
}

#[test]
fn create_table_takes_every_clause() {
    let table = create(
        "CREATE TABLE IF NOT EXISTS lake.`my db`.t (
            id bigint NOT NULL COMMENT 'key', tags array<array<int>>, m map<string, struct<a: int NOT NULL, b: decimal(5,1)>>)
         USING iceberg PARTITIONED BY (bucket(16, id), days(m.x), truncate(name, 4), cat)
         COMMENT 'it''s' LOCATION '/wh/t' TBLPROPERTIES ('a'='1', format.version = 2, \"b\" = '-1')",
    );
    assert_eq!(table.name, name(&["lake", "my db", "t"]));
    assert_eq!(table.mode, CreateMode::CreateIfNotExists);
    assert_eq!(table.columns[0].nullability, Nullability::Required);
    assert_eq!(table.columns[0].comment.as_deref(), Some("key"));
    let int = || Box::new(DataType::Primitive(PrimitiveType::Int));
    assert_eq!(
        table.columns[1].data_type,
        DataType::Array(Box::new(DataType::Array(int())))
    );
    let DataType::Map(_, value) = &table.columns[2].data_type else {
        panic!()
    };
    let DataType::Struct(fields) = value.as_ref() else {
        panic!()
    };
    assert_eq!(fields[0].nullability, Nullability::Required);
    assert_eq!(fields.len(), 2);
    let transforms: Vec<(Transform, String)> = table
        .partitioning
        .iter()
        .map(|t| (t.transform.clone(), t.column.to_string()))
        .collect();
    let expected = [
        (Transform::Bucket(16), "id"),
        (Transform::Day, "m.x"),
        (Transform::Truncate(4), "name"),
        (Transform::Identity, "cat"),
    ];
    assert_eq!(transforms, expected.map(|(t, c)| (t, c.to_string())));
    let properties = [("a", "1"), ("format.version", "2"), ("b", "-1")];
    assert_eq!(
        table.properties,
        properties.map(|(k, v)| (k.to_string(), v.to_string()))
    );
    assert_eq!(table.location.as_deref(), Some("/wh/t"));
}

#[test]
fn closing_brackets_may_stand_together() {
    let table = create("CREATE TABLE t (a array<array<array<int>>>, b map<int,map<int,array<string>>>, c int)");
    assert_eq!(table.columns.len(), 3);
    assert!(refused("CREATE TABLE t (a array<int>>)").contains("'>'"));
}

#[test]
fn types_that_do_not_exist_are_refused() {
    assert!(refused("CREATE TABLE t (d decimal(39,2))").contains("precision is 1 to 38"));
    assert!(refused("CREATE TABLE t (a array)").contains("array<type>"));
    assert!(refused("CREATE TABLE t (x nosuchtype)").contains("unknown type 'nosuchtype'"));
    assert!(refused("CREATE TABLE t (i interval year to month)").contains("no interval type"));
    assert!(refused("CREATE TABLE t (id int) PARTITIONED BY (zorder(id))").contains("unknown transform 'zorder'"));
    assert!(refused("CREATE TABLE t (id int) PARTITIONED BY (bucket(0, id))").contains("between 1 and"));
}

#[test]
fn deep_types_do_not_overflow_the_stack() {
    let sql = format!(
        "CREATE TABLE t (a {}int{})",
        "array<".repeat(10_000),
        ">".repeat(10_000)
    );
    assert!(refused(&sql).contains("nested too deeply"));
    let sql = format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(refused(&sql).contains("nested too deeply"));
}

#[test]
fn every_spelling_of_a_version_becomes_one() {
    let expected = one("SELECT * FROM t TIMESTAMP AS OF __version_as_of(5) AS x");
    for clause in [
        "VERSION AS OF",
        "FOR VERSION AS OF",
        "SYSTEM_VERSION AS OF",
        "FOR SYSTEM_VERSION AS OF",
    ] {
        assert_eq!(one(&format!("SELECT * FROM t {clause} 5 AS x")), expected, "{clause}");
    }
    let expected = one("SELECT * FROM t TIMESTAMP AS OF '2024-01-01'");
    for clause in ["FOR TIMESTAMP AS OF", "SYSTEM_TIME AS OF", "FOR SYSTEM_TIME AS OF"] {
        assert_eq!(
            one(&format!("SELECT * FROM t {clause} '2024-01-01'")),
            expected,
            "{clause}"
        );
    }
}

#[test]
fn numbers_with_suffixes_are_casts() {
    assert_eq!(
        one("SELECT 3L, 0.1D, 7F"),
        one("SELECT CAST(3 AS BIGINT), CAST(0.1 AS DOUBLE), CAST(7 AS FLOAT)")
    );
    assert_eq!(one("SELECT 1.50BD"), one("SELECT CAST(1.50 AS DECIMAL(3, 2))"));
}

#[test]
fn double_quotes_are_strings_unless_switched() {
    let identifiers = TarnDialect {
        double_quotes: DoubleQuotes::Identifier,
    };
    let quoted = parse("SELECT \"a\"", &identifiers).unwrap();
    assert_ne!(quoted, parse("SELECT \"a\"", &TarnDialect::default()).unwrap());
    assert_eq!(one("SHOW TABLES LIKE \"p*\""), one("SHOW TABLES LIKE 'p*'"));
}

#[test]
fn insert_names_columns_or_not() {
    let target = |sql: &str| match one(sql) {
        Statement::Insert(insert) => insert.target,
        other => panic!("{other:?}"),
    };
    assert_eq!(target("INSERT INTO t VALUES (1)"), InsertTarget::ByPosition);
    assert_eq!(target("INSERT INTO TABLE t (SELECT 1)"), InsertTarget::ByPosition);
    assert_eq!(target("INSERT INTO t ((SELECT 1))"), InsertTarget::ByPosition);
    assert_eq!(
        target("INSERT INTO t (a, `b c`) VALUES (1, 2)"),
        InsertTarget::Columns(vec!["a".into(), "b c".into()])
    );
    assert_eq!(target("INSERT INTO t BY NAME SELECT 1 AS a"), InsertTarget::ByName);
}

#[test]
fn hints_before_the_rows_are_options_of_the_write() {
    let options = |sql: &str| match one(sql) {
        Statement::Insert(insert) => insert.options,
        other => panic!("{other:?}"),
    };
    let fanout = vec![("fanout-enabled".to_string(), "true".to_string())];
    assert_eq!(
        options("INSERT INTO t /*+ OPTIONS('fanout-enabled'='true') */ (a) VALUES (1)"),
        fanout
    );
    assert_eq!(
        options("INSERT INTO t /*+ OPTIONS('fanout-enabled'='true') */ SELECT * FROM s /*+ OPTIONS('branch'='b') */"),
        fanout
    );
    assert_eq!(options("INSERT INTO t VALUES (1)"), vec![]);
}

#[test]
fn use_says_what_its_name_is_of() {
    let used = |sql: &str| match one(sql) {
        Statement::Use { what, name } => (what, name.to_string()),
        other => panic!("{other:?}"),
    };
    assert_eq!(used("USE a.b"), (Used::Any, "a.b".to_string()));
    assert_eq!(used("USE catalog"), (Used::Any, "catalog".to_string()));
    assert_eq!(used("USE CATALOG a"), (Used::Catalog, "a".to_string()));
    assert_eq!(used("SET CATALOG `a`"), (Used::Catalog, "a".to_string()));
    assert_eq!(used("USE NAMESPACE a.b"), (Used::Namespace, "a.b".to_string()));
    assert_eq!(used("USE DATABASE a"), (Used::Namespace, "a".to_string()));
}

#[test]
fn settings_need_no_quotes() {
    let set = |sql: &str| match one(sql) {
        Statement::Set { key, value } => (key.unwrap(), value),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        set("SET spark.sql.session.timeZone = Europe/Oslo").1.as_deref(),
        Some("Europe/Oslo")
    );
    assert_eq!(
        set("SET write.target-file-size-bytes=1").0,
        "write.target-file-size-bytes"
    );
    assert_eq!(set("SET a.b").1, None);
    // As written, whatever it would mean in an expression.
    for (written, value) in [
        ("10L", "10L"),
        ("  a  b /* c */ 1e3D ", "a  b /* c */ 1e3D"),
        ("s3://bucket/a?b=c&d=é", "s3://bucket/a?b=c&d=é"),
        ("a,'b''c'", "a,'b''c'"),
        ("array<int> VERSION AS OF 1", "array<int> VERSION AS OF 1"),
        ("two\n  lines", "two\n  lines"),
        ("'it''s'", "it's"),
        ("\"x\"", "x"),
        ("5 -- five", "5"),
    ] {
        assert_eq!(
            set(&format!("SET k = {written}")).1.as_deref(),
            Some(value),
            "{written}"
        );
        let second = parse(&format!("USE é;\n SET k = {written}"), &TarnDialect::default()).unwrap();
        let expected = Statement::Set {
            key: Some("k".to_string()),
            value: Some(value.to_string()),
        };
        assert_eq!(second[1], expected, "{written}");
    }
    assert_eq!(set("SET k =").1.as_deref(), Some(""));
    assert_eq!(set("SET TIME ZONE '+02:00'").0, "spark.sql.session.timeZone");
}

#[test]
fn statements_are_split_at_semicolons_outside_of_strings() {
    let all = parse("USE a; ; SELECT ';' -- ;\n; SHOW CATALOGS;", &TarnDialect::default()).unwrap();
    assert_eq!(all.len(), 3);
}

#[test]
fn errors_say_where_and_what() {
    assert!(refused("CREATE TABLE t (id)").contains("expected a type"));
    let message = refused("SHOW\n  NOTHING");
    assert!(message.contains("line 2, column 3"), "{message}");
    assert!(refused("SELECT 1 FRM t WHERE").starts_with("syntax error"));
    assert!(refused("SELECT 'open").starts_with("syntax error"));
}
