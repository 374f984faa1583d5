//! Tests over readers and writers together.

mod fixtures;
mod hostile;
mod interop;
mod partitions;
mod round_trip;
mod tables;
