//! Runs the records of a file in one combination, all of them, whatever fails.

use std::collections::BTreeMap;
use std::time::Duration;

use sqllogictest::parser::ExpectedError;
use tarn::{Error, ErrorKind, Session};

use super::matrix::Combination;
use super::place::Place;
use super::render;
use super::scenario::{Expected, Record, Scenario};

/// A record that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What became of a record.
#[derive(Debug)]
pub struct Outcome {
    /// The line of its directive.
    pub line: u32,
    /// Its SQL, names substituted.
    pub sql: String,
    /// Why it failed, in one line; `None` when it passed.
    pub failure: Option<String>,
    /// Whether the state of the catalog or a name is now not what later records expect.
    pub leaves_damage: bool,
}

/// Runs a file in one combination on a fresh catalog.
///
/// # Errors
/// One line when there is no such catalog.
pub fn run(scenario: &Scenario, combination: &Combination) -> Result<Vec<Outcome>, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| format!("no runtime: {e}"))?;
    runtime.block_on(run_all(scenario, combination))
}

async fn run_all(scenario: &Scenario, combination: &Combination) -> Result<Vec<Outcome>, String> {
    let catalog = combination.value("catalog").unwrap_or("memory");
    let version = combination.value("format_version").filter(|_| scenario.sets_version());
    let place = Place::new(catalog, version).await;
    let place = place.map_err(|e| format!("{catalog} catalog: {e}"))?;
    let mut names: BTreeMap<String, String> = combination.labels().into_iter().collect();
    names.insert("tmp".to_string(), place.directory().display().to_string());
    names.insert(
        "data".to_string(),
        concat!(env!("CARGO_MANIFEST_DIR"), "/slt-data").to_string(),
    );
    let mut outcomes = Vec::new();
    for record in scenario.records_of(combination) {
        let sql = substitute(&record.sql, &names);
        let ran = rows(&place.session, &sql).await;
        let happened = ran.is_ok();
        let failure = judge(record, ran, &mut names).err();
        outcomes.push(Outcome {
            line: record.line,
            leaves_damage: failure.is_some()
                && match record.expected {
                    Expected::Success | Expected::Names(_) => true,
                    Expected::Refusal(_) => happened,
                    Expected::Rows(_) | Expected::Unordered(_) => false,
                },
            failure,
            sql,
        });
    }
    Ok(outcomes)
}

/// Replaces `$name` and `${name}`, longest names first.
pub fn substitute(sql: &str, names: &BTreeMap<String, String>) -> String {
    let mut ordered: Vec<_> = names.iter().collect();
    ordered.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    ordered.into_iter().fold(sql.to_string(), |sql, (name, value)| {
        let braced = sql.replace(&format!("${{{name}}}"), value);
        braced.replace(&format!("${name}"), value)
    })
}

/// The rows of a statement, in a task of its own: a panic fails the record only.
async fn rows(session: &Session, sql: &str) -> Result<Vec<Vec<String>>, Error> {
    let (session, text) = (session.clone(), sql.to_string());
    let task = tokio::spawn(async move {
        let batches = session.sql(&text).await?.collect().await?;
        render::rows(&batches).map_err(|e| Error::invalid("a result cannot be shown").with_source(e))
    });
    match tokio::time::timeout(TIMEOUT, task).await {
        Ok(Ok(rows)) => rows,
        // Kinds that count as failures of any record, a `statement error` too.
        Ok(Err(panic)) => Err(Error::unsupported(format!("panicked: {panic}"))),
        Err(_) => Err(Error::unsupported(format!("hung for {} s", TIMEOUT.as_secs()))),
    }
}

fn judge(
    record: &Record,
    ran: Result<Vec<Vec<String>>, Error>,
    names: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    match (&record.expected, ran) {
        (Expected::Refusal(text), Err(error)) => {
            // A file that says which text it expects has decided itself what a refusal is.
            if matches!(text, ExpectedError::Empty) && !is_refusal(&error) {
                return Err(format!("no refusal: {error}"));
            }
            let message = error.to_string();
            let matches = text.is_match(&message, None);
            if matches {
                Ok(())
            } else {
                Err(format!("refused otherwise: {message}"))
            }
        }
        (Expected::Refusal(_), Ok(_)) => Err("must fail, but succeeded".to_string()),
        (_, Err(error)) => Err(error.to_string()),
        (Expected::Success, Ok(_)) => Ok(()),
        (Expected::Rows(expected), Ok(rows)) => compare(folded(expected), shown(&rows)),
        (Expected::Unordered(expected), Ok(rows)) => compare(sorted(folded(expected)), sorted(shown(&rows))),
        (Expected::Names(wanted), Ok(rows)) => match rows.as_slice() {
            [row] if row.len() == wanted.len() => {
                names.extend(wanted.iter().cloned().zip(row.iter().cloned()));
                Ok(())
            }
            _ => Err(format!(
                "one row of {} values is needed, got {:?}",
                wanted.len(),
                shown(&rows)
            )),
        },
    }
}

/// Whether an error says no to what was asked, and not that nobody implemented it or knows the grammar.
fn is_refusal(error: &Error) -> bool {
    error.kind() != ErrorKind::Unsupported && !error.message().starts_with("syntax error")
}

fn shown(rows: &[Vec<String>]) -> Vec<String> {
    let joined: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    folded(&joined)
}

fn folded(rows: &[String]) -> Vec<String> {
    let fold = |row: &String| row.split_whitespace().collect::<Vec<_>>().join(" ");
    rows.iter().map(fold).collect()
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

fn compare(expected: Vec<String>, found: Vec<String>) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, got {found:?}"))
    }
}
