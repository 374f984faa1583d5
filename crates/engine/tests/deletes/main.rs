//! Tables with deletes made file by file, read through the engine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod avro;
mod equality;
mod marks;
mod model;
mod positions;
mod site;
