#!/usr/bin/python3
"""Groups sources that can be compiled as one, so that what they include is read once per group.

Usage: source_batches.py LINES SOURCE... | --self-test

Prints a line for each source that has a group: its number, a blank, and the name of the source. A
group has about LINES lines. What a source of a group declares for itself has a name that no other of
the group has, nor a header that another includes: there, it would be taken for the other.
"""

import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
# The name that a line at the margin declares: of a type, a function, a constant.
DECLARED = re.compile(r"(?:struct|class|enum class|enum|using) (\w+)|[^(=]*?(?<!::)\b(\w+)(?:[({\[;]| =)")
NO_NAME = ("template", "static_assert", "namespace", "TEST", "INSTANTIATE", "using namespace")
LOCAL_CONSTANT = re.compile(r"^ +(?:static )?const(?:expr)?\b[^=;(]*?\b(k[A-Z]\w*) ?[\[{=]", re.M)
INCLUDED = re.compile(r'^#include "(.+)"', re.M)


@dataclass
class Batch:
    lines: int = 0
    files: list = field(default_factory=list)
    own: set = field(default_factory=set)  # Names that its files declare for themselves.
    seen: set = field(default_factory=set)  # These and the names of the headers they include.


def names_at_margin(text):
    """Returns the names that the lines without indentation declare."""
    lines = (line for line in text.splitlines()
             if line[:1].isalpha() and not line.startswith(NO_NAME))
    matches = (DECLARED.match(line) for line in lines)
    return {match[1] or match[2] for match in matches if match}


def own_names(text):
    """Returns the names that a source declares for itself.

    Constants inside functions are among them: they would hide one of another source.
    """
    return set(LOCAL_CONSTANT.findall(text)).union(*map(names_at_margin, UNNAMED.findall(text)))


class Headers:
    """The names that headers of the project declare, by the text that includes them."""

    def __init__(self):
        self.names = {}  # By header: its own, and those of the headers that it includes.

    def names_in(self, text):
        """Returns the names of all headers that the text includes, directly or not."""
        return set().union(*map(self.names_of, INCLUDED.findall(text)))

    def names_of(self, header):
        if header not in self.names:
            path = ROOT / "src" / header
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            self.names[header] = set()  # No two headers include each other, but if they did.
            self.names[header] = names_at_margin(text) | self.names_in(text)
        return self.names[header]


def batches_of(files, lines_max):
    """Returns the files in groups of about `lines_max` lines, some of one file.

    A file goes to the group that has the fewest lines of those that it fits into.
    """
    headers = Headers()
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    lines = sum(text.count("\n") for text in texts.values())
    batches = [Batch() for _ in range(max(1, round(lines / lines_max)))]
    for file, text in texts.items():
        own = own_names(text)
        seen = own | headers.names_in(text)
        fitting = [batch for batch in batches if not batch.own & seen and not own & batch.seen]
        if not fitting:
            fitting = [Batch()]
            batches += fitting
        batch = min(fitting, key=lambda it: it.lines)
        batch.lines += text.count("\n")
        batch.files.append(file)
        batch.own |= own
        batch.seen |= seen
    return [batch.files for batch in batches if batch.files]


def self_test():
    """Checks on made-up sources that names are told apart."""
    own = "namespace {{\n\n{}\n\n}}  // namespace\n"
    texts = {
        "median.cc": own.format("double median(std::vector<double> values) {"),
        "also_median.cc": own.format("double median(const Times& times) {"),
        "kind.cc": own.format("enum Kind { kOne };\nconstexpr Seconds kWait = 2 * kSecond;"),
        "local.cc": "void wait() {\n  constexpr int kWait = 1;\n}\n",
        "calibration.cc": own.format("struct Calibration {\n};"),
        "user.cc": '#include "plan/calibration.h"\n',
    }
    names = {name: own_names(text) for name, text in texts.items()}
    assert names["median.cc"] == {"median"}, names
    assert names["kind.cc"] == {"Kind", "kWait"}, names
    assert names["local.cc"] == {"kWait"}, names
    assert "Calibration" in Headers().names_in(texts["user.cc"])
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in texts]
        for file in files:
            file.write_text(texts[file.name], encoding="utf-8")
        groups = [{file.name for file in group} for group in batches_of(files, 1000)]
    assert not any({"median.cc", "also_median.cc"} <= group for group in groups), groups
    assert not any({"kind.cc", "local.cc"} <= group for group in groups), groups
    assert not any({"calibration.cc", "user.cc"} <= group for group in groups), groups
    assert len(groups) == 2, groups


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    files = [Path(name) for name in sys.argv[2:]]
    for index, group in enumerate(batches_of(files, int(sys.argv[1]))):
        for file in group if len(group) > 1 else []:
            print(index, file)
    return None


if __name__ == "__main__":
    main()
