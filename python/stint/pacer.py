"""Makes the parts of real training take at least their profiled time."""

import torch
import torch.distributed as dist

from stint import turns
from stint.pace import Stream


def mean(_state, bucket):
    """Averages a bucket of gradients over all workers."""
    gradients = bucket.buffer().div_(dist.get_world_size())
    future = dist.all_reduce(gradients, async_op=True).get_future()
    return future.then(lambda done: done.value()[0])


class Pacer:
    """Waits at the end of each part. `pace` may be another one for each forward pass."""

    def __init__(self, pace=None):
        self.pace = pace
        self.stream = Stream(*turns.clock())
        self.start = 0.0  # Start of the pass.
        self.backward_start = 0.0
        self.backward_end = 0.0
        self.sync_end = 0.0

    def hook(self, reduce=mean):
        """A communication hook that waits until a bucket is ready by the profile."""
        def when_ready(state, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
            self._bucket_ready(bucket)
            return reduce(state, bucket)

        # For turns, which are inserted between the two.
        when_ready.stint_ready = self._bucket_ready
        when_ready.stint_reduce = reduce
        return when_ready

    def begin(self):
        """A forward pass begins; the script may have waited for data."""
        self.stream.catch_up()
        self.start = self.stream.at

    def forward_done(self):
        """Forward ends and backward begins."""
        self.stream.wait_until(self.start + self.pace.forward)
        self.backward_start = self.stream.at

    def _bucket_ready(self, bucket):
        buckets = self.pace.buckets
        last = bucket.is_last() or bucket.index() >= len(buckets)
        ready = 1.0 if last else buckets[bucket.index()][1]
        self.stream.wait_until(self.backward_start + ready * self.pace.backward)

    def backward_done(self):
        """Backward is over, including its waits."""
        self.stream.wait_until(self.backward_start + self.pace.backward)
        self.backward_end = self.stream.at
        self.stream.catch_up()
        self.sync_end = self.stream.at

    def updated(self):
        """The optimizer has made its step."""
        self.stream.wait_until(self.sync_end + self.pace.update)
