//! The names and words that may stand at a place.

use std::time::Duration;

use tarn::datafusion::execution::FunctionRegistry;
use tarn::engine::MetadataTableKind;
use tarn::format::catalog::Namespace;
use tarn::sql::catalogs::CatalogEntry;
use tarn::{Output, Session};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::completion::{Expected, Mention, Place};
use super::keywords::{SECOND_WORDS, STATEMENTS, WORDS};
use crate::shell::commands::command_names;

/// Somebody waits for the list: a catalog that takes longer gives no names.
const PATIENCE: Duration = Duration::from_secs(2);

/// Something that may stand at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// As it is listed.
    pub shown: String,
    /// As it is written, with quotes where it needs them.
    pub inserted: String,
}

/// What may stand at a place, sorted.
pub(super) fn candidates(session: &Session, place: &Place) -> Vec<Candidate> {
    let mut all = match place.expected {
        Expected::Nothing => Vec::new(),
        Expected::Command => words(&place.prefix, command_names()),
        Expected::Statement => words(&place.prefix, STATEMENTS.iter().copied()),
        Expected::SecondWord(statement) => {
            let known = SECOND_WORDS.get(statement).map_or(&[][..], |(_, words)| words);
            words(&place.prefix, known.iter().copied())
        }
        Expected::Relation | Expected::Namespace => wait(relations(session, place)),
        Expected::Expression => {
            let mut all = wait(columns(session, place));
            if place.qualifiers.is_empty() {
                all.extend(words(&place.prefix, WORDS.iter().copied()));
                all.extend(functions(session, &place.prefix));
            }
            all
        }
    };
    all.sort();
    all.dedup();
    all
}

/// Waits for names from catalogs; there are none when they do not come in time.
fn wait(names: impl Future<Output = Vec<Candidate>>) -> Vec<Candidate> {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
            let patient = tokio::time::timeout(PATIENCE, names);
            tokio::task::block_in_place(|| runtime.block_on(patient)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn begins_with(name: &str, prefix: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    prefix
        .chars()
        .flat_map(char::to_lowercase)
        .all(|c| letters.next() == Some(c))
}

/// Words of the language, in small letters when the prefix is.
fn words<'a>(prefix: &str, words: impl Iterator<Item = &'a str>) -> Vec<Candidate> {
    let is_small = prefix.chars().any(char::is_lowercase);
    let matching = words.filter(|word| begins_with(word, prefix));
    let word = |word: &str| Candidate {
        shown: word.to_string(),
        inserted: if is_small {
            word.to_lowercase()
        } else {
            word.to_string()
        },
    };
    matching.map(word).collect()
}

fn functions(session: &Session, prefix: &str) -> Vec<Candidate> {
    // There are hundreds: without a letter they would hide the columns.
    if prefix.is_empty() {
        return Vec::new();
    }
    let state = session.context().state();
    let names = [state.udfs(), state.udafs(), state.udwfs()].into_iter().flatten();
    let is_plain = |name: &String| name.starts_with(char::is_alphabetic) && begins_with(name, prefix);
    let function = |name: String| Candidate {
        shown: format!("{name}("),
        inserted: format!("{name}("),
    };
    names.filter(is_plain).map(function).collect()
}

/// A name, quoted where it has to be.
fn named(name: &str) -> Candidate {
    let is_plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    Candidate {
        shown: name.to_string(),
        inserted: if is_plain {
            name.to_string()
        } else {
            format!("`{}`", name.replace('`', "``"))
        },
    }
}

/// Columns of the relations that the statement names, and the names that these go by.
async fn columns(session: &Session, place: &Place) -> Vec<Candidate> {
    let mut all = Vec::new();
    for mention in &place.mentions {
        match place.qualifiers.as_slice() {
            [] => {
                if begins_with(&mention.alias, &place.prefix) && !mention.alias.is_empty() {
                    all.push(named(&mention.alias));
                }
            }
            [alias] if alias.eq_ignore_ascii_case(&mention.alias) => {}
            _ => continue,
        }
        let names = columns_of(session, mention).await;
        all.extend(names.iter().filter(|n| begins_with(n, &place.prefix)).map(|n| named(n)));
    }
    all
}

/// Names of a relation's columns; none when it cannot be read.
async fn columns_of(session: &Session, mention: &Mention) -> Vec<String> {
    match session.sql(&format!("SELECT * FROM {} LIMIT 0", mention.sql)).await {
        Ok(Output::Rows(rows)) => rows.schema().fields().iter().map(|f| f.name().clone()).collect(),
        _ => Vec::new(),
    }
}

/// Tables, namespaces and catalogs, by the names before them.
async fn relations(session: &Session, place: &Place) -> Vec<Candidate> {
    let current = session.current();
    let mut names = Vec::new();
    match place.qualifiers.split_first() {
        None => {
            names.extend(catalog_names(session).await);
            if let Ok(Some(entry)) = session.catalog(&current.catalog).await {
                names.extend(namespaces(&entry, &Namespace::default()).await);
                if place.expected == Expected::Relation {
                    names.extend(tables(&entry, &current.namespace).await);
                }
            }
        }
        Some((first, rest)) => {
            if let Ok(Some(entry)) = session.catalog(first).await {
                names.extend(inside(&entry, rest, place.expected).await);
            }
            if let Ok(Some(entry)) = session.catalog(&current.catalog).await {
                names.extend(inside(&entry, &place.qualifiers, place.expected).await);
                let in_current = tables(&entry, &current.namespace).await;
                if rest.is_empty() && in_current.iter().any(|t| t.eq_ignore_ascii_case(first)) {
                    names.extend(metadata_tables());
                }
            }
        }
    }
    let matching = names.iter().filter(|name| begins_with(name, &place.prefix));
    matching.map(|name| named(name)).collect()
}

/// What a namespace of a catalog holds, or the metadata tables when it is a table.
async fn inside(entry: &CatalogEntry, path: &[String], expected: Expected) -> Vec<String> {
    let namespace = Namespace(path.to_vec());
    let mut names = namespaces(entry, &namespace).await;
    if expected == Expected::Relation {
        names.extend(tables(entry, &namespace).await);
        if let Some((table, parent)) = path.split_last()
            && tables(entry, &Namespace(parent.to_vec())).await.contains(table)
        {
            names.extend(metadata_tables());
        }
    }
    names
}

fn metadata_tables() -> impl Iterator<Item = String> {
    MetadataTableKind::ALL.into_iter().map(|kind| kind.name().to_string())
}

async fn catalog_names(session: &Session) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(output) = session.sql("SHOW CATALOGS").await
        && let Ok(batches) = output.collect().await
    {
        for batch in batches {
            let column = batch.columns().first();
            let texts = column.and_then(|c| c.as_any().downcast_ref::<tarn::datafusion::arrow::array::StringArray>());
            names.extend(texts.into_iter().flatten().flatten().map(str::to_string));
        }
    }
    names
}

/// Last parts of the namespaces in a namespace.
async fn namespaces(entry: &CatalogEntry, parent: &Namespace) -> Vec<String> {
    let inside = entry.catalog.list_namespaces(parent).await.unwrap_or_default();
    inside.into_iter().filter_map(|mut n| n.0.pop()).collect()
}

async fn tables(entry: &CatalogEntry, namespace: &Namespace) -> Vec<String> {
    let tables = entry.catalog.list_tables(namespace).await.unwrap_or_default();
    let views = entry.catalog.list_views(namespace).await.unwrap_or_default();
    tables.into_iter().chain(views).map(|t| t.name).collect()
}

#[cfg(test)]
mod tests {
    use tarn::sql::dialect::TarnDialect;

    use super::super::completion::place;
    use super::*;

    async fn session(home: &std::path::Path) -> Session {
        let session = Session::builder().home(home).build().await.unwrap();
        let script = "CREATE TABLE trips (id INT, city STRING, `total fare` DOUBLE); CREATE NAMESPACE other;
            CREATE TABLE other.tracks (track_id INT)";
        session.sql(script).await.unwrap();
        session
    }

    /// What is inserted at the end of these texts.
    fn completed(session: &Session, text: &str) -> Vec<String> {
        let place = place(text, text.len(), &TarnDialect::default());
        candidates(session, &place).into_iter().map(|c| c.inserted).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn names_are_completed_where_they_may_stand() {
        let directory = tempfile::tempdir().unwrap();
        let session = session(&directory.path().join("lake")).await;
        for (text, expected) in [
            ("sel", &["select"][..]),
            ("INSERT INT", &["INTO"]),
            ("SELECT * FROM tr", &["trips"]),
            ("SELECT * FROM TR", &["trips"]),
            ("SELECT * FROM lake.other.", &["tracks"]),
            ("SELECT * FROM other.t", &["tracks"]),
            ("SELECT * FROM trips.snap", &["snapshots"]),
            ("SELECT * FROM other.tracks.part", &["partitions"]),
            ("SELECT * FROM oth", &["other"]),
            ("SELECT * FROM lak", &["lake"]),
            ("SELECT * FROM trips t WHERE t.", &["city", "id", "`total fare`"]),
            ("SELECT * FROM trips WHERE tot", &["`total fare`"]),
            (
                "SELECT 1 FROM trips JOIN other.tracks WHERE track",
                &["track_id", "tracks"],
            ),
            ("USE oth", &["other"]),
            ("\\tim", &["timing"]),
            ("\\d tri", &["trips"]),
            ("SELECT 'tri", &[]),
            ("SELECT * FROM nosuch WHERE nosuch.", &[]),
        ] {
            assert_eq!(completed(&session, text), expected, "{text}");
        }
        assert!(completed(&session, "SELECT date_tr").contains(&"date_trunc(".to_string()));
    }
}
