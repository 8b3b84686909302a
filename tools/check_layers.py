#!/usr/bin/python3
"""Checks that every module under src/ includes only the modules that docs/layers.txt allows, that
each permission is used, that folders stay small, and that src/README.md lists every folder.

Usage: check_layers.py [--self-test]
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = "docs/layers.txt"
INDEX = "src/README.md"
SOURCES_MAX = 40  # Of one folder, without tests and fuzzers.
FILES_MAX = 80    # Of one folder, with them.
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".inc"}
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def read_table(text):
    """Returns ({module: (line number, line, modules it may include)}, problems)."""
    table, problems = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        modules, colon, allowed = line.partition(":")
        if not colon:
            problems.append(f"{TABLE}:{number}: not of the form `module: module module`: {line}")
            continue
        above = allowed.split() == ["all", "of", "the", "above"]
        allowed = set(table) if above else set(allowed.split())
        for module in (name.strip() for name in modules.split(",")):
            if module in table:
                problems.append(f"{TABLE}:{number}: {module} already has line {table[module][0]}")
            table[module] = (number, line, allowed)
    for module, (number, _, allowed) in table.items():
        for name in sorted(allowed - set(table)):
            problems.append(f"{TABLE}:{number}: {module} may include {name}, which has no line")
    return table, problems


def find_cycle(table):
    """Returns the modules of one cycle, the first repeated at the end, or an empty list."""
    done = set()

    def visit(module, path):
        if module in path:
            return path[path.index(module):] + [module]
        if module in done or module not in table:
            return []
        for name in sorted(table[module][2] - {module}):
            cycle = visit(name, path + [module])
            if cycle:
                return cycle
        done.add(module)
        return []

    for module in table:
        cycle = visit(module, [])
        if cycle:
            return cycle
    return []


def line_of(path, table):
    """Returns the longest folder of src/a/b/c.h that has a line (a/b, then a), or None."""
    folders = path.split("/")[1:-1]
    for length in range(len(folders), 0, -1):
        if "/".join(folders[:length]) in table:
            return "/".join(folders[:length])
    return None


def allows(allowed, target):
    """A module that is allowed is allowed with its folders."""
    return target in allowed or target.split("/")[0] in allowed


def check_file(path, text, table, used):
    """Returns what is wrong with the includes of one file, named like src/module/file.h.

    Adds to `used` the permissions that the file makes use of, as (line, module).
    """
    line = line_of(path, table)
    problems = []
    for number, source in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(source)
        if not match:
            continue
        quote, included = match.groups()
        module = included.split("/")[0] if "/" in included else None
        if quote == "<" and module not in table:
            continue  # A system or library header.
        where = f"{path}:{number}"
        if module is None:
            problems.append(f'{where}: write the include of {included} as "module/file.h"')
            continue
        target = line_of("src/" + included, table)
        if target is None:
            problems.append(f"{where}: {included} is in no module of {TABLE}")
        elif target != line and not allows(table[line][2], target):
            rule = f"{TABLE}:{table[line][0]}: `{table[line][1]}`"
            problems.append(f"{where}: {line} may not include {target} ({rule})")
        else:
            used.update({(line, target), (line, module)})
    return problems


def unused_permissions(table, used):
    """Returns a problem for each module that a line allows and no file of it includes."""
    return [f"{TABLE}:{number}: nothing in {line} includes {module}: take it out"
            for line, (number, _, allowed) in table.items()
            for module in sorted(allowed) if (line, module) not in used]


def crowded_folders(paths):
    """Returns a problem for each folder with too many sources, or files with their tests."""
    problems = []
    folders = {path.rsplit("/", 1)[0] for path in paths}
    for folder in sorted(folders):
        files = [path for path in paths if path.rsplit("/", 1)[0] == folder]
        sources = [path for path in files if re.search(r"(?<!_test)(?<!_fuzz)\.cc$", path)]
        if len(sources) > SOURCES_MAX or len(files) > FILES_MAX:
            problems.append(f"{folder}: {len(sources)} sources (at most {SOURCES_MAX}), "
                            f"{len(files)} files (at most {FILES_MAX}): make folders by subject")
    return problems


def check_index(text, paths):
    """Returns how src/README.md, a line `| `folder` | …` for each folder, and the tree differ."""
    listed = re.findall(r"^\| `([a-z/]+)` \|", text, re.M)
    folders = {path.rsplit("/", 1)[0][len("src/"):] for path in paths}
    problems = [f"{INDEX}: {name} is listed twice" for name in sorted(set(listed))
                if listed.count(name) > 1]
    problems += [f"{INDEX}: {name} has no line" for name in sorted(folders - set(listed))]
    problems += [f"{INDEX}: there is no folder {name}" for name in sorted(set(listed) - folders)]
    return problems


def check(table_text, files):
    """Returns all problems of a table and of the sources {path: text}."""
    table, problems = read_table(table_text)
    cycle = find_cycle(table)
    if cycle:
        problems.append(f"{TABLE}: the modules form a cycle: {' -> '.join(cycle)}")
    if not files:
        problems.append("src/: there are no source files")
    strangers, used = set(), set()
    for path, text in sorted(files.items()):
        if path.count("/") < 2:
            problems.append(f"{path}: belongs to no module; move it into a folder of src/")
        elif line_of(path, table):
            problems += check_file(path, text, table, used)
        else:
            strangers.add(path.split("/")[1])
    problems += [f"src/{module}: the module has no line in {TABLE}" for module in sorted(strangers)]
    return problems, unused_permissions(table, used)


def self_test():
    """Returns the examples that the check judges wrongly."""
    table = "base:\njob: base  # Why.\nplan: base job\napp: all of the above\ncli, web: base app\n"
    examples = [
        # (what, table, one source file, its text, what the only problem must contain)
        ("allowed", table, "src/plan/a.cc", '#include "job/a.h"\n#include "plan/a.h"', None),
        ("all of the above", table, "src/app/a.cc", '#include "plan/a.h"', None),
        ("two modules", table, "src/web/a.cc", '#include "app/a.h"', None),
        ("system header", table, "src/base/a.cc", "#include <sys/stat.h>\n#include <vector>", None),
        ("upwards", table, "src/base/a.h", '\n#include "job/a.h"',
         "src/base/a.h:2: base may not include job (docs/layers.txt:1: `base:`)"),
        ("test file", table, "src/job/a_test.cc", '#include "plan/a.h"', "may not include plan"),
        ("fuzz file", table, "src/job/a_fuzz.cc", '# include "app/a.h"', "job may not include app"),
        ("later module", table, "src/app/a.cc", '#include "cli/a.h"', "app may not include cli"),
        ("second module", table, "src/web/a.cc", '#include "cli/a.h"', "may not include cli"),
        ("angle brackets", table, "src/base/a.h", "#include <job/a.h>", "may not include job"),
        ("no module named", table, "src/base/a.cc", '#include "a.h"', 'as "module/file.h"'),
        ("unknown module", table, "src/base/a.cc", '#include "tests/a.h"', "is in no module"),
        ("module without line", table, "src/cloud/a.cc", "", "src/cloud: the module has no line"),
        ("file outside modules", table, "src/a.cc", "", "belongs to no module"),
        ("folder with a line", "base:\njob: base\njob/in: job\n", "src/job/in/a.cc",
         '#include "job/a.h"', None),
        ("folder without a line", table, "src/plan/in/a.cc", '#include "job/a.h"', None),
        ("up into a folder", "base:\njob: base\njob/in: job\n", "src/job/a.cc",
         '#include "job/in/a.h"', "job may not include job/in"),
        ("cycle", "base: plan\njob: base\nplan: job\n", "src/base/a.h", "",
         "cycle: base -> plan -> job -> base"),
        ("unknown dependency", "base: log\n", "src/base/a.h", "", "log, which has no line"),
        ("module twice", "base:\nbase:\n", "src/base/a.h", "", "already has line 1"),
        ("no colon", "base:\njob\n", "src/base/a.h", "", "docs/layers.txt:2: not of the form"),
    ]
    failures = []
    for what, text, path, source, expected in examples:
        problems, _ = check(text, {path: source})
        right = not problems if expected is None else (
            len(problems) == 1 and expected in problems[0])
        if not right:
            failures.append(f"self-test `{what}`: expected {expected!r}, got {problems}")
    if not check(table, {})[0]:
        failures.append("self-test `no files`: an empty src/ must not pass")
    _, unused = check("base:\njob: base\n", {"src/job/a.cc": ""})
    if unused != ["docs/layers.txt:2: nothing in job includes base: take it out"]:
        failures.append(f"self-test `unused permission`: got {unused}")
    _, unused = check("base:\njob: base\n", {"src/job/a.cc": '#include "base/a.h"'})
    if unused:
        failures.append(f"self-test `used permission`: got {unused}")
    many = [f"src/job/{i}.cc" for i in range(SOURCES_MAX + 1)]
    if len(crowded_folders(many)) != 1 or crowded_folders(many[1:]):
        failures.append("self-test `crowded folder`")
    for index, wrong in (("| `job` | Jobs. |\n", 0), ("", 1), ("| `job` | x |\n| `a` | y |\n", 1),
                         ("| `job` | x |\n| `job` | y |\n", 1)):
        if len(check_index(index, ["src/job/a.cc"])) != wrong:
            failures.append(f"self-test `index` {index!r}")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        problems = self_test()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        files = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
                 for path in (ROOT / "src").rglob("*") if path.suffix in SUFFIXES}
        problems, unused = check((ROOT / TABLE).read_text(encoding="utf-8"), files)
        problems += unused
        problems += crowded_folders(list(files))
        problems += check_index((ROOT / INDEX).read_text(encoding="utf-8"), list(files))
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
