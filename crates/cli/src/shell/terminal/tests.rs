use std::collections::VecDeque;

use tarn::Session;
use tarn::sql::dialect::TarnDialect;

use super::*;
use crate::preferences::Preferences;
use crate::shell::Interaction;
use crate::shell::sink::Sink;

/// Inputs that are there already.
struct Prepared(VecDeque<Typed>);

impl Input for Prepared {
    fn read(&mut self, prompt: &str) -> Result<Typed, Failure> {
        assert_eq!(prompt, "tarn> ");
        Ok(self.0.pop_front().unwrap_or(Typed::End))
    }
}

/// What results are shown when these are typed, and how many inputs are left then.
async fn typed(texts: &[&str]) -> (String, usize) {
    let directory = tempfile::tempdir().unwrap();
    let results = directory.path().join("results");
    let session = Session::builder()
        .home(directory.path().join("lake"))
        .build()
        .await
        .unwrap();
    let mut shell = Shell::new(session, Preferences::default(), Interaction::Terminal);
    shell.sink = Sink::file(&results).unwrap();
    let mut input = Prepared(texts.iter().map(|t| Typed::Text(t.to_string())).collect());
    let flow = shell.run_terminal(&mut input).await.unwrap();
    assert_eq!(flow, Flow::Quit);
    shell.sink.flush().unwrap();
    (std::fs::read_to_string(results).unwrap(), input.0.len())
}

#[tokio::test]
async fn statements_run_as_they_are_ended() {
    let texts = [
        "\\format csv",
        "SELECT 1 AS a,\n\n2 AS b;",
        "",
        "SELECT 3 AS c; SELECT 4 AS d;",
    ];
    assert_eq!(typed(&texts).await, ("a,b\n1,2\nc\n3\nd\n4\n".to_string(), 0));
}

#[tokio::test]
async fn failures_do_not_leave_and_commands_do() {
    let texts = [
        "\\format csv",
        "SELECT nosuch;",
        "\\nosuch",
        "SELECT 1 AS a;",
        "\\q",
        "SELECT 2 AS b;",
    ];
    assert_eq!(typed(&texts).await, ("a\n1\n".to_string(), 1));
}

#[test]
fn enter_runs_what_is_whole() {
    let is_finished = |text| is_finished(text, &TarnDialect::default());
    for whole in [
        "",
        "  ",
        "\\d",
        "\\d trips",
        "SELECT 1;",
        "SELECT ';\n';",
        "SELECT 1; -- why",
        "-- why",
        "SELECT 1; \n ",
    ] {
        assert!(is_finished(whole), "{whole:?}");
    }
    for open in [
        "SELECT 1",
        "SELECT ';",
        "SELECT ';'",
        "SELECT 1; SELECT 2",
        "/* ; ",
        "SELECT `a;",
        "SELECT 1 -- ;",
    ] {
        assert!(!is_finished(open), "{open:?}");
    }
}
