#!/usr/bin/python3
"""Runs an ordinary training script that does not end before it may: held.py FILE BATCH SCRIPT
[ARGUMENT …]

The script trains on so many batches of its DataLoaders as it would. Then it is slow for some, so
that who counts its steps now and then has counted the others, and waits until FILE is there. So a
test has the time to take a machine away in the middle of a training, and the training is short all
the same. Neither Stint nor the script knows of it.
"""

import os
import runpy
import sys
import time

import torch.utils.data.dataloader as dataloader

SLOW = 20  # Batches after the last one that is not held,
BRAKE = 0.3  # and seconds before each of them.
LOOK = 0.02  # Seconds between two looks.
SECONDS_MAX = 280  # Less than a run without a step is given.


def hold(file, batches):
    """Has the batches after the last one that is not held wait."""
    base = dataloader._BaseDataLoaderIter
    original = base.__next__
    taken = 0

    def held(iterator):
        nonlocal taken
        end = time.monotonic() + (BRAKE if taken < batches + SLOW else SECONDS_MAX)
        while taken >= batches and not os.path.exists(file) and time.monotonic() < end:
            time.sleep(LOOK)
        taken += 1
        return original(iterator)

    base.__next__ = held


if __name__ == "__main__":
    hold(sys.argv[1], int(sys.argv[2]))
    sys.argv = sys.argv[3:]
    runpy.run_path(sys.argv[0], run_name="__main__")
