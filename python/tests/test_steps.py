"""Steps as the optimizers of a script make them. Skips without torch."""

import gc
import os
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from stint import steps  # noqa: E402


class Counting:
    """Listens to all optimizers of this process."""

    def __init__(self):
        self.counter = steps.StepCounter()
        self.skips = 0

    def created(self, optimizer):
        self.counter.created(optimizer)

    def inner(self, optimizer):
        self.counter.inner(optimizer)

    def step_begin(self):
        return None

    def step_end(self, optimizer, _begun):
        self.counter.stepped(optimizer)

    def skipped(self, optimizer):
        self.skips += 1
        self.counter.stepped(optimizer)


class Overflowing:
    """A GradScaler whose gradients overflow every other time."""

    def __init__(self):
        self.calls = 0

    def step(self, optimizer):
        self.calls += 1
        return None if self.calls % 2 else optimizer.step()


LISTENER = Counting()
steps.watch_optimizers(LISTENER)
Overflowing.step = steps.with_skips(Overflowing.step, LISTENER)


def parameters():
    one = torch.nn.Parameter(torch.ones(1))
    one.grad = torch.ones(1)
    return [one]


class StepsTest(unittest.TestCase):
    """What counts as a step."""

    def setUp(self):
        gc.collect()
        LISTENER.counter = steps.StepCounter()

    def counted(self):
        return LISTENER.counter.passes

    def test_one_optimizer_makes_a_step_each_time(self):
        optimizer = torch.optim.SGD(parameters(), lr=0.1)
        for _ in range(7):
            optimizer.step()
        self.assertEqual(self.counted(), 7)

    def test_a_step_of_a_gan_is_one_of_both_optimizers(self):
        critic = torch.optim.Adam(parameters())
        generator = torch.optim.Adam(parameters())
        for _ in range(4):
            for _ in range(5):
                critic.step()
            generator.step()
        self.assertEqual(self.counted(), 4)

    def test_a_skipped_step_counts(self):
        optimizer = torch.optim.SGD(parameters(), lr=0.1)
        scaler = Overflowing()
        before = LISTENER.skips
        for _ in range(6):
            scaler.step(optimizer)
        self.assertEqual(self.counted(), 6)
        self.assertEqual(LISTENER.skips - before, 3)

    def test_an_optimizer_that_never_steps_is_left_out(self):
        used = torch.optim.SGD(parameters(), lr=0.1)
        left_over = torch.optim.SGD(parameters(), lr=0.1)
        for number in range(1, 41):
            used.step()
            self.assertEqual(self.counted(), number if number >= steps.IDLE_AFTER else 0)
        self.assertIsNotNone(left_over)

    def test_an_optimizer_that_is_gone_is_not_waited_for(self):
        first = torch.optim.SGD(parameters(), lr=0.1)
        first.step()
        del first
        gc.collect()
        second = torch.optim.SGD(parameters(), lr=0.1)
        for _ in range(3):
            second.step()
        self.assertEqual(self.counted(), 4)

    def test_phases_add_up(self):
        generator = torch.optim.SGD(parameters(), lr=0.1)
        critic = torch.optim.SGD(parameters(), lr=0.1)
        for _ in range(50):  # The generator alone.
            generator.step()
        for _ in range(10):
            critic.step()
            generator.step()
        self.assertEqual(self.counted(), 60)

    def test_an_optimizer_that_stops_is_no_longer_waited_for(self):
        critic = torch.optim.SGD(parameters(), lr=0.1)
        generator = torch.optim.SGD(parameters(), lr=0.1)
        for _ in range(10):
            for _ in range(5):
                critic.step()
            generator.step()
        for _ in range(40):  # The critic alone.
            critic.step()
        self.assertEqual(self.counted(), 50)

    def test_an_optimizer_inside_another_has_no_steps_of_its_own(self):
        inside = torch.optim.SGD(parameters(), lr=0.1)

        class Around(torch.optim.Optimizer):
            """Steps another optimizer."""

            def step(self, closure=None):
                return inside.step(closure)

        around = Around(parameters(), {})
        for _ in range(3):
            around.step()
        self.assertEqual(self.counted(), 3)

    def test_schedulers_still_find_the_step_of_a_method(self):
        optimizer = torch.optim.SGD(parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        for _ in range(3):
            optimizer.step()
            scheduler.step()
        self.assertEqual(self.counted(), 3)


if __name__ == "__main__":
    unittest.main()
