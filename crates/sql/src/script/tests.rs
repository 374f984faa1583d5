use super::*;

fn split(text: &str) -> Vec<(PieceKind, String, (u64, u64))> {
    let dialect = TarnDialect::default();
    let mut script = Script::new(text);
    let mut pieces = Vec::new();
    while let Some(piece) = script.next(&dialect) {
        let piece = piece.unwrap();
        let at = (piece.position.line, piece.position.column);
        pieces.push((piece.kind, piece.text.to_string(), at));
    }
    pieces
}

#[test]
fn semicolons_in_strings_names_and_comments_split_nothing() {
    let text = "SELECT ';', \";\", `a;b` -- no; not here\n /* nor; /* here; */ ; */ FROM t; \n SELECT 'it''s;' ;;\nSELECT '\\';'";
    let texts: Vec<String> = split(text).into_iter().map(|p| p.1).collect();
    let expected = [
        "SELECT ';', \";\", `a;b` -- no; not here\n /* nor; /* here; */ ; */ FROM t",
        "SELECT 'it''s;'",
        "SELECT '\\';'",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn pieces_know_their_place_in_the_whole() {
    use PieceKind::*;
    let text = "-- first\n  SELECT 1; SELECT 'ö\n';\n\n\\d it's a table\nSELECT\n 2 ;\n\\q\nSELECT 3";
    let expected = [
        (Statement, "SELECT 1", (2, 3)),
        (Statement, "SELECT 'ö\n'", (2, 13)),
        (Command, "\\d it's a table", (5, 1)),
        (Statement, "SELECT\n 2", (6, 1)),
        (Command, "\\q", (8, 1)),
        (LastStatement, "SELECT 3", (9, 1)),
    ];
    let expected: Vec<_> = expected.map(|(k, t, p)| (k, t.to_string(), p)).into();
    assert_eq!(split(text), expected);
    assert_eq!(split(" \n -- nothing\n;;"), []);
}

#[test]
fn what_double_quotes_are_may_change_between_statements() {
    let text = "SET a = b; SELECT \"x\\\"; SELECT \"y\"";
    let mut script = Script::new(text);
    let mut dialect = TarnDialect::default();
    assert_eq!(script.next(&dialect).unwrap().unwrap().text, "SET a = b");
    // As an identifier a backslash escapes nothing.
    dialect.double_quotes = DoubleQuotes::Identifier;
    assert_eq!(script.next(&dialect).unwrap().unwrap().text, "SELECT \"x\\\"");
    assert_eq!(script.next(&dialect).unwrap().unwrap().text, "SELECT \"y\"");
    assert!(script.next(&dialect).is_none());
}

#[test]
fn what_cannot_be_split_comes_after_what_can() {
    let dialect = TarnDialect::default();
    let mut script = Script::new("SELECT 1;\nSELECT 2;\n SELECT 'open; SELECT 3");
    assert_eq!(script.next(&dialect).unwrap().unwrap().text, "SELECT 1");
    assert_eq!(script.next(&dialect).unwrap().unwrap().text, "SELECT 2");
    let message = script.next(&dialect).unwrap().unwrap_err().to_string();
    assert!(message.starts_with("syntax error at line 3, column 9"), "{message}");
    assert!(script.next(&dialect).is_none());
}

#[test]
fn open_statements_wait_for_more() {
    let of = |text: &str| completeness(text, &TarnDialect::default());
    for text in ["", "  \n", "-- only this", "/* or this */ ;"] {
        assert_eq!(of(text), Completeness::Blank, "{text}");
    }
    for text in [
        "SELECT",
        "SELECT ';",
        "SELECT \"a;",
        "SELECT `a;",
        "SELECT 1 /* ;",
        "SELECT 1; SELECT",
        "SELECT 1 -- ;",
        "/* open",
    ] {
        assert_eq!(of(text), Completeness::Open, "{text}");
    }
    for text in ["SELECT 1;", "SELECT 1; -- done", "\\d", "\\d it's", "SELECT 1;\n\\q"] {
        assert_eq!(of(text), Completeness::Complete, "{text}");
    }
}
