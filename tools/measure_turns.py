#!/usr/bin/python3
"""Measures two jobs that share the emulated cloud in turns, predictions first.

Usage: measure_turns.py STINT [--only PART] [--case TEXT] [--out FOLDER]
                             [--estimate | --predict | --again]

same     Two equal jobs on 2, 3 and 4 VMs, whose communication takes 0.25 to 2 times their computing:
         one after the other without and with DDP's overlap, sharing freely, and in turns of both
         modes.
unequal  A job beside one that takes two and three times as long, and beside one that sends three
         times as much, in the rhythm that Stint chooses.
fresh    The same with other jobs and sizes.
drawn    The same with times and sizes drawn at random.

What `stint interleave` says of all cases that are left is written to FOLDER/predictions.jsonl first.
Each part then writes a line of JSON for each case to FOLDER/PART.jsonl, with the makespan of each
arrangement from the common start of both jobs until their last worker is done, and prints a table.
Cases that are in the file already are not run again. `tools/make_turns_doc.py` makes the page of
them. What is left to do is printed first; --estimate prints nothing else. --again asks Stint once
more about cases that were measured, and writes what it says now to FOLDER/again.jsonl.

Compute is paced: nothing is computed, the turnstiles, DistributedDataParallel, Gloo and the network
are real. A case has one set of workers for all its arrangements and repeats. Nothing else may run on
the computer meanwhile. Needs root, for namespaces.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "python")]
from measure_runs import read_lines, row  # noqa: E402
from stint.pace import usual_buckets  # noqa: E402
from turns_worker import BATCH  # noqa: E402

OUT = ROOT / "data/measurements/turns"
PYTHON = "/usr/bin/python3"

KIND, RATE = "local.large", 500e6  # Bits per second.
PAYLOAD = 0.9564  # TCP payload's share of an Ethernet frame.
SIZES = (2, 3, 4)
# By the ratio of equal jobs: seconds of computing and communication, and iterations. They are longer
# where there is little to send, so that it is more than DDP's first bucket.
RATIOS = {0.25: (0.2, 12), 0.5: (0.16, 15), 1: (0.12, 20), 1.5: (0.12, 20), 2: (0.12, 20)}
ROUNDS = 16  # Of unequal jobs.
REPEATS = 5
SECONDS_MAX = 600  # For one case.
# Computing and communication of both jobs in seconds, and iterations in a round.
UNEQUAL = {"2 : 1": ((0.04, 0.04), (0.08, 0.08), (2, 1)),
           "3 : 1": ((0.03, 0.03), (0.09, 0.09), (3, 1)),
           "bytes 1 : 3": ((0.06, 0.03), (0.06, 0.09), (1, 1))}
UNEQUAL_SIZES = (2, 4)
# Cases that were first run when the law of the NIC was settled.
FRESH = {"3 VMs, 2 : 1": (3, *UNEQUAL["2 : 1"]),
         "3 VMs, 3 : 1": (3, *UNEQUAL["3 : 1"]),
         "3 VMs, bytes 1 : 3": (3, *UNEQUAL["bytes 1 : 3"]),
         "2 VMs, 3 : 2": (2, (0.05, 0.07), (0.09, 0.09), (3, 2)),
         "4 VMs, 3 : 2": (4, (0.05, 0.07), (0.09, 0.09), (3, 2)),
         "2 VMs, computing 1 : 3": (2, (0.03, 0.07), (0.09, 0.07), (1, 1)),
         "4 VMs, bytes 2 : 1": (4, (0.05, 0.10), (0.05, 0.05), (1, 1))}
# Cases that were drawn when the rates of streams through a NIC were known to follow their windows.
DRAWN_SEED, DRAWN_COUNT = 2026, 14
DRAWN = (20, 30, 45, 65, 95, 140)  # Computing or communication, in milliseconds.
PATIENCE = 1.2  # Rounds, as runs that share have it.
MIDDLE = (0.2, 0.9)  # Of the rounds, between which the period is measured.

# For equal jobs: the mode of the turnstile, and whether both train. A job alone shares no turns.
ARRANGEMENTS = {"plain": ("whole", False), "overlap": ("bucket", False), "freely": ("free", True),
                "whole": ("whole", True), "bucket": ("bucket", True)}
MODES = {"overlap": "separately", "freely": "freely", "whole": "whole", "bucket": "bucket"}

# For the estimate only, in seconds.
START_UP = 4  # Of a worker, on one core.
PAUSE = 0.25  # Between two segments.


# What is trained.

def gradient_bytes(vms, seconds):
    """The bytes whose ring all-reduce takes this long."""
    return int(seconds * PAYLOAD * RATE / 8 * vms / (2 * (vms - 1))) // 4 * 4


def profile(name, compute, size):
    """A paced job with DDP's buckets; a third of its computing is forward."""
    return {"schema": "stint.job/1", "name": name, "gradient_bytes": f"{size} B",
            "parameter_bytes": f"{size} B",
            "buckets": [{"bytes": f"{part} B", "ready": round(ready, 4)}
                        for part, ready in usual_buckets(size)],
            "compute": [{"device": "Local-1x", "batch_per_worker": BATCH,
                         "forward": {"median": f"{compute / 3 * 1e3:.3f} ms"},
                         "backward": {"median": f"{compute * 2 / 3 * 1e3:.3f} ms"},
                         "update": {"median": "0.1 ms"}}],
            "samples_per_epoch": 50000, "batch": {"reference": BATCH}, "goal": {"epochs": 1}}


def computing(job):
    """Seconds for which a turn is held."""
    parts = job["compute"][0]
    return sum(float(parts[part]["median"].split()[0]) for part in ("forward", "backward")) / 1e3


def interleave(stint, cluster, jobs, iterations):
    """Stint's prediction for two jobs."""
    with tempfile.TemporaryDirectory(prefix="stint-turns-") as folder:
        paths = []
        for job in jobs:
            paths.append(os.path.join(folder, f"{job['name']}.json"))
            Path(paths[-1]).write_text(json.dumps(job), encoding="utf-8")
        said = subprocess.run(
            [stint, "interleave", "--jobs", *paths, "--cluster", cluster, "--batch-per-worker",
             str(BATCH), "--iterations", ",".join(map(str, iterations)), "-o", "json"],
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=120)
    return json.loads(said.stdout)["considered"][0]


def options_of(said):
    """The predictions by mode."""
    return {one["mode"]: one for one in said["options"]}


def synchronisation(stint, cluster, job):
    """Stint's prediction of the communication after backward, in seconds."""
    said = options_of(interleave(stint, cluster, [job, dict(job, name="b")], (1, 1)))["separately"]
    return said["time_s"] * said["speedup_without_overlap"] / 2 - computing(job) - 1e-4


# The parts list their cases by name, and what Stint is asked of each.

def same_cases():
    return {f"{vms} VMs, {ratio}": (vms, ratio) for vms in SIZES for ratio in RATIOS}


def same_question(stint, case):
    """Bytes by the formula of a ring; computing so that Stint's own communication has the ratio."""
    vms, ratio = case
    cluster = f"{vms}x {KIND}"
    seconds, iterations = RATIOS[ratio]
    size = gradient_bytes(vms, seconds * ratio / (1 + ratio))
    draft = profile("a", seconds / (1 + ratio), size)
    job = profile("a", synchronisation(stint, cluster, draft) / ratio, size)
    return cluster, [job, dict(job, name="b")], (iterations, iterations)


def unequal_cases():
    return {f"{vms} VMs, {name}": (vms, name) for vms in UNEQUAL_SIZES for name in UNEQUAL}


def unequal_question(_stint, case):
    vms, name = case
    *parts, iterations = UNEQUAL[name]
    jobs = [profile(job, compute, gradient_bytes(vms, sync))
            for job, (compute, sync) in zip("ab", parts)]
    return f"{vms}x {KIND}", jobs, tuple(ROUNDS * one for one in iterations)


def fresh_cases():
    return FRESH


def drawn_cases():
    """Computing and communication of both jobs, each drawn from DRAWN. A job does as many
    iterations to one of the other as it is shorter, alone and without overlap."""
    chance = random.Random(DRAWN_SEED)
    cases = {}
    for number in range(DRAWN_COUNT):
        times = [chance.choice(DRAWN) for _ in range(4)]
        alone = sum(times[:2]), sum(times[2:])
        iterations = tuple(max(1, round(max(alone) / one)) for one in alone)
        parts = [tuple(one / 1e3 for one in times[k:k + 2]) for k in (0, 2)]
        vms = SIZES[number % len(SIZES)]
        name = f"{vms} VMs, {times[0]} + {times[1]} and {times[2]} + {times[3]} ms"
        cases[name] = (vms, *parts, iterations)
    return cases


def unlike_question(_stint, case):
    vms, *parts, iterations = case
    jobs = [profile(job, compute, gradient_bytes(vms, sync))
            for job, (compute, sync) in zip("ab", parts)]
    return f"{vms}x {KIND}", jobs, tuple(ROUNDS * one for one in iterations)


def ask(stint, part, case):
    """A line of the predictions."""
    cluster, jobs, iterations = PARTS[part][1](stint, case)
    return {"cluster": cluster, "jobs": jobs, "iterations": iterations,
            "interleave": interleave(stint, cluster, jobs, iterations)}


# Segments with the name of their arrangement.

def alone_segment(name, mode, job, iterations):
    return {"arrangement": name, "mode": mode, "jobs": {job: iterations}, "shares": [1],
            "patience_s": 0.0}


def patience(option):
    """Seconds for which others wait for a job whose turn it is."""
    return PATIENCE * option["period_s"]


def same_segments(asked):
    found = [alone_segment("warm-up", "whole", job, 3) for job in "ab"]
    for _ in range(REPEATS):
        for name, (mode, both) in ARRANGEMENTS.items():
            jobs = dict(zip("ab", asked["iterations"]))
            if both:
                option = options_of(asked["interleave"])[MODES[name]]
                found.append({"arrangement": name, "mode": mode, "jobs": jobs, "shares": [1, 1],
                              "patience_s": 0.0 if mode == "free" else patience(option)})
            else:
                found += [alone_segment(name, mode, job, count) for job, count in jobs.items()]
    return found


def unequal_segments(asked):
    found = [alone_segment("warm-up", "whole", job, 3) for job in "ab"]
    for _ in range(REPEATS):
        for mode in ("whole", "bucket"):
            option = options_of(asked["interleave"]).get(mode)
            if option:
                found.append({"arrangement": mode, "mode": mode, "shares": option["turns"],
                              "jobs": dict(zip("ab", asked["iterations"])),
                              "patience_s": patience(option)})
    return found


def seconds_of(part):
    """The approximate time of a case."""
    if part == "same":
        seconds, iterations = RATIOS[1]
        return REPEATS * (2 * iterations * seconds * 3.9 + 7 * PAUSE) + 12
    return REPEATS * 2 * (ROUNDS * (0.27 if part == "drawn" else 0.18) + PAUSE) + 12


# Measuring.

def play(stint, asked, segments):
    """Runs the segments; returns for each its makespan and the ends of each worker's iterations."""
    name = f"turns-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="stint-turns-", dir="/dev/shm") as place:
        folder = Path(place)
        for job in asked["jobs"]:
            (folder / f"{job['name']}.json").write_text(json.dumps(job), encoding="utf-8")
        ports = {job["name"]: 29510 + number for number, job in enumerate(asked["jobs"])}
        (folder / "plan.json").write_text(json.dumps({"ports": ports, "segments": segments}),
                                          encoding="utf-8")
        subprocess.run([stint, "local", "up", "-q", "--cluster", asked["cluster"], "--name", name],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)
        workers = []
        try:
            workers += [start(stint, name, folder, job) for job in ports]
            wait_for(workers)
            return [read_segment(folder, number) for number in range(len(segments))]
        finally:
            subprocess.run([stint, "local", "down", "-q", "--name", name], check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)
            for worker in workers:
                worker.wait(timeout=60)


def start(stint, name, folder, job):
    """Starts a job's workers, one on each VM."""
    library = os.environ.get("STINT_TURNSTILE_LIBRARY",
                             str(Path(stint).resolve().parent
                                 / "generated/python/stint/libstint_turnstile.so"))
    words = [f"PYTHONPATH={ROOT / 'python'}", f"STINT_TURNSTILE_LIBRARY={library}",
             "OMP_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1"]
    return subprocess.Popen([stint, "local", "exec", "--name", name, "--", "env", *words, PYTHON,
                             str(ROOT / "tools/turns_worker.py"), str(folder), job],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def wait_for(workers):
    """Waits until all have ended, or one has failed, for which the others would wait."""
    deadline = time.monotonic() + SECONDS_MAX
    while any(worker.poll() is None for worker in workers):
        if any(worker.poll() for worker in workers):
            raise RuntimeError("a worker failed")
        if time.monotonic() > deadline:
            raise RuntimeError(f"workers were not done within {SECONDS_MAX} s")
        time.sleep(0.2)
    if any(worker.returncode for worker in workers):
        raise RuntimeError("a worker failed")


def read_segment(folder, number):
    """The results that the workers have written."""
    every = {path.name.split(".")[2]: [] for path in folder.glob(f"end.{number}.*")}
    for path in sorted(folder.glob(f"end.{number}.*")):
        every[path.name.split(".")[2]].append(json.loads(path.read_text(encoding="utf-8")))
    begin = min(one["start"] for job in every.values() for one in job)
    last = {job: [max(ends) - begin for ends in zip(*(one["ends"] for one in workers))]
            for job, workers in every.items()}
    return {"makespan_s": max(ends[-1] for ends in last.values()), "ends_s": last}


def period(ends, turns):
    """Seconds of a round, by the job with the fewest turns, in the middle of the time in which both
    jobs train."""
    by_job = dict(zip(sorted(ends), turns))
    rounds = min(len(ends[job]) // count for job, count in by_job.items())
    job, count = min(by_job.items(), key=lambda one: one[1])
    low, high = (int(share * rounds) for share in MIDDLE)
    return (ends[job][high * count] - ends[job][low * count]) / (high - low)


def facts_of(segments, played):
    """By arrangement: makespans of the repeats, those of sequential jobs added up, and periods
    where both jobs train."""
    found = {}
    for segment, one in zip(segments, played):
        if segment["arrangement"] == "warm-up":
            continue
        facts = found.setdefault(segment["arrangement"], {"makespan_s": [], "period_s": []})
        if len(segment["jobs"]) == 1 and "b" in segment["jobs"]:
            facts["makespan_s"][-1] = round(facts["makespan_s"][-1] + one["makespan_s"], 6)
            continue
        facts["makespan_s"].append(round(one["makespan_s"], 6))
        if len(segment["jobs"]) > 1:
            facts["period_s"].append(round(period(one["ends_s"], segment["shares"]), 6))
            facts["turns"] = segment["shares"]
    return found


def show(lines):
    """A table of the measurements."""
    names = list(dict.fromkeys(name for line in lines.values() for name in line["arrangements"]))
    row("mean makespan, s", *names)
    for case, line in lines.items():
        row(case, *(f"{statistics.mean(line['arrangements'][name]['makespan_s']):.3f}"
                    for name in names))


PARTS = {"same": (same_cases, same_question, same_segments),
         "unequal": (unequal_cases, unequal_question, unequal_segments),
         "fresh": (fresh_cases, unlike_question, unequal_segments),
         "drawn": (drawn_cases, unlike_question, unequal_segments)}


def left_of(part, options):
    """The cases of a part that are not in its file."""
    done = read_lines(options.out / f"{part}.jsonl")
    return {name: case for name, case in PARTS[part][0]().items()
            if name not in done and options.case in name}


def add_line(path, line):
    """Appends the case to the file at once."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def predict(options, parts):
    """Writes Stint's predictions for all missing cases, unless they were written before."""
    path = options.out / "predictions.jsonl"
    known = read_lines(path)
    for part in parts:
        for name, case in left_of(part, options).items():
            if name not in known:
                add_line(path, {"case": name, "at_s": round(time.time()),
                                **ask(options.stint, part, case)})
    return read_lines(path)


def predict_again(options):
    """Writes Stint's present predictions for cases that were measured."""
    path = options.out / "again.jsonl"
    path.unlink(missing_ok=True)
    measured = {name for part in PARTS for name in read_lines(options.out / f"{part}.jsonl")}
    for name, asked in read_lines(options.out / "predictions.jsonl").items():
        if name not in measured:
            continue
        said = interleave(options.stint, asked["cluster"], asked["jobs"], asked["iterations"])
        add_line(path, {"case": name, "at_s": round(time.time()), **asked, "interleave": said})


def measure_part(part, options, predictions):
    """Measures the missing cases of a part."""
    left = left_of(part, options)
    for number, name in enumerate(left, 1):
        print(f"{part} {number}/{len(left)}: {name}, about {seconds_of(part):.0f} s",
              file=sys.stderr, flush=True)
        begun = time.time()
        segments = PARTS[part][2](predictions[name])
        played = play(options.stint, predictions[name], segments)
        add_line(options.out / f"{part}.jsonl",
                 {"case": name, "at_s": round(begun), "took_s": round(time.time() - begun),
                  "arrangements": facts_of(segments, played)})
    print(f"\n{part}")
    show(read_lines(options.out / f"{part}.jsonl"))


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("stint", help="the program to predict with")
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    parser.add_argument("--case", default="", help="only cases whose name holds this text")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--estimate", action="store_true", help="say what it would take, and end")
    parser.add_argument("--predict", action="store_true", help="write missing predictions, and end")
    parser.add_argument("--again", action="store_true", help="ask again what is predicted, and end")
    options = parser.parse_args()
    options.stint = os.path.abspath(options.stint)
    parts = [options.only] if options.only else list(PARTS)
    if options.again:
        predict_again(options)
        return
    for part in parts:
        cases = left_of(part, options)
        print(f"{part}: {len(cases)} cases are left, about "
              f"{len(cases) * seconds_of(part) / 60:.0f} minutes")
    if options.estimate:
        return
    os.makedirs(options.out, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # Leaves nothing behind.
    predictions = predict(options, parts)
    if options.predict:
        return
    for part in parts:
        measure_part(part, options, predictions)


if __name__ == "__main__":
    main()
