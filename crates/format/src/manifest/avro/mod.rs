//! Avro as manifests use it: object container files, writer schemas, and the binary encoding.
//!
//! Nothing here knows of manifests. Input is never trusted: counts and lengths are checked against the bytes
//! that are left before anything is allocated or skipped.

pub mod codec;
pub mod container;
pub mod cursor;
pub mod encoder;
pub mod schema;
pub mod skip;
