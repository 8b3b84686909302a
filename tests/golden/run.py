#!/usr/bin/python3
"""Runs golden cases and compares what they print with what is expected.

Usage: run.py STINT_BINARY DIR...

A DIR is a case, or a verb's folder of cases. With GOLDEN_UPDATE=1 expectations are rewritten
instead. See README.md for the files of a case.
"""

import contextlib
import difflib
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "tests/fixtures"  # A case has those whose name its command contains.
# For what hangs: on a busy machine a command may wait for the processor most of the time, and what
# computes for ever is ended by the processor time that it took.
SECONDS_MAX = 3600
LIMITED = ("prlimit", "--cpu=300")
EXIT_SKIPPED = 77  # The SKIP_RETURN_CODE that ctest is told.
# A hint that a case prints, of a verb that only looks; it is pasted after the case.
HINT = re.compile(r"(?:[A-Za-z]: |^  )(stint (?:predict|plan|explain|whatif|validate|interleave|"
                  r"catalog (?:list|show)) .*?)(?:  +\(.*\))?$", re.MULTILINE)
HINT_FAILS = (1, 2, 4, 5, 127)  # It is misspelt, or what it needs is not there.
SANITIZER = re.compile(r"(?:ERROR|WARNING): \w+Sanitizer|runtime error:")

# The only variables a case inherits: they steer sanitizers and coverage, not the program.
INHERITED = ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "GCOV_PREFIX",
             "GCOV_PREFIX_STRIP")


def environment(base, case):
    """Returns the same small world for every machine and user."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | {
        "PATH": f"{base}/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": f"{base}/home",
        "XDG_DATA_HOME": f"{base}/data",
        "XDG_STATE_HOME": f"{base}/state",
        "XDG_CONFIG_HOME": f"{base}/config",
        "TMPDIR": f"{base}/scratch",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "STINT_NOW": "2026-11-15T00:00:00Z",
        "CASE": str(case),
        "SOURCE_ROOT": str(ROOT),
    }


def prepare(base, binary, case):
    """Fills the temporary folder; returns what lies in it before the command runs."""
    for name in ("bin", "home", "scratch", "work"):
        (base / name).mkdir()
    (base / "bin/stint").symlink_to(binary)
    if (case / "files").is_dir():
        shutil.copytree(case / "files", base / "work", symlinks=True, dirs_exist_ok=True)
    command = (case / "command").read_text(encoding="utf-8")
    for fixture in FIXTURES.iterdir():
        if fixture.name in command:
            shutil.copy(fixture, base / "work")
    return set(base.rglob("*"))


def run_command(base, case):
    """Returns the exit code, stdout and stderr of the case's command; None when it hangs."""
    # A session of its own has no terminal, and can be ended whole.
    process = subprocess.Popen(
        [*LIMITED, "bash", str(case / "command")], cwd=base / "work", env=environment(base, case),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True)
    try:
        out, err = process.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    return process.returncode, readable(out, base), readable(err, base)


def failing_hints(base, case, err):
    """Returns what is wrong with the commands that the case printed as hints."""
    if "mounts.sh" in (case / "command").read_text(encoding="utf-8"):
        return []  # What it mounted is gone.
    wrong = []
    for hint in HINT.findall(err.replace("<tmp>", str(base)).replace("<root>", str(ROOT))):
        try:
            pasted = subprocess.run([*LIMITED, "bash", "-c", hint], cwd=base / "work",
                                    env=environment(base, case), stdin=subprocess.DEVNULL,
                                    capture_output=True, timeout=SECONDS_MAX, check=False)
        except subprocess.TimeoutExpired:
            wrong.append(f"the hint '{hint}' took over {SECONDS_MAX} s and was ended")
            continue
        if pasted.returncode in HINT_FAILS or pasted.returncode < 0:
            wrong.append(f"the hint '{hint}' fails: {readable(pasted.stderr, base)}")
    return wrong


def readable(output, base):
    """Returns the text of `output` without the paths that differ between machines."""
    text = output.decode("utf-8", "backslashreplace")
    for path, name in ((base, "<tmp>"), (ROOT, "<root>")):
        text = re.sub(re.escape(str(path)) + r"(?![\w-])", name, text)
    return text if text.endswith("\n") or not text else text + "\n\\ no newline at the end\n"


def left_behind(base, before):
    """Returns the hidden and temporary files that the command made and did not remove."""
    return sorted(str(path.relative_to(base)) for path in set(base.rglob("*")) - before
                  if path.name.startswith(".") or fnmatch.fnmatch(path.name, "*.tmp*"))


def compare(actual, file):
    """Compares `actual` with the file `expected`, or rewrites it; returns the exit code."""
    # Bytes, because reading as text would hide carriage returns.
    expected = file.read_bytes().decode("utf-8", "replace") if file.is_file() else ""
    if actual == expected:
        return 0
    if os.environ.get("GOLDEN_UPDATE") == "1":
        file.write_bytes(actual.encode("utf-8"))
        print(f"rewrote {file}")
        return 0
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "expected", "actual",
                                 lineterm="")
    print(*(line.replace("\r", "\\r") for line in lines), sep="\n")
    print(f"GOLDEN_UPDATE=1 rewrites {file}")
    return 1


def run_case(base, binary, case):
    """Returns the exit code of this script for one case."""
    before = prepare(base, binary, case)
    result = run_command(base, case)
    if result is None:
        print(f"the command took over {SECONDS_MAX} s and was ended")
        return 1
    code, out, err = result
    wrong = failing_hints(base, case, err)
    if wrong:
        print(*wrong, sep="\n")
        return 1
    if SANITIZER.search(out + err):
        print(out + err + "a sanitizer reported an error")
        return 1
    if code == EXIT_SKIPPED and out.startswith("SKIP: "):
        print(out.splitlines()[0])
        return EXIT_SKIPPED
    remains = left_behind(base, before)
    if remains:
        print("the command left behind:", *remains)
    actual = out + (f"--- stderr\n{err}" if err else "") + f"--- exit {code}\n"
    return 1 if remains else compare(actual, case / "expected")


def cases_in(folder):
    """Returns the cases that a folder is or holds."""
    if (folder / "command").is_file():
        return [folder]
    cases = sorted(command.parent for command in folder.glob("*/command"))
    if not cases:
        sys.exit(f"there is no case in {folder}")
    return cases


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    binary = Path(sys.argv[1]).resolve()
    if not binary.is_file():
        sys.exit(f"there is no {binary}")
    codes = []
    for case in (case for name in sys.argv[2:] for case in cases_in(Path(name).resolve())):
        with tempfile.TemporaryDirectory(prefix="stint-golden-") as folder:
            codes.append(run_case(Path(folder).resolve(), binary, case))
        if codes[-1] == 1:
            print(f"FAILED: {case.parent.name}/{case.name}", flush=True)
    failed, skipped = codes.count(1), codes.count(EXIT_SKIPPED)
    print(f"{len(codes) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    if failed:
        return 1
    return EXIT_SKIPPED if skipped == len(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
