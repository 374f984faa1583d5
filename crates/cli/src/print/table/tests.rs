use std::sync::Arc;

use tarn::datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};

use super::*;
use crate::print::{Format, printer};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

fn numbers_and_names() -> RecordBatch {
    let numbers = Arc::new(Int64Array::from(vec![Some(7), None, Some(-1234)]));
    let names = Arc::new(StringArray::from(vec![Some("seven | 7"), Some("日本"), None]));
    batch(vec![("n", numbers), ("name", names)])
}

/// What is printed, and the hint.
fn print(format: Format, fit: Fit, paint: Paint, batches: &[RecordBatch]) -> (String, Option<String>) {
    let style = Style {
        format,
        values: Values {
            zone: "UTC".parse().unwrap(),
        },
        paint,
        fit,
        max_rows: None,
    };
    let mut out = Vec::new();
    let mut printer = printer(&style, batches[0].schema_ref());
    for batch in batches {
        printer.rows(&mut out, batch).unwrap();
    }
    let hint = printer.finish(&mut out).unwrap();
    (String::from_utf8(out).unwrap(), hint)
}

fn plain(format: Format, batch: RecordBatch) -> String {
    print(format, Fit::Full, Paint::Off, &[batch]).0
}

#[test]
fn numbers_stand_right_and_text_left() {
    let expected = [
        "     n │ name",
        "───────┼───────────",
        "     7 │ seven | 7",
        "  NULL │ 日本",
        " -1234 │ NULL",
        "",
    ];
    let expected = expected.join("\n");
    assert_eq!(plain(Format::Table, numbers_and_names()), expected);
}

#[test]
fn null_and_the_word_null_look_different_in_colour() {
    let names = Arc::new(StringArray::from(vec![None, Some("NULL")]));
    let (text, _) = print(Format::Table, Fit::Full, Paint::On, &[batch(vec![("n", names)])]);
    assert!(text.contains(" \u{1b}[2mNULL\u{1b}[0m\n NULL\n"), "{text:?}");
}

#[test]
fn long_values_are_cut_to_the_terminal() {
    let long = Arc::new(StringArray::from(vec!["x".repeat(100), "y".to_string()]));
    let numbers = Arc::new(Int64Array::from(vec![1, 2]));
    let wide = batch(vec![("a", long), ("n", numbers)]);
    let (text, hint) = print(Format::Table, Fit::Terminal(40), Paint::Off, &[wide]);
    assert_eq!(text.lines().map(width).max(), Some(40), "{text}");
    assert!(text.contains("xxx… │ 1"), "{text}");
    assert_eq!(hint.as_deref(), Some("long values are cut"));
}

#[test]
fn a_single_value_is_broken_over_lines_instead() {
    let long = Arc::new(StringArray::from(vec!["one two three four five six"]));
    let (text, hint) = print(
        Format::Table,
        Fit::Terminal(12),
        Paint::Off,
        &[batch(vec![("a", long)])],
    );
    assert_eq!(text, " a\n────────────\n one two\n three four\n five six\n");
    assert_eq!(hint, None);
}

#[test]
fn columns_without_room_are_left_out_with_a_hint() {
    let columns = (0..30).map(|i| (format!("column_{i:02}"), i)).collect::<Vec<_>>();
    let arrays = columns.iter().map(|(name, i)| {
        let array: ArrayRef = Arc::new(StringArray::from(vec![format!("value {i}"), String::new()]));
        (name.as_str(), array)
    });
    let (text, hint) = print(Format::Table, Fit::Terminal(80), Paint::Off, &[batch(arrays.collect())]);
    assert!(text.lines().all(|l| width(l) <= 80), "{text}");
    assert!(text.lines().next().unwrap().ends_with("│ …"), "{text}");
    assert_eq!(hint.as_deref(), Some("7 of 30 columns shown"));
}

#[test]
fn values_with_line_breaks_keep_their_columns() {
    let texts = Arc::new(StringArray::from(vec!["one\ntwo", "three"]));
    let numbers = Arc::new(Int64Array::from(vec![1, 2]));
    let expected = [" t     │ n", "───────┼───", " one   │ 1", " two   │", " three │ 2", ""];
    let expected = expected.join("\n");
    assert_eq!(
        plain(Format::Table, batch(vec![("t", texts), ("n", numbers)])),
        expected
    );
}

#[test]
fn later_rows_follow_the_widths_of_the_first() {
    let short = batch(vec![("n", Arc::new(Int64Array::from_iter_values(0..1000)) as ArrayRef)]);
    let long = batch(vec![("n", Arc::new(Int64Array::from(vec![123_456])) as ArrayRef)]);
    let (text, _) = print(Format::Table, Fit::Full, Paint::Off, &[short, long]);
    assert!(text.starts_with("   n\n─────\n   0\n"), "{text}");
    assert!(text.ends_with(" 999\n 123456\n"), "{text}");
}

#[test]
fn csv_quotes_what_must_be_and_tells_null_from_empty() {
    let texts = vec![
        Some("a,b"),
        Some("say \"hi\""),
        Some("two\nlines"),
        Some(""),
        None,
        Some(" x "),
    ];
    let table = batch(vec![("t, u", Arc::new(StringArray::from(texts)) as ArrayRef)]);
    let expected = "\"t, u\"\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n\"\"\n\n x \n";
    assert_eq!(plain(Format::Csv, table), expected);
}

#[test]
fn json_is_a_line_per_row_and_its_keys_differ() {
    let one = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let table = batch(vec![("a", one()), ("a", one()), ("a_2", one()), ("say \"b\"", one())]);
    let text = plain(Format::Json, table);
    assert_eq!(text, "{\"a\":1,\"a_3\":1,\"a_2\":1,\"say \\\"b\\\"\":1}\n");
}

#[test]
fn markdown_keeps_cells_apart() {
    let texts = Arc::new(StringArray::from(vec!["a|b\\c\nd"]));
    let numbers = Arc::new(Int64Array::from(vec![None::<i64>]));
    let text = plain(Format::Markdown, batch(vec![("t", texts), ("n", numbers)]));
    assert_eq!(text, "| t | n |\n| --- | ---: |\n| a\\|b\\\\c<br>d | NULL |\n");
}

#[test]
fn results_without_rows_have_their_header() {
    let none = numbers_and_names().slice(0, 0);
    assert_eq!(plain(Format::Csv, none.clone()), "n,name\n");
    assert_eq!(plain(Format::Markdown, none.clone()), "| n | name |\n| ---: | --- |\n");
    assert_eq!(plain(Format::Table, none.clone()), " n │ name\n───┼──────\n");
    assert_eq!(plain(Format::Json, none), "");
}

#[test]
fn expanded_has_a_line_per_value() {
    let expected = "\
─[ 1 ]─
n    │ 7
name │ seven | 7
─[ 2 ]─
n    │ NULL
name │ 日本
─[ 3 ]─
n    │ -1234
name │ NULL
";
    assert_eq!(plain(Format::Expanded, numbers_and_names()), expected);
}

#[test]
fn plans_are_text() {
    let kinds = Arc::new(StringArray::from(vec!["logical_plan"]));
    let plans = Arc::new(StringArray::from(vec!["Projection: 1\n  EmptyRelation\n"]));
    let text = plain(Format::Table, batch(vec![("plan_type", kinds), ("plan", plans)]));
    assert_eq!(text, "logical plan\n  Projection: 1\n    EmptyRelation\n");
}
