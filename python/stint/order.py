"""Which samples a worker trains on: the same global batches in the same order on every cluster."""

import torch


class Place:
    """Who this worker is among which others, until the next change."""

    def __init__(self, rank, world, shares, micro_batch=0, attempt=0):
        self.rank = rank
        self.world = world
        self.shares = shares
        self.micro_batch = micro_batch
        self.attempt = attempt


class Order:
    """The samples of each step. An epoch is a permutation drawn from the seed; its last samples,
    too few for a whole batch, are left out. A position is an epoch and how many of its samples were
    used, so that the batch may change at any time."""

    def __init__(self, samples, seed):
        self.samples = samples  # Of the data set.
        self._seed = seed
        self._epoch = None
        self._permutation = None

    def position_after(self, steps, batch):
        """The position of a training after this many steps of the same batch."""
        self._check(batch)
        epoch, place = divmod(steps, self.samples // batch)
        return epoch, place * batch

    def take(self, position, batch):
        """The indices of the next batch, and the position after it."""
        self._check(batch)
        epoch, used = position
        if used + batch > self.samples:
            epoch, used = epoch + 1, 0
        if epoch != self._epoch:
            generator = torch.Generator().manual_seed(self._seed * 1_000_003 + epoch)
            self._permutation = torch.randperm(self.samples, generator=generator).tolist()
            self._epoch = epoch
        return self._permutation[used:used + batch], (epoch, used + batch)

    def _check(self, batch):
        if batch > self.samples:
            raise ValueError(f"a batch of {batch} is larger than the data set of "
                             f"{self.samples} samples")


def even_shares(batch, workers):
    """A batch shared out as evenly as whole samples allow."""
    small, more = divmod(batch, workers)
    return [small + 1 if worker < more else small for worker in range(workers)]


def share_of(indices, shares, rank):
    """The part of a global batch that a worker trains on."""
    if sum(shares) != len(indices):
        raise ValueError(f"shares add up to {sum(shares)} samples, not {len(indices)}")
    begin = sum(shares[:rank])
    return indices[begin:begin + shares[rank]]


def micro_batches(indices, most):
    """Splits a worker's share into pieces of at most `most` samples, of nearly equal size."""
    count = max(1, -(-len(indices) // most)) if most else 1
    pieces, begin = [], 0
    for size in even_shares(len(indices), count):
        pieces.append(indices[begin:begin + size])
        begin += size
    return pieces
