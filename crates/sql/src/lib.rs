//! Spark SQL with Iceberg's extensions: parsing, name resolution, planning and the session.

#![warn(missing_docs)]

pub mod ast;
pub mod catalogs;
mod commands;
pub mod config;
pub mod dialect;
pub mod error;
mod files;
pub mod functions;
pub mod lexemes;
pub mod loaded_tables;
pub mod merge_writer;
pub mod names;
mod near_names;
pub mod output;
pub mod parser;
pub mod planner;
mod procedures;
mod quoting;
mod read_options;
pub mod reader;
mod relations;
pub mod script;
pub mod session;
mod store_assignment;
mod table_state;
mod views;
pub mod writer;

pub use output::{Output, WriteReport};
pub use session::Session;
