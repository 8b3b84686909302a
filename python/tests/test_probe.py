"""Probes this computer's loopback with three workers. Skips without torch."""

import json
import os
import subprocess
import sys
import unittest

from ports import free_port

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PLAN = [{"vms": [0, 1, 2], "bytes": 400000}, {"vms": [1, 2], "bytes": 4000}]


class ProbeTest(unittest.TestCase):
    """Names are sentences."""

    def test_the_first_worker_of_each_sum_prints_its_times(self):
        port = free_port()
        workers = []
        for rank in range(3):
            environment = dict(os.environ, PYTHONPATH=ROOT, RANK=str(rank), WORLD_SIZE="3",
                               MASTER_ADDR="127.0.0.1", MASTER_PORT=port, OMP_NUM_THREADS="1",
                               GLOO_SOCKET_IFNAME="lo", PYTHONDONTWRITEBYTECODE="1")
            workers.append(subprocess.Popen(
                [sys.executable, "-m", "stint.probe", "--run", "mine", "--plan", json.dumps(PLAN), "--rounds", "2",
                 "--repeats", "3"], env=environment, stdout=subprocess.PIPE, text=True))
        said = [[json.loads(line) for line in worker.communicate(timeout=600)[0].splitlines()]
                for worker in workers]
        self.assertEqual([worker.returncode for worker in workers], [0, 0, 0])
        # Two rounds of three times each, of the sum that the worker is the first of.
        self.assertEqual([line["reduction"]["vms"] for line in said[0]], [[0, 1, 2]] * 6)
        self.assertEqual([line["reduction"]["vms"] for line in said[1]], [[1, 2]] * 6)
        self.assertEqual(said[2], [])
        for line in said[0] + said[1]:
            self.assertEqual((line["schema"], line["run"]), ("stint.measurement/1", "mine"))
            self.assertGreater(line["reduction"]["time_s"], 0)


if __name__ == "__main__":
    unittest.main()
