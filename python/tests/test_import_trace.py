#!/usr/bin/python3
"""Imports real traces of torch.profiler, in both forms, with the stint of STINT_BINARY.

Two ranks train a small network under DDP with the profiler on. PyTorch 1.13 without Kineto writes
the bare-array form, later ones the object form; the other form is made from the events.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ports import free_port

try:
    import torch
    import torch.distributed
    import torch.multiprocessing
except ImportError:
    torch = None

EXIT_SKIPPED = 77
RANKS = 2
STEPS = 6
BATCH = 32
GRADIENT_BYTES = 4 * (64 * 256 + 256 + 256 * 10 + 10)


def train(rank, folder):
    """Trains one rank and leaves its trace in `folder`."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank,
                                         world_size=RANKS)
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(STEPS * BATCH, 64),
                                          torch.randint(0, 10, (STEPS * BATCH,)))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                record_shapes=True) as profiler:
        for inputs, labels in torch.utils.data.DataLoader(data, batch_size=BATCH):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
    profiler.export_chrome_trace(f"{folder}/rank{rank}.json")
    torch.distributed.destroy_process_group()


# Runs a script under the profiler.
PROFILED = """
import runpy, sys, torch
torch.set_num_threads(1)
out, sys.argv = sys.argv[1], sys.argv[2:]
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                            record_shapes=True) as profiler:
    runpy.run_path(sys.argv[0], run_name="__main__")
profiler.export_chrome_trace(out)
"""


def profile_example(name, folder):
    """Leaves the traces of two ranks of an example in `folder` and returns them."""
    script = Path(__file__).resolve().parent.parent / "examples" / f"{name}.py"
    port = free_port()
    traces = [folder / f"{name}{rank}.json" for rank in range(RANKS)]
    workers = []
    for rank, trace in enumerate(traces):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(RANKS), OMP_NUM_THREADS="1",
                           MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        workers.append(subprocess.Popen([sys.executable, "-c", PROFILED, str(trace), str(script),
                                         "--steps", str(STEPS)], env=environment,
                                        stdout=subprocess.DEVNULL))
    if any([worker.wait(timeout=600) for worker in workers]):
        raise AssertionError(f"{name} failed")
    return traces


def events_of(path):
    """Returns the events of a trace in either form."""
    trace = json.loads(path.read_text())
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def import_traces(*arguments):
    """Returns what stint makes of traces, as a dictionary."""
    command = [os.environ["STINT_BINARY"], "import", "trace", *map(str, arguments), "-o", "json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class ImportTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="stint-import-")
        cls.folder = Path(cls.temporary.name)
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
        torch.multiprocessing.spawn(train, args=(str(cls.folder),), nprocs=RANKS)
        cls.traces = [cls.folder / f"rank{rank}.json" for rank in range(RANKS)]

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def write_form(self, name, make, traces=None):
        """Writes every rank's events in the form that `make(rank, events)` gives them, as gzip."""
        paths = []
        for rank, trace in enumerate(traces or self.traces):
            path = self.folder / f"{name}{rank}.json.gz"
            path.write_bytes(gzip.compress(json.dumps(make(rank, events_of(trace))).encode()))
            paths.append(path)
        return paths

    def check(self, found):
        """Checks what must hold of the two ranks in any form."""
        self.assertEqual(found["workers"], RANKS)
        # Between the ends of six updates lie five iterations of each rank.
        self.assertEqual(found["iteration"]["count"], RANKS * (STEPS - 1))
        self.assertEqual(found["iterations_from"], "Optimizer.step")
        parts = sum(found[part]["median_s"] for part in ("forward", "backward", "update"))
        self.assertGreater(parts, 0)
        self.assertLess(found["backward"]["median_s"], found["iteration"]["median_s"])
        self.assertGreater(found["communication"]["median_s"], 0)

    def test_real_traces_become_a_profile(self):
        out = self.folder / "job.json"
        found = import_traces(*self.traces, "--batch", BATCH, "--gradients",
                              f"{GRADIENT_BYTES} B", "--out", out)
        self.check(found)
        job = json.loads(out.read_text())
        self.assertEqual(job["schema"], "stint.job/1")
        self.assertEqual(job["compute"][0]["batch_per_worker"], BATCH)

    def check_both_forms(self, traces):
        """Both forms tell the same of these traces."""
        bare = import_traces(*self.write_form("bare", lambda rank, events: events, traces))
        wrapped = import_traces(*self.write_form("object", lambda rank, events: {
            "schemaVersion": 1,
            "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": RANKS},
            "traceEvents": events, "traceName": "t"}, traces))
        self.check(bare)
        self.check(wrapped)
        self.assertEqual(wrapped["workers_from"], "distributedInfo")
        for key in ("events", "iteration", "forward", "backward", "update", "input"):
            self.assertEqual(bare.get(key), wrapped.get(key), key)

    def test_both_forms_tell_the_same(self):
        self.check_both_forms(self.traces)

    def test_the_examples_are_understood_in_both_forms(self):
        for name in ("cnn", "transformer", "mlp"):
            with self.subTest(name):
                self.check_both_forms(profile_example(name, self.folder))


if __name__ == "__main__":
    if torch is None:
        print("SKIP: this interpreter has no torch")
        sys.exit(EXIT_SKIPPED)
    if "STINT_BINARY" not in os.environ:
        sys.exit("set STINT_BINARY to the stint to test")
    unittest.main()
