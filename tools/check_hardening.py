#!/usr/bin/env python3
"""Checks that programs and libraries are built as cmake/hardening.cmake says.

    check_hardening.py FILE... [--without FOLDER] [--soft FILE]

Each FILE must be position-independent, with read-only tables that are bound before it runs, a stack
that cannot be executed, a protected stack and checked calls of the C library, and must not name
FOLDER, from whose files it was made. A file after --soft must lack all but the first of these: so
the check itself is tested.
"""

import argparse
import re
import subprocess
import sys


def readelf(option, path):
    return subprocess.run(["readelf", option, "--wide", path], check=True, capture_output=True,
                          text=True).stdout


def problems(path, folder):
    header, segments, dynamic = (readelf(option, path) for option in ("-h", "-l", "-d"))
    symbols = readelf("--dyn-syms", path)
    found = {
        "is not position-independent": "DYN (" not in header,
        "has no read-only relocations (RELRO)": "GNU_RELRO" not in segments,
        "is not bound before it runs (BIND_NOW)":
            not re.search(r"\((FLAGS|FLAGS_1)\).*\b(BIND_NOW|NOW)\b", dynamic),
        "has an executable stack": not re.search(r"GNU_STACK.* RW  ", segments),
        "has no protected stack": "__stack_chk_fail" not in symbols,
        "has no checked calls (FORTIFY)": not re.search(r" __\w+_chk\b", symbols),
        "looks for libraries in a folder of its own (RPATH)": "PATH)" in dynamic,
    }
    if folder:
        with open(path, "rb") as file:
            found[f"names the folder {folder}"] = folder.encode() in file.read()
    return [problem for problem, is_so in found.items() if is_so]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--without")
    parser.add_argument("--soft")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.files:
        for problem in problems(path, arguments.without):
            failed = True
            print(f"{path} {problem}: see cmake/hardening.cmake", file=sys.stderr)
    if arguments.soft:
        for wanted in ("position", "RELRO", "BIND_NOW", "protected", "FORTIFY", "folder"):
            if not any(wanted in one for one in problems(arguments.soft, arguments.without)):
                failed = True
                print(f"{arguments.soft} is not refused for: {wanted}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
