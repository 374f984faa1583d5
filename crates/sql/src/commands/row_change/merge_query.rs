//! MERGE as a query: the target joined with the source, which clause takes each row, and the values of all clauses.
//!
//! What a clause sees is what it stands over: conditions and values of NOT MATCHED are computed where only the source is,
//! those of NOT MATCHED BY SOURCE where only the target is, those of MATCHED after the join.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    CaseWhen, Expr, Join, JoinConstraint, JoinOperator, Query, SelectItem, SetExpr, TableAlias, TableFactor,
    TableWithJoins, Value, WildcardAdditionalOptions,
};
use tarn_format::Result;
use tarn_format::spec::types::{FieldId, NestedFieldRef};

use super::assignments::Changes;
use super::target::{FILE, POSITION, Target, item, query};
use crate::ast::{Assignments, InsertedRow, MatchedAction, Merge, MergeClause, Name};
use crate::commands::column_defaults::{default_expression, is_default};
use crate::commands::insert_columns::column;
use crate::planner::builders::{alias, column as qualified, quoted, select_star_from};
use crate::store_assignment::Matching;
use tarn_format::Error;

/// Where a row of the target is; NULL where there is none. No user's column is called so.
const TARGET_FILE: &str = "merge file";
const TARGET_POSITION: &str = "merge position";
/// The id of a row of the target, where it has row lineage.
const TARGET_ROW_ID: &str = "merge row";
/// True where there is a row of the source.
const PRESENT: &str = "merge source";
/// Begins the names of conditions.
pub(super) const CONDITION: &str = "merge when ";
/// The column with the clause's number.
pub(super) const CLAUSE: &str = "merge when taken";
/// The source where the statement gives it no name.
const SOURCE: &str = "merge using";

/// The clause number of rows that no clause takes, though both sides have them.
pub(super) const KEPT: i64 = 0;
/// That of rows that nothing happens to.
pub(super) const DROPPED: i64 = -1;

/// The value that a clause gives to a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ClauseValue {
    /// The result's column of this index.
    Column(usize),
    /// The column's default.
    Default,
}

/// A MERGE as a query.
pub(super) struct MergeQuery {
    /// Its columns are file, position and the number of the clause, from 1, then values and keys.
    pub(super) query: Query,
    /// For each clause the value of every column of the table; empty where rows are deleted.
    pub(super) values: Vec<Vec<ClauseValue>>,
    /// The field ids of the columns that clauses update.
    pub(super) updated_columns: BTreeSet<FieldId>,
    /// The result column with the id of the target's row; `None` where the target has no row lineage.
    pub(super) row_id: Option<usize>,
    /// Result columns by which a row of the target is shown, with their names.
    pub(super) keys: Vec<(usize, String)>,
}

/// The columns that a `*` of a clause is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stars {
    /// All of the table: the source must have them.
    AllColumns,
    /// Those of the source: others stay as they are, and are left out of new rows.
    Of(Vec<String>),
}

/// The select lists of the query's parts while they are made.
struct Parts<'a> {
    target: &'a Target,
    merge: &'a Merge,
    stars: &'a Stars,
    target_name: String,
    source_name: String,
    of_target: Vec<SelectItem>,
    of_source: Vec<SelectItem>,
    of_join: Vec<SelectItem>,
    /// The columns that clauses update.
    updated: BTreeSet<FieldId>,
}

/// Makes the query of a MERGE.
///
/// # Errors
/// `InvalidInput` for columns that are not there or assigned twice.
pub(super) fn merge_query(target: &Target, merge: &Merge, stars: &Stars) -> Result<MergeQuery> {
    let star = || SelectItem::Wildcard(WildcardAdditionalOptions::default());
    let mut parts = Parts {
        target,
        merge,
        stars,
        target_name: target.last_name(),
        source_name: source_name(&merge.source).unwrap_or_else(|| SOURCE.to_string()),
        of_target: vec![
            star(),
            item(target.column(FILE), TARGET_FILE),
            item(target.column(POSITION), TARGET_POSITION),
        ],
        of_source: vec![star(), item(truth(), PRESENT)],
        of_join: Vec::new(),
        updated: BTreeSet::new(),
    };
    let (file, position) = (parts.of_target(TARGET_FILE), parts.of_target(TARGET_POSITION));
    parts.of_join = vec![item(file, "file"), item(position, "position")];
    let number = parts.clause_number();
    parts.of_join.push(item(number, CLAUSE));
    let values: Result<Vec<_>> = (0..merge.clauses.len()).map(|k| parts.values(k)).collect();
    let values = values?;
    let row_id = parts.row_id();
    let keys = parts.keys();
    Ok(MergeQuery {
        updated_columns: std::mem::take(&mut parts.updated),
        query: parts.query(),
        values,
        row_id,
        keys,
    })
}

impl Parts<'_> {
    fn of_target(&self, name: &str) -> Expr {
        qualified(&self.target_name, name)
    }

    fn of_source(&self, name: &str) -> Expr {
        qualified(&self.source_name, name)
    }

    /// Whether `*` gives the column a value of the source.
    fn is_starred(&self, column: &str) -> bool {
        match self.stars {
            Stars::AllColumns => true,
            Stars::Of(columns) => {
                let same = |name: &String| Matching::Name(self.target.case).same(name, column);
                columns.iter().any(same)
            }
        }
    }

    /// The number of the first clause that takes a row.
    fn clause_number(&mut self) -> Expr {
        let mut matched = Vec::new();
        let mut not_matched = Vec::new();
        let mut by_source = Vec::new();
        for (k, clause) in self.merge.clauses.iter().enumerate() {
            let number = whole_number(k as i64 + 1);
            let name = format!("{CONDITION}{k}");
            match clause {
                MergeClause::Matched { condition, .. } => matched.push((nested(condition), number)),
                MergeClause::NotMatched { condition, .. } => {
                    self.of_source.push(item(nested(condition), &name));
                    not_matched.push((self.of_source(&name), number));
                }
                MergeClause::NotMatchedBySource { condition, .. } => {
                    self.of_target.push(item(nested(condition), &name));
                    by_source.push((self.of_target(&name), number));
                }
            }
        }
        let is_new = Expr::IsNull(Box::new(self.of_target(TARGET_FILE)));
        let is_alone = Expr::IsNull(Box::new(self.of_source(PRESENT)));
        let without_clause = if matched.is_empty() { DROPPED } else { KEPT };
        let branches = vec![
            (is_new, case(not_matched, DROPPED)),
            (is_alone, case(by_source, DROPPED)),
            (truth(), case(matched, without_clause)),
        ];
        case(branches, DROPPED)
    }

    /// What a clause gives to the table's columns.
    fn values(&mut self, k: usize) -> Result<Vec<ClauseValue>> {
        let merge = self.merge;
        match &merge.clauses[k] {
            MergeClause::Matched { action, .. } => match action {
                MatchedAction::Delete => Ok(Vec::new()),
                MatchedAction::Update(Assignments::Star) => {
                    let fields = self.target.schema().fields();
                    let value = |f: &NestedFieldRef| match self.is_starred(&f.name) {
                        true => self.of_source(&f.name),
                        false => self.of_target(&f.name),
                    };
                    let columns: Vec<Expr> = fields.iter().map(value).collect();
                    let starred = fields.iter().filter(|f| self.is_starred(&f.name)).map(|f| f.id);
                    let starred: Vec<FieldId> = starred.collect();
                    self.updated.extend(starred);
                    Ok(columns
                        .into_iter()
                        .enumerate()
                        .map(|(i, e)| self.joined(k, i, e))
                        .collect())
                }
                MatchedAction::Update(Assignments::Listed(assignments)) => {
                    let changes = Changes::new(self.target, assignments)?;
                    self.updated(k, &changes, Side::Join)
                }
            },
            MergeClause::NotMatchedBySource { action, .. } => match action {
                MatchedAction::Delete => Ok(Vec::new()),
                MatchedAction::Update(Assignments::Listed(assignments)) => {
                    let changes = Changes::new(self.target, assignments)?;
                    self.updated(k, &changes, Side::Target)
                }
                MatchedAction::Update(Assignments::Star) => Err(Error::invalid(
                    "UPDATE SET * needs a source row: NOT MATCHED BY SOURCE has none",
                )),
            },
            MergeClause::NotMatched { row, .. } => self.inserted(k, row),
        }
    }

    fn updated(&mut self, k: usize, changes: &Changes<'_>, side: Side) -> Result<Vec<ClauseValue>> {
        let schema = std::sync::Arc::clone(self.target.schema());
        let updated = changes.columns().filter_map(|at| schema.fields().get(at));
        self.updated.extend(updated.map(|field| field.id));
        let mut values = Vec::new();
        for (i, field) in schema.fields().iter().enumerate() {
            let value = match side {
                Side::Join => changes.value(i, field, std::slice::from_ref(&self.target_name))?,
                Side::Target => changes.value(i, field, &self.target.path())?,
            };
            values.push(match (value, side) {
                (None, _) => {
                    let old = self.of_target(&field.name);
                    self.joined(k, i, old)
                }
                (Some(value), Side::Join) => self.joined(k, i, value),
                (Some(value), Side::Target) => {
                    let name = value_name(k, i);
                    self.of_target.push(item(value, &name));
                    let value = self.of_target(&name);
                    self.joined(k, i, value)
                }
            });
        }
        Ok(values)
    }

    fn inserted(&mut self, k: usize, row: &InsertedRow) -> Result<Vec<ClauseValue>> {
        let target = self.target;
        let fields = target.schema().fields();
        let mut given: Vec<Option<Expr>> = vec![None; fields.len()];
        match row {
            InsertedRow::Star => {
                let starred = given.iter_mut().zip(fields).filter(|(_, f)| self.is_starred(&f.name));
                for (given, field) in starred {
                    *given = Some(Expr::Identifier(quoted(&field.name)));
                }
            }
            InsertedRow::Listed { columns, values } => {
                for (name, value) in columns.iter().zip(values) {
                    let at = inserted_column(target, name)?;
                    if given[at].is_some() {
                        return Err(Error::invalid(format!("column '{name}' is given twice")));
                    }
                    given[at] = match is_default(value) {
                        true => Some(default_expression(&fields[at])?),
                        false => Some(value.clone()),
                    };
                }
            }
        }
        let values = given.into_iter().enumerate().map(|(i, value)| match value {
            None => ClauseValue::Default,
            Some(value) => {
                let name = value_name(k, i);
                self.of_source.push(item(Expr::Nested(Box::new(value)), &name));
                let value = self.of_source(&name);
                self.joined(k, i, value)
            }
        });
        Ok(values.collect())
    }

    /// A value that the result has.
    fn joined(&mut self, k: usize, i: usize, value: Expr) -> ClauseValue {
        self.of_join.push(item(value, &value_name(k, i)));
        ClauseValue::Column(self.of_join.len() - 1)
    }

    fn row_id(&mut self) -> Option<usize> {
        self.of_target.push(item(self.target.row_id()?, TARGET_ROW_ID));
        let row_id = self.of_target(TARGET_ROW_ID);
        self.of_join.push(item(row_id, "row id"));
        Some(self.of_join.len() - 1)
    }

    /// The columns of the target that ON names.
    fn keys(&mut self) -> Vec<(usize, String)> {
        let mut names: Vec<String> = Vec::new();
        let _ = sqlparser::ast::visit_expressions(&self.merge.on, |e| {
            let parts: Vec<&str> = match e {
                Expr::Identifier(name) => vec![&name.value],
                Expr::CompoundIdentifier(parts) => parts.iter().map(|p| p.value.as_str()).collect(),
                _ => Vec::new(),
            };
            let same = |a: &str, b: &str| Matching::Name(self.target.case).same(a, b);
            let of_target = match parts.as_slice() {
                [name] => Some(*name),
                [qualifier, name, ..] if same(qualifier, &self.target_name) => Some(*name),
                _ => None,
            };
            let fields = self.target.schema().fields();
            let field = of_target.and_then(|name| fields.iter().find(|f| same(&f.name, name)));
            if let Some(field) = field.filter(|f| !names.contains(&f.name)) {
                names.push(field.name.clone());
            }
            ControlFlow::<()>::Continue(())
        });
        let keys = names.into_iter().map(|name| {
            let key = self.of_target(&name);
            self.of_join.push(item(key, &format!("key {name}")));
            (self.of_join.len() - 1, name)
        });
        keys.collect()
    }

    fn query(self) -> Query {
        let side = |items: Vec<SelectItem>, relation: TableFactor, name: &str| {
            let mut select = select_star_from(vec![TableWithJoins {
                relation,
                joins: Vec::new(),
            }]);
            select.projection = items;
            TableFactor::Derived {
                lateral: false,
                subquery: Box::new(query(None, SetExpr::Select(Box::new(select)))),
                alias: Some(alias(name)),
                sample: None,
            }
        };
        let kinds = |kind: fn(&MergeClause) -> bool| self.merge.clauses.iter().any(kind);
        let on = JoinConstraint::On(self.merge.on.clone());
        let inserts = kinds(|c| matches!(c, MergeClause::NotMatched { .. }));
        let by_source = kinds(|c| matches!(c, MergeClause::NotMatchedBySource { .. }));
        let join = Join {
            relation: side(self.of_source, self.merge.source.clone(), &self.source_name),
            global: false,
            join_operator: match (inserts, by_source) {
                (false, false) => JoinOperator::Inner(on),
                (true, false) => JoinOperator::RightOuter(on),
                (false, true) => JoinOperator::LeftOuter(on),
                (true, true) => JoinOperator::FullOuter(on),
            },
        };
        let mut select = select_star_from(vec![TableWithJoins {
            relation: side(self.of_target, self.target.factor(), &self.target_name),
            joins: vec![join],
        }]);
        select.projection = self.of_join;
        query(self.merge.with.clone(), SetExpr::Select(Box::new(select)))
    }
}

/// Where values of an update are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Join,
    Target,
}

fn value_name(k: usize, i: usize) -> String {
    format!("merge value {k} {i}")
}

fn inserted_column(target: &Target, name: &Name) -> Result<usize> {
    match name.0.as_slice() {
        [only] => column(only, target.schema(), target.case),
        [qualifier, only] if Matching::Name(target.case).same(qualifier, &target.last_name()) => {
            column(only, target.schema(), target.case)
        }
        _ => Err(Error::invalid(format!(
            "'{name}' is no column of the table: INSERT of MERGE takes whole columns"
        ))),
    }
}

/// The alias or name of a source.
fn source_name(source: &TableFactor) -> Option<String> {
    let of_alias = |alias: &Option<TableAlias>| alias.as_ref().map(|a| a.name.value.clone());
    match source {
        TableFactor::Table { name, alias, .. } => {
            of_alias(alias).or_else(|| Some(name.0.last()?.as_ident()?.value.clone()))
        }
        TableFactor::Derived { alias, .. } | TableFactor::NestedJoin { alias, .. } => of_alias(alias),
        _ => None,
    }
}

fn truth() -> Expr {
    Expr::Value(Value::Boolean(true).into())
}

fn nested(condition: &Option<Expr>) -> Expr {
    match condition {
        None => truth(),
        // Unknown is not true.
        Some(condition) => Expr::IsTrue(Box::new(Expr::Nested(Box::new(condition.clone())))),
    }
}

fn whole_number(number: i64) -> Expr {
    Expr::Value(Value::Number(number.to_string(), false).into())
}

/// `CASE WHEN … THEN … ELSE number END`
fn case(branches: Vec<(Expr, Expr)>, otherwise: i64) -> Expr {
    let otherwise = match otherwise < 0 {
        true => Expr::UnaryOp {
            op: sqlparser::ast::UnaryOperator::Minus,
            expr: Box::new(whole_number(-otherwise)),
        },
        false => whole_number(otherwise),
    };
    if branches.is_empty() {
        return otherwise;
    }
    let branches = branches
        .into_iter()
        .map(|(condition, result)| CaseWhen { condition, result });
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: branches.collect(),
        else_result: Some(Box::new(otherwise)),
    }
}
