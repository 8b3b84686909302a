#!/bin/bash
# Makes sure that the Debian packages of the given groups of packages.txt are installed.
# Usage: tools/ensure_packages.sh GROUP…
# With STINT_NO_INSTALL=1 it only says what is missing. Exit 5: something is missing and stays so.
set -euo pipefail

list=$(dirname "$(realpath "$0")")/../packages.txt

# fail CODE SENTENCE ends the script with one line on stderr.
fail() {
  printf 'ensure_packages: %s\n' "$2" >&2
  exit "$1"
}

# packages_of GROUP prints the names under its heading.
packages_of() {
  awk -v heading="[$1]" '{ sub(/#.*/, "") } /^\[/ { inside = ($1 == heading); next }
                         inside && NF { print $1 }' "$list"
}

[[ $# -gt 0 ]] || fail 2 "name at least one group of packages.txt, such as: build test"
wanted=()
for group in "$@"; do
  mapfile -t names < <(packages_of "$group")
  [[ ${#names[@]} -gt 0 ]] || fail 2 "packages.txt has no group [$group]"
  wanted+=("${names[@]}")
done

command -v dpkg-query >/dev/null ||
  fail 5 "this is not a Debian machine; install the equivalents of: ${wanted[*]}"

# dpkg-query fails when it does not know one of the names, but still reports all the others.
# shellcheck disable=SC2016  # The braces are dpkg-query's own fields.
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for name in "${wanted[@]}"; do
  grep -qxF "$name installed" <<<"$installed" || missing+=("$name")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
[[ $EUID -eq 0 ]] || as_root=(sudo)
install=(apt-get install -y --no-install-recommends "${missing[@]}")

if [[ ${STINT_NO_INSTALL:-} == 1 ]]; then
  fail 5 "missing ${missing[*]}; install with: ${as_root[*]:+sudo }${install[*]}"
fi
if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
  fail 5 "missing ${missing[*]}, and there is no sudo; as root, run: ${install[*]}"
fi

echo "ensure_packages: missing ${missing[*]}; installing with apt-get" >&2
# sudo drops the environment, so the setting that forbids questions goes through env.
as_root+=(env DEBIAN_FRONTEND=noninteractive)
"${as_root[@]}" apt-get update -qq >&2 || fail 5 "apt-get update failed; see the lines above"
"${as_root[@]}" "${install[@]}" >&2 || fail 5 "apt-get install failed; see the lines above"
