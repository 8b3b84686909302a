#!/usr/bin/env python3
"""Holds cmake/licences.cmake to what is compiled and linked.

    check_licences.py BUILD_FOLDER SOURCE_FOLDER

Each Debian package whose headers an object of src/ includes, or whose archive a release links, is
in the list with the text of its licence, and each of the list is in use. Exit 77: not on Debian.
"""

import os
import shutil
import subprocess
import sys

# The C library and the kernel are not distributed with the program.
NOT_OURS = {"libc6-dev", "linux-libc-dev"}
# Linked by the compiler, without an archive on our command line.
BY_COMPILER = {"libstdc++-12-dev", "libgcc-12-dev"}


def headers(build, source):
    """Headers outside of the source folder that the objects of the product include."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True,
                          text=True).stdout
    found = set()
    for block in text.split("\n\n"):
        target, *files = block.split("\n")
        product = ("/src/" in target or "/Unity/" in target) and not any(
            mark in target for mark in ("_test.cc", "_fuzz.cc", "_test.dir", "_fuzz.dir"))
        if product:
            found |= {os.path.realpath(os.path.join(build, one.strip())) for one in files}
    return {one for one in found if one.startswith("/usr/") and not one.startswith(source)}


def packages_of(files):
    """The packages that own the files, without their architecture."""
    text = subprocess.run(["dpkg", "-S", *files], capture_output=True, text=True).stdout
    owned = {}
    for line in text.splitlines():
        package, path = line.split(": ", 1)
        owned[path] = package.split(",")[0].split(":")[0]
    return owned


def main():
    build, source = map(os.path.realpath, sys.argv[1:3])
    if not shutil.which("dpkg") or not shutil.which("ninja"):
        print("skipped: this needs dpkg and ninja")
        return 77
    share = os.path.join(build, "share")
    with open(os.path.join(share, "linked.txt"), encoding="utf-8") as file:
        linked = [os.path.realpath(line) for line in file.read().split()]
    with open(os.path.join(share, "packages.txt"), encoding="utf-8") as file:
        listed = set(file.read().split())
    used = packages_of(sorted(headers(build, source)) + linked)
    wanted = set(used.values()) - NOT_OURS | BY_COMPILER
    wanted = {one for one in wanted if not one.startswith(("libclang-", "gcc-", "clang-"))}
    problems = [f"{one} is used, but is not in cmake/licences.cmake: "
                f"{next((path for path in used if used[path] == one), '')}"
                for one in sorted(wanted - listed)]
    problems += [f"{one} is in cmake/licences.cmake, but is not used" for one in
                 sorted(listed - wanted)]
    with open(os.path.join(share, "THIRD_PARTY.md"), encoding="utf-8") as file:
        rows = [line.split(" | ") for line in file if line.startswith("| ")][1:]
    for name, version, *_ in rows:
        name = name.removeprefix("| ")
        text = os.path.join(share, "licences", name + ".txt")
        if not version.strip() or not os.path.exists(text) or os.path.getsize(text) < 500:
            problems.append(f"{name} has no version, or no text in {text}")
    if len(rows) != len(listed):
        problems.append(f"THIRD_PARTY.md has {len(rows)} rows for {len(listed)} packages")
    print("\n".join(problems) or f"{len(rows)} licences for all that is compiled and linked")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
