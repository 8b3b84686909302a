#!/usr/bin/python3
"""Groups sources that can be compiled as one, so that what they include is read once per group.

Usage: source_batches.py LINES SOURCE...

Prints a line for each source: the number of its group, a blank, and its name. A group has about
LINES lines, and no two sources of a group give the same name to something of their own.
"""

import re
import sys
from pathlib import Path

# What a file declares for itself alone: everything at the margin of an unnamed namespace.
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
DECLARED = re.compile(r"^(?:template.*\n)?(?:struct|class|enum class|using|[\w:<>,&*\s]+?[\s&*])"
                      r"\s*(?:k?\w+::)?(\w+)(?=[\s({\[=;:])", re.M)
CONSTANT = re.compile(r"\b(k[A-Z]\w*)\b")
LOCAL_CONSTANT = re.compile(r"^ +(?:static )?const(?:expr)?\b[^=;(]*?\b(k[A-Z]\w*) ?[\[{=]", re.M)


def own_names(text):
    """Returns the names that a source declares for itself, and perhaps a few more.

    Constants inside functions are among them: they would hide one of another source.
    """
    names = set(LOCAL_CONSTANT.findall(text))
    for part in UNNAMED.findall(text):
        for line in part.splitlines():
            if line[:1].isalpha():
                names.update(DECLARED.findall(line) + CONSTANT.findall(line))
    return names


def batches_of(files, lines_max):
    """Returns the files in groups of about `lines_max` lines without common names of their own.

    A file goes to the group that has the fewest lines of those that it fits into.
    """
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    count = {file: text.count("\n") for file, text in texts.items()}
    batches = [[0, [], set()] for _ in range(max(1, round(sum(count.values()) / lines_max)))]
    for file in files:
        names = own_names(texts[file])
        fitting = [batch for batch in batches if not names & batch[2]]
        if not fitting:
            fitting = [[0, [], set()]]
            batches += fitting
        batch = min(fitting, key=lambda it: it[0])
        batch[0] += count[file]
        batch[1].append(file)
        batch[2] |= names
    return [group for _, group, _ in batches if group]


def main():
    if len(sys.argv) < 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    files = [Path(name) for name in sys.argv[2:]]
    for index, group in enumerate(batches_of(files, int(sys.argv[1]))):
        for file in group:
            print(index, file)


if __name__ == "__main__":
    main()
