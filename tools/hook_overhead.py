#!/usr/bin/python3
"""Measures what the hook of `stint profile` costs the three examples.

Usage: hook_overhead.py [--repeats N] [--steps N] [--ranks N]

Each example runs under the hook, which is disabled in every second block of a few steps: enabled
and disabled blocks alternate within one process, because the speed of a shared computer changes by more than
the hook costs from one process to the next. Compared are neighbouring blocks, the first step of each
left out; shown is the median over all pairs, because an example that tests its model in between
spoils a block, and two standard errors of it. With several ranks the hook's communication hook,
which cannot be taken out, stays in both. Beside it stands the time inside the hook's own functions,
which a noisy computer hardly disturbs. Run it on a computer that does nothing else.
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
SKIPPED = 8  # Steps before the first block.
BLOCK = 6  # Steps; one of them is sampled, as with five measured ones.

# Runs a script under the hook, disabled in every second block, and records when each step was done.
TIMER = """
import json, runpy, sys, time
import torch
from stint import patches
patches.install()
SKIPPED, BLOCK = int(sys.argv[2]), int(sys.argv[3])
ear = patches.recorder
marks = []
def deaf():
    return len(marks) >= SKIPPED and (len(marks) - SKIPPED) // BLOCK % 2 == 1
spent = [0.0, 0]  # Seconds inside the hook, and the steps that it heard.
def muted(method, otherwise=None):
    def call(*inner, **more):
        if deaf():
            return otherwise
        begin = time.perf_counter()
        result = method(*inner, **more)
        spent[0] += time.perf_counter() - begin
        return result
    return call
for name in ("waited", "fetched", "evaluates", "forward", "backward_begin", "backward_end"):
    setattr(ear, name, muted(getattr(ear, name)))
ear.step_begin = muted(ear.step_begin, (None, 0))
heard = muted(ear.step_end)
def step_end(*inner):
    if len(marks) == SKIPPED:
        spent[:] = [0.0, 0]
    spent[1] += not deaf()
    heard(*inner)
    marks.append(time.perf_counter())
ear.step_end = step_end
out = sys.argv[1]
sys.argv = sys.argv[4:]
runpy.run_path(sys.argv[0], run_name="__main__")
open(out, "w").write(json.dumps([marks, spent[0] / max(1, spent[1])]))
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def run(name, options):
    """Runs an example once; returns when the steps of its first rank were done, and the seconds that
    the hook itself took in each that it heard."""
    with tempfile.TemporaryDirectory(prefix="stint-overhead-") as folder:
        marks = Path(folder, "marks")
        world = dict(os.environ, OMP_NUM_THREADS="1", MASTER_ADDR="127.0.0.1",
                     MASTER_PORT=str(free_port()), WORLD_SIZE=str(options.ranks),
                     PYTHONPATH=str(PYTHON), STINT_PROFILE_OUT=str(Path(folder, "records")),
                     STINT_PROFILE_WARMUP="1", PYTHONDONTWRITEBYTECODE="1")
        processes = []
        for rank in range(options.ranks):
            words = [sys.executable, "-c", TIMER, str(marks) if rank == 0 else "/dev/null",
                     str(SKIPPED), str(BLOCK), str(PYTHON / "examples" / f"{name}.py"), "--steps",
                     str(options.steps)]
            processes.append(subprocess.Popen(words, env=world | {"RANK": str(rank)},
                                              stdout=subprocess.DEVNULL))
        if any([process.wait() for process in processes]):
            sys.exit(f"hook_overhead.py: {name} failed")
        return json.loads(marks.read_text())


def pairs_of(marks):
    """(disabled, enabled) seconds per step of neighbouring blocks."""
    blocks = []
    for begin in range(SKIPPED, len(marks) - BLOCK + 1, BLOCK):
        block = marks[begin:begin + BLOCK]
        # The mean, not the median: sampled iterations cost more and count.
        blocks.append((block[-1] - block[0]) / (len(block) - 1))
    return list(zip(blocks[1::2], blocks[0::2]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--steps", type=int, default=308)
    parser.add_argument("--ranks", type=int, default=1)
    options = parser.parse_args()
    print(f"{'example':<12} {'deaf':>10} {'heard':>10} {'pairs':>6} {'difference':>11}  "
          f"{'interval':<18} in the hook")
    for name in EXAMPLES:
        runs = [run(name, options) for _ in range(options.repeats)]
        pairs = [pair for marks, _ in runs for pair in pairs_of(marks)]
        inside = 1e3 * statistics.median(spent for _, spent in runs)
        ratios = [100 * (heard / deaf - 1) for deaf, heard in pairs]
        middle = statistics.median(ratios)
        spread = 1.4826 * statistics.median(abs(ratio - middle) for ratio in ratios)
        error = 1.2533 * spread / len(ratios) ** 0.5
        deaf, heard = (1e3 * statistics.median(times) for times in zip(*pairs))
        print(f"{name:<12} {deaf:>7.2f} ms {heard:>7.2f} ms {len(pairs):>6} {middle:>9.2f} %  "
              f"{f'{middle - 2 * error:.2f} to {middle + 2 * error:.2f} %':<18} {inside:.3f} ms, "
              f"{100 * inside / deaf:.2f} %", flush=True)


if __name__ == "__main__":
    main()
