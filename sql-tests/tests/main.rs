//! The one integration binary: every layering rule, golden file, own scenario, fixture table and race is a named trial.
//!
//! `cargo test --manifest-path sql-tests/Cargo.toml -- golden` (or `slt/`, `fixture`, `layering`, part of a path) runs some.
//! Counts by folder are printed before the closing line.

mod concurrency;
mod evolution;
mod fixtures;
mod golden;
mod histories;
mod layering;
mod schema_races;
mod shared_lake;
mod slt;
mod specification;
mod tally;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The top of the repository.
fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

fn main() -> ExitCode {
    if let Some(outcome) = concurrency::writer()
        .or_else(histories::writer)
        .or_else(schema_races::racer)
    {
        return outcome;
    }
    let arguments = Arguments::from_args();
    let golden = golden::Suite::find();
    let specification = specification::Suite::find();
    let fixtures = fixtures::Suite::find();
    let mut trials: Vec<Trial> = layering::trials(&repository());
    trials.extend(concurrency::trials());
    trials.extend(histories::trials());
    trials.extend(evolution::trials());
    trials.extend(schema_races::trials());
    trials.extend(fixtures.trials());
    trials.extend(slt::self_test::trials());
    trials.extend(specification.trials());
    trials.extend(golden.trials());

    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        layering::warn_of_long_files(&repository());
        fixtures.print_counts();
        specification.print_counts();
        golden.finish();
    }
    conclusion.exit_code()
}
