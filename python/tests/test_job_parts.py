"""The parts that training under `stint run` is made of. Skips without torch."""

import contextlib
import json
import os
import pkgutil
import random
import sys
import tempfile
import unittest
import unittest.mock

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import stint  # noqa: E402
from stint import places  # noqa: E402
from stint import state as states  # noqa: E402
from stint.order import Order, even_shares, micro_batches, share_of  # noqa: E402
from stint.pace import Paces  # noqa: E402
from stint.progress import Progress, Terms, at_rate  # noqa: E402
from stint.training import is_of_memory  # noqa: E402


def taken(order, batches):
    """The samples of steps of these batches."""
    found, position = [], (0, 0)
    for batch in batches:
        indices, position = order.take(position, batch)
        found.append(indices)
    return found


def permutation(samples, seed, epoch):
    """The order of an epoch."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    return torch.randperm(samples, generator=generator).tolist()


@contextlib.contextmanager
def synced():
    """The paths that are synced meanwhile."""
    paths, sync = [], os.fsync

    def noting(descriptor):
        paths.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        sync(descriptor)

    with unittest.mock.patch("os.fsync", noting):
        yield paths


class Parts(unittest.TestCase):
    """Names are sentences."""

    def test_every_cluster_sees_the_same_batches(self):
        steps = taken(Order(10, seed=1), [4] * 3)
        epoch = steps[0] + steps[1]
        self.assertEqual(len(set(epoch)), 8)
        self.assertNotEqual(steps[2], steps[0])
        batch = steps[1]
        self.assertEqual(share_of(batch, [1, 3], 0) + share_of(batch, [1, 3], 1), batch)
        self.assertEqual(taken(Order(10, seed=1), [4] * 2)[1], batch)
        with self.assertRaises(ValueError):
            share_of(batch, [1, 2], 0)
        with self.assertRaises(ValueError):
            Order(3, seed=1).take((0, 0), 4)

    def test_a_folder_of_shards_is_on_the_disk_with_its_parent_before_a_shard_counts(self):
        data = torch.arange(10, dtype=torch.uint8)
        with tempfile.TemporaryDirectory() as root:
            root = os.path.realpath(root)
            place = places.Folder(os.path.join(root, "run", "checkpoints"))
            for made_by_another in (False, True):
                step = 7 + made_by_another
                if made_by_another:  # Which was killed before it synced.
                    os.mkdir(os.path.join(root, "run", "checkpoints", f"step-{step}"))
                with synced() as paths:
                    place.put(step, 0, 1, data, states.checksum(data))
                wanted = {"run/checkpoints", f"run/checkpoints/step-{step}"}
                if not made_by_another:
                    wanted |= {"run", "."}
                wanted = {os.path.normpath(os.path.join(root, one)) for one in wanted}
                self.assertLessEqual(wanted, set(paths))
                self.assertTrue(torch.equal(place.get(step, 0, 1), data))

    def test_a_batch_that_does_not_change_takes_whole_batches_of_each_permutation(self):
        for samples, batch in ((10, 4), (12, 4), (7, 7), (9, 1)):
            steps = taken(Order(samples, seed=5), [batch] * 20)
            per_epoch = samples // batch
            for number, indices in enumerate(steps):
                epoch, place = divmod(number, per_epoch)
                self.assertEqual(indices, permutation(samples, 5, epoch)[place * batch:][:batch])
                order = Order(samples, seed=5)
                position = order.position_after(number, batch)
                self.assertEqual(order.take(position, batch)[0], indices)

    def test_after_a_change_of_batch_the_order_goes_on_after_the_samples_that_were_used(self):
        first, second = permutation(10, 1, 0), permutation(10, 1, 1)
        steps = taken(Order(10, seed=1), [3, 2, 4, 2, 5, 1, 4])
        # 9 samples of the first epoch are used, so that one is left out; all of the second are.
        self.assertEqual(steps, [first[:3], first[3:5], first[5:9], second[:2], second[2:7],
                                 second[7:8], permutation(10, 1, 2)[:4]])

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

    def test_a_scheduler_steps_when_progress_passes_whole_numbers(self):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=12)
        saved = set(scheduler.state_dict())
        progress = Progress([scheduler], 12)
        at = []
        # Ten times a tenth is a little less than one. At 12 the schedule is at its end.
        for gain in [1, 1] + [0.1] * 10 + [2.5, 2.5, 1, 1, 3, 1]:
            progress.begin(gain)
            optimizer.step()
            scheduler.step()
            progress.done(gain)
            at.append(scheduler.last_epoch)
        self.assertEqual(at, [1, 2] + [2] * 9 + [3, 5, 8, 9, 10, 12, 12])
        self.assertEqual(set(scheduler.state_dict()), saved)
        self.assertIsInstance(scheduler, torch.optim.lr_scheduler.OneCycleLR)

    def test_a_rate_holds_during_updates_only(self):
        def updated(rates, use):
            one = torch.tensor([1.0, -2.0], requires_grad=True)
            optimizer = torch.optim.SGD([{"params": [one], "weight_decay": 0.1}], lr=0.1,
                                        momentum=0.9)
            for rate in rates:
                optimizer.zero_grad()
                (one ** 2).sum().backward()
                use(optimizer, rate)
                self.assertEqual([group["lr"] for group in optimizer.param_groups], [0.1])
            return one.detach()

        def ours(optimizer, rate):
            with at_rate(optimizer, rate):
                optimizer.step()

        def by_hand(optimizer, rate):
            optimizer.param_groups[0]["lr"] = 0.1 * rate
            optimizer.step()
            optimizer.param_groups[0]["lr"] = 0.1

        rates = [1, 2, 0.5, 1]
        self.assertTrue(torch.equal(updated(rates, ours), updated(rates, by_hand)))
        self.assertFalse(torch.equal(updated(rates, ours), updated([1] * 4, ours)))
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        with self.assertRaises(ValueError), at_rate(optimizer, 2):
            self.assertEqual(optimizer.param_groups[0]["lr"], 0.2)
            raise ValueError
        self.assertEqual(optimizer.param_groups[0]["lr"], 0.1)

    def test_terms_are_the_own_ones_but_for_those_of_the_order(self):
        def of(*arguments):
            it = Terms(8, 30, *arguments)
            return it.batch, it.steps, it.gain, it.rate, it.noise_every

        self.assertEqual(of(), (8, 30, 1, 1, 0))
        self.assertEqual(of({"rank": 0}), (8, 30, 1, 1, 0))
        self.assertEqual(of({"batch": 16, "steps": 20, "gain": 1.5, "rate": 2, "noise_every": 4}),
                         (16, 20, 1.5, 2, 4))

    def test_only_a_lack_of_memory_is_taken_for_one(self):
        for problem in (MemoryError(), RuntimeError("CUDA out of memory. Tried to allocate"),
                        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")):
            self.assertTrue(is_of_memory(problem), problem)
        for problem in (RuntimeError("shapes differ"), ValueError("out of memory"), OSError()):
            self.assertFalse(is_of_memory(problem), problem)

    def test_a_script_makes_one_job_after_another(self):
        def make():
            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            return stint.job(model, optimizer, batch=4, steps=3)

        # No module of the package may take the place of the function when it is imported.
        for _ in range(2):
            self.assertEqual(make().total, 3)
        for module in pkgutil.iter_modules(stint.__path__):
            self.assertNotIn(module.name, stint.__all__)

    def test_states_of_one_part_each_are_as_they_were_before_there_could_be_several(self):
        network = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        wanted = {"random", "buffers", "parameters", "optimizer", "scheduler", "step"}
        for parts in ((network, optimizer, None), ({"": network}, {"": optimizer}, {})):
            state = states.gather(*parts, 3)
            self.assertEqual(set(state), wanted)
            self.assertEqual(set(state["parameters"]), {"weight", "bias"})
            self.assertIsNone(state["scheduler"])

    def test_numbers_of_objects_may_differ_between_workers_and_layouts_do_not(self):
        class Sums:
            def __init__(self, state):
                self.state = state

            def state_dict(self):
                return self.state

            def load_state_dict(self, state):
                self.state = state

        def gathered(objects):
            network = torch.nn.Linear(2, 2)
            parts = network, torch.optim.SGD(network.parameters(), lr=0.1), None
            return states.gather(*parts, 3, objects), parts

        kept = {"count": 3, "mean": 0.5, "ready": True, "name": "x", "none": None,
                "list": [1, (2.5, torch.ones(2))]}
        one, other = Sums(kept), Sums({**kept, "count": 7, "mean": -1.25, "ready": False})
        state, _ = gathered({"sums": one})
        wrong, parts = gathered({"sums": other})
        self.assertEqual(states.Layout(state).checksum, states.Layout(wrong).checksum)
        self.assertEqual(states.restore(states.unpack(states.pack(state), wrong), *parts,
                                        {"sums": other}), 3)
        for name in ("count", "mean", "ready", "name", "none"):
            self.assertEqual(other.state[name], kept[name])
            self.assertIs(type(other.state[name]), type(kept[name]))
        self.assertTrue(torch.equal(other.state["list"][1][1], torch.ones(2)))
        with self.assertRaisesRegex(TypeError, "sums has a set in its state"):
            gathered({"sums": Sums({"seen": {1, 2}})})
        with self.assertRaisesRegex(ValueError, "no object where this script has the object sums"):
            states.restore(states.gather(*parts, 1), *parts, {"sums": other})

    def test_parts_are_named_and_what_is_none_is_refused(self):
        network = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)

        def of(**more):
            return stint.Job(**{"model": network, "optimizer": optimizer, "batch": 4, "steps": 3,
                                **more})

        job = of()
        self.assertIs(job.models[0], job.model)
        self.assertEqual(list(of(model={"a": network}).models), ["a"])
        with self.assertRaisesRegex(TypeError, "the optimizer is a int, which has no param_groups"):
            of(optimizer=3)
        with self.assertRaisesRegex(TypeError, "extra 'x' is a int, which has no state_dict"):
            of(extra={"x": 3})
        with self.assertRaisesRegex(TypeError, "extra is a dictionary"):
            of(extra=network)
        with self.assertRaisesRegex(ValueError, "the same model is there twice"):
            of(model=[network, network])
        with self.assertRaisesRegex(ValueError, "at least one optimizer"):
            of(optimizer=[])
        with self.assertRaisesRegex(AttributeError, "call those of job.models"):
            of(model=[network, torch.nn.Linear(1, 1)]).model

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
