"""Which samples a worker trains on: the same global batches in the same order on every cluster."""

import torch


class Order:
    """The samples of each step. An epoch is a permutation drawn from the seed; its last samples,
    too few for a whole batch, are left out."""

    def __init__(self, samples, batch, seed):
        if batch > samples:
            raise ValueError(f"a batch of {batch} is larger than the {samples} samples there are")
        self._samples = samples
        self._batch = batch
        self._seed = seed
        self._epoch = None
        self._permutation = None

    def steps_per_epoch(self):
        """How many whole batches an epoch has."""
        return self._samples // self._batch

    def batch_of(self, step):
        """The indices of the samples of a step, counted from 0."""
        epoch, place = divmod(step, self.steps_per_epoch())
        if epoch != self._epoch:
            generator = torch.Generator().manual_seed(self._seed * 1_000_003 + epoch)
            self._permutation = torch.randperm(self._samples, generator=generator).tolist()
            self._epoch = epoch
        return self._permutation[place * self._batch:(place + 1) * self._batch]


def even_shares(batch, workers):
    """A batch shared out as evenly as whole samples allow."""
    small, more = divmod(batch, workers)
    return [small + 1 if worker < more else small for worker in range(workers)]


def share_of(indices, shares, rank):
    """The part of a global batch that a worker trains on."""
    if sum(shares) != len(indices):
        raise ValueError(f"shares of {sum(shares)} samples do not make a batch of {len(indices)}")
    begin = sum(shares[:rank])
    return indices[begin:begin + shares[rank]]


def micro_batches(indices, most):
    """Cuts a worker's share into pieces of at most `most` samples, as equal as they can be."""
    count = max(1, -(-len(indices) // most)) if most else 1
    pieces, begin = [], 0
    for size in even_shares(len(indices), count):
        pieces.append(indices[begin:begin + size])
        begin += size
    return pieces
