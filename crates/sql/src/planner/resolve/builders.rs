//! Pieces of syntax trees that resolution makes.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, GroupByExpr,
    Ident, ObjectName, Query, Select, SelectFlavor, SelectItem, SetExpr, TableAlias, TableFactor, TableWithJoins,
    Value, WildcardAdditionalOptions,
};

/// An identifier that is taken as it is.
pub(crate) fn quoted(name: impl Into<String>) -> Ident {
    Ident::with_quote('`', name)
}

/// `qualifier.column`
pub(crate) fn column(qualifier: &str, name: &str) -> Expr {
    Expr::CompoundIdentifier(vec![quoted(qualifier), quoted(name)])
}

/// A text.
pub(crate) fn text(value: impl Into<String>) -> Expr {
    Expr::Value(Value::SingleQuotedString(value.into()).into())
}

/// `left op right`
pub(crate) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

/// An operation that only our expression planner knows.
pub(crate) fn custom(left: Expr, op: &str, right: Expr) -> Expr {
    binary(left, BinaryOperator::Custom(op.to_string()), right)
}

/// All of these; true without any.
pub(crate) fn all(terms: impl IntoIterator<Item = Expr>) -> Expr {
    terms
        .into_iter()
        .reduce(|a, b| binary(a, BinaryOperator::And, b))
        .unwrap_or_else(|| Expr::Value(Value::Boolean(true).into()))
}

/// `name(arguments)`
pub(crate) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let args = arguments
        .into_iter()
        .map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e)))
        .collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![quoted(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// A table in FROM.
pub(crate) fn table(name: Ident, alias: Option<TableAlias>) -> TableFactor {
    named_table(vec![name], alias)
}

fn named_table(name: Vec<Ident>, alias: Option<TableAlias>) -> TableFactor {
    table_named(ObjectName::from(name), alias)
}

/// A table in FROM, by a dotted name.
pub(crate) fn table_named(name: ObjectName, alias: Option<TableAlias>) -> TableFactor {
    TableFactor::Table {
        name,
        alias,
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    }
}

/// `AS name`
pub(crate) fn alias(name: &str) -> TableAlias {
    TableAlias {
        explicit: true,
        name: quoted(name),
        columns: Vec::new(),
        at: None,
    }
}

/// `SELECT * FROM these`
pub(crate) fn select_star(tables: Vec<Vec<Ident>>) -> Select {
    let from = tables.into_iter().map(|t| TableWithJoins {
        relation: named_table(t, None),
        joins: Vec::new(),
    });
    select_star_from(from.collect())
}

/// `SELECT * FROM these`
pub(crate) fn select_star_from(from: Vec<TableWithJoins>) -> Select {
    Select {
        select_token: AttachedToken::empty(),
        optimizer_hints: Vec::new(),
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection: vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())],
        exclude: None,
        into: None,
        from,
        lateral_views: Vec::new(),
        prewhere: None,
        selection: None,
        connect_by: Vec::new(),
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    }
}

/// A query that is nothing but this.
pub(crate) fn plain_query(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}
