#!/usr/bin/python3
"""Measures how well Stint predicts paced jobs on an emulated cloud, predictions first.

Usage: measure_local.py STINT [--out FOLDER] [--by-hand] [--only PART] [--dry-run]

In this order: (1) the calibration setups are run, (2) `stint calibrate buckets` fits them to
data/calibration/local.json, (3) the predictions for all other setups are written, (4) those are
run, (5) `stint validate runs` scores them, with the formula in which nothing is fitted beside. What
has been measured is kept: started again, it goes on where it stopped. Nothing is fitted or
predicted any more once a held-out setup has been run; to begin anew, remove the folder's files.

Which setups calibrate is a fixed rule: clusters of 2, 4 and 8 VMs do, clusters of 3, 5, 6 and 7 are
held out. So no cluster size is in both.

Nothing else may run on the computer meanwhile. Needs root, for namespaces.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_vms import run_by_hand, run_by_stint  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RATES = {"local.small": 100e6, "local.medium": 250e6, "local.large": 500e6, "local.xlarge": 1e9}
TOTAL_MAX = 4e9  # Bits per second of all NICs together, beyond which the processors decide.
JOBS = {"paced-5mb": 5e6, "paced-20mb": 20e6, "paced-55mb": 55e6, "paced-110mb": 110e6}
OUT = ROOT / "data/measurements/local"
SHIPPED = ROOT / "data/calibration/local.json"
BATCH = 32
CALIBRATION_SIZES = (2, 4, 8)
SIZES = (2, 3, 4, 5, 6, 7, 8)
WARM_UP = 2
SECONDS_EACH = 30  # Seconds of iterations for one setup,
STEPS = (10, 40)  # but not fewer or more of them than these.
START_UP = 4  # Seconds for a worker's Python and torch, on one core.

# What a cluster of n VMs is made of, in turn over jobs and sizes: (type, VMs) as functions of n.
SHAPES = [
    lambda n: [("local.large", n)],
    lambda n: [("local.small", 1), ("local.medium", n - 1)],
    lambda n: [("local.medium", n)],
    lambda n: [("local.medium", 1), ("local.large", n - 1)],
    lambda n: [("local.small", n)],
    lambda n: [("local.large", 1), ("local.xlarge", n - 1)],
    lambda n: [("local.xlarge", n)],
]


def fits(groups):
    """Whether the NICs together stay within what the computer can carry."""
    return sum(RATES[kind] * count for kind, count in groups) <= TOTAL_MAX


def setups():
    """All setups in a fixed order: (name, job, groups, calibrates)."""
    found = []
    turn = 0
    for n in SIZES:
        calibrates = n in CALIBRATION_SIZES
        for job in JOBS:
            for _ in range(2 if calibrates else 3):
                while not fits(SHAPES[turn % len(SHAPES)](n)):
                    turn += 1
                groups = SHAPES[turn % len(SHAPES)](n)
                turn += 1
                text = " + ".join(f"{count}x {kind}" for kind, count in groups)
                found.append({"name": f"{job} on {text}", "job": job, "groups": groups,
                              "cluster": text, "calibrates": calibrates})
    return found


def formula(setup):
    """The approximate time of an iteration, to choose their number: compute plus ring."""
    profile = json.loads((ROOT / f"data/jobs/{setup['job']}.json").read_text())
    parts = profile["compute"][0]
    compute = sum(float(parts[part]["median"].split()[0]) / 1e3
                  for part in ("forward", "backward", "update"))
    n = sum(count for _, count in setup["groups"])
    slowest = min(RATES[kind] for kind, _ in setup["groups"])
    return max(compute, 2 * (n - 1) / n * JOBS[setup["job"]] / (0.9564 * slowest / 8) + compute / 2)


def steps_of(setup):
    """The number of iterations to run."""
    return int(min(max(SECONDS_EACH / formula(setup), STEPS[0]), STEPS[1]))


def seconds_of(setup):
    """The approximate time of a setup, with the start-up of all workers."""
    n = sum(count for _, count in setup["groups"])
    return steps_of(setup) * formula(setup) + n * START_UP / (os.cpu_count() or 1) + 2


def start_line(setup):
    """The line of a measurement that says what runs."""
    groups = [{"workers_per_vm": 1, "batch_per_worker": BATCH} for _ in setup["groups"]]
    layout = {"cluster": setup["cluster"], "groups": groups, "collective": "ring",
              "accumulation": 1}
    return {"schema": "stint.measurement/1", "run": setup["name"], "at_s": round(time.time(), 3),
            "start": {"job": setup["job"], "layout": layout, "compute": "paced"}}


def run(setup, stint):
    """Runs one setup on VMs of `stint local`, or without it on VMs made by hand; the lines of its
    measurement."""
    command = ["/usr/bin/python3", "-m", "stint.paced", "--job",
               str(ROOT / f"data/jobs/{setup['job']}.json"), "--batch", str(BATCH), "--steps",
               str(steps_of(setup))]
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/tmp",
                   "PYTHONPATH": str(ROOT / "python"), "OMP_NUM_THREADS": "1",
                   "PYTHONDONTWRITEBYTECODE": "1"}
    limit = 300 + 5 * seconds_of(setup)
    lines = [start_line(setup)]
    if stint:
        output = run_by_stint(stint, setup["cluster"], command, environment, limit)
    else:
        rates = [RATES[kind] for kind, count in setup["groups"] for _ in range(count)]
        output = run_by_hand(rates, command, environment, limit)
    for line in output:
        said = json.loads(line)
        if "iteration" in said:
            lines.append({"schema": "stint.measurement/1", "run": setup["name"],
                          "at_s": round(time.time(), 3), "iteration": said["iteration"]})
    return lines


def measured(path):
    """The runs that are in the file, each with the times of its iterations."""
    runs = {}
    if path.exists():
        for text in path.read_text().splitlines():
            line = json.loads(text)
            runs.setdefault(line["run"], [])
            if "iteration" in line:
                runs[line["run"]].append(line["iteration"]["time_s"])
    return runs


def write_lines(path, lines, mode):
    """Writes JSON lines."""
    with open(path, mode, encoding="utf-8") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))


def measure(todo, path, vms):
    """Runs the setups that are not yet in the file, and prints progress."""
    have = measured(path)
    left = [setup for setup in todo if setup["name"] not in have]
    for index, setup in enumerate(left):
        minutes = sum(map(seconds_of, left[index:])) / 60
        print(f"{index + 1}/{len(left)} {setup['name']}: {steps_of(setup)} iterations; "
              f"about {minutes:.0f} min to go", file=sys.stderr, flush=True)
        lines = run(setup, vms)
        write_lines(path, lines, "a")
        times = [line["iteration"]["time_s"] for line in lines[1 + WARM_UP:]]
        middle = statistics.median(times)
        print(f"   median {middle:.4f} s, from {min(times):.4f} to {max(times):.4f}",
              file=sys.stderr, flush=True)


def call(*words):
    """Runs stint and prints its output."""
    print("$", *words, file=sys.stderr, flush=True)
    subprocess.run(words, check=True)


def campaign(stint, out, everything, vms):
    """The five steps."""
    calibration = [setup for setup in everything if setup["calibrates"]]
    held_out = [setup for setup in everything if not setup["calibrates"]]
    runs, asked, held = (out / name for name in
                         ("calibration.jsonl", "held_out_setups.jsonl", "held_out.jsonl"))
    fitted = SHIPPED if out == OUT else out / "local.json"
    predictions, again = out / "predictions.csv", out / "predictions_again.csv"
    measure(calibration, runs, vms)
    if not held.exists():
        call(stint, "calibrate", "buckets", "--train", str(runs), "--name", "local", "--provenance",
             "data/measurements/local: paced jobs on the emulated cloud, by tools/measure_local.py",
             "--out", str(fitted))
        write_lines(asked, [start_line(setup) for setup in held_out], "w")
        call(stint, "validate", "runs", "--calibration", str(fitted), "--test", str(asked),
             "--predictions", str(predictions))
    measure(held_out, held, vms)
    call(stint, "validate", "runs", "--calibration", str(fitted), "--test", str(held),
         "--predictions", str(again))
    if again.read_text() != predictions.read_text():
        sys.exit(f"{again} differs from {predictions}, which was written before the runs: the "
                 "scores are not of those predictions")
    again.unlink()


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("stint", help="the program to predict with")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--by-hand", action="store_true",
                        help="make the VMs here instead of with 'stint local'")
    parser.add_argument("--only", help="run just the setups whose name holds this text, once")
    parser.add_argument("--dry-run", action="store_true", help="list the setups and stop")
    options = parser.parse_args()
    everything = setups()
    if options.only:
        everything = [setup for setup in everything if options.only in setup["name"]]
    if options.dry_run:
        for setup in everything:
            print(f"{'calibrate' if setup['calibrates'] else 'held out ':<9}  {setup['name']:<60} "
                  f"{steps_of(setup):3} iterations, {seconds_of(setup):4.0f} s")
    minutes = sum(map(seconds_of, everything)) / 60
    print(f"{len(everything)} setups, {sum(s['calibrates'] for s in everything)} to calibrate: "
          f"about {minutes:.0f} minutes in all", file=sys.stderr)
    if options.dry_run:
        return
    vms = None if options.by_hand else options.stint
    options.out.mkdir(parents=True, exist_ok=True)
    if options.only:
        measure(everything, options.out / "only.jsonl", vms)
    else:
        campaign(options.stint, options.out, everything, vms)


if __name__ == "__main__":
    main()
