#!/usr/bin/env bash
# How long a person waits for the smallest and for the commonest command, on a warm cache, beside
# the 50 ms we allow ourselves and beside a program that does nothing. Prints; asserts only that
# the commands answered.
set -euo pipefail
stint=${1:-build/release/stint}
bound_ms=50
results=$(mktemp)
trap 'rm -f "$results"' EXIT

test "$("$stint" catalog list -o csv --quiet | wc -l)" -gt 400

hyperfine --shell none --warmup 5 --runs 50 --style none --export-json "$results" \
  true "$stint version" "$stint catalog list" "$stint catalog list -o json" \
  "$stint catalog show p4d.24xlarge" >/dev/null

/usr/bin/python3 - "$results" "$bound_ms" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))["results"]
print(f"{'command':<28}{'mean ms':>9}{'min':>8}{'max':>8}{'bound':>8}")
for row in rows:
    words = row["command"].split()
    name = " ".join([words[0].rsplit("/", 1)[-1], *words[1:]])
    bound = "" if name == "true" else f"{float(sys.argv[2]):8.0f}"
    print(f"{name:<28}{row['mean'] * 1e3:9.2f}{row['min'] * 1e3:8.2f}{row['max'] * 1e3:8.2f}{bound}")
PY
