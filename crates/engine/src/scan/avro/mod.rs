//! Avro files of rows: decoded into Arrow as their own schema says, with field ids (spec, appendix "Avro").

mod blocks;
mod column;
mod file_schema;
mod reader;

pub(crate) use reader::{AvroBatches, AvroFile};
