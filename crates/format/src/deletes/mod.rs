//! Deletes: which delete files apply to which data file, and the files' own formats.

pub mod deletion_vector;
pub mod deletion_vector_writer;
mod equality;
pub mod index;
pub mod index_cache;
mod partition_key;
mod path_index;
pub mod puffin;
mod task;

pub use partition_key::PartitionKey;
pub use task::{DeleteKind, DeleteTask};
