"""The progress of a training whose batch may change while it runs.

Progress counts steps at the job's own batch: a step of a larger batch may be worth more than one.
Schedules follow progress, and learning rates follow the batch only at updates, so that neither
schedulers nor saved states are affected.
"""

import contextlib
import math

ALMOST = 1e-9  # Rounding error of sums of gains, in steps.


class Terms:
    """The terms until the next order of the runner: the script's own, except those that the order
    has."""

    def __init__(self, batch, steps, order=()):
        order = dict(order)
        self.batch = order.get("batch", batch)  # Of all workers together.
        self.steps = order.get("steps", steps)  # Until the end of the training.
        # Steps at the job's own batch that a step is worth.
        self.gain = float(order.get("gain", 1))
        self.rate = float(order.get("rate", 1))  # Factor on the learning rates.
        self.noise_every = order.get("noise_every", 0)  # Steps from one measurement to the next.


class Progress:
    """Progress so far. It makes the steps of schedulers run as often as progress passes whole
    numbers, but not beyond the steps of the script, for which the schedule was made."""

    def __init__(self, schedulers, steps):
        self.value = 0.0
        self._steps = steps
        self._due = 1
        for one in schedulers:
            self._follow(one)

    def begin(self, gain):
        """Begins a step of this worth."""
        self._due = self._whole(self.value + gain) - self._whole(self.value)

    def done(self, gain):
        """Ends the step."""
        self.value += gain

    def _whole(self, value):
        return min(self._steps, math.floor(value + ALMOST))

    def _follow(self, scheduler):
        """A separate class rather than an attribute, which would be saved with the scheduler."""
        progress, kind = self, type(scheduler)

        class Following(kind):
            """The scheduler of a training whose steps are worth more, or less, than one."""

            def step(self, *arguments, **more):
                for _ in range(progress._due):
                    super().step(*arguments, **more)

        Following.__name__, Following.__qualname__ = kind.__name__, kind.__qualname__
        scheduler.__class__ = Following


@contextlib.contextmanager
def at_rate(optimizer, rate):
    """Multiplies learning rates by `rate` within the context."""
    groups = [group for group in optimizer.param_groups if "lr" in group] if rate != 1 else []
    own = [group["lr"] for group in groups]
    try:
        for group in groups:
            group["lr"] = group["lr"] * rate
        yield
    finally:
        for group, before in zip(groups, own):
            group["lr"] = before
