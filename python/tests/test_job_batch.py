"""Training whose global batch changes while it runs, driven as `stint search` drives it. Skips
without torch."""

import math
import os
import sys
import time
import unittest

from fake_runner import save, train

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

from test_job import BATCH, SCRIPT, STEPS, Base

torch.set_num_threads(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from stint.order import Order  # noqa: E402

# The noise is the same in every step of a training that learns nothing.
STILL = SCRIPT.replace("lr=0.01", "lr=0.0")
NOISE_STEPS = 240  # Thirty epochs of 64 samples in batches of 8.


def made(script):
    """The names of a script just before it makes its job."""
    names = {}
    exec(script.split("job = ")[0].replace("int(sys.argv[2])", "0"), names)
    return names


def reference(parts):
    """The parameters of one process that trains by (steps until, batch, gain, rate)."""
    names = made(SCRIPT)
    model, optimizer, scheduler = names["model"], names["optimizer"], names["scheduler"]
    order, position, done, progress = Order(64, 1), (0, 0), 0, 0.0
    for until, batch, gain, rate in parts:
        while done < until:
            indices, position = order.take(position, batch)
            inputs, labels = names["data"][indices]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            own = optimizer.param_groups[0]["lr"]
            optimizer.param_groups[0]["lr"] = own * rate
            optimizer.step()
            optimizer.param_groups[0]["lr"] = own
            for _ in range(math.floor(progress + gain) - math.floor(progress)):
                scheduler.step()
            done, progress = done + 1, progress + gain
    return model.state_dict()


class BatchesChange(Base):
    """Names are sentences."""

    def assert_same(self, parameters, wanted, tolerance=1e-5):
        for name, value in wanted.items():
            self.assertTrue(torch.allclose(value, parameters[name], rtol=0, atol=tolerance), name)

    def test_a_batch_that_changes_trains_as_one_process_does_with_the_same_batches_and_rates(self):
        first, second, third = self.workers(3)
        parts = [(6, 8, 1.0, 1.0), (11, 20, 2.25, 1.5), (19, 12, 1.25, 0.75)]
        for attempt, (workers, shares, part) in enumerate(
                [([first, second], [5, 3], parts[0]), ([second, first], [13, 7], parts[1]),
                 ([third, first], [4, 8], parts[2])], 1):
            steps, batch, gain, rate = part
            train(workers, attempt, shares, batch=batch, steps=steps, gain=gain, rate=rate)
            for one in workers:
                self.assertEqual(one.hear("finished")["step"], steps)
        told = third.hear("training", attempt=3)
        self.assertEqual((told["step"], told["progress"]), (11, 6 + 5 * 2.25))
        self.assertEqual(first.reach(19)["progress"], 6 + 5 * 2.25 + 8 * 1.25)
        for one in (first, second, third):
            one.order("end")
            self.assertEqual(one.process.wait(), 0)
        for one in (first, third):
            self.assert_same(torch.load(one.out), reference(parts))

    def test_a_change_in_the_middle_of_a_step_uses_each_sample_once(self):
        first, second = self.workers(2, PAUSE="0.01")
        train([first, second], 1, [4, 4])
        first.reach(4)
        train([first, second], 2, [9, 7], batch=16, steps=12, gain=1.5, rate=2)
        changed = first.hear("training", attempt=2)
        self.assertEqual(changed["progress"], changed["step"])
        parameters = self.finish([first, second], 12)
        self.assert_same(parameters, reference([(changed["step"], 8, 1, 1), (12, 16, 1.5, 2)]))

    def test_a_saved_state_has_position_and_progress(self):
        place = {"folder": self.folder}
        first, second = self.workers(2)
        train([first], 1, [20], batch=20, steps=5, gain=2.5)
        first.hear("finished")
        save([first], 1, 5, place)
        train([second], 2, [8], {"step": 5, "shards": 1, "place": place}, steps=9, gain=1)
        self.assertEqual(second.hear("training")["progress"], 12.5)
        self.assert_same(self.finish([second], 9), reference([(5, 20, 2.5, 1), (9, 8, 1, 1)]))

    def test_no_step_follows_a_save_that_halts_until_the_next_order(self):
        place = {"folder": self.folder}
        first, second = self.workers(2, PAUSE="0.01")
        train([first, second], 1, [4, 4], gain=1)
        for one in (first, second):
            one.order("save", attempt=1, step=9, place=place, halt=True)
        for one in (first, second):
            self.assertEqual(one.hear("saved")["step"], 9)
        time.sleep(0.3)  # Several steps, if it took any.
        self.assertTrue(first.has_said("step", number=9))
        self.assertFalse(first.has_said("step", number=10))
        for one in (first, second):
            one.order("save", attempt=1, step=13, place=place)
        first.hear("step", number=10)
        self.assertEqual(second.hear("saved", step=13)["step"], 13)
        self.assert_trained(self.finish([first, second]))

    def test_states_without_position_and_progress_are_restored(self):
        place = {"folder": self.folder}
        old = self.worker(script=SCRIPT.replace("job = ", """
from stint import state
gather = state.gather
state.gather = lambda *known, **_: gather(*known)
job = """, 1))
        train([old], 1, [8], steps=11)
        old.hear("finished")
        save([old], 1, 11, place)
        other = self.worker()
        train([other], 2, [8], {"step": 11, "shards": 1, "place": place}, gain=1)
        self.assertEqual(other.hear("training")["progress"], 11)
        self.assert_trained(self.finish([other]))

    def test_fewer_steps_than_are_done_end_the_training_and_more_let_it_go_on(self):
        one = self.worker()
        train([one], 1, [8])
        self.assertEqual(one.hear("finished")["step"], STEPS)
        train([one], 2, [8], steps=7)
        self.assertEqual(one.hear("finished", step=STEPS)["step"], STEPS)
        train([one], 3, [8], steps=STEPS + 5)
        self.finish([one], STEPS + 5)

    def test_a_runner_that_says_nothing_of_batches_hears_nothing_of_progress(self):
        one = self.worker()
        train([one], 1, [8])
        self.assertEqual(set(one.hear("training")), {"attempt", "step"})
        self.assertEqual(set(one.reach(5)), {"attempt", "number", "time_s", "samples", "loss"})

    def test_a_batch_of_more_samples_than_there_are_ends_the_script(self):
        one = self.worker()
        train([one], 1, [65], batch=65)
        self.assertEqual(one.process.wait(), 1)
        self.assertIn("larger than the data set of 64 samples", one.process.errors())


class NoiseIsTold(Base):
    """Names are sentences."""

    def gradients(self):
        """Of each sample, and the samples of each step."""
        names = made(STILL)
        found = []
        for inputs, label in names["data"]:
            names["model"].zero_grad()
            torch.nn.functional.cross_entropy(names["model"](inputs[None]), label[None]).backward()
            found.append(torch.cat([one.grad.flatten() for one in names["model"].parameters()]))
        order, position, steps = Order(64, 1), (0, 0), []
        for _ in range(NOISE_STEPS):
            indices, position = order.take(position, BATCH)
            steps.append(indices)
        return torch.stack(found).double(), steps

    def told(self, shares, **more):
        """What each worker said of each step."""
        workers = self.workers(len(shares), steps=NOISE_STEPS, script=STILL)
        train(workers, 1, shares, batch=BATCH, gain=1, **more)
        steps = [[one.hear("step", number=number + 1) for one in workers]
                 for number in range(NOISE_STEPS)]
        return [list(each) for each in zip(*steps)]

    def assert_unbiased(self, estimates, gradients):
        """σ̂² and Ĝ² of each step. The samples of a batch are drawn without replacement, so that
        they are unbiased for the variance over N - 1 and for G² less the variance over N."""
        variance = gradients.var(dim=0).sum().item()
        square = (gradients.mean(dim=0) ** 2).sum().item() - variance / len(gradients)
        for values, wanted in zip(torch.tensor(estimates, dtype=torch.float64).t(),
                                  (variance, square)):
            error = values.std().item() / len(values) ** 0.5
            self.assertLess(abs(values.mean().item() - wanted), 3 * error)
            self.assertLess(error, 0.3 * variance)

    def test_squares_of_uneven_shares_are_those_of_brute_force(self):
        gradients, steps = self.gradients()
        shares = [5, 2, 1]
        told = self.told(shares, noise_every=1, micro_batch=2)
        estimates = []
        for number, indices in enumerate(steps):
            local, begin = [], 0
            for worker, share in zip(told, shares):
                own = gradients[indices[begin:begin + share]].mean(dim=0)
                begin += share
                fact = worker[number]
                self.assertEqual(fact["local_batch"], share)
                self.assertAlmostEqual(fact["local_square"], (own ** 2).sum().item(), 5)
                local.append(fact["local_square"])
            mean = told[0][number]["mean_square"]
            self.assertAlmostEqual(
                mean, (gradients[indices].mean(dim=0) ** 2).sum().item(), 5)
            self.assertAlmostEqual(told[2][number]["mean_square"], mean, 5)
            variance = ((sum(local) / len(shares) - mean)
                        / (sum(1 / one for one in shares) / len(shares) - 1 / BATCH))
            estimates.append((variance, mean - variance / BATCH))
        self.assert_unbiased(estimates, gradients)

    def test_one_worker_cuts_its_batch_in_two(self):
        gradients, steps = self.gradients()
        [told] = self.told([BATCH], noise_every=1, micro_batch=0)
        estimates = []
        for fact, indices in zip(told, steps):
            own = gradients[indices[:4]].mean(dim=0)
            self.assertEqual(fact["local_batch"], 4)
            self.assertEqual(fact["samples"], BATCH)
            self.assertAlmostEqual(fact["local_square"], (own ** 2).sum().item(), 5)
            mean = fact["mean_square"]
            self.assertAlmostEqual(mean, (gradients[indices].mean(dim=0) ** 2).sum().item(), 5)
            variance = (fact["local_square"] - mean) / (1 / 4 - 1 / BATCH)
            estimates.append((variance, mean - variance / BATCH))
        self.assert_unbiased(estimates, gradients)

    def test_steps_between_those_measured_and_workers_of_nothing_tell_less(self):
        busy, idle = self.told([8, 0], noise_every=3)
        for number in range(1, 13):
            self.assertEqual("mean_square" in busy[number - 1], number % 3 == 0)
            self.assertEqual("local_square" in busy[number - 1], number % 3 == 0)
            self.assertEqual("mean_square" in idle[number - 1], number % 3 == 0)
            self.assertNotIn("local_square", idle[number - 1])
        # All of the gradient is the busy worker's.
        self.assertAlmostEqual(busy[2]["local_square"], busy[2]["mean_square"], 5)


class MemoryRunsOut(Base):
    """Names are sentences."""

    def script(self, problem):
        return SCRIPT.replace("            loss = ", f"            if len(inputs) > 5:\n"
                              f"                raise {problem}\n            loss = ")

    def test_a_lack_of_memory_is_told_with_the_samples_that_were_too_many(self):
        for problem in ("MemoryError()", "RuntimeError('CUDA out of memory.')"):
            with self.subTest(problem=problem):
                one = self.worker(script=self.script(problem))
                train([one], 1, [8], micro_batch=4, gain=1)
                one.reach(2)
                train([one], 2, [14], batch=14, micro_batch=7, gain=1.2)
                self.assertEqual(one.hear("out_of_memory"), {"attempt": 2, "samples": 7})
                self.assertEqual(one.process.wait(), 1)

    def test_others_lose_a_peer_and_go_on_with_a_smaller_batch(self):
        first = self.worker(PAUSE="0.01")
        second = self.worker(script=self.script("MemoryError()"))
        train([first, second], 1, [4, 4], gain=1)
        first.reach(2)
        train([first, second], 2, [4, 6], batch=10, micro_batch=0, gain=1.1)
        self.assertEqual(second.hear("out_of_memory")["samples"], 6)
        first.hear("lost_peer", attempt=2)
        train([first], 3, [8], gain=1)
        self.assert_trained(self.finish([first]))

    def test_a_runner_that_changes_no_batch_hears_nothing_of_it(self):
        one = self.worker(script=self.script("MemoryError()"))
        train([one], 1, [8], micro_batch=0)
        with self.assertRaises(EOFError):
            one.hear("out_of_memory")


if __name__ == "__main__":
    unittest.main()
