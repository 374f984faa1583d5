//! Stored procedures, a file for each. Adding one is a file with a [`Procedure`] and its function `call`, and a line in the
//! list below.

mod ancestors_of;
mod arguments;
mod cherrypick_snapshot;
mod fast_forward;
mod parameters;
mod publish_changes;
mod register_table;
mod rollback_to_snapshot;
mod rollback_to_timestamp;
mod set_current_snapshot;
mod target;
#[cfg(test)]
mod tests;

use datafusion::common::ScalarValue;
use tarn_format::{Error, Result};

pub(crate) use self::arguments::Arguments;
pub(crate) use self::parameters::{OutputColumn, Parameter, ParameterType, Presence};
use crate::catalogs::CatalogEntry;
use crate::names::nearest;
use crate::session::Session;

/// The namespace of all procedures.
pub(crate) const NAMESPACE: &str = "system";

/// Rows of output; values of the declared columns' types.
pub(crate) type Rows = Vec<Vec<ScalarValue>>;

/// What a procedure is. Its file also has the function `call` that runs it.
#[derive(Debug)]
pub(crate) struct Procedure {
    /// Its name in [`NAMESPACE`].
    pub(crate) name: &'static str,
    /// What it does, in one sentence.
    pub(crate) description: &'static str,
    /// What it takes, in the order of positional arguments.
    pub(crate) parameters: &'static [Parameter],
    /// The columns of its output.
    pub(crate) output: &'static [OutputColumn],
}

/// A call of a procedure: where, and with what.
pub(crate) struct Call<'a> {
    /// The session.
    pub(crate) session: &'a Session,
    /// The catalog whose procedure is called.
    pub(crate) catalog: CatalogEntry,
    /// The arguments.
    pub(crate) arguments: Arguments,
}

/// Lists the procedures of these modules, and runs them. Calls are no trait objects: the compiler takes minutes to prove
/// of each that it can be sent to another thread.
macro_rules! procedures {
    ($($module:ident),+ $(,)?) => {
        /// All procedures, by name.
        pub(crate) static PROCEDURES: &[&Procedure] = &[$(&$module::PROCEDURE),+];

        /// Runs a procedure.
        ///
        /// # Errors
        /// Those of the procedure.
        pub(crate) async fn run(procedure: &Procedure, call: Call<'_>) -> Result<Rows> {
            $(
                if procedure.name == $module::PROCEDURE.name {
                    return Box::pin($module::call(call)).await;
                }
            )+
            Err(Error::unsupported(format!("procedure {NAMESPACE}.{} cannot be run", procedure.name)))
        }
    };
}

procedures!(
    ancestors_of,
    cherrypick_snapshot,
    fast_forward,
    publish_changes,
    register_table,
    rollback_to_snapshot,
    rollback_to_timestamp,
    set_current_snapshot,
);

/// Procedures of Iceberg that are still to come.
const LATER: &[&str] = &[
    "add_files",
    "compute_partition_stats",
    "compute_table_stats",
    "create_changelog_view",
    "expire_snapshots",
    "migrate",
    "remove_orphan_files",
    "rewrite_data_files",
    "rewrite_manifests",
    "rewrite_position_delete_files",
    "rewrite_table_path",
    "snapshot",
];

/// The procedure of this name, in any case.
///
/// # Errors
/// `NotFound`, with the name that may be meant; `Unsupported` for one of Iceberg's that is still to come.
pub(crate) fn find(name: &str) -> Result<&'static Procedure> {
    if let Some(found) = PROCEDURES.iter().find(|p| p.name.eq_ignore_ascii_case(name)) {
        return Ok(*found);
    }
    if let Some(later) = LATER.iter().find(|l| l.eq_ignore_ascii_case(name)) {
        return Err(Error::unsupported(format!(
            "procedure {NAMESPACE}.{later} is not supported yet: SHOW PROCEDURES lists those that are"
        )));
    }
    let hint = match nearest(name, PROCEDURES.iter().map(|p| p.name)) {
        Some(near) => format!("did you mean {near}?"),
        None => "SHOW PROCEDURES lists all".to_string(),
    };
    Err(Error::not_found(format!(
        "procedure {NAMESPACE}.{name} does not exist; {hint}"
    )))
}
