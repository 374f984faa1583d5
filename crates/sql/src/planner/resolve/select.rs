//! SELECT: which names each of its clauses sees, the columns of `*`, and the names of its output.

use sqlparser::ast::{
    Distinct, ExceptSelectItem, ExcludeSelectItem, Expr, GroupByExpr, GroupByWithModifier, Ident, NamedWindowExpr,
    ObjectName, OrderBy, OrderByKind, RenameSelectItem, Select, SelectFlavor, SelectItem,
    SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};
use tarn_format::{Error, Result};

use super::builders::quoted;
use super::expr::{AliasUse, Aliases, unmark_window};
use super::scope::{OutputColumn, Relations, Scope};
use super::{Place, Resolver, is_position};
use crate::planner::relations::marker;

/// A column of the select list: its visible name, its rewritten expression, and whether the user named it.
struct Item {
    name: String,
    expr: Expr,
    named: Named,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    ByAlias,
    ByExpression,
}

impl Resolver<'_> {
    pub(super) fn select(
        &mut self,
        select: &mut Select,
        order_by: Option<&mut OrderBy>,
        place: Place<'_>,
    ) -> Result<Vec<OutputColumn>> {
        refuse_foreign_clauses(select)?;
        if select.flavor == SelectFlavor::FromFirstNoSelect {
            select.projection = vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())];
        }
        select.flavor = SelectFlavor::Standard;
        let relations = self.from(&mut select.from, place)?;
        if let Some(condition) = &mut select.selection {
            self.in_scope(condition, &relations, Aliases::none().in_filter(), place)?;
        }
        let items = self.projection(&mut select.projection, &relations, place)?;
        // What aliases stand for; lateral references and GROUP BY see them behind columns, HAVING before.
        let values: Vec<(String, Expr)> = items
            .iter()
            .filter(|i| i.named == Named::ByAlias)
            .map(|i| (i.name.clone(), i.expr.clone()))
            .collect();
        self.group_by(&mut select.group_by, &relations, &values, place)?;
        let first = Aliases::new(&values, AliasUse::First);
        for condition in [&mut select.having, &mut select.qualify].into_iter().flatten() {
            self.in_scope(condition, &relations, first.in_filter(), place)?;
        }
        self.windows(select, &relations, place)?;
        let keys = select.distribute_by.iter_mut();
        for key in keys.chain(select.sort_by.iter_mut().map(|k| &mut k.expr)) {
            self.in_scope(key, &relations, first, place)?;
        }
        let (projection, output, references) = name_items(items);
        select.projection = projection;
        if let Some(Distinct::On(keys)) = &mut select.distinct {
            for key in keys {
                self.in_scope(key, &relations, first, place)?;
            }
        }
        if let Some(OrderBy {
            kind: OrderByKind::Expressions(keys),
            ..
        }) = order_by
        {
            let aliases = Aliases::new(&references, AliasUse::First);
            for key in keys.iter_mut().filter(|k| !is_position(&k.expr)) {
                self.in_scope(&mut key.expr, &relations, aliases, place)?;
            }
        }
        Ok(output)
    }

    fn projection(
        &mut self,
        projection: &mut Vec<SelectItem>,
        relations: &Relations,
        place: Place<'_>,
    ) -> Result<Vec<Item>> {
        let mut items: Vec<Item> = Vec::new();
        let mut aliases: Vec<(String, Expr)> = Vec::new();
        for item in std::mem::take(projection) {
            let lateral = Aliases::new(&aliases, AliasUse::Last);
            match item {
                SelectItem::UnnamedExpr(mut expr) => {
                    let written = self.with_names_of_relations(written_name(&expr));
                    let declared = self.declared_name(&expr, relations, place)?;
                    self.in_scope(&mut expr, relations, lateral, place)?;
                    items.push(Item {
                        name: declared.unwrap_or(written),
                        expr,
                        named: Named::ByExpression,
                    });
                }
                SelectItem::ExprWithAlias { mut expr, alias } => {
                    self.in_scope(&mut expr, relations, lateral, place)?;
                    aliases.push((alias.value.clone(), expr.clone()));
                    items.push(Item {
                        name: alias.value,
                        expr,
                        named: Named::ByAlias,
                    });
                }
                SelectItem::Wildcard(options) => {
                    let columns = relations.all_columns();
                    if columns.is_empty() {
                        return Err(Error::invalid("SELECT * needs a FROM clause"));
                    }
                    items.extend(self.expand(columns, options, relations, place)?);
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    let columns = self.columns_of(&name, relations, place)?;
                    items.extend(self.expand(columns, options, relations, place)?);
                }
                other => return Err(Error::unsupported(format!("'{other}' in SELECT is not supported"))),
            }
        }
        Ok(items)
    }

    /// The text of an expression in which subqueries name their relations as people do.
    fn with_names_of_relations(&self, text: String) -> String {
        let loaded = self.loaded.iter().enumerate().rev();
        loaded.fold(text, |text, (i, relation)| {
            let name = relation.name.0.last().map(String::as_str).unwrap_or_default();
            text.replace(&marker(i), name)
        })
    }

    /// The declared name of a plain column; `None` for anything else.
    fn declared_name(&self, expr: &Expr, relations: &Relations, place: Place<'_>) -> Result<Option<String>> {
        let parts: Vec<String> = match expr {
            Expr::Identifier(ident) => vec![ident.value.clone()],
            Expr::CompoundIdentifier(idents) => idents.iter().map(|i| i.value.clone()).collect(),
            _ => return Ok(None),
        };
        let scope = self.scope(relations, place);
        let found = scope.find(&parts)?;
        Ok(found.filter(|f| f.taken == parts.len()).map(|f| f.name))
    }

    fn scope<'s>(&self, relations: &'s Relations, place: Place<'s>) -> Scope<'s> {
        Scope {
            relations,
            parent: place.parent,
            case: self.case(),
        }
    }

    /// The columns of `name.*`.
    fn columns_of(&self, name: &ObjectName, relations: &Relations, place: Place<'_>) -> Result<Vec<(String, Expr)>> {
        let parts: Vec<String> = name
            .0
            .iter()
            .filter_map(|p| p.as_ident().map(|i| i.value.clone()))
            .collect();
        let scope = self.scope(relations, place);
        let [relation] = scope.relations_called(&parts)[..] else {
            let known = relations.exposed().map(|r| r.path.join("."));
            let near = crate::near_names::most_alike(&parts.join("."), known);
            return Err(Error::invalid(format!(
                "'{name}.*' names no relation of FROM, which has {}",
                near.join(", ")
            )));
        };
        let own = relation.columns.iter();
        Ok(own
            .map(|c| {
                let value = super::builders::column(&relation.qualifier, &c.internal);
                (c.visible.clone(), value)
            })
            .collect())
    }

    /// `*` with its EXCEPT, REPLACE and RENAME.
    fn expand(
        &mut self,
        columns: Vec<(String, Expr)>,
        options: WildcardAdditionalOptions,
        relations: &Relations,
        place: Place<'_>,
    ) -> Result<Vec<Item>> {
        if options.opt_ilike.is_some() || options.opt_alias.is_some() {
            return Err(Error::unsupported(format!("'*{options}' is not supported")));
        }
        let case = self.case();
        let excluded = excluded_names(&options);
        let renames = renames(&options);
        let replaced = options.opt_replace.iter().flat_map(|r| &r.items);
        let replaced: Vec<String> = replaced.map(|r| r.column_name.value.clone()).collect();
        let renamed = renames.iter().map(|(old, _)| old);
        for name in excluded.iter().chain(&replaced).chain(renamed) {
            if !columns.iter().any(|(c, _)| case.same(c, name)) {
                return Err(self.scope(relations, place).unknown(std::slice::from_ref(name)));
            }
        }
        let mut items = Vec::with_capacity(columns.len());
        for (name, expr) in columns {
            if excluded.iter().any(|e| case.same(e, &name)) {
                continue;
            }
            let mut item = Item {
                name,
                expr,
                named: Named::ByExpression,
            };
            if let Some(replace) = &options.opt_replace
                && let Some(with) = replace
                    .items
                    .iter()
                    .find(|r| case.same(&r.column_name.value, &item.name))
            {
                item.expr = with.expr.clone();
                self.in_scope(&mut item.expr, relations, Aliases::none(), place)?;
            }
            if let Some((_, new)) = renames.iter().find(|(old, _)| case.same(old, &item.name)) {
                item.name.clone_from(new);
            }
            items.push(item);
        }
        Ok(items)
    }

    fn group_by(
        &mut self,
        group_by: &mut GroupByExpr,
        relations: &Relations,
        values: &[(String, Expr)],
        place: Place<'_>,
    ) -> Result<()> {
        let aliases = Aliases::new(values, AliasUse::Last);
        let GroupByExpr::Expressions(keys, modifiers) = group_by else {
            return Ok(());
        };
        for key in keys.iter_mut().filter(|k| !is_position(k)) {
            self.in_scope(key, relations, aliases, place)?;
        }
        if let [modifier] = modifiers.as_slice() {
            let sets: Vec<Vec<Expr>> = keys.drain(..).map(|k| vec![k]).collect();
            keys.push(match modifier {
                GroupByWithModifier::Rollup => Expr::Rollup(sets),
                GroupByWithModifier::Cube => Expr::Cube(sets),
                other => return Err(Error::unsupported(format!("GROUP BY … {other} is not supported"))),
            });
            modifiers.clear();
        }
        Ok(())
    }

    fn windows(&mut self, select: &mut Select, relations: &Relations, place: Place<'_>) -> Result<()> {
        for definition in &mut select.named_window {
            if let NamedWindowExpr::WindowSpec(spec) = &mut definition.1 {
                let keys = spec.partition_by.iter_mut();
                for key in keys.chain(spec.order_by.iter_mut().map(|k| &mut k.expr)) {
                    self.in_scope(key, relations, Aliases::none(), place)?;
                }
                unmark_window(spec);
            }
        }
        Ok(())
    }
}

/// Gives every column of the output a name that is unique in it. Returns the select list, the output, and what ORDER BY
/// calls each column.
fn name_items(items: Vec<Item>) -> (Vec<SelectItem>, Vec<OutputColumn>, Vec<(String, Expr)>) {
    let mut projection = Vec::with_capacity(items.len());
    let mut output: Vec<OutputColumn> = Vec::with_capacity(items.len());
    let mut references = Vec::with_capacity(items.len());
    for item in items {
        let taken = |name: &String| output.iter().any(|o| o.internal == *name);
        let numbered = (1..).map(|n| format!("{}_{n}", item.name));
        let mut candidates = std::iter::once(item.name.clone()).chain(numbered);
        let internal = candidates.find(|c| !taken(c)).unwrap_or_default();
        let plain = matches!(&item.expr, Expr::CompoundIdentifier(parts)
            if parts.last().is_some_and(|last: &Ident| last.value == internal));
        if plain {
            references.push((item.name.clone(), item.expr.clone()));
            projection.push(SelectItem::UnnamedExpr(item.expr));
        } else {
            references.push((item.name.clone(), Expr::Identifier(quoted(&internal))));
            projection.push(SelectItem::ExprWithAlias {
                expr: item.expr,
                alias: quoted(&internal),
            });
        }
        output.push(OutputColumn {
            visible: item.name,
            internal,
        });
    }
    (projection, output, references)
}

/// The name of an expression without an alias: a field's own, or the text.
fn written_name(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(ident) => ident.value.clone(),
        Expr::CompoundIdentifier(parts) => parts.last().map(|i| i.value.clone()).unwrap_or_default(),
        Expr::CompoundFieldAccess { access_chain, .. } => match access_chain.last() {
            Some(sqlparser::ast::AccessExpr::Dot(Expr::Identifier(ident))) => ident.value.clone(),
            _ => expr.to_string().replace('`', ""),
        },
        Expr::Nested(inner) => written_name(inner),
        other => other.to_string().replace('`', ""),
    }
}

fn excluded_names(options: &WildcardAdditionalOptions) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(ExceptSelectItem {
        first_element,
        additional_elements,
    }) = &options.opt_except
    {
        names.push(first_element.value.clone());
        names.extend(additional_elements.iter().map(|i| i.value.clone()));
    }
    let last = |name: &ObjectName| name.0.last().and_then(|p| p.as_ident()).map(|i| i.value.clone());
    match &options.opt_exclude {
        Some(ExcludeSelectItem::Single(name)) => names.extend(last(name)),
        Some(ExcludeSelectItem::Multiple(all)) => names.extend(all.iter().filter_map(last)),
        None => {}
    }
    names
}

fn renames(options: &WildcardAdditionalOptions) -> Vec<(String, String)> {
    match &options.opt_rename {
        Some(RenameSelectItem::Single(one)) => vec![(one.ident.value.clone(), one.alias.value.clone())],
        Some(RenameSelectItem::Multiple(all)) => all
            .iter()
            .map(|r| (r.ident.value.clone(), r.alias.value.clone()))
            .collect(),
        None => Vec::new(),
    }
}

fn refuse_foreign_clauses(select: &Select) -> Result<()> {
    let clause = if select.top.is_some() {
        "TOP"
    } else if select.into.is_some() {
        "SELECT INTO"
    } else if !select.lateral_views.is_empty() {
        "LATERAL VIEW"
    } else if select.prewhere.is_some() {
        "PREWHERE"
    } else if !select.connect_by.is_empty() {
        "CONNECT BY"
    } else if !select.cluster_by.is_empty() {
        "CLUSTER BY"
    } else if select.exclude.is_some() {
        "EXCLUDE"
    } else {
        return Ok(());
    };
    Err(Error::unsupported(format!("{clause} is not supported yet")))
}
