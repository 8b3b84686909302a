"""The parts that training under `stint run` is made of. Skips without torch."""

import json
import os
import random
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from stint import state as states  # noqa: E402
from stint.order import Order, even_shares, micro_batches, share_of  # noqa: E402
from stint.pace import Paces  # noqa: E402


class Parts(unittest.TestCase):
    """Names are sentences."""

    def test_every_cluster_sees_the_same_batches(self):
        order = Order(10, 4, seed=1)
        self.assertEqual(order.steps_per_epoch(), 2)
        epoch = order.batch_of(0) + order.batch_of(1)
        self.assertEqual(len(set(epoch)), 8)
        self.assertNotEqual(order.batch_of(2), order.batch_of(0))
        batch = order.batch_of(1)
        self.assertEqual(share_of(batch, [1, 3], 0) + share_of(batch, [1, 3], 1), batch)
        self.assertEqual(Order(10, 4, seed=1).batch_of(1), batch)
        with self.assertRaises(ValueError):
            share_of(batch, [1, 2], 0)
        with self.assertRaises(ValueError):
            Order(3, 4, seed=1)

    def test_shares_are_even_and_micro_batches_small(self):
        self.assertEqual(even_shares(10, 4), [3, 3, 2, 2])
        self.assertEqual(micro_batches([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
        self.assertEqual(micro_batches([1, 2], 0), [[1, 2]])

    def test_a_state_comes_back_from_its_bytes(self):
        state = {"random": {"torch": torch.get_rng_state()},
                 "a": torch.arange(5, dtype=torch.float64), "b": [torch.tensor(True), {3: "text"}],
                 "d": (torch.zeros(0), torch.ones(2, 2).half().t(), None, 0.1, float("inf")),
                 "other": {"f": len}}
        data = states.pack(state)
        again = states.unpack(data, {"other": {"f": max}})
        self.assertTrue(torch.equal(again["a"], state["a"]))
        self.assertEqual(again["b"], [torch.tensor(True), {3: "text"}])
        self.assertEqual(again["d"][0].shape, (0,))
        self.assertTrue(torch.equal(again["d"][1], torch.ones(2, 2).half()))
        self.assertEqual(again["d"][2:], (None, 0.1, float("inf")))
        self.assertIs(again["other"]["f"], max)  # Functions are not in the bytes.
        layout = states.Layout(state)
        parts = []
        for number in range(3):
            begin, end = states.shard_range(layout.size, number, 3)
            parts.append(torch.zeros(end - begin, dtype=torch.uint8))
            layout.copy(begin, end, parts[-1])
        self.assertTrue(torch.equal(torch.cat(parts), data))
        for bad in (data[:-1], data[5:], torch.cat([data, data[:1]])):
            with self.assertRaises(ValueError):
                states.unpack(bad)
        data[40] += 1
        with self.assertRaises(ValueError):
            states.unpack(data)

    def test_random_numbers_and_schedulers_come_back(self):
        def make():
            network = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
            optimizer = torch.optim.Adam(network.parameters())
            scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 10)
            network(torch.randn(4, 2)).sum().backward()
            optimizer.step()
            scheduler.step()
            return network, optimizer, scheduler

        random.gauss(0, 1)  # Leaves a second number for later.
        one = make()
        data = states.pack(states.gather(*one, 7))
        drawn = random.gauss(0, 1), random.random(), float(torch.rand(1))
        other = make()
        self.assertEqual(states.restore(states.unpack(data, states.gather(*other, 0)), *other), 7)
        self.assertEqual((random.gauss(0, 1), random.random(), float(torch.rand(1))), drawn)
        self.assertEqual(other[2].get_last_lr(), one[2].get_last_lr())
        self.assertTrue(torch.equal(other[0][1].running_mean, one[0][1].running_mean))

    def test_paces_follow_the_batch_also_outside_of_those_measured(self):
        def sample(batch, milliseconds):
            return {"device": "T4", "batch_per_worker": batch, "update": {"median": "4 ms"},
                    "forward": {"median": f"{milliseconds} ms"},
                    "backward": {"median": f"{2 * milliseconds} ms"}}

        with tempfile.NamedTemporaryFile("w") as file:
            json.dump({"gradient_bytes": "1 MB", "compute": [sample(4, 10), sample(8, 30)]}, file)
            file.flush()
            paces = Paces(file.name, "T4", 2.0)
        # Half of 10 · 2/4, of the mean of 10 and 30, and of 30 · 16/8 ms.
        self.assertEqual([round(1e3 * paces.at(batch).forward, 9) for batch in (0, 2, 6, 16)],
                         [0, 2.5, 10, 30])
        self.assertEqual([paces.at(batch).update for batch in (2, 16)], [0.002, 0.002])


if __name__ == "__main__":
    unittest.main()
