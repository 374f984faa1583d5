//! The shell as it is run: statements in, results and exit codes out.

// Helpers of tests may unwrap as the tests do.
#![allow(clippy::unwrap_used)]

mod configuration;
mod damage;
mod readme;
mod running;
mod scripts;
mod terminal;
