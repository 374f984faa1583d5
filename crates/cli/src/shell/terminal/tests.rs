use tarn::Session;

use super::*;
use crate::preferences::Preferences;
use crate::shell::Interaction;
use crate::shell::sink::Sink;

/// What is shown of prompts and of results when these lines are typed.
async fn typed(lines: &str) -> (String, String) {
    let directory = tempfile::tempdir().unwrap();
    let results = directory.path().join("results");
    let session = Session::builder()
        .home(directory.path().join("lake"))
        .build()
        .await
        .unwrap();
    let mut shell = Shell::new(session, Preferences::default(), Interaction::Terminal);
    shell.sink = Sink::file(&results).unwrap();
    let mut prompts = Vec::new();
    let flow = shell.run_terminal(lines.as_bytes(), &mut prompts).await.unwrap();
    assert_eq!(flow, Flow::Quit);
    shell.sink.flush().unwrap();
    let prompts = String::from_utf8(prompts).unwrap();
    let prompts = prompts.strip_prefix(GREETING).unwrap().trim_start_matches('\n');
    (prompts.to_string(), std::fs::read_to_string(results).unwrap())
}

#[tokio::test]
async fn statements_run_as_they_are_ended() {
    let (prompts, results) = typed("\\format csv\nSELECT 1 AS a,\n\n2 AS b;\n\nSELECT 3 AS c; SELECT 4 AS d;\n").await;
    assert_eq!(prompts, "tarn> tarn>     >     > tarn> tarn> tarn> \n");
    assert_eq!(results, "a,b\n1,2\nc\n3\nd\n4\n");
}

#[tokio::test]
async fn failures_do_not_leave_and_commands_do() {
    let (prompts, results) =
        typed("\\format csv\nSELECT nosuch;\n\\nosuch\nSELECT 1 AS a;\n\\q\nSELECT 2 AS b;\n").await;
    assert_eq!(prompts, "tarn> tarn> tarn> tarn> tarn> ");
    assert_eq!(results, "a\n1\n");
}

#[tokio::test]
async fn what_is_open_at_the_end_is_not_run() {
    let (prompts, results) = typed("SELECT 'a;\n").await;
    assert_eq!((prompts.as_str(), results.as_str()), ("tarn>     > \n", ""));
}
