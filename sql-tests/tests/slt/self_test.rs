//! The reader on small files of known content.

use libtest_mimic::{Failed, Trial};

use super::matrix::GOLDEN;
use super::scenario::Scenario;

const FILE: &str = "\
# matrix: format_version=1,3; mode=copy-on-write,merge-on-read

statement ok
CREATE TABLE t (id INT)

onlyif mode=merge-on-read
statement error
DELETE FROM t

skipif format_version=3
query I rowsort
SELECT * FROM t WHERE v = $format_version
----
1
2

let a, b
SELECT 1, 2
";

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("slt/self_test/matrix_and_conditions_are_counted", counts),
        Trial::test("slt/self_test/broken_files_are_refused", refusals),
    ]
}

fn counts() -> Result<(), Failed> {
    let scenario = Scenario::parse("x.slt", FILE, &GOLDEN)?;
    let found: Vec<String> = scenario
        .combinations()
        .iter()
        .filter(|c| c.has("catalog=sqlite"))
        .map(|c| format!("{c}: {}", scenario.records_of(c).count()))
        .collect();
    let expected = [
        "catalog=sqlite format_version=1 mode=copy-on-write: 3",
        "catalog=sqlite format_version=1 mode=merge-on-read: 4",
        "catalog=sqlite format_version=3 mode=copy-on-write: 2",
        "catalog=sqlite format_version=3 mode=merge-on-read: 3",
    ];
    if found != expected {
        return Err(Failed::from(format!("{found:#?}")));
    }
    let memory = Scenario::parse("x.slt", &format!("# catalog: memory\n{FILE}"), &GOLDEN)?;
    let catalogs = memory.combinations().iter().filter(|c| c.has("catalog=memory")).count();
    if catalogs != 4 {
        return Err(Failed::from(format!(
            "{catalogs} combinations on the memory catalog, not 4"
        )));
    }
    Ok(())
}

fn refusals() -> Result<(), Failed> {
    let broken = [
        ("an unknown record", "statment ok\nSELECT 1\n"),
        ("no record", "# only a comment\n"),
        ("another catalog", "# catalog: hive\n\nstatement ok\nSELECT 1\n"),
        ("a matrix without values", "# matrix: mode=\n\nstatement ok\nSELECT 1\n"),
        ("a record that runs no SQL", "sleep 10s\n\nstatement ok\nSELECT 1\n"),
    ];
    for (what, text) in broken {
        if Scenario::parse("x.slt", text, &GOLDEN).is_ok() {
            return Err(Failed::from(format!("{what} was accepted")));
        }
    }
    Ok(())
}
