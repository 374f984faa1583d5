//! The list of expected failures on outcomes of known content.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};

use super::known::{Entry, Reason, compress};
use crate::slt::matrix::{Combination, GOLDEN, Matrix};

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("golden/self_test/entries_are_read_and_written", entries),
        Trial::test("golden/self_test/entries_cover_failures_and_nothing_else", coverage),
    ]
}

fn entries() -> Result<(), Failed> {
    for text in [
        "a.slt:3 needs views",
        "a.slt:3-9 needs views",
        "a.slt:3-9 [catalog=sqlite mode=x] needs [views]",
    ] {
        let entry = Entry::parse(text)?;
        if entry.to_string() != text {
            return Err(Failed::from(format!("{text} became {entry}")));
        }
    }
    for broken in [
        "a.slt:3",
        "a.slt needs views",
        "a.slt:3-x no",
        "a.slt:3 [catalog=sqlite",
        "a.slt:3 ",
    ] {
        if Entry::parse(broken).is_ok() {
            return Err(Failed::from(format!("accepted: {broken}")));
        }
    }
    Ok(())
}

fn coverage() -> Result<(), Failed> {
    let matrix = Matrix::parse("# matrix: format_version=1,2,3", &GOLDEN)?;
    let combinations = matrix.combinations();
    // By line: the combinations in which the record fails, and why. Line 50 runs in version 3 only.
    let failing = |line: u32, c: &Combination| -> Option<Reason> {
        let (sqlite, v3) = (c.has("catalog=sqlite"), c.has("format_version=3"));
        let fails = |why: &str, when: bool| Some(when.then(|| why.to_string()));
        match line {
            10 => fails("a", true),
            20 => fails("a", true),
            30 => fails("a", false),
            40 => fails("a", true),
            50 => v3.then_some(None),
            60 => fails("a", sqlite),
            70 => fails("b", sqlite && v3),
            80 => fails(if sqlite { "a" } else { "b" }, true),
            _ => None,
        }
    };
    let runs: Vec<(Combination, BTreeMap<u32, Reason>)> = combinations
        .into_iter()
        .map(|c| {
            let ran = (10..90).filter_map(|line| Some((line, failing(line, &c)?))).collect();
            (c, ran)
        })
        .collect();
    let found: Vec<String> = compress("f.slt", &runs).iter().map(Entry::to_string).collect();
    let expected = [
        "f.slt:10-20 a",
        "f.slt:40 a",
        "f.slt:60 [catalog=sqlite] a",
        "f.slt:70 [catalog=sqlite format_version=3] b",
        "f.slt:80 [catalog=hadoop] b",
        "f.slt:80 [catalog=sqlite] a",
    ];
    if found != expected {
        return Err(Failed::from(format!("{found:#?}")));
    }
    Ok(())
}
