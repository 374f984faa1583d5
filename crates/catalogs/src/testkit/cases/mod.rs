//! The cases of the contract, a file per noun.

mod commits;
mod namespaces;
mod scans;
mod tables;
mod views;

use super::Case;

/// All cases.
pub fn all() -> Vec<Case> {
    [
        namespaces::CASES,
        tables::CASES,
        commits::CASES,
        views::CASES,
        scans::CASES,
    ]
    .concat()
}

/// Makes a [`Case`] of an async function that is named like it.
macro_rules! case {
    ($function:ident) => {
        $crate::testkit::Case {
            name: stringify!($function),
            run: |catalog| Box::pin(async move { $function(&*catalog).await }),
        }
    };
}
pub(crate) use case;
