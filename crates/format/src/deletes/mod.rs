//! Deletes: which delete files apply to which data file, and the files' own formats.

mod equality;
pub mod index;
mod partition_key;
mod path_index;
mod task;

pub use partition_key::PartitionKey;
pub use task::{DeleteKind, DeleteTask};
