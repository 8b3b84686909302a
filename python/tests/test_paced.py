"""Runs paced jobs of two workers on this computer's loopback. Skips without torch."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from ports import free_port

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, ROOT)
from stint.paced import busy_share  # noqa: E402

JOB = {"gradient_bytes": "4 MB",
       "buckets": [{"bytes": "1048576 B", "ready": 0.3}, {"bytes": "2951424 B", "ready": 1}],
       "compute": [{"device": "T4", "batch_per_worker": 8, "forward": {"median": "20 ms"},
                    "backward": {"median": "40 ms"}, "update": {"median": "10 ms"}}]}

SCRIPT = """
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
net = torch.nn.Linear(8, 4)
model = torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: 1.0)
for _ in range(4):
    optimizer.zero_grad()
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()
    scheduler.step()
dist.destroy_process_group()
"""


class PacedTest(unittest.TestCase):
    """Names are sentences."""

    def run_workers(self, *words, job=None):
        """What rank 0 of two says, and how it ended."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "job.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(job or JOB, file)
            with open(os.path.join(folder, "train.py"), "w", encoding="utf-8") as file:
                file.write(SCRIPT)
            port = free_port()
            workers = []
            for rank in range(2):
                environment = dict(os.environ, RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK="0",
                                   MASTER_ADDR="127.0.0.1", MASTER_PORT=port, PYTHONPATH=ROOT,
                                   GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1",
                                   PYTHONDONTWRITEBYTECODE="1")
                workers.append(subprocess.Popen(
                    [sys.executable, "-m", "stint.paced", "--job", path, "--batch", "8", *words],
                    env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    text=True))
            said = [worker.communicate(timeout=600) for worker in workers]
        return said[0][0].splitlines(), workers[0].returncode, said[0][1]

    def test_paced_takes_at_least_its_compute_and_makes_the_profiles_buckets(self):
        lines, code, errors = self.run_workers("--steps", "5")
        self.assertEqual(code, 0, errors)
        said = [json.loads(line) for line in lines]
        self.assertEqual({line["compute"] for line in said}, {"paced"})
        self.assertEqual([line["iteration"]["number"] for line in said[:-1]], [0, 1, 2, 3, 4])
        # 20 + 40 + 10 ms; an iteration that begins late is shorter.
        self.assertGreaterEqual(max(line["iteration"]["time_s"] for line in said[:-1]), 0.0699)
        self.assertEqual(said[-1]["summary"]["buckets"], [1048576, 2951424])

    def test_paced_real_trains_and_takes_at_least_its_compute(self):
        lines, code, errors = self.run_workers("--mode", "paced-real", "--steps", "4", "--",
                                               "train.py")
        self.assertEqual(code, 0, errors)
        said = [json.loads(line) for line in lines if line.startswith("{")]
        self.assertEqual({line["compute"] for line in said}, {"paced-real"})
        self.assertEqual(len(said), 5)
        for line in said[:-1]:
            self.assertGreaterEqual(line["iteration"]["time_s"], 0.0699)

    def test_real_only_times_the_script(self):
        lines, code, errors = self.run_workers("--mode", "real", "--steps", "3", "--", "train.py")
        self.assertEqual(code, 0, errors)
        said = [json.loads(line) for line in lines if line.startswith("{")]
        self.assertEqual({line["compute"] for line in said}, {"real"})
        # Between the ends of four updates lie three iterations.
        self.assertEqual([line["iteration"]["number"] for line in said[:-1]], [0, 1, 2])
        _, code, errors = self.run_workers("--mode", "real")
        self.assertEqual(code, 2)
        self.assertIn("needs the training script", errors)

    def test_paced_real_is_refused_when_the_computing_does_not_fit(self):
        tiny = json.loads(json.dumps(JOB))
        for part in ("forward", "backward", "update"):
            tiny["compute"][0][part]["median"] = "1 us"
        _, code, errors = self.run_workers("--mode", "paced-real", "--steps", "8", job=tiny)
        self.assertNotEqual(code, 0)
        self.assertIn("more than 60 %", errors)

    def test_the_busy_share_counts_all_workers_over_all_cores(self):
        # 30 ms of each of 4 workers on 2 cores are 60 ms of 100.
        self.assertAlmostEqual(busy_share(0.03, 4, 2, 0.1), 0.6)


if __name__ == "__main__":
    unittest.main()
