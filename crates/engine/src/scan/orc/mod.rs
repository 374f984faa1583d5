//! ORC files of rows: decoded into Arrow as their own types say, with field ids (spec, appendix "ORC").
//!
//! A decoder of our own: what it is given may be broken or hostile, and must neither panic nor take the memory that it
//! claims to need; libraries for ORC trust the lengths and runs that they read.

mod codec;
mod column;
mod decimal;
mod encoded;
mod file_schema;
mod integers;
mod lzo;
pub(crate) mod protobuf;
mod reader;
mod run_length;
mod sized;
mod stream;
mod stripe;
mod tail;
mod timestamp;
pub(crate) mod types;

#[cfg(test)]
mod made;

pub(crate) use encoded::{EncodedStripe, encoded_stripe};
pub(crate) use reader::{OrcBatches, OrcFile, RowsAt};
