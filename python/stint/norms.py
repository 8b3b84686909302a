"""Squared norms of gradients of few samples and of the mean of all, for the runner.

With several workers a worker's own gradient is read before the sum over all of them. A single
worker splits its batch in two, and the first part represents a worker.
"""

import math

import torch
import torch.distributed as dist

from stint.recorder import square


class Norms:
    """The squared norms of one step, if the step is measured."""

    def __init__(self, parameters):
        self._parameters = parameters  # A function that gives all of them.
        self.measures = False
        self._gathered = 0.0  # Of this worker, weighted by its share of the batch.
        self._local = None
        self._local_batch = 0
        self._mean = None

    def begin(self, measures):
        """Begins a step."""
        self.measures = measures
        self._gathered, self._local, self._local_batch, self._mean = 0.0, None, 0, None

    def begin_pass(self):
        """A pass over the batch begins; with several models there may be more than one in a step,
        and the last one counts."""
        self._gathered, self._local, self._local_batch = 0.0, None, 0

    def hook(self, reduce):
        """A communication hook that reads gradients before `reduce` sums them up."""
        ready = getattr(reduce, "stint_ready", None)
        sum_up = getattr(reduce, "stint_reduce", reduce)

        def look(state, bucket):
            if self.measures:
                self.gather(square([bucket.buffer()]))
            return sum_up(state, bucket)

        def when_ready(state, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
            if ready:
                ready(bucket)
            return look(state, bucket)

        # For turns, which are inserted between the two.
        when_ready.stint_ready, when_ready.stint_reduce = ready, look
        return when_ready

    def gather(self, part):
        """Adds the squared norm of a part of this worker's own gradients."""
        self._gathered += part

    def first_part(self, samples, weight):
        """Records the gradients of the first micro-batch of a single worker, times `weight`."""
        self._local, self._local_batch = self._square() / weight ** 2, samples

    def all_parts(self, samples, weight, scale=1.0):
        """The gradients are those of the whole batch. This worker's own, of so many samples, were
        weighted when they were summed up over workers. All of them are `scale` times too large."""
        self._mean = self._square() / scale ** 2
        if samples and weight:
            self._local, self._local_batch = self._gathered / weight ** 2, samples
        if self._local is not None:
            self._local /= scale ** 2

    def facts(self):
        """The report to the runner: empty for a step that was not measured, or not to its end."""
        found = {}
        if self._mean is not None and math.isfinite(self._mean):
            found["mean_square"] = self._mean
            if self._local is not None and math.isfinite(self._local):
                found.update(local_square=self._local, local_batch=self._local_batch)
        return found

    def _square(self):
        return square(one.grad for one in self._parameters() if one.grad is not None)
