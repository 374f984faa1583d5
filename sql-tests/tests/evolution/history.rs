//! A table that lives: the session that changes it by SQL, the model that changes with it, and what was done.

use std::collections::BTreeMap;

use tarn::{Error, Session};

use super::model::{Column, Condition, Id, Kind, Row, State, Value};
use super::random::Random;
use crate::slt::render;

/// The table's main line of history.
pub const MAIN: &str = "main";

/// The identity of the column `k`, which never goes away and is never NULL.
pub const KEY: Id = 1;

/// A partition field.
#[derive(Debug, Clone)]
pub struct PartitionField {
    pub source: Id,
    /// With `{}` for the column.
    pub transform: &'static str,
}

/// A field of the order that rows are written in.
#[derive(Debug, Clone)]
pub struct SortField {
    pub source: Id,
    /// With `{}` for the column.
    pub transform: &'static str,
    /// As SQL has it.
    pub direction: &'static str,
    /// As SQL has it.
    pub nulls: &'static str,
}

/// A table and its model.
pub struct History {
    pub session: Session,
    pub random: Random,
    /// Format version, 1 to 3.
    pub version: u8,
    pub columns: Vec<Column>,
    pub partition: Vec<PartitionField>,
    pub order: Vec<SortField>,
    /// Whether the key identifies rows.
    pub is_identified: bool,
    /// Rows of each branch.
    pub branches: BTreeMap<String, Vec<Row>>,
    /// Tags with their snapshots.
    pub tags: BTreeMap<String, i64>,
    /// Snapshots with their states.
    pub snapshots: BTreeMap<i64, State>,
    /// The snapshots that have been current on main, oldest first, those that a rollback left out.
    pub line: Vec<i64>,
    /// What was done, for the report of a failure.
    pub done: Vec<String>,
    last_id: Id,
}

impl History {
    /// A new table with the column `k`.
    pub async fn begin(session: Session, seed: u64, version: u8, mode: &str) -> Result<History, String> {
        let mut history = History {
            session,
            random: Random::new(seed),
            version,
            columns: Vec::new(),
            partition: Vec::new(),
            order: Vec::new(),
            is_identified: false,
            branches: BTreeMap::from([(MAIN.to_string(), Vec::new())]),
            tags: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            line: Vec::new(),
            done: Vec::new(),
            last_id: 0,
        };
        let k = history.column("k", Kind::Int);
        history.columns.push(k);
        let modes = ["delete", "update", "merge"].map(|change| format!("'write.{change}.mode'='{mode}'"));
        let create = format!(
            "CREATE TABLE t (k int NOT NULL) TBLPROPERTIES ('format-version'='{version}', {})",
            modes.join(", ")
        );
        history.run(&create).await?;
        Ok(history)
    }

    /// A column with a new identity and no defaults.
    pub fn column(&mut self, name: &str, kind: Kind) -> Column {
        self.last_id += 1;
        Column {
            id: self.last_id,
            name: name.to_string(),
            kind,
            initial: Value::Null,
            default: Value::Null,
        }
    }

    /// Runs a statement that must succeed.
    pub async fn run(&mut self, sql: &str) -> Result<Vec<Vec<String>>, String> {
        self.done.push(sql.to_string());
        self.ask(sql).await
    }

    /// As [`History::run`], for what changes nothing and is not reported.
    pub async fn ask(&self, sql: &str) -> Result<Vec<Vec<String>>, String> {
        let rows = rows(&self.session, sql).await;
        rows.map(|(_, rows)| rows).map_err(|e| format!("{sql}: {e}"))
    }

    /// Runs a statement that must be refused.
    pub async fn refused(&mut self, sql: &str) -> Result<(), String> {
        self.done.push(format!("refused: {sql}"));
        match rows(&self.session, sql).await {
            Ok(_) => Err(format!("must be refused: {sql}")),
            Err(_) => Ok(()),
        }
    }

    /// The name to write a branch by.
    pub fn target(branch: &str) -> String {
        match branch {
            MAIN => "t".to_string(),
            other => format!("t.branch_{other}"),
        }
    }

    /// Remembers the state that a branch has after a write to it.
    pub async fn remember(&mut self, branch: &str) -> Result<(), String> {
        let found = self
            .ask(&format!("SELECT snapshot_id FROM t.refs WHERE name = '{branch}'"))
            .await?;
        let Some(id) = found.first().and_then(|row| row.first()?.parse::<i64>().ok()) else {
            return Ok(());
        };
        if self.snapshots.contains_key(&id) {
            // Nothing was there to change.
            return Ok(());
        }
        self.snapshots.insert(id, self.state(branch));
        if branch == MAIN {
            self.line.push(id);
        }
        Ok(())
    }

    /// What reading a branch gives: its rows in the table's present columns.
    pub fn state(&self, branch: &str) -> State {
        State {
            columns: self.columns.clone(),
            rows: self.branches.get(branch).cloned().unwrap_or_default(),
        }
    }

    /// Compares what a relation holds with what it should hold.
    pub async fn check(&self, relation: &str, expected: &State, condition: Option<&Condition>) -> Result<(), String> {
        let mut sql = format!("SELECT * FROM {relation}");
        if let Some(condition) = condition {
            sql.push_str(&format!(" WHERE {}", condition.sql()));
        }
        let (names, mut found) = rows(&self.session, &sql).await.map_err(|e| format!("{sql}: {e}"))?;
        found.sort();
        let wanted = expected.shown(|row| condition.is_none_or(|c| c.holds(row)));
        if names != expected.names() {
            return Err(format!("{sql}: columns are {names:?}, not {:?}", expected.names()));
        }
        if found != wanted {
            return Err(format!("{sql}: found {found:?}, not {wanted:?}"));
        }
        Ok(())
    }

    /// Compares every branch, tag and snapshot, whole and by a condition.
    pub async fn check_everything(&mut self) -> Result<(), String> {
        let branches: Vec<String> = self.branches.keys().cloned().collect();
        for branch in branches {
            let state = self.state(&branch);
            let condition = self.condition_on(&state);
            let relation = History::target(&branch);
            self.check(&relation, &state, None).await?;
            self.check(&relation, &state, condition.as_ref()).await?;
        }
        let versions = self.snapshots.keys().map(|id| (id.to_string(), *id));
        let tags = self.tags.iter().map(|(name, id)| (format!("'{name}'"), *id));
        let versions: Vec<(String, i64)> = versions.chain(tags).collect();
        for (version, id) in versions {
            let Some(state) = self.snapshots.get(&id).cloned() else {
                continue;
            };
            let condition = self.condition_on(&state);
            let relation = format!("t VERSION AS OF {version}");
            self.check(&relation, &state, None).await?;
            self.check(&relation, &state, condition.as_ref()).await?;
        }
        Ok(())
    }
}

/// The names of the columns, and the rows as text.
async fn rows(session: &Session, sql: &str) -> Result<(Vec<String>, Vec<Vec<String>>), Error> {
    let output = session.sql(sql).await?;
    let names = output.schema().fields().iter().map(|f| f.name().clone()).collect();
    let batches = output.collect().await?;
    let rows = render::rows(&batches);
    rows.map(|rows| (names, rows))
        .map_err(|e| Error::invalid("a result cannot be shown").with_source(e))
}
