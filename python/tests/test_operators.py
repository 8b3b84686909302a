#!/usr/bin/python3
"""Counts the arithmetic and memory of networks by hand, and compares with what the operators that
`stint profile --for` finds add up to. Needs torch and the stint of STINT_BINARY."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXIT_SKIPPED = 77
WAIT = 900
ROOT = Path(__file__).resolve().parent.parent.parent

BEGIN = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(1)
torch.set_num_threads(1)
"""
END = """
loss_of = nn.CrossEntropyLoss()
for epoch in range(9):
    for inputs, labels in DataLoader(data, BATCH, shuffle=True):
        optimizer.zero_grad()
        loss_of(model(inputs), labels).backward()
        optimizer.step()
"""
MLP = """
BATCH = 16
data = TensorDataset(torch.randn(64, 64), torch.randint(10, (64,)))
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
"""
# 2 (64 · 256 + 256 · 10) forward; as much for the gradients of the weights; those of inputs only
# between the layers.
MLP_FLOPS = 2 * (2 * 64 * 256 + 3 * 256 * 10)
CONVOLUTIONS = """
BATCH = 16
data = TensorDataset(torch.randn(64, 3, 16, 16), torch.randint(10, (64,)))
model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                      nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
                      nn.Linear(1024, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
# 8 maps of 16 × 16 of 3 · 9 products each, 16 maps of 8 × 8 of 8 · 9, and a product.
CONVOLUTION_FLOPS = 2 * (2 * 8 * 256 * 27 + 3 * 16 * 64 * 72 + 3 * 1024 * 10)
TRANSFORMER = """
BATCH = 8
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(20, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(32, 20)
    def forward(self, texts):
        return self.out(self.layer(self.letters(texts))).transpose(1, 2)
texts = torch.randint(20, (64, 12))
data = TensorDataset(texts, texts)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
"""
# Queries, keys, values and output 4 · 32², feed-forward 2 · 32 · 64, head 32 · 20, for each of 12
# letters; scores and their use 2 · 12² · 32; backward twice as much.
TRANSFORMER_FLOPS = 3 * 2 * (12 * (4 * 32 * 32 + 2 * 32 * 64 + 32 * 20) + 2 * 12 * 12 * 32)


UNITS = {"FLOP": 1, "kFLOP": 1e3, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "B": 1, "kB": 1e3,
         "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def number(text):
    value, unit = text.split()
    return float(value) * UNITS[unit]


def stint(*words):
    return subprocess.run([os.environ["STINT_BINARY"], *words], capture_output=True, text=True,
                          timeout=WAIT, check=False)


class Operators(unittest.TestCase):
    def profile(self, script, *flags):
        """Returns the job of a script, given as text or as a path with arguments."""
        with tempfile.TemporaryDirectory() as folder:
            words = script
            if isinstance(script, str):
                Path(folder, "train.py").write_text(script)
                words = [f"{folder}/train.py"]
            done = stint("profile", "-q", "-o", "json", "--for", "A100", *flags, "--",
                         sys.executable, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

    def check(self, script, flops, *flags):
        job = self.profile(script, *flags)
        self.assertAlmostEqual(number(job["flops_per_sample"]) / flops, 1, delta=0.001)
        return job

    def test_an_mlp_computes_what_one_counts_by_hand(self):
        job = self.check(BEGIN + MLP + END, MLP_FLOPS)
        # Inputs, hidden values (once, though two operators need them) and logits in 4 bytes, and a
        # label in 8.
        self.assertAlmostEqual(number(job["work"]["activations"]), 4 * (64 + 256 + 10) + 8, delta=1)
        parameters = 4 * (64 * 256 + 256 + 256 * 10 + 10)
        self.assertAlmostEqual(number(job["gradient_bytes"]) / parameters, 1, delta=0.001)
        self.assertAlmostEqual(number(job["optimizer_bytes"]) / parameters, 1, delta=0.001)
        self.assertEqual(job["batch"]["reference"], 16)
        samples = {one["batch_per_worker"] for one in job["compute"]}
        self.assertGreater(len(samples), 3)
        self.assertTrue(all(one["predicted"] > 0 for one in job["compute"]))
        self.assertTrue(all(one["device"].startswith("A100") for one in job["compute"]))

    def test_a_network_of_convolutions_computes_what_one_counts_by_hand(self):
        job = self.check(BEGIN + CONVOLUTIONS + END, CONVOLUTION_FLOPS)
        kinds = {one["kind"] for one in job["work"]["operators"]}
        self.assertEqual(kinds, {"convolution", "map-sweep", "product"})

    def test_a_transformer_computes_what_one_counts_by_hand(self):
        job = self.check(BEGIN + TRANSFORMER + END, TRANSFORMER_FLOPS)
        self.assertIn("Attention is written out in 1 place", " ".join(job["work"]["notes"]))

    def test_one_batch_is_split_by_shapes(self):
        fixed = END.replace("DataLoader(data, BATCH, shuffle=True)",
                            "[tuple(one[:BATCH] for one in data.tensors)] * 9")
        job = self.check(BEGIN + MLP + fixed, MLP_FLOPS)
        self.assertIn("told by shapes", " ".join(job["work"]["notes"]))
        both = self.profile(BEGIN + MLP + END)
        weights = [sum(number(one["weights"]) * one["count"] for one in it["work"]["operators"]
                       if one["kind"] == "product" and "weights" in one) for it in (job, both)]
        self.assertAlmostEqual(weights[0] / weights[1], 1, delta=0.05)

    def test_frozen_layers_have_no_backward_pass(self):
        frozen = MLP + "for one in model[0].parameters():\n    one.requires_grad = False\n"
        flops = 2 * (64 * 256 + 2 * 256 * 10)  # The gradients of the last weights only.
        self.check(BEGIN + frozen + END, flops)

    def test_accumulation_counts_one_pass(self):
        steps = END.replace("        optimizer.zero_grad()\n", "").replace(
            "        optimizer.step()\n",
            "        count = globals().get('count', 0) + 1\n"
            "        if count % 2 == 0:\n"
            "            optimizer.step()\n            optimizer.zero_grad()\n")
        job = self.check(BEGIN + MLP + steps, MLP_FLOPS)
        self.assertEqual(job["batch"]["reference"], 32)

    def test_autocast_for_a_gpu_that_is_not_there_is_assumed(self):
        mixed = END.replace("        loss_of(model(inputs), labels).backward()\n",
                            "        with torch.autocast('cuda', dtype=torch.float16):\n"
                            "            loss = loss_of(model(inputs), labels)\n"
                            "        loss.backward()\n")
        job = self.profile(BEGIN + MLP + mixed)
        self.assertEqual(job["work"]["precision"], "mixed")
        self.assertIn("is assumed", " ".join(job["work"]["notes"]))

    def test_training_goes_on_as_without_the_watch(self):
        saving = END + "\nprint(sum(one.sum().item() for one in model.parameters()))\n"
        printed = []
        for watched in ("", "1"):
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "train.py").write_text(BEGIN + TRANSFORMER + saving)
                world = dict(os.environ, STINT_PROFILE_OUT=f"{folder}/records",
                             STINT_PROFILE_WARMUP="1", STINT_PROFILE_OPERATORS=watched,
                             PYTHONPATH=f"{ROOT}/python/stint_site:{ROOT}/python",
                             PYTHONDONTWRITEBYTECODE="1")
                done = subprocess.run([sys.executable, f"{folder}/train.py"], env=world,
                                      capture_output=True, text=True, timeout=WAIT, check=True)
                printed.append(done.stdout)
                records = Path(folder, "records").read_text()
                self.assertEqual('"operator_total"' in records, bool(watched))
        self.assertEqual(printed[0], printed[1])


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("SKIP: this interpreter has no torch")
        sys.exit(EXIT_SKIPPED)
    if "STINT_BINARY" not in os.environ:
        sys.exit("set STINT_BINARY to the stint to test")
    unittest.main()
