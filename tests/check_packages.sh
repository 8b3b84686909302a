#!/usr/bin/env bash
# The installer installs nothing when nothing is missing, and only reports under STINT_NO_INSTALL.
set -euo pipefail
if ! command -v dpkg-query >/dev/null; then
  echo "SKIP: this is not a Debian machine"
  exit 77
fi
output=$(tools/ensure_packages.sh build test 2>&1)
[ -z "$output" ] || { echo "said something though nothing is missing: $output"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tools"
cp tools/ensure_packages.sh "$folder/tools/"
printf '[build]\nno-such-package-1  # Never there.\n' >"$folder/packages.txt"
status=0
output=$(STINT_NO_INSTALL=1 "$folder/tools/ensure_packages.sh" build 2>&1) || status=$?
[ "$status" = 5 ] || { echo "exit $status instead of 5: $output"; exit 1; }
case "$output" in
*no-such-package-1*) ;;
*) echo "does not name the missing package: $output"; exit 1 ;;
esac
