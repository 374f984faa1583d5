#!/usr/bin/env bash
# Fuzzes every target, or those named, for some seconds each. Needs only the stable toolchain and a C++ compiler.
#
# usage: fuzz/run.sh SECONDS [TARGET…]
#
#   TARN_FUZZ_CORPUS   where inputs are kept from run to run; default a folder that is thrown away
#
# Inputs that fail are left in fuzz/artifacts, and the exit code is not 0.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?usage: fuzz/run.sh SECONDS [TARGET…]}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] ||
  mapfile -t targets < <(sed -n '/^\[\[bin\]\]/,/^$/s/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml)

host=$(rustc -vV | sed -n 's/^host: //p')
flags=(--cfg fuzzing -Cdebug-assertions -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares)
# Naming the target keeps the coverage flags off build scripts and procedural macros.
RUSTFLAGS="${flags[*]}" cargo build --manifest-path fuzz/Cargo.toml --locked --target "$host"
binaries=${CARGO_TARGET_DIR:-fuzz/target}/$host/debug

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
corpus=${TARN_FUZZ_CORPUS:-$scratch/corpus}
mkdir -p fuzz/artifacts
# What libFuzzer says while all is well.
noise='^#[0-9]+\s+(NEW|REDUCE|pulse|RELOAD)|^\s*NEW_FUNC|^"|^INFO:|^WARNING: Failed to find function|^###### '
failed=()
for target in "${targets[@]}"; do
  mkdir -p "$corpus/$target" "$scratch/seeds/$target"
  folders=("$corpus/$target" "$scratch/seeds/$target")
  [ ! -d "fuzz/seeds/$target" ] || folders+=("fuzz/seeds/$target")
  echo "=== fuzz $target for $seconds s"
  TARN_FUZZ_SEEDS=$scratch/seeds/$target "$binaries/$target" "${folders[@]}" \
    -artifact_prefix="fuzz/artifacts/$target-" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 \
    -max_len=65536 -print_final_stats=1 2>&1 | grep -vE "$noise" || failed+=("$target")
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "fuzz: failed: ${failed[*]}; inputs are in fuzz/artifacts"
  exit 1
fi
echo "fuzz: ${#targets[@]} targets passed"
