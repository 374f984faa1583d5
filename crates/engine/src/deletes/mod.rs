//! Row-level deletes as readers need them: the deleted positions of a data file, loaded when they are needed, shared and
//! kept under a budget of bytes (spec, "Row-level Deletes").
//!
//! Which deletes apply to a data file is decided when files are planned (`tarn_format::deletes`); a task brings them.

mod cache;
mod file_positions;
mod loader;
pub(crate) mod position_reader;

pub use cache::DeleteCache;
pub use loader::DeleteLoader;

#[cfg(test)]
mod tests;
