#!/usr/bin/python3
"""Runs a PyTorch script in double precision: in_double.py SCRIPT [ARGUMENT …]

In single precision two trainings that add the same gradients in another order diverge: a rounding
turns a ReLU on or off for some sample, and Adam divides noise by its own size. After 45 steps of
python/examples/mlp.py parameters differ by 1 %, as if a step had been lost. In double precision
they differ by 1e-15, and a step that is lost or done twice is visible.
"""

import runpy
import sys
from pathlib import Path

import torch

if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
