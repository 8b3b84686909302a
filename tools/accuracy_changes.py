#!/usr/bin/python3
"""Prints what changed in docs/accuracy.md between two revisions, as Markdown tables.

Usage: accuracy_changes.py BEFORE [AFTER] [--least SHARE]

Each section with a changed figure becomes one table: a line per row, a column per changed figure,
"before → after". AFTER is the working tree unless it is named. With --least only figures that moved
by at least that share of themselves are shown (0.1: a tenth). Sections and rows that exist in one
revision only are listed by name.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/accuracy.md"
RULE = re.compile(r"^\|[\s:|-]+\|$")
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def page(revision):
    """The page at a revision; None is the working tree."""
    if revision is None:
        return (ROOT / PAGE).read_text()
    shown = subprocess.run(["git", "-C", ROOT, "show", f"{revision}:{PAGE}"], text=True,
                           capture_output=True)
    if shown.returncode:
        sys.exit(f"accuracy_changes.py: {revision} has no {PAGE}; name a commit of this repository")
    return shown.stdout


def cells(line):
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]


def tables(text):
    """{(section, command): {row label: {column: figure}}}, in the order of the page."""
    found = {}
    section, command, header, table = "", "", None, None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("#"):
            section, command = line.lstrip("# "), ""
        elif line.startswith("stint "):
            command = line
        elif line.startswith("|") and number + 1 < len(lines) and RULE.match(lines[number + 1]):
            header = cells(line)
            table = found.setdefault((section, command), {})
        elif line.startswith("|") and header and not RULE.match(line):
            add_row(table, header, cells(line))
        elif not line.startswith("|"):
            header = None
    return found


def add_row(table, header, row):
    """Adds a row under the cells before its first figure; the page has rows of equal labels."""
    words = next((i for i, cell in enumerate(row) if NUMBER.fullmatch(cell.split(" ")[0])), 1)
    label = " ".join(filter(None, row[:max(words, 1)]))
    # Windows of one kind of pool differ by their slack alone, which is a figure.
    if len(header) > 1 and header[1] == "slack":
        label = f"{row[0]} {row[1]}"
    while label in table:
        label += " ′"
    table[label] = dict(zip(header[1:], row[1:]))


def figures(cell):
    return [float(n.replace(",", "")) for n in NUMBER.findall(cell)]


def moved(before, after, least):
    """Whether a figure of the cell moved by at least that share of itself."""
    if before == after:
        return False
    old, new = figures(before), figures(after)
    if len(old) != len(new) or not old:
        return True
    return any(abs(b - a) >= least * max(abs(a), 1e-12) and a != b for a, b in zip(old, new))


def changes(before, after, least):
    """[(section and command, [(row, {column: (before, after)})])] for the tables of both."""
    result = []
    for key in after:
        rows = []
        for label, row in after[key].items():
            old = before.get(key, {}).get(label)
            if old is None:
                continue
            changed = {c: (old[c], row[c]) for c in row
                       if c in old and moved(old[c], row[c], least)}
            if changed:
                rows.append((label, changed))
        if rows:
            result.append((key, rows))
    return result


def show(key, rows):
    columns = []
    for _, changed in rows:
        columns += [c for c in changed if c not in columns]
    print(f"### {key[0]}\n\n`{key[1]}`\n" if key[1] else f"### {key[0]}\n")
    print("| " + " | ".join(["", *columns]) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for label, changed in rows:
        print("| " + " | ".join([label] + [" → ".join(changed[c]) if c in changed else ""
                                           for c in columns]) + " |")
    print()


def names_of_one(before, after):
    """Tables and rows that the second lacks."""
    for key in before:
        if key not in after:
            yield f"{key[0]}: {key[1] or 'a table'}"
        else:
            yield from (f"{key[0]}: row {label}" for label in before[key] if label not in after[key])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before")
    parser.add_argument("after", nargs="?")
    parser.add_argument("--least", type=float, default=0.0, metavar="SHARE")
    arguments = parser.parse_args()
    before, after = tables(page(arguments.before)), tables(page(arguments.after))
    for key, rows in changes(before, after, arguments.least):
        show(key, rows)
    for title, names in (("Only before", list(names_of_one(before, after))),
                         ("Only after", list(names_of_one(after, before)))):
        if names:
            print(f"### {title}\n\n" + "\n".join(f"- {name}" for name in names) + "\n")


main()
