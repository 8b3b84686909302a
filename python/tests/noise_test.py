#!/usr/bin/python3
"""Tests the gradient noise that the hook records against per-sample gradients."""

import importlib.util
import sys
import tempfile
import unittest

from hook_test import EXIT_SKIPPED, run, script

BATCH = 4
RANKS = 2
STEPS = 600

# The learning rate is 0, so that the noise is the same in every step.
MODEL = """
import os
import torch
from torch import nn
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
inputs = torch.randn(64, 6)
outputs = inputs[:, :1] + 0.5 * torch.randn(64, 1)
"""
TRAINING = MODEL + f"""
import torch.distributed as dist
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
choice = torch.Generator().manual_seed(100 + dist.get_rank())
while True:
    some = torch.randint(64, ({BATCH},), generator=choice)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(inputs[some]), outputs[some]).backward()
    optimizer.step()
"""


def brute_force():
    """Returns σ² and G² from the gradient of each sample."""
    world = {}
    exec(MODEL, world)
    gradients = []
    for one, wanted in zip(world["inputs"], world["outputs"]):
        world["model"].zero_grad()
        torch.nn.functional.mse_loss(world["model"](one), wanted).backward()
        gradients.append(torch.cat([p.grad.flatten() for p in world["model"].parameters()]))
    gradients = torch.stack(gradients).double()
    mean = gradients.mean(dim=0)
    return ((gradients - mean) ** 2).sum(dim=1).mean().item(), (mean ** 2).sum().item()


def moments(records):
    """Returns σ̂² and Ĝ² of each iteration, by the equations of src/converge/noise.h."""
    by_number = {}
    for record in records:
        step = record.get("iteration", {})
        if "local_square" in step:
            by_number.setdefault(step["number"], []).append(step)
    result = []
    for steps in by_number.values():
        local = sum(step["local_square"] for step in steps) / RANKS
        mean = steps[0]["mean_square"]
        variance = (local - mean) / (1 / BATCH - 1 / (BATCH * RANKS))
        result.append((variance, mean - variance / (BATCH * RANKS)))
    return torch.tensor(result, dtype=torch.float64)


class Noise(unittest.TestCase):
    def test_the_noise_scale_agrees_with_brute_force_within_its_interval(self):
        with tempfile.TemporaryDirectory() as folder:
            records, codes, printed = run(script(folder, TRAINING), RANKS, steps=STEPS,
                                          STINT_PROFILE_SAMPLE_EVERY="1")
        self.assertEqual(codes, [0] * RANKS, printed)
        found = moments(records)
        self.assertEqual(len(found), STEPS)
        variance, square = brute_force()
        scale = variance / square
        # Fieller: Φ is in the interval when the mean of σ̂² − Φ Ĝ² is within so many of its
        # standard errors of zero.
        difference = found[:, 0] - scale * found[:, 1]
        errors = (difference.mean() / (difference.std() / len(difference) ** 0.5)).item()
        estimate = (found[:, 0].mean() / found[:, 1].mean()).item()
        print(f"noise scale {estimate:.2f} by the hook, {scale:.2f} by brute force, "
              f"{errors:+.2f} standard errors apart")
        self.assertLess(abs(errors), 1.96)


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("SKIP: this interpreter has no torch")
        sys.exit(EXIT_SKIPPED)
    import torch
    unittest.main()
