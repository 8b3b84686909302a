#!/usr/bin/python3
"""Runs ctest on a build folder, unless the same tests passed on the same files before.

Usage: run_tests.py BUILD_DIR NAME CTEST_ARGUMENT...

The digest of every file of the project, of the environment that tests read and of the tests asked
for is kept in BUILD_DIR/NAME.passed. STINT_TEST_AGAIN=1 runs the tests in any case.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMP = "tools/lint.stamp"  # No test reads it.
VARIABLES = ("STINT_DATA", "STINT_DISASTERS", "STINT_DISASTER_SEED")


def project_files():
    """Returns the tracked and the new files of the project; None where git cannot tell."""
    words = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"]
    try:
        run = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return sorted(os.fsdecode(name) for name in run.stdout.split(b"\0") if name) \
        if run.returncode == 0 else None


def digest_of(arguments):
    """Returns what the outcome of the tests depends on as one digest; None where it is unknown."""
    files = project_files()
    if not files:
        return None
    digest = hashlib.sha256("\n".join(arguments).encode())
    for name in VARIABLES:
        digest.update(f"\n{name}={os.environ.get(name)}".encode())
    for name in files:
        if name == STAMP:
            continue
        path = ROOT / name
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"\n{name} {len(content)}\n".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build, name, arguments = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    passed = build / f"{name}.passed"
    digest = digest_of(arguments)
    known = passed.is_file() and passed.read_text(encoding="utf-8") == digest
    if known and os.environ.get("STINT_TEST_AGAIN") != "1":
        print(f"make {name}: these files passed before; STINT_TEST_AGAIN=1 make {name} runs the "
              "tests again")
        return 0
    passed.unlink(missing_ok=True)
    # The address sanitizer spends a quarter of the time on remembering who allocated what;
    # ASAN_OPTIONS=malloc_context_size=30 tells more of that in a report.
    leaks = f"suppressions={ROOT / 'tests/leaks.txt'}:print_suppressions=0"
    world = {"ASAN_OPTIONS": "malloc_context_size=2:quarantine_size_mb=32", "LSAN_OPTIONS": leaks,
             **os.environ}
    code = subprocess.run(["ctest", "--test-dir", str(build), "--output-on-failure", *arguments],
                          check=False, env=world).returncode
    if code == 0 and digest:
        passed.write_text(digest, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
