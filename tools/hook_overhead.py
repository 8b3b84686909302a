#!/usr/bin/python3
"""Measures what the hook of `stint profile` costs the three examples.

Usage: hook_overhead.py [--repeats N] [--steps N] [--ranks N]

Each example runs for a number of steps with and without the hook, in turn, in another order each
time. Timed are the steps after the first few, by the script's own clock, so that starting Python is
no part of it. The interval of the difference is two standard errors of the mean over pairs. Run it
on a computer that does nothing else.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = Path(__file__).resolve().parent.parent / "python"
EXAMPLES = ("cnn", "transformer", "mlp")
SKIPPED = 5  # Steps that are not timed.

# Runs a script and notes when each step of its optimizer was done.
TIMER = """
import runpy, sys, time
import torch
marks = []
original = torch.optim.Optimizer.__init__
def initialise(self, *arguments, **keywords):
    original(self, *arguments, **keywords)
    kind = type(self)
    if not getattr(kind.step, "timed", False):
        step = kind.step
        def timed(self, *inner, **more):
            result = step(self, *inner, **more)
            marks.append(time.perf_counter())
            return result
        timed.__dict__.update(step.__dict__)
        timed.timed = True
        kind.step = timed
torch.optim.Optimizer.__init__ = initialise
out = sys.argv[1]
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
open(out, "w").write(repr(marks))
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def seconds_per_step(name, hook, options):
    """Runs an example once; returns the mean time of its steps on the first rank."""
    with tempfile.TemporaryDirectory(prefix="stint-overhead-") as folder:
        marks = Path(folder, "marks")
        world = dict(os.environ, OMP_NUM_THREADS="1", MASTER_ADDR="127.0.0.1",
                     MASTER_PORT=str(free_port()), WORLD_SIZE=str(options.ranks))
        if hook:
            world |= {"PYTHONPATH": f"{PYTHON}/stint_site:{PYTHON}",
                      "STINT_PROFILE_OUT": str(Path(folder, "records")),
                      "STINT_PROFILE_WARMUP": str(SKIPPED), "PYTHONDONTWRITEBYTECODE": "1"}
        processes = []
        for rank in range(options.ranks):
            words = [sys.executable, "-c", TIMER, str(marks) if rank == 0 else "/dev/null",
                     str(PYTHON / "examples" / f"{name}.py"), "--steps", str(options.steps)]
            processes.append(subprocess.Popen(words, env=world | {"RANK": str(rank)},
                                              stdout=subprocess.DEVNULL))
        if any([process.wait() for process in processes]):
            sys.exit(f"hook_overhead.py: {name} failed")
        at = json.loads(marks.read_text())[SKIPPED:]
        # The mean, not the median: sampled iterations cost more and count.
        return (at[-1] - at[0]) / (len(at) - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--ranks", type=int, default=1)
    options = parser.parse_args()
    print(f"{'example':<12} {'without':>10} {'with':>10} {'difference':>11}  interval")
    for name in EXAMPLES:
        pairs = []
        for repeat in range(options.repeats):
            order = (False, True) if repeat % 2 == 0 else (True, False)
            times = {hook: seconds_per_step(name, hook, options) for hook in order}
            pairs.append((times[False], times[True]))
        ratios = [100 * (hooked / plain - 1) for plain, hooked in pairs]
        middle = statistics.mean(ratios)
        error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else float("nan")
        plain, hooked = (1e3 * statistics.median(times) for times in zip(*pairs))
        print(f"{name:<12} {plain:>7.2f} ms {hooked:>7.2f} ms {middle:>9.2f} %  "
              f"{middle - 2 * error:.2f} to {middle + 2 * error:.2f} %", flush=True)


if __name__ == "__main__":
    main()
