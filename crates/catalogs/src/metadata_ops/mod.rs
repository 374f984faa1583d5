//! What all catalogs do with metadata files: making and naming new ones, applying commits, finding out what became of
//! an uncertain write, and deleting what no table needs any more.

pub(crate) mod creation;
pub(crate) mod file;
pub(crate) mod next;
pub(crate) mod purge;
pub(crate) mod retire;
pub(crate) mod settings;
pub(crate) mod status;
