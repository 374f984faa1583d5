//! CREATE, REPLACE and DROP of branches and tags.

use sqlparser::tokenizer::Token;
use tarn_format::spec::snapshot::{RefKind, SnapshotRetention};
use tarn_format::{Error, Result};

use crate::ast::alter::{AlterTable, PutRef, PutRefMode};
use crate::ast::{IfExists, IfNotExists};
use crate::parser::cursor::Cursor;

const MINUTE_MS: i64 = 60_000;

/// A change of a branch or tag; `None` when what follows is none.
pub(super) fn refs(c: &mut Cursor<'_>) -> Result<Option<AlterTable>> {
    for (word, kind) in [("BRANCH", RefKind::Branch), ("TAG", RefKind::Tag)] {
        if c.eat(&["DROP", word]) {
            let if_exists = if c.eat(&["IF", "EXISTS"]) {
                IfExists::Given
            } else {
                IfExists::Absent
            };
            let name = name(c, kind)?;
            return Ok(Some(AlterTable::DropRef { kind, name, if_exists }));
        }
        let mode = if c.eat(&["CREATE", "OR", "REPLACE", word]) {
            PutRefMode::CreateOrReplace
        } else if c.eat(&["REPLACE", word]) {
            PutRefMode::Replace
        } else if c.eat(&["CREATE", word]) {
            PutRefMode::Create(if c.eat(&["IF", "NOT", "EXISTS"]) {
                IfNotExists::Given
            } else {
                IfNotExists::Absent
            })
        } else {
            continue;
        };
        return put(c, kind, mode).map(|put| Some(AlterTable::PutRef(put)));
    }
    Ok(None)
}

fn name(c: &mut Cursor<'_>, kind: RefKind) -> Result<String> {
    match c.peek(0) {
        Token::Word(_) => c.identifier(),
        Token::EOF => Err(Error::invalid(format!("a {kind} needs a name"))),
        other => Err(Error::invalid(format!(
            "{other} is no name of a {kind}: quote it, as in `{other}`"
        ))),
    }
}

fn put(c: &mut Cursor<'_>, kind: RefKind, mode: PutRefMode) -> Result<PutRef> {
    let name = name(c, kind)?;
    let mut put = PutRef {
        kind,
        name,
        mode,
        snapshot_id: None,
        retention: SnapshotRetention::default(),
    };
    if c.eat(&["AS", "OF", "VERSION"]) {
        let id = c.signed_integer();
        put.snapshot_id = Some(id.map_err(|_| Error::invalid("AS OF VERSION takes a snapshot id, a whole number"))?);
    }
    if c.eat(&["RETAIN"]) {
        put.retention.max_ref_age_ms = Some(duration_ms(c, "RETAIN")?);
    }
    if c.eat(&["WITH", "SNAPSHOT", "RETENTION"]) {
        snapshot_retention(c, &mut put)?;
    }
    Ok(put)
}

fn snapshot_retention(c: &mut Cursor<'_>, put: &mut PutRef) -> Result<()> {
    if put.kind == RefKind::Tag {
        return Err(Error::invalid(
            "a tag has no SNAPSHOT RETENTION: it keeps one snapshot; RETAIN says how long",
        ));
    }
    let form =
        || Error::invalid("WITH SNAPSHOT RETENTION takes n SNAPSHOTS, n DAYS, or both, as in 3 SNAPSHOTS 2 DAYS");
    let first = c.signed_integer().map_err(|_| form())?;
    if c.eat(&["SNAPSHOTS"]) {
        let kept = i32::try_from(first).map_err(|_| form())?;
        put.retention.min_snapshots_to_keep = Some(kept);
        if matches!(c.peek(0), Token::Number(..) | Token::Minus) {
            put.retention.max_snapshot_age_ms = Some(duration_ms(c, "WITH SNAPSHOT RETENTION")?);
        }
        return Ok(());
    }
    put.retention.max_snapshot_age_ms = Some(in_ms(c, first, "WITH SNAPSHOT RETENTION")?);
    Ok(())
}

/// `n DAYS | HOURS | MINUTES`
fn duration_ms(c: &mut Cursor<'_>, clause: &str) -> Result<i64> {
    let n = c
        .signed_integer()
        .map_err(|_| Error::invalid(format!("{clause} takes a time, such as 7 DAYS")))?;
    in_ms(c, n, clause)
}

fn in_ms(c: &mut Cursor<'_>, n: i64, clause: &str) -> Result<i64> {
    let unit_ms = match c.eat_any(&["DAYS", "HOURS", "MINUTES"]) {
        Some("DAYS") => 24 * 60 * MINUTE_MS,
        Some("HOURS") => 60 * MINUTE_MS,
        Some("MINUTES") => MINUTE_MS,
        _ => {
            return Err(Error::invalid(format!(
                "{clause} counts in DAYS, HOURS or MINUTES, not in {}",
                c.peek(0)
            )));
        }
    };
    n.checked_mul(unit_ms)
        .ok_or_else(|| Error::invalid(format!("{clause}: {n} is too long a time")))
}
