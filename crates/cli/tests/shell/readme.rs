//! The README's demo: its statements as they stand there, and the results that it shows.

use super::running::Place;

const README: &str = include_str!("../../../../README.md");
const DEMO: &str = include_str!("../../../../examples/demo.sql");

/// The fenced blocks of the README: language and text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let fenced = README.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

/// Without what statements say that they did, which differs from run to run.
fn results(stdout: &str) -> String {
    let is_report = |line: &str| {
        ["created ", "INSERT ", "before = "]
            .iter()
            .any(|head| line.starts_with(head))
    };
    let lines = stdout.lines().filter(|l| !is_report(l));
    lines.map(|l| format!("{l}\n")).collect()
}

#[test]
fn the_demo_gives_what_the_readme_shows() {
    let place = Place::new();
    let blocks = blocks();
    let mut shown = 0;
    for (i, (language, text)) in blocks.iter().enumerate() {
        if *language != "sql" {
            continue;
        }
        let file = place.write(&format!("block{i}.sql"), text);
        let stdout = place.stdout(&["-f", file.to_str().unwrap()]);
        if let Some(("text", expected)) = blocks.get(i + 1) {
            assert_eq!(results(&stdout), *expected, "{text}");
            shown += 1;
        }
    }
    assert!(shown >= 3, "the README shows results");
}

#[test]
fn the_demos_file_holds_the_readmes_statements() {
    let statements: Vec<&str> = blocks()
        .iter()
        .filter(|(l, _)| *l == "sql")
        .map(|(_, text)| *text)
        .collect();
    let (comments, demo) = DEMO.split_once("\n\n").unwrap();
    assert!(comments.lines().all(|l| l.starts_with("-- ")));
    assert_eq!(demo, statements.join("\n"));
    let place = Place::new();
    let file = place.write("demo.sql", DEMO);
    let stdout = place.stdout(&["-f", file.to_str().unwrap()]);
    assert!(stdout.ends_with(" trips\n───────\n     4\n1 row\n"), "{stdout}");
}

#[test]
fn the_readmes_configuration_is_understood() {
    let place = Place::new();
    let toml: Vec<&str> = blocks()
        .iter()
        .filter(|(l, _)| *l == "toml")
        .map(|(_, text)| *text)
        .collect();
    assert_eq!(toml.len(), 1);
    place.write("tarn.toml", toml[0]);
    assert_eq!(
        place.stdout(&["--format", "csv", "-c", "SHOW CURRENT NAMESPACE"]),
        "catalog,namespace\nprod,default\n"
    );
}
