//! Statements that change rows. Each becomes a query, planned as any other, that tells file, position and new values of
//! the rows; `tarn_engine::rowlevel` does the rest.

mod assignments;
mod condition;
mod delete;
mod merge;
mod merge_query;
mod merge_rows;
#[cfg(test)]
mod model_tests;
mod postponed;
mod target;
mod update;

pub(crate) use self::delete::{delete, plan_delete, plan_truncate, truncate};
pub(crate) use self::merge::{merge, plan_merge};
pub(crate) use self::merge_rows::{MergeRows, merge_rows};
pub(crate) use self::update::{plan_update, update};
