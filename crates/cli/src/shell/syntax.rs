//! How statements are written, for `\h`.

use tarn::sql::names::nearest;

/// Statements: their first words, and their forms.
const STATEMENTS: &[(&str, &[&str])] = &[
    (
        "SELECT",
        &[
            "[WITH …] SELECT … FROM table [VERSION AS OF 'ref' or id | TIMESTAMP AS OF time] [WHERE …] [GROUP BY …] [ORDER BY …] [LIMIT n]",
            "SELECT … FROM table.branch_NAME | table.tag_NAME | table.snapshots (and other metadata tables)",
            "SELECT … FROM 'file.parquet' | 'files/*.csv' | iceberg_scan('path of a table or its metadata.json')",
        ],
    ),
    (
        "INSERT INTO",
        &[
            "INSERT INTO table[.branch_NAME] [(column, …)] VALUES (…), … | query",
            "INSERT INTO table BY NAME query",
        ],
    ),
    (
        "CREATE TABLE",
        &[
            "CREATE TABLE [IF NOT EXISTS] table (column TYPE [NOT NULL] [DEFAULT v] [COMMENT 'c'], …) [USING iceberg]\n      [PARTITIONED BY (column | days(column) | bucket(n, column) | truncate(n, column), …)] [COMMENT 'c'] [LOCATION 'l'] [TBLPROPERTIES ('key' = 'value', …)]",
            "CREATE [OR REPLACE] TABLE table [PARTITIONED BY …] [TBLPROPERTIES …] AS query",
        ],
    ),
    (
        "ALTER TABLE",
        &[
            "ALTER TABLE table ADD COLUMNS (column TYPE [FIRST | AFTER column], …) | DROP COLUMN c | RENAME COLUMN a TO b",
            "ALTER TABLE table ALTER COLUMN c TYPE t | COMMENT 'c' | FIRST | AFTER c | DROP NOT NULL | SET DEFAULT v",
            "ALTER TABLE table ADD | DROP PARTITION FIELD transform | REPLACE PARTITION FIELD field WITH transform",
            "ALTER TABLE table WRITE ORDERED BY c [ASC | DESC] [NULLS FIRST | LAST], … | WRITE DISTRIBUTED BY PARTITION | WRITE UNORDERED",
            "ALTER TABLE table CREATE [OR REPLACE] BRANCH | TAG name [AS OF VERSION id] [RETAIN n DAYS] | DROP BRANCH | TAG name",
            "ALTER TABLE table SET TBLPROPERTIES ('key' = 'value', …) | UNSET TBLPROPERTIES ('key', …) | RENAME TO table",
        ],
    ),
    ("DROP TABLE", &["DROP TABLE [IF EXISTS] table [PURGE]"]),
    (
        "CREATE NAMESPACE",
        &["CREATE NAMESPACE [IF NOT EXISTS] name [COMMENT 'c'] [LOCATION 'l'] [WITH PROPERTIES ('key' = 'value', …)]"],
    ),
    ("DROP NAMESPACE", &["DROP NAMESPACE [IF EXISTS] name [CASCADE]"]),
    (
        "CREATE CATALOG",
        &["CREATE CATALOG name WITH ('type' = 'sqlite' | 'hadoop' | 'memory', 'warehouse' = 'directory', …)"],
    ),
    ("USE", &["USE [catalog.]namespace"]),
    (
        "SHOW",
        &[
            "SHOW CATALOGS | NAMESPACES [IN catalog] | TABLES [IN namespace] | COLUMNS IN table",
            "SHOW CREATE TABLE table | TBLPROPERTIES table | CURRENT NAMESPACE",
        ],
    ),
    ("DESCRIBE", &["DESCRIBE [EXTENDED] table | NAMESPACE name"]),
    ("EXPLAIN", &["EXPLAIN [ANALYZE] query"]),
    ("SET", &["SET [key [= value]]"]),
    ("RESET", &["RESET [key]"]),
];

/// The forms of the statements whose first words are these, or of all.
///
/// # Errors
/// When there are none.
pub(super) fn described(words: &str) -> Result<String, String> {
    let asked = words.trim().to_ascii_uppercase();
    let matching: Vec<_> = STATEMENTS.iter().filter(|(head, _)| head.starts_with(&asked)).collect();
    if matching.is_empty() {
        let near = nearest(&asked, STATEMENTS.iter().map(|(head, _)| *head));
        let near = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        return Err(format!("no statement begins with {asked}{near} (\\h lists them)"));
    }
    let forms = matching.iter().flat_map(|(_, forms)| forms.iter());
    Ok(forms.map(|form| format!("  {form}")).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_found_by_their_first_words() {
        assert_eq!(
            described("drop table").unwrap(),
            "  DROP TABLE [IF EXISTS] table [PURGE]"
        );
        assert_eq!(described("drop").unwrap().lines().count(), 2);
        assert!(described("").unwrap().lines().count() > 20);
        let refusal = described("slect").unwrap_err();
        assert!(refusal.contains("did you mean SELECT?"), "{refusal}");
    }
}
