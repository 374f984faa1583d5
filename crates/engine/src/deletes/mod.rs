//! Row-level deletes as readers need them: the deleted positions of a data file and the keys of deleted rows, loaded when
//! they are needed, shared and kept under a budget of bytes (spec, "Row-level Deletes").
//!
//! Which deletes apply to a data file is decided when files are planned (`tarn_format::deletes`); a task brings them.

mod cache;
mod file_positions;
pub(crate) mod key_column;
mod key_file;
pub(crate) mod key_set;
pub(crate) mod key_table;
mod loader;
mod number_keys;
pub(crate) mod position_reader;
mod stored_columns;

pub use cache::DeleteCache;
pub use loader::DeleteLoader;
