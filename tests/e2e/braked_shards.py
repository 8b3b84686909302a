#!/usr/bin/python3
"""Runs a script of stint.sharded that waits for permission to end: braked_shards.py FILE STEP SCRIPT
[ARGUMENT …]

After some steps of this process every step is delayed until FILE exists. A test has therefore the
time to act on a training however long that takes, and the training is still short.
"""

import os
import runpy
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "python"))
from stint.sharded import Sharded  # noqa: E402

BRAKE = 1.5  # Seconds before each step.
LOOK = 0.02


def brake(file, free):
    """Delays the steps after the free ones."""
    step = Sharded.step
    done = 0

    def braked(sharded):
        nonlocal done
        end = time.monotonic() + BRAKE
        while done >= free and time.monotonic() < end and not os.path.exists(file):
            time.sleep(LOOK)
        done += 1
        return step(sharded)

    Sharded.step = braked


if __name__ == "__main__":
    brake(sys.argv[1], int(sys.argv[2]))
    sys.argv = sys.argv[3:]
    runpy.run_path(sys.argv[0], run_name="__main__")
