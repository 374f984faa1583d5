//! Hands a target's generated seeds to the fuzzer.

use std::fs;
use std::path::PathBuf;

/// Writes each seed into the folder that `TARN_FUZZ_SEEDS` names, before the fuzzer reads its corpus; without the variable
/// nothing happens.
pub fn write(seeds: impl IntoIterator<Item = Vec<u8>>) {
    let Some(folder) = std::env::var_os("TARN_FUZZ_SEEDS").map(PathBuf::from) else {
        return;
    };
    for (i, seed) in seeds.into_iter().enumerate() {
        fs::write(folder.join(format!("generated-{i}")), seed).expect("the folder of seeds must be writable");
    }
}
