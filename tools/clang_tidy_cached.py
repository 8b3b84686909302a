#!/usr/bin/python3
"""Runs clang-tidy on the sources of a build folder, skipping those that passed unchanged before.

Usage: clang_tidy_cached.py BUILD_DIR [--jobs N] [--stamp FILE [--all]]

FILE names the last commit whose sources all passed. Only sources that changed since then, or whose
header did, are checked; all of them with --all, or where git does not know the commit. When all
pass and nothing is uncommitted, FILE names the current commit.
"""

import argparse
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from source_batches import batches_of

ROOT = Path(__file__).resolve().parent.parent
SECONDS_MAX = 300  # For one file; the slowest takes a few seconds.
COMPILER = re.compile(r"(?:.*/)?(?:c\+\+|g\+\+|clang\+\+)(?:-\d+)?")
INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
BATCH_LINES = 4000
FINDING = re.compile(r"^[^:\n]+:\d+:\d+: (?:warning|error): .*$", re.M)

# Options of g++ that clang does not know, by how they begin. All -W options go too: compiler
# warnings are g++'s business, and clang has other ones under the same names.
GCC_ONLY = (
    "-W", "-fanalyzer", "-fconcepts-diagnostics-depth", "-fdeps-format", "-ffat-lto-objects",
    "-fno-fat-lto-objects", "-fmodule-mapper", "-fmodules-ts", "-fno-gnu-unique",
    "-fno-var-tracking", "-fvar-tracking", "-fpch-", "-fcondition-coverage", "-fprofile-abs-path",
    "-fprofile-update", "-fdiagnostics-color", "-fdiagnostics-all-candidates", "-fhardened",
)


def filtered(arguments):
    """Returns a g++ command line as clang understands it, without the precompiled header."""
    compiler = next(i for i, argument in enumerate(arguments) if COMPILER.fullmatch(argument))
    kept = []
    rest = iter(arguments[compiler:])  # The words before it, such as ccache, only launch it.
    for argument in rest:
        if argument == "-include":
            header = next(rest)
            if not header.endswith("cmake_pch.hxx"):
                kept += [argument, header]
        elif argument == "-Xclang":
            value = next(rest)
            if not value.startswith(("-include", "-emit-pch")) and "cmake_pch" not in value:
                kept += [argument, value]
        elif not argument.startswith(GCC_ONLY) or argument.startswith(("-Wp,", "-Wl,")):
            kept.append(argument)
    return kept


def compiled_files(file):
    """Returns the sources that a batch of several includes; the file itself where it is none."""
    if file.suffix != ".cxx":
        return [file]
    return [Path(name.decode()).resolve() for name in INCLUDE.findall(file.read_bytes())]


def read_commands(build):
    """Returns {source file: its entry with filtered arguments} for the sources to check."""
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = entry.get("arguments") or shlex.split(entry["command"])
        for file in compiled_files(Path(entry["directory"], entry["file"]).resolve()):
            tested = not file.name.endswith(("_test.cc", "_fuzz.cc"))
            if file.is_relative_to(ROOT / "src") and file.suffix == ".cc" and tested:
                # A command ends with what it compiles.
                arguments = [*filtered(words)[:-1], str(file)]
                entries.setdefault(file, {"directory": entry["directory"], "file": str(file),
                                          "arguments": arguments})
    return entries


def include_folders(entry):
    """Returns the folders of the project, generated ones among them, that the command searches."""
    folders = []
    arguments = iter(entry["arguments"])
    for argument in arguments:
        for option in ("-I", "-isystem", "-iquote"):
            if argument.startswith(option):
                name = argument[len(option):] or next(arguments)
                folders.append(Path(entry["directory"], name).resolve())
    return [folder for folder in folders if folder.is_relative_to(ROOT)]


def reached_files(file, folders, cache):
    """Returns the file and every header of the project that it includes, directly or not."""
    reached, waiting = set(), [file]
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        reached.add(path)
        if path not in cache:
            cache[path] = path.read_bytes()
        for name in INCLUDE.findall(cache[path]):
            name = name.decode("utf-8", "replace")
            places = (folder / name for folder in (path.parent, *folders))
            waiting += [place.resolve() for place in places if place.is_file()][:1]
    return sorted(reached)


def key_of(entry, common, cache):
    """Returns the digest of everything that the verdict on one source depends on."""
    digest = hashlib.sha256(common)
    digest.update(json.dumps(entry, sort_keys=True).encode())
    for path in reached_files(Path(entry["file"]), include_folders(entry), cache):
        digest.update(f"\n{path}\n{len(cache[path])}\n".encode() + cache[path])
    return digest.hexdigest()


def passes_together(program, folder, index, group, entries):
    """Whether the group passes as one source. If not, the reason may be the grouping."""
    batch = folder / f"batch{index}"
    batch.mkdir(exist_ok=True)
    source = batch / "batch.cc"
    source.write_text("".join(f'#include "{file}"\n' for file in group), encoding="utf-8")
    arguments = []
    for file in group:
        arguments += [it for it in entries[file]["arguments"][1:]
                      if it.startswith(("-I", "-D", "-std=")) and it not in arguments]
    entry = {"directory": str(batch), "file": str(source),
             "arguments": ["c++", *arguments, "-c", str(source)]}
    (batch / "compile_commands.json").write_text(json.dumps([entry]), encoding="utf-8")
    return not tidy(program, batch, source, ["--checks=-bugprone-suspicious-include"])


def tidy(program, folder, file, more=()):
    """Returns the findings in one source, as a list of lines; empty when it passes."""
    command = [program, "--quiet", "-p", str(folder), f"--config-file={ROOT / '.clang-tidy'}",
               *more, str(file)]
    name = file.relative_to(ROOT)
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace",
                             timeout=SECONDS_MAX, cwd=ROOT, check=False)
    except subprocess.TimeoutExpired:
        return [f"{name}: clang-tidy took over {SECONDS_MAX} s"]
    output = run.stdout.replace(f"{ROOT}/", "").replace(",-warnings-as-errors]", "]")
    findings = FINDING.findall(output)
    if run.returncode != 0 and not findings:
        last = (run.stderr.strip() or run.stdout.strip()).splitlines()[-5:]
        return [f"{name}: clang-tidy failed with exit {run.returncode}", *last]
    return findings


def git(*words):
    """Returns the lines that a git command prints; None where it fails."""
    run = subprocess.run(["git", "-c", f"safe.directory={ROOT}", *words], capture_output=True,
                         text=True, cwd=ROOT, check=False) if shutil.which("git") else None
    return None if run is None or run.returncode != 0 else run.stdout.splitlines()


def changed_since(stamp):
    """Returns the names without endings of the files that changed since the commit of `stamp`,
    committed or not; None where git does not know."""
    commit = stamp.read_text(encoding="utf-8").split()[:1] if stamp.is_file() else []
    changed = git("diff", "--name-only", *commit, "--") if commit else None
    others = git("ls-files", "--others", "--exclude-standard")
    if changed is None or others is None:
        return None
    return {ROOT / Path(name).with_suffix("") for name in changed + others}


def renew(stamp):
    """Names the current commit in the stamp, unless something else is uncommitted."""
    name = str(stamp.resolve().relative_to(ROOT))
    status, head = git("status", "--porcelain"), git("rev-parse", "HEAD")
    if status is None or not head:
        return
    if all(line[3:] == name for line in status):
        stamp.write_text(head[0] + "\n", encoding="utf-8")


def check(program, build, jobs, stems):
    """Returns all findings, each once, and remembers which sources passed."""
    entries = read_commands(build)
    if not entries:  # For example of a checkout that was configured under another path.
        return [f"{build / 'compile_commands.json'} names no source under {ROOT / 'src'}"]
    if stems is not None and ROOT / ".clang-tidy" not in stems:
        entries = {file: entry for file, entry in entries.items() if file.with_suffix("") in stems}
        if not entries:
            return []
    folder, passed = build / "tidy", build / "tidy-cache"
    folder.mkdir(exist_ok=True)
    passed.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(list(entries.values()), indent=1),
                                                  encoding="utf-8")
    version = subprocess.run([program, "--version"], capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes()
    cache = {}
    keys = {file: key_of(entry, common, cache) for file, entry in entries.items()}

    # One small file per source, which holds the key under which it last passed.
    def mark(file):
        return passed / str(file.relative_to(ROOT)).replace("/", "-")

    def judge(batch):
        index, group = batch
        together = len(group) > 1 and passes_together(program, folder, index, group, entries)
        findings = {file: [] if together else tidy(program, folder, file) for file in group}
        for file in group:
            if not findings[file]:
                mark(file).write_text(keys[file], encoding="utf-8")
        return [line for lines in findings.values() for line in lines]

    changed = [file for file in sorted(keys)
               if not mark(file).is_file() or mark(file).read_text(encoding="utf-8") != keys[file]]
    with ThreadPoolExecutor(jobs) as pool:
        batches = enumerate(batches_of(changed, BATCH_LINES))
        findings = [line for lines in pool.map(judge, batches) for line in lines]
    return list(dict.fromkeys(findings))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", metavar="BUILD_DIR", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stamp", type=Path, metavar="FILE")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    program = shutil.which("clang-tidy") or shutil.which("clang-tidy-14")
    if not program:
        print("clang-tidy is not installed; tools/ensure_packages.sh lint installs it",
              file=sys.stderr)
        sys.exit(5)
    if not (build / "compile_commands.json").is_file():
        print(f"{build} has no compile_commands.json; configure it with cmake first",
              file=sys.stderr)
        sys.exit(1)
    stems = changed_since(options.stamp) if options.stamp and not options.all else None
    findings = check(program, build, options.jobs, stems)
    print(*findings, sep="\n", end="\n" if findings else "")
    if options.stamp and not findings:
        renew(options.stamp)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
