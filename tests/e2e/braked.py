#!/usr/bin/python3
"""Runs a script of stint.job that waits for permission to end: braked.py FILE STEP SCRIPT [ARGUMENT
…]

From a step on every step is delayed until FILE exists. A test has therefore the time to act on a
training however long that takes, and the training is still short.
"""

import os
import runpy
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "python"))
from stint.training import Job  # noqa: E402

# Seconds before each step. A checkpoint is made some six steps after its request, and the
# supervisor allows some six seconds for it.
BRAKE = 0.4
LOOK = 0.02


def brake(file, last):
    """Delays the steps after the last one that is not braked."""
    next_step = Job._next_step

    def braked(job, dataset):
        end = time.monotonic() + BRAKE
        while job.done >= last and time.monotonic() < end and not os.path.exists(file):
            time.sleep(LOOK)
        return next_step(job, dataset)

    Job._next_step = braked


if __name__ == "__main__":
    brake(sys.argv[1], int(sys.argv[2]))
    sys.argv = sys.argv[3:]
    runpy.run_path(sys.argv[0], run_name="__main__")
