//! Dotted names and subscripts.

use sqlparser::ast::{AccessExpr, Expr, Subscript};
use tarn_format::{Error, Result};

use crate::planner::expressions::{FIELD, SUBSCRIPT};
use crate::planner::resolve::builders::{custom, text};

/// Fields of a struct.
pub(in crate::planner::resolve) fn fields(root: Expr, names: &[String]) -> Expr {
    names.iter().fold(root, |e, name| custom(e, FIELD, text(name)))
}

/// `a.b[0].c` is parsed as `a` followed by `.b`: the leading names belong together, and the later ones are no columns.
pub(in crate::planner::resolve) fn join_leading_names(root: &mut Expr, chain: &mut Vec<AccessExpr>) -> Result<()> {
    let mut names = match root {
        Expr::Identifier(ident) => vec![ident.clone()],
        Expr::CompoundIdentifier(idents) => idents.clone(),
        _ => Vec::new(),
    };
    if !names.is_empty() {
        let leading = chain
            .iter()
            .take_while(|a| matches!(a, AccessExpr::Dot(Expr::Identifier(_))))
            .count();
        for access in chain.drain(..leading) {
            if let AccessExpr::Dot(Expr::Identifier(ident)) = access {
                names.push(ident);
            }
        }
        *root = Expr::CompoundIdentifier(names);
    }
    for access in chain {
        match access {
            AccessExpr::Dot(Expr::Identifier(ident)) => *access = AccessExpr::Dot(text(ident.value.clone())),
            AccessExpr::Dot(other) => return Err(Error::invalid(format!("'{other}' is no name of a field"))),
            AccessExpr::Subscript(_) => {}
        }
    }
    Ok(())
}

pub(in crate::planner::resolve) fn access(root: Expr, chain: Vec<AccessExpr>) -> Result<Expr> {
    chain.into_iter().try_fold(root, |e, access| match access {
        AccessExpr::Dot(name) => Ok(custom(e, FIELD, name)),
        AccessExpr::Subscript(Subscript::Index { index }) => Ok(custom(e, SUBSCRIPT, index)),
        AccessExpr::Subscript(slice) => Err(Error::unsupported(format!("the slice [{slice}] is not supported"))),
    })
}
