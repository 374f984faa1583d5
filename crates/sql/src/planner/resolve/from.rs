//! FROM: relations get unique aliases, derived tables are rewritten, USING and NATURAL become conditions.

use sqlparser::ast::{
    BinaryOperator, Expr, Join, JoinConstraint, JoinOperator, ObjectName, Query, SetExpr, TableAlias,
    TableAliasColumnDef, TableFactor, TableWithJoins,
};
use tarn_engine::scan::MetadataColumn;
use tarn_format::{Error, Result};

use super::builders::{alias, all, binary, call, column, plain_query, quoted, select_star_from};
use super::expr::Aliases;
use super::scope::{Exposure, Merged, OutputColumn, Relation, Relations, Scope};
use super::{Place, Resolver, renamed};
use crate::planner::relations::{marker_index, refuse_clauses};

/// Which rows of a join's sides stay without a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// The left ones or none: the left value is the value.
    Left,
    /// The right ones.
    Right,
    /// Both.
    Both,
}

impl Resolver<'_> {
    pub(super) fn from(&mut self, from: &mut [TableWithJoins], place: Place<'_>) -> Result<Relations> {
        let mut relations = Relations::default();
        for item in from {
            let part = self.table_with_joins(item, &relations, place)?;
            relations.append(part);
        }
        Ok(relations)
    }

    /// One item of FROM; `siblings` are the items before it, which LATERAL can see.
    fn table_with_joins(
        &mut self,
        item: &mut TableWithJoins,
        siblings: &Relations,
        place: Place<'_>,
    ) -> Result<Relations> {
        let mut relations = self.factor(&mut item.relation, siblings, place)?;
        for join in &mut item.joins {
            let mut seen = siblings.clone();
            seen.append(relations.clone());
            let right = self.factor(&mut join.relation, &seen, place)?;
            self.join(join, &mut relations, right, place)?;
        }
        Ok(relations)
    }

    fn join(&mut self, join: &mut Join, left: &mut Relations, right: Relations, place: Place<'_>) -> Result<()> {
        let kept = match &join.join_operator {
            JoinOperator::Right(_)
            | JoinOperator::RightOuter(_)
            | JoinOperator::RightSemi(_)
            | JoinOperator::RightAnti(_) => Kept::Right,
            JoinOperator::FullOuter(_) => Kept::Both,
            _ => Kept::Left,
        };
        let hides_right = matches!(
            &join.join_operator,
            JoinOperator::Semi(_) | JoinOperator::LeftSemi(_) | JoinOperator::Anti(_) | JoinOperator::LeftAnti(_)
        );
        let hides_left = matches!(
            &join.join_operator,
            JoinOperator::RightSemi(_) | JoinOperator::RightAnti(_)
        );
        let mut merged = Vec::new();
        if let Some(constraint) = constraint_of(&mut join.join_operator) {
            match constraint {
                JoinConstraint::Using(names) => {
                    let names: Result<Vec<String>> = names.iter().map(single_name).collect();
                    merged = self.merge(&names?, left, &right, kept)?;
                }
                JoinConstraint::Natural => {
                    let names = self.common_names(left, &right);
                    merged = self.merge(&names, left, &right, kept)?;
                }
                JoinConstraint::On(_) | JoinConstraint::None => {}
            }
            if matches!(constraint, JoinConstraint::Using(_) | JoinConstraint::Natural) {
                let condition = all(merged.iter().map(|(condition, _)| condition.clone()));
                *constraint = JoinConstraint::On(condition);
            } else if let JoinConstraint::On(on) = constraint {
                let mut both = left.clone();
                both.append(right.clone());
                self.in_scope(on, &both, Aliases::none(), place)?;
            }
        }
        left.append(right);
        let new: Vec<Merged> = merged.into_iter().map(|(_, m)| m).collect();
        left.merged
            .retain(|old| !new.iter().any(|n| n.members.iter().any(|m| old.members.contains(m))));
        left.merged.extend(new);
        if hides_right || hides_left {
            let right_from = left.relations.len();
            hide(left, right_from, hides_right);
        }
        Ok(())
    }

    /// The names that both sides have, in the left one's order.
    fn common_names(&self, left: &Relations, right: &Relations) -> Vec<String> {
        let right_names: Vec<String> = right.all_columns().into_iter().map(|(name, _)| name).collect();
        let mut names = Vec::new();
        for (name, _) in left.all_columns() {
            if right_names.iter().any(|r| self.case().same(r, &name)) && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The conditions and merged columns of USING.
    fn merge(
        &mut self,
        names: &[String],
        left: &Relations,
        right: &Relations,
        kept: Kept,
    ) -> Result<Vec<(Expr, Merged)>> {
        let case = self.case();
        let find = |relations: &Relations, name: &String| {
            let scope = Scope {
                relations,
                parent: None,
                case,
            };
            let found = scope.find_here(std::slice::from_ref(name))?;
            found.ok_or_else(|| scope.unknown(std::slice::from_ref(name)))
        };
        names
            .iter()
            .map(|name| {
                let (l, r) = (find(left, name)?, find(right, name)?);
                let condition = binary(l.value.clone(), BinaryOperator::Eq, r.value.clone());
                let mut members = members_of(left, &l.value);
                members.extend(members_of(right, &r.value));
                let value = match kept {
                    Kept::Left => l.value,
                    Kept::Right => r.value,
                    Kept::Both => call("coalesce", vec![l.value, r.value]),
                };
                let merged = Merged {
                    visible: l.name,
                    value,
                    members,
                };
                Ok((condition, merged))
            })
            .collect()
    }

    fn factor(&mut self, factor: &mut TableFactor, siblings: &Relations, place: Place<'_>) -> Result<Relations> {
        let relation = match factor {
            TableFactor::Derived { sample: Some(_), .. } | TableFactor::Table { sample: Some(_), .. } => {
                return Err(Error::unsupported("TABLESAMPLE is not supported"));
            }
            TableFactor::Table { name, alias, .. } => self.table(name, alias, place)?,
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
                sample,
            } => {
                refuse_clauses(&[(sample.is_some(), "TABLESAMPLE")])?;
                let scope = Scope {
                    relations: siblings,
                    parent: place.parent,
                    case: self.case(),
                };
                let inner = Place {
                    parent: if *lateral { Some(&scope) } else { place.parent },
                    ..place
                };
                let output = self.nested_query(subquery, inner)?;
                self.aliased(alias, "subquery", output)?
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => return self.table_with_joins(table_with_joins, siblings, place),
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => {
                let from = std::mem::replace(table_with_joins.as_mut(), empty_join());
                let alias = alias.take();
                *factor = TableFactor::Derived {
                    lateral: false,
                    subquery: Box::new(plain_query(SetExpr::Select(Box::new(select_star_from(vec![from]))))),
                    alias,
                    sample: None,
                };
                return self.factor(factor, siblings, place);
            }
            TableFactor::UNNEST { alias, array_exprs, .. } => {
                for expr in array_exprs.iter_mut() {
                    self.in_scope(expr, siblings, Aliases::none(), place)?;
                }
                self.unnest(alias, array_exprs.len())?
            }
            other => return Err(Error::unsupported(format!("'{other}' in FROM is not supported"))),
        };
        Ok(Relations {
            relations: vec![relation],
            merged: Vec::new(),
        })
    }

    fn table(&mut self, name: &mut ObjectName, alias: &mut Option<TableAlias>, place: Place<'_>) -> Result<Relation> {
        if let Some(index) = marker_index(name) {
            return self.loaded_table(index, alias);
        }
        let written = single_name(name)?;
        let cte = place.ctes.iter().rev().find(|c| self.case().same(&c.visible, &written));
        let Some(cte) = cte else {
            return Err(Error::not_found(format!("table '{written}' does not exist")));
        };
        *name = ObjectName::from(vec![quoted(&cte.internal)]);
        self.aliased(alias, &cte.visible, cte.columns.clone())
    }

    fn loaded_table(&mut self, index: usize, written: &mut Option<TableAlias>) -> Result<Relation> {
        let Some(loaded) = self.loaded.get(index) else {
            return Err(Error::invalid("a relation was not loaded"));
        };
        let schema = loaded.provider.schema();
        let is_range = loaded.name.0.as_slice() == ["range"];
        let column = |name: &String| match is_range {
            // DataFusion calls the column of `range` `value`.
            true => OutputColumn {
                visible: "id".to_string(),
                internal: name.clone(),
            },
            false => OutputColumn::same(name),
        };
        let columns = schema.fields().iter().map(|f| column(f.name())).collect();
        let path = loaded.name.0.clone();
        let metadata = match &loaded.iceberg {
            Some(table) => MetadataColumn::of_table(&table.table().metadata)
                .map(|c| c.name().to_string())
                .collect(),
            None => Vec::new(),
        };
        let has_alias = written.is_some();
        let default = path.last().cloned().unwrap_or_default();
        let mut relation = self.aliased(written, &default, columns)?;
        relation.metadata = metadata;
        relation.source = Some(index);
        if !has_alias {
            relation.path = path;
        }
        Ok(relation)
    }

    /// A relation under the alias that is written, or under `default`; in the rewritten query it has a unique one.
    fn aliased(
        &mut self,
        written: &mut Option<TableAlias>,
        default: &str,
        columns: Vec<OutputColumn>,
    ) -> Result<Relation> {
        let visible = written.as_ref().map_or(default, |a| a.name.value.as_str()).to_string();
        let names: Vec<String> = match written {
            Some(alias) => alias.columns.drain(..).map(|c| c.name.value).collect(),
            None => Vec::new(),
        };
        let qualifier = self.unique(&visible);
        let columns = renamed(columns, &names, &visible)?;
        *written = Some(alias(&qualifier));
        Ok(Relation {
            qualifier,
            path: vec![visible],
            columns,
            metadata: Vec::new(),
            source: None,
            exposure: Exposure::Exposed,
        })
    }

    fn unnest(&mut self, written: &mut Option<TableAlias>, width: usize) -> Result<Relation> {
        let columns = (0..width).map(|i| match i {
            0 => OutputColumn::same("col"),
            i => OutputColumn::same(format!("col_{i}")),
        });
        let relation = self.aliased(written, "unnest", columns.collect())?;
        if let Some(alias) = written {
            let column = |c: &OutputColumn| TableAliasColumnDef {
                name: quoted(&c.internal),
                data_type: None,
            };
            alias.columns = relation.columns.iter().map(column).collect();
        }
        Ok(relation)
    }
}

fn hide(relations: &mut Relations, len: usize, right: bool) {
    // The last relation is the right side; a right semi join hides all before it.
    for (i, relation) in relations.relations.iter_mut().enumerate() {
        if (i + 1 == len) == right {
            relation.exposure = Exposure::Hidden;
        }
    }
    relations.merged.clear();
}

/// The relations and columns that make up a column.
fn members_of(relations: &Relations, value: &Expr) -> Vec<(String, String)> {
    if let Some(merged) = relations.merged.iter().find(|m| m.value == *value) {
        return merged.members.clone();
    }
    let of_relation = |r: &Relation| {
        let own = r.columns.iter().find(|c| column(&r.qualifier, &c.internal) == *value);
        own.map(|c| (r.qualifier.clone(), c.internal.clone()))
    };
    relations.relations.iter().find_map(of_relation).into_iter().collect()
}

fn constraint_of(operator: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    match operator {
        JoinOperator::Join(c)
        | JoinOperator::Inner(c)
        | JoinOperator::Left(c)
        | JoinOperator::LeftOuter(c)
        | JoinOperator::Right(c)
        | JoinOperator::RightOuter(c)
        | JoinOperator::FullOuter(c)
        | JoinOperator::CrossJoin(c)
        | JoinOperator::Semi(c)
        | JoinOperator::LeftSemi(c)
        | JoinOperator::RightSemi(c)
        | JoinOperator::Anti(c)
        | JoinOperator::LeftAnti(c)
        | JoinOperator::RightAnti(c)
        | JoinOperator::StraightJoin(c) => Some(c),
        JoinOperator::AsOf { constraint, .. } => Some(constraint),
        _ => None,
    }
}

fn single_name(name: &ObjectName) -> Result<String> {
    match name.0.as_slice() {
        [part] => part.as_ident().map(|i| i.value.clone()),
        _ => None,
    }
    .ok_or_else(|| Error::invalid(format!("'{name}' must be a plain name here")))
}

fn empty_join() -> TableWithJoins {
    TableWithJoins {
        relation: super::builders::table(quoted(""), None),
        joins: Vec::new(),
    }
}

/// A query that gives nothing, to stand where another was taken away.
pub(super) fn empty_query() -> Query {
    plain_query(SetExpr::Select(Box::new(select_star_from(Vec::new()))))
}
