"""Training that goes on when workers come and go, driven as `stint run` drives it. Skips without
torch."""

import os
import sys
import tempfile
import time
import unittest

from fake_runner import ROOT, WAIT, FakeReceiver, Worker, save, train

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

BATCH = 8
STEPS = 30
SECRET = "ab" * 32

# The script holds on to things that a broken step leaves behind: the model and the last loss.
SCRIPT = """
import os, sys, time
import torch, stint
from torch import nn
steps, pause = int(sys.argv[2]), float(os.environ.get("PAUSE", 0))
torch.manual_seed(int(os.environ.get("SEED", 3)))
points = torch.randn(64, 8, generator=torch.Generator().manual_seed(1))
data = torch.utils.data.TensorDataset(points, (points.sum(dim=1) > 0).long())
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 7, 0.9)
job = stint.job(model, optimizer, scheduler, batch=8, steps=steps)
net = job.model
for step in job.steps(data):
    with step:
        for inputs, labels in step.micro_batches():
            loss = nn.functional.cross_entropy(net(inputs), labels)
            step.backward(loss)
        optimizer.step()
        scheduler.step()
    time.sleep(pause)
torch.save(model.state_dict(), sys.argv[1])
"""


class Base(unittest.TestCase):
    """Starts workers and cleans up after them."""

    alone = None  # The parameters of a training that nothing disturbs.

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="stint-job-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.script = os.path.join(self.folder, "train.py")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        self._count = 0

    def worker(self, steps=STEPS, **variables):
        """A new worker that waits for orders."""
        self._count += 1
        out = os.path.join(self.folder, f"out{self._count}")
        one = Worker([self.script, out, str(steps)], **variables)
        one.out = out
        self.addCleanup(one.close)
        return one

    def workers(self, count, **variables):
        """Several of them."""
        return [self.worker(**variables) for _ in range(count)]

    def finish(self, workers, steps=STEPS):
        """Waits for the end of the training; returns the parameters of the first worker."""
        for one in workers:
            self.assertEqual(one.hear("finished")["step"], steps)
        for one in workers:
            one.order("end")
        for one in workers:
            self.assertEqual(one.process.wait(WAIT), 0)
        return torch.load(workers[0].out)

    def expected(self):
        """What any cluster must come to."""
        if Base.alone is None:
            one = self.worker()
            train([one], 1, [BATCH], micro_batch=0)
            Base.alone = self.finish([one])
        return Base.alone

    def assert_trained(self, parameters, tolerance=1e-5):
        """Parameters are those of the training alone, but for the order of additions."""
        for name, value in self.expected().items():
            self.assertTrue(torch.allclose(value, parameters[name], rtol=0, atol=tolerance), name)


class ClustersChange(Base):
    """Names are sentences."""

    def test_uneven_shares_and_one_of_nothing_give_the_gradients_of_the_whole_batch(self):
        for shares in ([5, 2, 1], [0, 8]):
            with self.subTest(shares=shares):
                workers = self.workers(len(shares))
                train(workers, 1, shares, micro_batch=2)
                steps = [one.reach(STEPS) for one in workers]
                self.assertEqual([step["samples"] for step in steps], shares)
                self.assert_trained(self.finish(workers), 1e-6)

    def test_a_survivor_regroups_again_and_again_as_any_rank_down_to_one_and_up(self):
        first, *others = self.workers(5, PAUSE="0.02")
        train([first, others[0]], 1, [6, 2])
        first.reach(3)
        others[0].kill()
        lost = first.hear("lost_peer")
        self.assertEqual(lost["attempt"], 1)
        train([others[1], first], 2, [1, 7])
        self.assertGreaterEqual(others[1].hear("training")["step"], 3)
        first.hear("step", attempt=2)
        others[1].kill()
        first.hear("lost_peer", attempt=2)
        train([first], 3, [8])
        first.hear("step", attempt=3)
        train([first, others[2], others[3]], 4, [2, 5, 1])
        others[3].hear("step", attempt=4)
        others[3].kill()
        others[2].hear("lost_peer", attempt=4)
        train([others[2], first], 5, [4, 4])
        self.assert_trained(self.finish([others[2], first]))


if __name__ == "__main__":
    unittest.main()
