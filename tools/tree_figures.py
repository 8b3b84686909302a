#!/usr/bin/python3
"""Prints files and lines per module of src/, the largest folder and the median source.

Usage: tree_figures.py [REVISION]   (default: HEAD)
"""

import collections
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*words):
    """Returns what a git command prints."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout


def line_counts(revision):
    """Returns {path: lines} of every file of a revision."""
    paths = git("ls-tree", "-r", "--name-only", revision).decode().splitlines()
    asked = "".join(f"{revision}:{path}\n" for path in paths).encode()
    output = subprocess.run(["git", "cat-file", "--batch"], cwd=ROOT, input=asked,
                            capture_output=True, check=True).stdout
    counts, place = {}, 0
    for path in paths:
        end = output.index(b"\n", place)
        size = int(output[place:end].split()[-1])
        counts[path] = output[end + 1:end + 1 + size].count(b"\n")
        place = end + 1 + size + 1
    return counts


def main():
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    counts = line_counts(revision)
    sources = {path: lines for path, lines in counts.items() if path.startswith("src/")}
    print(f"files of the project: {len(counts)}")
    rooms = collections.defaultdict(list)
    folders = collections.Counter()
    for path, lines in sources.items():
        if path.count("/") < 2:
            continue
        rooms[path.split("/")[1]].append(lines)
        folders[path.rsplit("/", 1)[0]] += 1
    for room, lines in sorted(rooms.items()):
        print(f"  {room:<11} {len(lines):>4} files {sum(lines):>6} lines")
    folder, files = folders.most_common(1)[0]
    print(f"largest folder: {folder}, {files} files")
    tested = ("_test.cc", "_fuzz.cc")
    lengths = [lines for path, lines in sources.items()
               if path.endswith(".cc") and not path.endswith(tested)]
    print(f"sources: {len(lengths)}, median {statistics.median(lengths):g} lines")


if __name__ == "__main__":
    main()
