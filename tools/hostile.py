#!/usr/bin/python3
"""Runs hostile commands and checks that each ends soon, small, without a signal and with sense.

Usage: hostile.py STINT [--table FILE] [--sanitized] [--only TEXT] [--smoke]

The commands are the lines of tests/hostile/cases.txt, each after the exit codes it may have. Each
runs in a folder and a home of its own, beside the same wrong files (see make_inputs). No command
may take longer than 5 s or more than 1 GB, end by a signal, or print "inf" or "nan" with exit
code 0. --table writes docs/measured/hostile.md. --sanitized raises the limits for a build with
sanitizers, and --smoke runs those that an audit found and every eighth of the others.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests/hostile/cases.txt"
SECONDS_MAX = 5
MEMORY_MAX = 1e9
SANITIZED = 8  # A sanitized build takes up to so many times as long and as much,
BUSY = 8  # and on a busy machine even longer: in the tests the limit is for hangs only.
SHOWN_MAX = 110  # Characters of a command in the table.

NONSENSE = re.compile(r"(?<![\w/.-])[-+]?(?:inf|nan)(?![\w/.-])", re.IGNORECASE)
SENTENCE = re.compile(r"^(?:stint|Usage)", re.MULTILINE)
BROKEN = re.compile(r"CHECK failed|runtime error:|\w+Sanitizer|terminate called|core dumped")

# Prints a JSON file with some members changed: made job.json batch.max=1000000 noise=null
MADE = """#!/usr/bin/python3
import json, sys
document = json.load(open(sys.argv[1]))
for change in sys.argv[2:]:
    path, _, value = change.partition("=")
    place, *keys = document, *path.split(".")
    for key in keys[:-1]:
        place = place[int(key) if isinstance(place, list) else key]
    last = int(keys[-1]) if isinstance(place, list) else keys[-1]
    try:
        place[last] = json.loads(value)
    except ValueError:
        place[last] = value
json.dump(document, sys.stdout)
"""


# Interrupts a command that has begun, and exits as a shell would; 1 when it takes over a second.
INTERRUPTED = """#!/usr/bin/python3
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)  # Whatever this one inherited.
process = subprocess.Popen(sys.argv[1:])
time.sleep(0.7)
process.send_signal(signal.SIGINT)
began = time.monotonic()
code = process.wait()
sys.exit("it went on") if time.monotonic() - began > 1 else sys.exit(code if code >= 0 else 128 - code)
"""


@dataclass
class Case:
    """A command, and the exit codes it may have."""
    group: str
    exits: frozenset
    command: str


@dataclass
class Outcome:
    """How a command ended."""
    case: Case
    code: int
    seconds: float
    peak: float
    wrong: list
    said: str


def read_cases(path):
    """Returns the cases of the file; `*` stands for every documented exit code."""
    cases, group = [], ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# "):
            group = line[2:]
        if not line.strip() or line.startswith("#"):
            continue
        exits, _, command = line.partition(" ")
        if not re.fullmatch(r"\*|\d+(\|\d+)*", exits):
            sys.exit(f"{path}:{number}: no exit codes before the command")
        codes = range(7) if exits == "*" else map(int, exits.split("|"))
        cases.append(Case(group, frozenset(codes), command.strip()))
    return cases


def buckets_of(job, count):
    """Returns the job with so many buckets of gradients."""
    buckets = [{"bytes": "1 B", "ready": i / count} for i in range(count)]
    return json.loads(job) | {"buckets": buckets}


def make_inputs(folder):
    """Writes the wrong files, and the right ones that the commands change."""
    job = (ROOT / "tests/fixtures/example-resnet50.json").read_text(encoding="utf-8")
    plan = (ROOT / "tests/golden/risk/simulate/files/plan.json").read_text(encoding="utf-8")
    pool = {"metadata": {"gap_seconds": 300}, "data": [2, 2, 1, 0, 1, 2, 2, 2, 0, 0, 1, 2] * 40}
    files = {
        "job.json": job,
        "plan.json": plan,
        "pool.json": json.dumps(pool),
        "catalog.json": (ROOT / "data/catalog/local.json").read_text(encoding="utf-8"),
        "cut.json": job[: len(job) // 2],
        "empty.json": "",
        "blank.json": " \n",
        "null.json": "null",
        "list.json": "[]",
        "word.json": "stint",
        "mark.json": "\ufeff" + job,
        "deep.json": "[" * 100000,
        "twice.json": '{"schema": "stint.job/1", "schema": "stint.job/1"}',
        "other.json": job.replace("stint.job/1", "stint.job/999"),
        "zeros.json": "[" + "0," * 20_000_000 + "0]",
        "long.json": '{"schema": "stint.job/1", "name": "' + "x" * 20_000_000 + '"}',
        "keys.json": "{" + ",".join(f'"k{i}":0' for i in range(1_900_000)) + "}",
        "lists.json": "[" + ",".join(["[0]"] * 900_000) + "]",
        "cells.csv": "time_s,running_instances\n" + ",\n" * 5_000_000,
        "ticks.csv": "time_s,running_instances\n"
                     + "".join(f"{i * 300},{i % 3}\n" for i in range(500_000)),
        "hole.csv": "time_s,running_instances\n0,1\n300,2\n1e300,1\n",
        "lives.csv": "machine_type,zone,lifetime_s,preempted\na,b,1e308,1\na,b,1e-300,1\n",
        "lines.jsonl": "{}\n" * 600_000,
        "buckets.json": json.dumps(buckets_of(job, 50_000)),
        "many.json": json.dumps(buckets_of(job, 4_000)),
        "quote.csv": 'a,b\n"open,1\n',
        "table.csv": (ROOT / "tests/golden/validate/leave_one_job_out/files/table.csv").read_text(
            encoding="utf-8"),
        "names.csv": "a,a\n1,2\n",
        "größe – ünï.json": job,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "bytes.json").write_bytes(bytes(range(256)) * 64)
    (folder / "latin.json").write_bytes(job.replace("example", "ex\u00e4mple").encode("latin-1"))
    (folder / "large.json").touch()
    os.truncate(folder / "large.json", 300 << 20)  # Sparse.


def make_nodes(folder):
    """Makes what is no regular file; returns whether devices could be made and opened."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "link").symlink_to("target.json")
    (folder / "loop").symlink_to("loop")
    with contextlib.suppress(PermissionError):
        os.mknod(folder / "null", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        os.mknod(folder / "disk", stat.S_IFBLK | 0o600, os.makedev(1, 15))
        with open(folder / "null", "wb"):
            return True
    return False


def environment(base):
    """Returns the same small world for every machine and user."""
    inherited = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    return inherited | {
        "PATH": f"{base.parent}/bin:/usr/bin:/bin", "HOME": f"{base}", "TMPDIR": f"{base}",
        "XDG_DATA_HOME": f"{base}/.data", "XDG_STATE_HOME": f"{base}/.state",
        "XDG_CONFIG_HOME": f"{base}/.config", "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "100",
        "STINT_NOW": "2026-11-15T00:00:00Z", "ROOT": str(ROOT)}


def size_of(pid):
    """Returns the bytes that the process holds, so that it is ended before it takes the machine."""
    with contextlib.suppress(OSError, IndexError):
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * resource.getpagesize()
    return 0


def run(case, base, scale, patience):
    """Runs the command in its own folder and measures it."""
    base.mkdir()
    for path in (base.parent / "inputs").iterdir():
        (base / path.name).symlink_to(path)
    make_nodes(base)
    with open(base / ".out", "wb") as out, open(base / ".err", "wb") as err:
        began = time.monotonic()
        process = subprocess.Popen(["bash", "-c", case.command], cwd=base, env=environment(base),
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)
        late = False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            seconds = time.monotonic() - began
            if pid != 0:
                break
            if not late and (seconds > patience or size_of(process.pid) > 4e9):
                late = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.01 if seconds < 1 else 0.1)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = [(base / name).read_bytes()[:1 << 22].decode("utf-8", "replace")
            for name in (".out", ".err")]
    shutil.rmtree(base)
    return judged(case, process.returncode, (seconds, usage.ru_maxrss * 1024.0),
                  said, late, scale)


def judged(case, code, figures, said, late, scale):
    """Returns the outcome with what is wrong with it."""
    seconds, peak = figures
    wrong = []
    if late:
        wrong.append(f"was ended after {seconds:.0f} s")
    elif code < 0 or (code > 127 and code not in case.exits):
        wrong.append(f"ended by a signal ({code})")
    elif code not in case.exits:
        wrong.append(f"exit {code} instead of {'|'.join(map(str, sorted(case.exits)))}")
    if peak > MEMORY_MAX * scale:
        wrong.append(f"took {peak / 1e6:.0f} MB")
    if code == 0 and NONSENSE.search(said[0]):
        wrong.append("nonsense: " + NONSENSE.search(said[0]).group())
    if BROKEN.search(said[1]):
        wrong.append("broken: " + BROKEN.search(said[1]).group())
    if code in range(1, 7) and not late and not SENTENCE.search(said[1]):
        wrong.append("no sentence about the error")
    return Outcome(case, code, seconds, peak, wrong, said[1].strip())


def table(outcomes, version):
    """Returns the page of all outcomes."""
    slowest = max(outcomes, key=lambda it: it.seconds)
    largest = max(outcomes, key=lambda it: it.peak)
    lines = [
        "# Hostile commands", "",
        f"Written by `tools/hostile.py build/release/stint --table docs/measured/hostile.md` "
        f"({version}). Each command of [tests/hostile/cases.txt](../../tests/hostile/cases.txt) "
        f"ran once, in a home of its own, {os.cpu_count()} at a time; memory is the peak of the "
        f"largest process.", "",
        f"{len(outcomes)} commands, {sum(1 for it in outcomes if it.wrong)} broke a rule. None may "
        f"take over {SECONDS_MAX} s or 1 GB, end by a signal, or print \"inf\" or \"nan\" with "
        f"exit code 0. The slowest took {slowest.seconds:.1f} s, the largest "
        f"{largest.peak / 1e6:.0f} MB.", ""]
    group = None
    for it in outcomes:
        if it.case.group != group:
            group = it.case.group
            lines += [f"## {group}", "", "| command | exit | s | MB |", "|---|---|---|---|"]
        shown = it.case.command
        if len(shown) > SHOWN_MAX:
            shown = shown[:SHOWN_MAX - 1] + "…"
        shown = shown.replace("|", "\\|").replace("`", "'")
        lines.append(f"| `{shown}` | {it.code} | {it.seconds:.2f} | {it.peak / 1e6:.0f} |")
        if it.wrong:
            lines[-1] = lines[-1].replace(f"| {it.code} |", f"| **{it.code}: {it.wrong[0]}** |")
    text = "\n".join(lines) + "\n"
    return text.replace("\n## ", "\n\n## ").replace("\n\n\n", "\n\n")


def tell(it):
    """Prints an outcome."""
    print(f"{'; '.join(it.wrong) or 'fine'}: exit {it.code}, {it.seconds:.2f} s, "
          f"{it.peak / 1e6:.0f} MB: {it.case.command[:200]}\n    {it.said[:300]}", flush=True)


def main():
    """Runs the cases; exits with 1 when one breaks a rule."""
    parser = argparse.ArgumentParser()
    parser.add_argument("stint", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    cases = [case for case in read_cases(CASES) if options.only in case.command]
    if options.smoke:
        found = [case for case in cases if case.group == cases[0].group]
        cases = found + cases[len(found)::8]
    scale = SANITIZED if options.sanitized else 1
    patience = SECONDS_MAX * (SANITIZED * BUSY if options.sanitized else 1)
    with tempfile.TemporaryDirectory(prefix="stint-hostile-") as folder:
        base = Path(folder)
        (base / "bin").mkdir()
        (base / "bin/stint").symlink_to(options.stint.resolve())
        for name, text in {"made": MADE, "interrupted": INTERRUPTED}.items():
            (base / "bin" / name).write_text(text, encoding="utf-8")
            (base / "bin" / name).chmod(0o755)
        (base / "inputs").mkdir()
        # In a process of its own: its memory would count as that of every command started later.
        maker = multiprocessing.Process(target=make_inputs, args=(base / "inputs",))
        maker.start()
        maker.join()
        (base / "probe").mkdir()
        if not make_nodes(base / "probe"):
            print("No device can be made here: commands with one are left out.")
            cases = [case for case in cases if not re.search(r" (null|disk)( |$)", case.command)]
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        outcomes = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for it in pool.map(lambda it: run(it[1], base / f"case{it[0]}", scale, patience),
                               enumerate(cases)):
                outcomes.append(it)
                if it.wrong or options.verbose:
                    tell(it)
    broken = sum(1 for it in outcomes if it.wrong)
    print(f"{len(outcomes)} hostile commands, {broken} broke a rule; at most "
          f"{max(it.seconds for it in outcomes):.1f} s and "
          f"{max(it.peak for it in outcomes) / 1e6:.0f} MB")
    if options.table:
        version = subprocess.run([options.stint, "version"], capture_output=True, text=True,
                                 check=True).stdout.splitlines()[0]
        options.table.write_text(table(outcomes, version), encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
