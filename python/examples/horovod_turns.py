#!/usr/bin/python3
"""Trains with Horovod on accelerators that are shared with another job, in turns.

    horovodrun -np 2 -H a:1,b:1 python3 horovod_turns.py     # with STINT_TURNSTILE set, see docs/turnstile.md

It was not run here, because Horovod is not packaged for Debian. Without STINT_TURNSTILE the two calls
do nothing.
"""

import sys
from pathlib import Path

import horovod.torch as hvd
import torch
from torch import nn

sys.path.append(str(Path(__file__).resolve().parent.parent))  # Where stint is.
from stint import turns  # noqa: E402

STEPS = 500


def main():
    hvd.init()
    torch.manual_seed(hvd.rank())
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 20))
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.02),
                                         named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs, labels = torch.randn(64, 256), torch.randint(20, (64,))
        turns.take()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        turns.give()      # Horovod has begun to reduce the gradients; another job may compute.
        optimizer.step()  # Waits until they are reduced.


if __name__ == "__main__":
    main()
