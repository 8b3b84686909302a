"""Collectives over Gloo that count what they put on the network.

Gloo has no reduce-scatter: it is built from an all-reduce whose result is cut, which sends twice
the bytes of a true one. The all-gather is built from sends, because Gloo's own waits for half a
part more: with two workers it takes one and a half times the time of the bytes. What a worker sends:

    all-reduce, reduce-scatter   2 (n - 1) / n  of the whole tensor, in a ring
    all-gather                     (n - 1) / n  of the whole tensor, a part to each other worker
    send                           the tensor

A group of None is a group of one, for which nothing is sent, as for tensors without elements.
"""

import torch.distributed as dist


class Pending:
    """An operation under way, which may consist of several."""

    def __init__(self, works, waited):
        self._works = works
        self._waited = waited

    def wait(self):
        """Waits for the operation, once."""
        if self._works:
            for work in self._works:
                work.wait()
            self._works = []
            self._waited()


class Traffic:
    """Does collectives and counts their bytes by axis: data, tensor or pipeline.

    `waited` is called after each wait: a paced job has to know that time passed.
    """

    def __init__(self, waited=lambda: None):
        self.sent = {}  # Bytes that this worker sent, by axis,
        self.calls = {}  # and the number of operations.
        self._waited = waited

    def _count(self, axis, size):
        self.sent[axis] = self.sent.get(axis, 0) + size
        self.calls[axis] = self.calls.get(axis, 0) + 1

    def all_reduce(self, tensor, group, axis):
        """Sums a tensor over the group, in place. Returns what to wait for."""
        if group is None or tensor.numel() == 0:
            return Pending([], self._waited)
        workers = dist.get_world_size(group)
        self._count(axis, 2 * (workers - 1) * size_of(tensor) // workers)
        return Pending([dist.all_reduce(tensor, group=group, async_op=True)], self._waited)

    def reduce_scatter(self, whole, group, axis):
        """Sums `whole` over the group, of which each worker then uses its part. All of it is summed
        in place, because Gloo has only the all-reduce."""
        return self.all_reduce(whole, group, axis)

    def all_gather(self, whole, part, group, axis):
        """Fills `whole`, which is flat, with the parts of all workers in order."""
        if group is None or part.numel() == 0:
            if whole.data_ptr() != part.data_ptr():
                whole.copy_(part)
            return Pending([], self._waited)
        workers, own = dist.get_world_size(group), dist.get_rank(group)
        self._count(axis, (workers - 1) * size_of(part))
        parts = whole.chunk(workers)
        works = []
        for place in range(1, workers):
            sender = (own - place) % workers
            works.append(dist.irecv(parts[sender], global_rank(group, sender), group=group))
        for place in range(1, workers):
            works.append(dist.isend(part, global_rank(group, (own + place) % workers), group=group))
        if parts[own].data_ptr() != part.data_ptr():
            parts[own].copy_(part)
        return Pending(works, self._waited)

    def send(self, tensor, rank, tag, axis="pipeline"):
        """Sends a tensor, which stays as it is until the wait."""
        if tensor.numel() == 0:
            return Pending([], self._waited)
        self._count(axis, size_of(tensor))
        return Pending([dist.isend(tensor, rank, tag=tag)], self._waited)

    def receive(self, tensor, rank, tag):
        """Receives into a tensor. Gloo sends only to a worker that has asked, so ask early."""
        if tensor.numel() == 0:
            return Pending([], self._waited)
        return Pending([dist.irecv(tensor, rank, tag=tag)], self._waited)


def size_of(tensor):
    """The bytes of a tensor."""
    return tensor.numel() * tensor.element_size()


def global_rank(group, rank):
    """The rank among all workers of a member of a group."""
    named = getattr(dist, "get_global_rank", None) or dist.distributed_c10d._get_global_rank
    return named(group, rank)
