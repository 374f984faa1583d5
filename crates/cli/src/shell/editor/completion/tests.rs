use super::*;

/// The place of `|`.
fn at(text: &str) -> Place {
    let pos = text.find('|').unwrap();
    place(&text.replacen('|', "", 1), pos, &TarnDialect::default())
}

fn expected_at(text: &str) -> Expected {
    at(text).expected
}

#[test]
fn statements_begin_with_words() {
    assert_eq!(expected_at("|"), Expected::Statement);
    assert_eq!(expected_at("sel|"), Expected::Statement);
    assert_eq!(expected_at("SELECT 1; ins|"), Expected::Statement);
    assert!(matches!(expected_at("SHOW T|"), Expected::SecondWord(_)));
    assert!(matches!(expected_at("create |"), Expected::SecondWord(_)));
}

#[test]
fn tables_follow_some_words() {
    for text in [
        "SELECT * FROM |",
        "select * from t, |",
        "SELECT * FROM a JOIN b|",
        "INSERT INTO |",
        "UPDATE |",
        "DROP TABLE IF EXISTS |",
        "DESCRIBE |",
        "DESCRIBE EXTENDED x|",
        "SHOW COLUMNS IN |",
        "SHOW TBLPROPERTIES |",
        "\\d |",
        "SELECT * FROM (SELECT a, b FROM x) y, |",
    ] {
        assert_eq!(expected_at(text), Expected::Relation, "{text}");
    }
}

#[test]
fn namespaces_follow_others() {
    for text in [
        "USE |",
        "SHOW TABLES IN |",
        "SHOW NAMESPACES IN c|",
        "DROP NAMESPACE |",
        "\\dn |",
    ] {
        assert_eq!(expected_at(text), Expected::Namespace, "{text}");
    }
}

#[test]
fn expressions_are_everywhere_else() {
    for text in [
        "SELECT |",
        "SELECT a, |",
        "SELECT * FROM t WHERE |",
        "SELECT * FROM t WHERE f(a, |",
        "SELECT * FROM t ORDER BY a, |",
        "SELECT * FROM t |",
        "SELECT x FROM t WHERE EXISTS |",
    ] {
        assert_eq!(expected_at(text), Expected::Expression, "{text}");
    }
}

#[test]
fn nothing_is_known_inside_of_text() {
    for text in ["SELECT 'from |", "SELECT 1 -- from |", "SELECT /* from |"] {
        assert_eq!(expected_at(text), Expected::Nothing, "{text}");
    }
    assert_eq!(expected_at("SELECT 1 -- from\n |"), Expected::Expression);
}

#[test]
fn names_are_cut_at_their_dots() {
    let place = at("SELECT * FROM lake.`my db`.tri|");
    assert_eq!(place.qualifiers, ["lake", "my db"]);
    assert_eq!((place.prefix.as_str(), place.start), ("tri", 27));
    let place = at("SELECT * FROM lake.|");
    assert_eq!(
        (place.qualifiers.as_slice(), place.prefix.as_str()),
        (&["lake".to_string()][..], "")
    );
    let place = at("SELECT * FROM `my t|");
    assert_eq!(
        (place.prefix.as_str(), place.start, place.expected),
        ("my t", 14, Expected::Relation)
    );
    let place = at("  \\d lake.tr|");
    assert_eq!((place.prefix.as_str(), place.start), ("tr", 10));
    let place = at("\\form|");
    assert_eq!(
        (place.prefix.as_str(), place.start, place.expected),
        ("form", 1, Expected::Command)
    );
}

#[test]
fn relations_of_the_statement_are_found() {
    let mention = |sql: &str, alias: &str| Mention {
        sql: sql.to_string(),
        alias: alias.to_string(),
    };
    let place = at(
        "SELECT 1 FROM z; SELECT | FROM a.`b c` AS x, d y JOIN 'f.parquet' ON x.k = y.k WHERE x IN (SELECT k FROM w); SELECT 1 FROM q",
    );
    assert_eq!(
        place.mentions,
        [
            mention("a.`b c`", "x"),
            mention("d", "y"),
            mention("'f.parquet'", ""),
            mention("w", "w")
        ]
    );
    let place = at("UPDATE t SET a = |");
    assert_eq!(place.mentions, [mention("t", "t")]);
}
