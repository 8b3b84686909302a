#!/usr/bin/python3
"""Measures `stint search` on the emulated cloud, against a sweep of all that it may choose from.

Usage: measure_search.py STINT [--only PART] [--out FOLDER] [--estimate]

search    A search for each job and objective that trains to a target loss: its probes and moves,
          what they were predicted to take, its time and bill; and then, with what was learned, the
          same job again in mode `none`.
moves     Searches that begin elsewhere, so that they have to move: within a type of machines, to
          another one, to more and to fewer.
sweep     Each setup of the same grid, trained to the same target without a search.

Each part writes a line of JSON for each case to FOLDER/PART.jsonl, and prints a table. Cases that
are in the file already are not run again. `tools/make_search_doc.py` makes the page of them. What
is left to do is printed first, with the time it should take; --estimate prints nothing else.

Compute is paced-real: gradients are computed, and take the time of the job's profile. Nothing else
may run on the computer meanwhile. Needs root, for namespaces.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from measure_runs import read_lines, row  # noqa: E402
from run_bench import JOBS, SECONDS_MAX, Bench, bill_difference  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "data/measurements/search"

OBJECTIVES = ("time", "cost")
SPEEDS = {"local.large": 1, "local.fast": 2}  # Against the device of the profiles.
MACHINES = (1, 2, 4)
MARKET = "on-demand"
STARTS = (("time", "1x local.fast"), ("time", "4x local.large"), ("cost", "4x local.fast"))
BUDGET = "100%"  # Trainings of a minute are so short that a probe is a large part of one.
REPORTED = ("state", "reason", "reached", "saved", "redone", "losses", "time_s", "cost_usd")

# For the estimate only, in seconds: what a run takes besides its steps, and a step for its sums.
RUN_OVERHEAD = 6
SUM_OVERHEAD = 0.02


class Training:
    """A job and its target. `steps` are those to the target by batch, of the examples trained
    alone by one process with seed 1 and AdaScale's rates, where the mean loss of ten steps counts.
    The first batch is the job's own."""

    def __init__(self, loss, steps, words):
        self.loss = loss
        self.steps = steps
        self.words = words  # For the script.
        self.batches = list(steps)

    def own(self):
        """The job's own batch and its steps."""
        return next(iter(self.steps.items()))


# The rate of the CNN is a fifth of the example's own, with which it is at its target too soon.
TRAININGS = {
    "cnn": Training(0.2, {32: 134, 64: 73, 128: 49}, ["--lr", "0.01"]),
    "transformer": Training(1.3, {16: 115, 32: 97, 64: 69}, []),
}


def setups(job):
    """The grid as (type, machines, batch)."""
    return [(kind, machines, batch) for kind in SPEEDS for machines in MACHINES
            for batch in TRAININGS[job].batches]


def sweep_name(job, setup):
    """The name of a case of the sweep."""
    kind, machines, batch = setup
    return f"{job}, {machines}x {kind}, {batch}"


# What it will take.

def milliseconds(text):
    """A duration as profiles have it."""
    number, unit = text.split()
    return float(number) * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[unit]


def expected_time(job, setup):
    """Predicted seconds of a training by its profile, whose times are proportional to the batch."""
    kind, machines, batch = setup
    [profile] = [one for one in json.loads(JOBS.read_text()) if one["name"].startswith(job)]
    compute = profile["compute"][0]
    passes = sum(milliseconds(compute[part]["median"]) for part in ("forward", "backward"))
    share = batch / machines / compute["batch_per_worker"]
    step = (passes * share + milliseconds(compute["update"]["median"])) / SPEEDS[kind] / 1000
    return RUN_OVERHEAD + TRAININGS[job].steps[batch] * (step + SUM_OVERHEAD * (machines > 1))


def expected_search(job):
    """Seconds of a search and of the run after it, if they are as good as the median setup."""
    return 2 * statistics.median(expected_time(job, setup) for setup in setups(job))


# The parts: each lists its cases by name, with their expected seconds, and measures one of them.

def search_cases():
    return {f"{job} {objective}": ((job, objective), expected_search(job)) for job in TRAININGS
            for objective in OBJECTIVES}


def grid_of(job, objective):
    """The arguments that define the grid of a search."""
    return ["--types", ",".join(SPEEDS), "--vms", ",".join(map(str, MACHINES)), "--max-kinds", "1",
            "--batches", ",".join(map(str, TRAININGS[job].batches)), "--objective", objective]


def measure_search(bench, case):
    job, objective = case
    grid = grid_of(job, objective)
    return {"job": job, "objective": objective, "first": train(bench, "first", job, *grid),
            "again": train(bench, "again", job, *grid, "--mode", "none")}


def moves_cases():
    return {f"{job} {objective} from {start}": ((job, objective, start), expected_search(job) / 2)
            for job in TRAININGS for objective, start in STARTS}


def measure_moves(bench, case):
    job, objective, start = case
    return {"job": job, "objective": objective, "start": start,
            "first": train(bench, "first", job, *grid_of(job, objective), "--start", start)}


def sweep_cases():
    """Sorts the shortest first."""
    cases = {sweep_name(job, setup): ((job, setup), expected_time(job, setup))
             for job in TRAININGS for setup in setups(job)}
    return dict(sorted(cases.items(), key=lambda case: case[1][1]))


def measure_setup(bench, case):
    job, (kind, machines, batch) = case
    facts = train(bench, "alone", job, "--types", kind, "--vms", str(machines), "--batches",
                  str(batch), "--mode", "none", "--objective", "time")
    return {"job": job, "type": kind, "vms": machines, "batch": batch, **facts}


def train(bench, name, job, *options):
    """Runs a search to the target of a job; returns its answer and the report of its run."""
    training = TRAININGS[job]
    batch, steps = training.own()
    words = [bench.stint, "search", "--job", str(bench.folder / f"{job}.json"), "--target",
             f"loss={training.loss}", "--steps", str(steps), "--batch", str(batch), "--markets",
             MARKET, "--search-budget", BUDGET, "--name", name,
             *options, "-o", "json", "--",
             *bench.train(job, steps, batch, bench.folder / f"{name}.pt"), *training.words]
    out, log = (bench.folder / f"{name}.{end}" for end in ("json", "log"))
    with open(out, "w", encoding="utf-8") as answer, open(log, "w", encoding="utf-8") as errors:
        bench.process = subprocess.Popen(words, env=bench.environment, stdin=subprocess.DEVNULL,
                                         stdout=answer, stderr=errors)
        bench.process.wait(SECONDS_MAX)
    text = out.read_text()
    if not text.strip():
        sys.exit(f"measure_search: {' '.join(words)}\n{log.read_text()[-2000:]}")
    report = json.loads(bench.call("report", name, "-o", "json"))
    return {"search": json.loads(text), "report": {
        **{key: report.get(key) for key in REPORTED},
        "bill_difference_usd": bill_difference(report),
        "attempts": [{"vms": len(one["vms"]), **{key: one.get(key) for key in (
            "from_step", "to_step", "step_predicted_s", "step_measured_s")}}
            for one in report["attempts"]]}}


# Evaluation, also for tools/make_search_doc.py.

def cluster_size(cluster):
    """(type, machines) of a cluster as Stint writes it: `2x local.large`, perhaps with a market."""
    match = re.fullmatch(r"(\d+)\s*x\s*([\w.]+)(:[\w-]+)?", cluster.strip())
    if not match:
        sys.exit(f"measure_search: {cluster!r} is not understood as machines of one type")
    return match[2], int(match[1])


def setup_of(choice):
    """A choice of a search as (type, machines, batch)."""
    return (*cluster_size(choice["cluster"]), choice["batch"])


def reached(facts):
    """Whether a search reached its target."""
    return facts["search"]["outcome"] == "trained"


def lossless(facts):
    """Whether each step was done once, and is saved."""
    report = facts["report"]
    return report["redone"] == 0 and report["saved"] == facts["search"]["steps"]


def value(facts, objective):
    """The quantity that an objective minimises."""
    return facts["search"]["time_s" if objective == "time" else "cost_usd"]


def swept(lines, job, objective):
    """The setups of the sweep that reached the target, and their values, the best first."""
    found = {(one["type"], one["vms"], one["batch"]): value(one, objective)
             for one in lines.values() if one["job"] == job and reached(one)}
    return dict(sorted(found.items(), key=lambda one: one[1]))


def within(interval, measured):
    """Whether an 80 % interval covers a measured value; None if either is missing."""
    if interval is None or measured is None:
        return None
    return interval["p10"] <= measured <= interval["p90"]


def at_once(line):
    """Whether the second run began with the setup that the first one chose, and stayed there.
    Timings there are probes too."""
    again, chosen = line["again"]["search"], setup_of(line["first"]["search"]["choice"])
    return not again["moves"] and all(setup_of(one) == chosen
                                      for one in [again["choice"], *again["probes"]])


def show_search(lines, out):
    sweep = read_lines(out / "sweep.jsonl")
    row("", "outcome", "time s", "cost USD", "probes", "moves", "choice", "lossless", "of best",
        "choice/best", "at once")
    for name, line in lines.items():
        answer = line["first"]["search"]
        values = swept(sweep, line["job"], line["objective"])
        best, choice = min(values.values(), default=None), values.get(setup_of(answer["choice"]))
        own = value(line["first"], line["objective"])
        row(name, answer["outcome"], f"{answer['time_s']:.1f}", f"{answer['cost_usd']:.5f}",
            len(answer["probes"]), len(answer["moves"]),
            "{1}x {0}/{2}".format(*setup_of(answer["choice"])), lossless(line["first"]),
            f"{own / best:.2f}" if best else "", f"{choice / best:.2f}" if choice else "",
            at_once(line))
        show_move_lines(answer)


def show_move_lines(answer):
    """The moves of a search."""
    for move in answer["moves"]:
        took, cost = move.get("measured_s"), move.get("measured_usd")
        print(f"   at {move['at_s']:.1f} s to {move['to']['cluster']}, {move['to']['batch']}: "
              f"{took} s ({move.get('predicted_s')}), {cost} USD ({move.get('predicted_usd')})")


def show_sweep(lines, _out):
    row("", "outcome", "time s", "cost USD", "steps", "step s")
    for name, one in lines.items():
        answer = one["search"]
        step = step_time(one)
        row(name, answer["outcome"], f"{answer['time_s']:.1f}", f"{answer['cost_usd']:.5f}",
            answer["steps"], f"{step:.4f}" if step else "")


def step_time(facts):
    """The measured time of a step in the longest attempt of a run, if there is one."""
    known = [one for one in facts["report"]["attempts"] if one["step_measured_s"] is not None]
    longest = max(known, key=lambda one: one["to_step"] - one["from_step"], default=None)
    return longest["step_measured_s"] if longest else None


def show_moves(lines, _out):
    for name, line in lines.items():
        print(name)
        show_move_lines(line["first"]["search"])


PARTS = {
    "search": (search_cases, measure_search, show_search),
    "moves": (moves_cases, measure_moves, show_moves),
    "sweep": (sweep_cases, measure_setup, show_sweep),
}


def left_of(part, out):
    """The cases of a part that are not in its file, with their expected seconds."""
    done = read_lines(out / f"{part}.jsonl")
    return {name: case for name, case in PARTS[part][0]().items() if name not in done}


def measure_part(stint, part, out):
    """Measures the missing cases of a part. Each case has its own folder, so that none uses the
    results of another."""
    _, measure, show = PARTS[part]
    left = left_of(part, out)
    path = out / f"{part}.jsonl"
    for number, (name, (case, seconds)) in enumerate(left.items(), 1):
        print(f"{part} {number}/{len(left)}: {name}, about {seconds:.0f} s", file=sys.stderr,
              flush=True)
        begun = round(time.time())
        with tempfile.TemporaryDirectory(prefix="stint-search-") as folder:
            bench = Bench(stint, folder)
            try:
                facts = measure(bench, case)
            finally:
                bench.stop()
        line = {"case": name, "at_s": begun, "took_s": round(time.time() - begun), **facts}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    print(f"\n{part}")
    show(read_lines(path), out)


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("stint", help="the program to measure")
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--estimate", action="store_true", help="say what it would take, and end")
    options = parser.parse_args()
    parts = [options.only] if options.only else list(PARTS)
    for part in parts:
        seconds = [one[1] for one in left_of(part, options.out).values()]
        print(f"{part}: {len(seconds)} cases are left, about {sum(seconds) / 60:.0f} minutes")
    if options.estimate:
        return
    os.makedirs(options.out, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # Leaves nothing behind.
    for part in parts:
        measure_part(options.stint, part, options.out)


if __name__ == "__main__":
    main()
