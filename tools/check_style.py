#!/usr/bin/python3
"""Checks the rules of STYLE.md that a machine can check, and the relative links of *.md files.

Usage: check_style.py [--self-test]
"""

import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
CPP_FOLDERS = ("src/", "bench/", "tests/", "tools/")
COLUMNS_MAX = 100
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70

# Files that may throw, each with its reason.
MAY_THROW = {}

# Headers of libraries that we wrap, and the files or folders that may include them.
WRAPPED = {
    "nlohmann/": ("src/base/json.cc",),
    "valijson/": ("tests/",),
    "ceres/": ("src/solver/least_squares.cc",),
    "Eigen/": ("src/solver/least_squares.cc",),
    "coin/": ("src/solver/linear_program.cc",),
    "boost/": ("src/solver/matching.cc",),
    "simdjson.h": ("src/measure/trace/trace_event.cc",),
    "zlib.h": ("src/measure/trace/gzip_stream.cc", "src/checkpoint/shard_file.cc"),
    "yaml-cpp/": ("src/load/yaml.cc",),
    "simgrid/": ("bench/",),
}

# Sources that need no test beside them: main() only calls what is tested elsewhere.
NEEDS_NO_TEST = {"src/cli/main.cc"}

# What may not appear in code, where comments and literals do not count: (pattern, what to say).
FORBIDDEN = [
    (re.compile(r"(?<!<)\bnew\b"), "no `new`; use a value or std::make_unique"),
    (re.compile(r"(?<!=)(?<!= )\bdelete\b"), "no `delete`; let an owner do it"),
    (re.compile(r"\bstd::expected\b|#\s*include\s*<expected>"), "use Result, not std::expected"),
    (re.compile(r"\bstd::(ranges::)?views::|#\s*include\s*<ranges>"), "no <ranges>"),
    (re.compile(r"\bstd::v?format|#\s*include\s*<format>"), "use fmt, not std::format"),
]
# JSON that is put together by hand, and where it may not be: there the codec writes it.
HAND_MADE_JSON = re.compile(r"\bJson::(Array|Object|Value)\b|\bJson\s+\w+\s*[;{]")
NO_HAND_MADE_JSON = "src/cli/"
THROW = re.compile(r"\bthrow\b")
USING_NAMESPACE = re.compile(r"\busing\s+namespace\b")
TODO = re.compile(r"\bTODO\b(?!\(#\d+\))")
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')

# Comments and literals. A quote inside a number, as in 1'000, must not open a character literal,
# hence the numbers; an include is matched whole so that its quotes stay.
TOKEN = re.compile(
    r'(?P<keep>^[ \t]*\#[ \t]*include[ \t]*["<][^">\n]*[">]|\b\d[\w.]*(?:\'\w+)+)'
    r'|(?P<blank>//[^\n]*|/\*.*?\*/'
    r'|\b(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S | re.M)

# What opens a scope that holds functions rather than being one.
SCOPE = re.compile(
    r"(?:template\s*<.*>\s*)?(?:inline\s+|typedef\s+|static\s+|constexpr\s+|const\s+)*"
    r"(?:namespace|class|struct|union|enum|extern)\b", re.S)
LABEL = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)*")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def blanked(text):
    """Returns `text` with the characters that do not matter replaced by spaces."""
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """Returns C++ `text` with comments and literals blanked, so that positions stay."""
    return TOKEN.sub(lambda m: m.group() if m.group("keep") else blanked(m.group()), text)


def long_functions(code):
    """Returns (first line, number of lines) of each function over the limit.

    Walks the braces. The text between the last statement and a brace tells what the brace opens:
    a namespace or class, a function (it has a parameter list), or data. This is approximate.
    """
    code = DIRECTIVE.sub(lambda m: blanked(m.group()), code)
    found, stack, start = [], [], 0
    for match in re.finditer(r"[{};]", code):
        position = match.start()
        if match.group() == "{":
            first = LABEL.match(code, start).end()
            head = code[first:position].rstrip()
            scope = SCOPE.match(head) and not head.endswith(")")
            inside = any(entry[1] for entry in stack)
            stack.append((start, not scope and not inside and ")" in head, first))
            start = position + 1
        elif match.group() == ";":
            start = position + 1
        elif stack:
            before, is_function, first = stack.pop()
            lines = code.count("\n", first, position) + 1
            if is_function and lines > FUNCTION_LINES_MAX:
                found.append((code.count("\n", 0, first) + 1, lines))
            # After a braced member or default argument the head of the function goes on.
            goes_on = code[position + 1:position + 200].lstrip()[:1] in set(",{).(")
            start = before if goes_on else position + 1
    return found


def misplaced_library(path, code):
    """Returns what to say when the line includes a library that another file wraps."""
    include = INCLUDE.match(code)
    for library, places in WRAPPED.items():
        if include and include[1].startswith(library) and not path.startswith(places):
            return [f"<{library}…> belongs in {', '.join(places)} only"]
    return []


def check_line(path, line, code):
    """Returns what is wrong with one line, given also as `code` without comments and literals."""
    rules = [
        (len(line) > COLUMNS_MAX, f"{len(line)} columns; the limit is {COLUMNS_MAX}"),
        ("\t" in line, "no tabs"),
        (line != line.rstrip(), "no space at the end of a line"),
        (TODO.search(line), "a TODO names its issue, as in TODO(#12)"),
        (path.endswith(".h") and USING_NAMESPACE.search(code), "no `using namespace` in a header"),
        (path.startswith(NO_HAND_MADE_JSON) and not path.endswith("_test.cc")
         and HAND_MADE_JSON.search(code), "describe the answer in cli/views; see base/codec.h"),
        (path not in MAY_THROW and THROW.search(code), "no `throw`; return a Result"),
    ] + [(pattern.search(code), message) for pattern, message in FORBIDDEN]
    return [message for broken, message in rules if broken] + misplaced_library(path, code)


def check_cpp(path, text):
    """Returns what is wrong with one C++ file."""
    problems = []
    code = code_of(text)
    lines = text.split("\n")
    for number, (line, bare) in enumerate(zip(lines, code.split("\n")), 1):
        problems += [f"{path}:{number}: {message}" for message in check_line(path, line, bare)]
    if path.endswith(".h") and not code.lstrip().startswith("#pragma once"):
        problems.append(f"{path}:1: a header starts with #pragma once")
    if text.count("\n") > FILE_LINES_MAX:
        problems.append(f"{path}: {text.count(chr(10))} lines; the limit is {FILE_LINES_MAX}")
    for first, count in long_functions(code):
        problems.append(f"{path}:{first}: a function of {count} lines; "
                        f"the limit is {FUNCTION_LINES_MAX}")
    return problems


def check_test_beside(path, paths):
    """Returns what is missing beside a source file."""
    name = path.removesuffix(".cc")
    exempt = path in NEEDS_NO_TEST or name.endswith(("_test", "_fuzz"))
    if not path.startswith("src/") or name == path or exempt or f"{name}_test.cc" in paths:
        return []
    return [f"{path}: has no {Path(name).name}_test.cc beside it"]


def check_links(path, text, exists):
    """Returns the relative links of a Markdown file that lead nowhere."""
    text = re.sub(r"^(```|~~~).*?^\1|`[^`\n]*`", lambda m: blanked(m.group()), text,
                  flags=re.S | re.M)
    problems = []
    for match in re.finditer(r"\]\(\s*<?([^)\s>]+)|^\s*\[[^\]]+\]:\s*<?([^\s>]+)", text, re.M):
        link = match[1] or match[2]
        target = unquote(link.split("#")[0])
        if not target or re.match(r"[a-zA-Z][\w+.-]*:", target):
            continue
        folder = "" if target.startswith("/") else os.path.dirname(path)
        file = os.path.normpath(os.path.join(folder, target.lstrip("/")))
        if file.startswith("..") or not exists(file):
            number = text.count("\n", 0, match.start(match.lastindex)) + 1
            problems.append(f"{path}:{number}: the link {link} leads to no file of the project")
    return problems


def check(files, exists):
    """Returns all problems of the files {path: text}; `exists` says whether a path is there."""
    problems = []
    for path, text in sorted(files.items()):
        if path.endswith(".md"):
            problems += check_links(path, text, exists)
        else:
            problems += check_cpp(path, text) + check_test_beside(path, files)
    return problems


def project_files():
    """Returns {path: text} of what is to be checked; build folders and hidden ones are not."""
    files = {}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name != "build" and not name.startswith(".")]
        for name in names:
            path = (Path(folder) / name).relative_to(ROOT).as_posix()
            is_cpp = path.startswith(CPP_FOLDERS) and name.endswith((".h", ".cc"))
            if is_cpp or name.endswith(".md"):
                # Read as bytes first: reading as text would hide carriage returns.
                files[path] = (ROOT / path).read_bytes().decode("utf-8", "replace")
    return files


def self_test():
    """Returns the examples that the check judges wrongly."""
    body = "  a();\n" * FUNCTION_LINES_MAX
    table = "  {1, 2},\n" * FUNCTION_LINES_MAX
    examples = [
        # (path, text, what the only problem must contain, or None when there is none)
        ("tests/a.h", "// What.\n#pragma once\nint f();\n", None),
        ("tests/a.h", "int f();\n", "tests/a.h:1: a header starts with #pragma once"),
        ("tests/a.h", "#include <new>\n#pragma once\n", "starts with #pragma once"),
        ("tests/a.cc", "//" + "é" * 98 + "\n", None),
        ("tests/a.cc", "\n//" + "x" * 99 + "\n", "tests/a.cc:2: 101 columns"),
        ("tests/a.cc", "\tint a;\n", "no tabs"),
        ("tests/a.cc", "int a; \n", "no space at the end"),
        ("tests/a.cc", "int a;\r\n", "no space at the end"),
        ("tests/a.cc", "using namespace stint;\n", None),
        ("tests/a.h", "#pragma once\nusing namespace std;\n", "no `using namespace`"),
        ("tests/a.cc", "A(const A&) = delete;\nA(A&&) =delete;\n", None),
        ("tests/a.cc", "// A new idea: throw it.\nauto s = \"new delete throw\";\n", None),
        ("tests/a.cc", "auto s = R\"x(\n\"new\" )\" throw\n)x\";\nint n = 1'000 + '\"';\n", None),
        ("tests/a.cc", "#include <new>  // Not new to throw.\n", None),
        ("tests/a.cc", "/* throw\n new */ int new_vm, throws;\n", None),
        ("tests/a.cc", "auto a = new int(1'000'000);\n", "no `new`"),
        ("tests/a.cc", "char q = '\\''; auto p = new A; char r = '\"';\n", "no `new`"),
        ("tests/a.cc", "delete a;\n", "no `delete`"),
        ("tests/a.cc", "delete[] a;\n", "no `delete`"),
        ("tests/a.cc", "throw 1;\n", "no `throw`"),
        ("tests/a.cc", "std::expected<int, int> a;\n", "use Result"),
        ("tests/a.cc", "#include <ranges>\n", "no <ranges>"),
        ("tests/a.cc", "f(std::views::iota(1));\n", "no <ranges>"),
        ("tests/a.cc", "auto s = std::format(\"\");\n", "use fmt"),
        ("tests/a.cc", "#include <nlohmann/json.hpp>\n", "belongs in src/base/json.cc only"),
        ("tests/a.cc", "#include <valijson/validator.hpp>\n", None),
        ("bench/a.cc", "#include <valijson/validator.hpp>\n", "belongs in tests/ only"),
        ("tests/a.cc", "Json json;\nJson::Array list;\n", None),
        ("src/cli/a_test.cc", "Json json;\n", None),
        ("src/cli/a.h", "#pragma once\nJson f(const Json& json);\n", None),
        ("src/cli/a.h", "#pragma once\nJson json;\n", "describe the answer in cli/views"),
        ("src/cli/a.h", "#pragma once\nJson::Array a;\n", "describe the answer in cli/views"),
        ("tests/a.cc", "// TODO(#12): later.\n", None),
        ("tests/a.cc", "// TODO: later.\n", "names its issue"),
        ("tests/a.cc", "int f() {\n" + body + "}\n", "a function of 72 lines"),
        ("tests/a.cc", "namespace a {\nstruct B {\n" + "int f() { return 1; }\n" * 80 + "};\n}\n",
         None),
        ("tests/a.cc", "const int kTable[][2] = {\n" + table + "};\n", None),
        ("tests/a.cc", "namespace a {\n\nA::A(X x = {})\n    : b_{1}, c_{2} {\n" + body + "}\n}\n",
         "tests/a.cc:3: a function of 73 lines"),
        ("tests/a.cc", "TEST(A, B) {\n" + "if (a) { b(); }\n" * 70 + "}\n", "of 72 lines"),
        ("tests/a.cc", "TEST(A, B) {\n" + "if (a) { b(); }\n" * 68 + "}\n", None),
        ("tests/a.h", "#pragma once\nclass A {\n public:\n  int f() {\n" + body + "  }\n};\n",
         "tests/a.h:4: a function of 72 lines"),
        ("tests/a.cc", "int a;\n" * 501, "501 lines"),
        ("src/base/a.cc", "int a;\n", "has no a_test.cc beside it"),
        ("src/base/a_test.cc", "int a;\n", None),
        ("src/base/a_fuzz.cc", "int a;\n", None),
        ("src/cli/main.cc", "int a;\n", None),
        ("docs/a.md", "[b](b.md#c) ![d](../e.png \"f\") [g](http://h) [i](#j) `[k](l)`\n", None),
        ("docs/a.md", "```\n[b](none.md)\n```\n[c]: b.md\n", None),
        ("docs/a.md", "\n[b](none.md)\n", "docs/a.md:2: the link none.md leads to no file"),
        ("docs/a.md", "[b]: none.md\n", "the link none.md"),
        ("docs/a.md", "[b](../../e.png)\n", "leads to no file of the project"),
    ]
    failures = []
    for path, text, expected in examples:
        problems = check({path: text}, {"docs/b.md", "e.png"}.__contains__)
        right = not problems if expected is None else (
            len(problems) == 1 and expected in problems[0])
        if not right:
            failures.append(f"self-test {path} {text[:60]!r}: expected {expected!r}, "
                            f"got {problems}")
    if check({"src/base/a.cc": "", "src/base/a_test.cc": ""}, None):
        failures.append("self-test: a source with its test beside it must pass")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        problems = self_test()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        problems = check(project_files(), lambda path: (ROOT / path).exists())
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
