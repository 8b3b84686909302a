#!/usr/bin/env bash
# The committed catalogue is what its converter makes of the source tables.
set -euo pipefail
if [ -z "${STINT_DATA:-}" ]; then
  echo "SKIP: STINT_DATA is not set, so there are no tables to make the catalogue from"
  exit 77
fi
exec /usr/bin/python3 tools/make_catalog.py --check
