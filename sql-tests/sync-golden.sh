#!/usr/bin/env bash
# Copies the golden scenarios from $TARN_GOLDEN (or the first argument) into the tree.
set -euo pipefail
source=${1:-${TARN_GOLDEN:-}}
[ -n "$source" ] && [ -f "$source/README.md" ] || {
  echo "usage: sync-golden.sh FOLDER   (or TARN_GOLDEN=FOLDER), the folder that holds the golden README.md" >&2
  exit 2
}
target=$(cd "$(dirname "$0")" && pwd)/golden
rm -rf "$target"
mkdir -p "$target"
cp -R "$source/." "$target/"
echo "copied $(find "$target" -name '*.slt' | wc -l) scenarios into $target"
