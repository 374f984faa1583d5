//! `(a, b) IN (SELECT x, y …)`: true where a row equals the values in every column, NULL where none does but NULLs leave
//! it open for some row, else false. DataFusion's planner takes one column only, so here it becomes EXISTS where rows are
//! chosen, and scalar subqueries where a value is wanted.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, Query, SelectItem, SetExpr, TableWithJoins, UnaryOperator, Value,
};
use tarn_format::{Error, Result};

use super::Resolver;
use super::builders::{all, binary, column, plain_query, select_star_from};
use super::subqueries::{derived_name, items_of, negated, plain_select, some_rows};

/// Most columns of which a value tells false from NULL: every column triples what must be looked for.
const MAX_COLUMNS_OF_VALUES: usize = 3;

/// What a condition makes of NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownIs {
    /// As in WHERE.
    False,
    /// As under NOT in WHERE.
    True,
    /// It stays NULL.
    Unknown,
}

/// Where in a condition an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) unknown: UnknownIs,
    /// Whether the condition is false where the expression is: DataFusion then joins by it, and minds NULL.
    pub(super) decides: bool,
}

impl Standing {
    /// Of the operands of an expression.
    pub(super) fn within(self, expr: &Expr) -> Self {
        let is_in = |operand: &Expr| {
            let operand = match operand {
                Expr::Nested(inner) => inner.as_ref(),
                other => other,
            };
            matches!(operand, Expr::InSubquery { .. } | Expr::Nested(_))
        };
        Standing {
            unknown: self.unknown.within(expr),
            decides: self.decides
                && match expr {
                    Expr::Nested(_)
                    | Expr::BinaryOp {
                        op: BinaryOperator::And,
                        ..
                    } => true,
                    Expr::UnaryOp {
                        op: UnaryOperator::Not,
                        expr: operand,
                    } => is_in(operand),
                    _ => false,
                },
        }
    }
}

impl UnknownIs {
    /// Of the operands of an expression.
    fn within(self, expr: &Expr) -> Self {
        match expr {
            Expr::Nested(_) => self,
            Expr::BinaryOp {
                op: BinaryOperator::And | BinaryOperator::Or,
                ..
            } => self,
            Expr::IsTrue(_) => UnknownIs::False,
            Expr::UnaryOp {
                op: UnaryOperator::Not, ..
            } => match self {
                UnknownIs::False => UnknownIs::True,
                UnknownIs::True => UnknownIs::False,
                UnknownIs::Unknown => UnknownIs::Unknown,
            },
            _ => UnknownIs::Unknown,
        }
    }
}

/// `values [NOT] IN (query)`, whose query is resolved and has these columns.
pub(super) struct TupleIn {
    pub(super) values: Vec<Expr>,
    pub(super) query: Query,
    pub(super) columns: Vec<String>,
    pub(super) is_negated: bool,
}

impl TupleIn {
    /// What NULL means for the IN below the NOT.
    fn unknown_inside(&self, outside: UnknownIs) -> UnknownIs {
        below_not(self.is_negated, outside)
    }

    /// Checks that there is a value for each column.
    fn check(&self) -> Result<()> {
        if self.values.len() == self.columns.len() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{} values are looked up in a subquery of {} columns: give as many of one as of the other",
            self.values.len(),
            self.columns.len()
        )))
    }
}

/// What NULL means below a NOT that is there or not.
pub(super) fn below_not(is_negated: bool, outside: UnknownIs) -> UnknownIs {
    match (is_negated, outside) {
        (true, UnknownIs::False) => UnknownIs::True,
        (true, UnknownIs::True) => UnknownIs::False,
        _ => outside,
    }
}

/// How a value and a column of a row can be equal or leave it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pairing {
    Equal,
    NullColumn,
    NullValue,
}

impl Resolver<'_> {
    /// As a condition.
    ///
    /// # Errors
    /// `InvalidInput` when there are not as many values as columns.
    pub(super) fn tuple_in_filter(&mut self, tuple: TupleIn, unknown: UnknownIs) -> Result<Expr> {
        tuple.check()?;
        let unknown = tuple.unknown_inside(unknown);
        let equal = |value: &Expr, column: Expr| binary(column, BinaryOperator::Eq, value.clone());
        let perhaps = |value: &Expr, column: Expr| {
            let known = equal(value, column);
            let open = Expr::IsNull(Box::new(Expr::Nested(Box::new(known.clone()))));
            Expr::Nested(Box::new(binary(known, BinaryOperator::Or, open)))
        };
        let found = match unknown {
            UnknownIs::False => self.exists(&tuple, equal),
            UnknownIs::True => self.exists(&tuple, perhaps),
            UnknownIs::Unknown => {
                let sure = self.exists(&tuple, equal);
                let possible = self.exists(&tuple, perhaps);
                let open = binary(possible, BinaryOperator::And, Expr::Value(Value::Null.into()));
                binary(sure, BinaryOperator::Or, Expr::Nested(Box::new(open)))
            }
        };
        let found = Expr::Nested(Box::new(found));
        Ok(negated(tuple.is_negated, found))
    }

    /// As a value.
    ///
    /// # Errors
    /// As [`Self::tuple_in_filter`], and `Unsupported` for many columns.
    pub(super) fn tuple_in_value(&mut self, tuple: TupleIn, unknown: UnknownIs) -> Result<Expr> {
        tuple.check()?;
        let unknown = tuple.unknown_inside(unknown);
        if unknown == UnknownIs::False {
            let equal = vec![Pairing::Equal; tuple.values.len()];
            let found = self.found_by(&tuple, &equal);
            return Ok(negated(tuple.is_negated, found));
        }
        if tuple.values.len() > MAX_COLUMNS_OF_VALUES {
            return Err(Error::unsupported(format!(
                "IN of more than {MAX_COLUMNS_OF_VALUES} columns and a subquery is possible in WHERE only: use EXISTS"
            )));
        }
        let mut ways = vec![Vec::new()];
        for _ in &tuple.values {
            let longer = ways.iter().flat_map(|way: &Vec<Pairing>| {
                [Pairing::Equal, Pairing::NullColumn, Pairing::NullValue].map(|p| [way.as_slice(), &[p]].concat())
            });
            ways = longer.collect();
        }
        // The first way is that all are equal; where NULL counts as a match, the others are as good.
        let mut branches = Vec::new();
        for (i, way) in ways.iter().enumerate() {
            let result = match i {
                0 => Value::Boolean(true),
                _ if unknown == UnknownIs::Unknown => Value::Null,
                _ => Value::Boolean(true),
            };
            branches.push(CaseWhen {
                condition: self.found_by(&tuple, way),
                result: Expr::Value(result.into()),
            });
        }
        let case = Expr::Case {
            case_token: AttachedToken::empty(),
            end_token: AttachedToken::empty(),
            operand: None,
            conditions: branches,
            else_result: Some(Box::new(Expr::Value(Value::Boolean(false).into()))),
        };
        Ok(negated(tuple.is_negated, case))
    }

    /// `EXISTS (SELECT … WHERE every column fits its value)`
    fn exists(&mut self, tuple: &TupleIn, fits: impl Fn(&Expr, Expr) -> Expr) -> Expr {
        let one = Expr::Value(Value::Number("1".to_string(), false).into());
        let fitting = |columns: Vec<Expr>| {
            let pairs = tuple.values.iter().zip(columns);
            Some(all(pairs.map(|(value, column)| fits(value, column))))
        };
        Expr::Exists {
            subquery: Box::new(self.narrowed(tuple, one, fitting)),
            negated: false,
        }
    }

    /// Whether there is a row whose columns fit the values in these ways.
    fn found_by(&mut self, tuple: &TupleIn, way: &[Pairing]) -> Expr {
        let nulls = tuple.values.iter().zip(way).filter(|(_, p)| **p == Pairing::NullValue);
        let of_values: Vec<Expr> = nulls.map(|(value, _)| Expr::IsNull(Box::new(value.clone()))).collect();
        let found = self.narrowed(tuple, some_rows(), |columns| fitting(&tuple.values, columns, way));
        all(of_values.into_iter().chain([Expr::Subquery(Box::new(found))]))
    }

    /// `SELECT item FROM query WHERE condition`, with the condition of its columns. Where the query is a plain SELECT it
    /// goes into that, so that what it says of the outer query stays where DataFusion looks for it.
    fn narrowed(&mut self, tuple: &TupleIn, item: Expr, condition: impl Fn(Vec<Expr>) -> Option<Expr>) -> Query {
        let mut query = tuple.query.clone();
        if let Some(select) = plain_select(&mut query)
            && self.gives_rows_of_from(select)
            && let Some(items) = items_of(&select.projection)
            && items.len() == tuple.columns.len()
        {
            let own = select.selection.take().map(|own| Expr::Nested(Box::new(own)));
            let both: Vec<Expr> = own.into_iter().chain(condition(items)).collect();
            select.selection = (!both.is_empty()).then(|| all(both));
            select.projection = vec![SelectItem::UnnamedExpr(item)];
            return query;
        }
        let derived = self.derived(query);
        let columns = tuple.columns.iter().map(|name| column(derived_name(&derived), name));
        let condition = condition(columns.collect());
        let mut select = select_star_from(vec![TableWithJoins {
            relation: derived,
            joins: Vec::new(),
        }]);
        select.projection = vec![SelectItem::UnnamedExpr(item)];
        select.selection = condition;
        plain_query(SetExpr::Select(Box::new(select)))
    }
}

/// What must be true of a row's columns.
fn fitting(values: &[Expr], columns: Vec<Expr>, way: &[Pairing]) -> Option<Expr> {
    let terms = values.iter().zip(columns).zip(way);
    let terms = terms.filter_map(|((value, column), pairing)| match pairing {
        Pairing::Equal => Some(binary(column, BinaryOperator::Eq, value.clone())),
        Pairing::NullColumn => Some(Expr::IsNull(Box::new(Expr::Nested(Box::new(column))))),
        Pairing::NullValue => None,
    });
    let terms: Vec<Expr> = terms.collect();
    (!terms.is_empty()).then(|| Expr::Nested(Box::new(all(terms))))
}
