#!/usr/bin/env bash
# Fails when clang-format would change a file; `make format` changes them.
set -euo pipefail
find src tests bench tools \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 clang-format --dry-run -Werror
