//! Tests over readers and writers together.

mod fixtures;
mod round_trip;
mod tables;
