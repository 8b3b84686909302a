"""Averages the gradients of several models over workers.

DistributedDataParallel averages the gradients of one model while its backward pass is under way,
and for that every forward pass must have its backward pass. A GAN breaks that rule: what its
generator makes for the discriminator has none. So the gradients of several models are averaged when
a pass over the micro-batches is done, all together and in the same order on every worker.
"""

import torch
import torch.distributed as dist

from stint.recorder import square

BUCKET = 25 << 20  # Bytes that are averaged at once, as in DistributedDataParallel.


class Gradients:
    """Those of all models of a job."""

    def __init__(self, parts, group, norms):
        self._parts = parts
        self._group = group
        self._norms = norms
        self._own = False  # Whether there are gradients of this worker alone.

    def added(self):
        """A backward pass is done."""
        self._own = True

    def forget(self):
        """There are none."""
        self._own = False

    def share(self, world):
        """After this they are the mean over all workers."""
        if world == 1 or not self._own:
            return
        self._own = False
        parameters = [one for _, one in self._parts.parameters() if one.requires_grad]
        for bucket in buckets_of(self._used(parameters)):
            self._average(bucket, world)

    def _used(self, parameters):
        """Those that have a gradient on any worker; what no worker used keeps none."""
        used = torch.tensor([one.grad is not None for one in parameters], dtype=torch.uint8)
        self._group.finish(dist.all_reduce(used, dist.ReduceOp.MAX, async_op=True))
        return [one for one, whether in zip(parameters, used.tolist()) if whether]

    def _average(self, parameters, world):
        own = [torch.zeros_like(one) if one.grad is None else one.grad for one in parameters]
        if self._norms.measures:
            self._norms.gather(square(own))
        flat = torch.cat([one.reshape(-1) for one in own]).div_(world)
        self._group.finish(dist.all_reduce(flat, async_op=True))
        for parameter, mean in zip(parameters, flat.split([one.numel() for one in own])):
            if parameter.grad is None:
                parameter.grad = torch.empty_like(parameter)
            parameter.grad.copy_(mean.view_as(parameter))


def buckets_of(parameters):
    """Parameters of one kind that are averaged together, in their order."""
    bucket, size, kind = [], 0, None
    for one in parameters:
        if bucket and (size > BUCKET or (one.dtype, one.device) != kind):
            yield bucket
            bucket, size = [], 0
        bucket.append(one)
        size += one.numel() * one.element_size()
        kind = one.dtype, one.device
    if bucket:
        yield bucket
