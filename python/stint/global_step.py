"""One step of a job: this worker's part of a global batch."""

import time

from stint import patches
from stint.loading import load
from stint.order import micro_batches


class Step:
    """One global batch on this worker."""

    def __init__(self, job, dataset, indices, batch):
        self._job = job
        self._dataset = dataset
        self._indices = indices
        self._batch = batch  # The indices of all workers.
        self._weight = 0.0  # Of the micro-batch: its share of the global batch.
        self._loaded = []  # Micro-batches that worker processes loaded, for another pass.
        self.unfinished = 0  # Micro-batches that are still to come in this pass.
        self.micro_batch = 0  # Samples of the present one.
        self.number = job.done + 1
        self.loss = 0.0  # This worker's part of the global batch's.
        self.begin = time.monotonic()

    def micro_batches(self):
        """The worker's share of the batch, collated as a DataLoader does. A second call in the same
        step, such as for the other model of a GAN, gives the same samples again."""
        job, norms = self._job, self._job._norms
        job._follow_frozen()
        pieces = self._job._pieces(self.number, self._indices)
        own = bool(pieces)
        if not own and job.place.world > 1 and job._borrows:
            pieces = [self._borrowed()]
        for one in job._optimizers.values():
            one.zero_grad()
        job._gradients.forget()
        norms.begin_pass()
        for number, piece in enumerate(pieces):
            job._share_next(number + 1 == len(pieces))
            self.micro_batch = len(piece)
            self._weight = len(piece) / job.terms.batch if own else 0.0
            batch = self._batch_of(number, piece, own)
            self.unfinished = len(pieces) - number - 1
            try:
                yield batch
            finally:
                self.unfinished = 0
            if norms.measures and number == 0 and job.place.world == 1 and len(pieces) > 1:
                norms.first_part(len(piece), self._weight)
        if not pieces and job.place.world > 1:
            job._share_next(True)
            self._backward(job.model.nothing())
        job._gradients.share(job.place.world)
        if norms.measures:
            norms.all_parts(*self._summed(), job._scale())

    def _borrowed(self):
        """Samples of another worker, which count for nothing, for one that has none: only the
        script knows which parameters they use, and what else it does with them."""
        shares = self._job.place.shares
        largest = shares.index(max(shares))
        begin = sum(shares[:largest])
        most = self._job.place.micro_batch or shares[largest]
        return self._batch[begin:begin + min(most, shares[largest])]

    def _summed(self):
        """The samples of this worker's part of the sum over workers, and its weight there."""
        world = self._job.place.world
        samples = len(self._indices) if world > 1 else 0
        return samples, world * samples / self._job.terms.batch

    def backward(self, loss):
        """Adds the gradients of a micro-batch whose loss is a mean over its samples. It may be
        scaled by the job's gradient scaler."""
        self.loss += getattr(loss, "stint_unscaled", loss).detach() * self._weight
        # DistributedDataParallel takes the mean over workers; what counts is the mean over the
        # samples of the whole batch.
        self._backward(loss * (self._weight * self._job.place.world))

    def _backward(self, loss):
        loss.backward()
        self._job._group.check()
        self._job._backward_done()
        if self._job._several:
            self._job._gradients.added()

    def _batch_of(self, number, piece, own):
        loader = self._job._loader
        if loader and own:
            if number == len(self._loaded):
                self._loaded.append(loader.next(self.number, piece))
            return self._loaded[number]
        begin = time.perf_counter()
        batch = load(self._dataset, piece, self._job._collate)
        if patches.recorder:
            patches.recorder.waited(time.perf_counter() - begin, len(piece), len(self._dataset))
        return batch

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, _trace):
        if kind is None:
            self._job._step_done(self)
            return False
        return self._job._step_broken(self, problem)


def pieces_of(indices, most, halved):
    """The micro-batches of a share. `halved`: at least two, because the noise of the gradients of
    one worker alone is measured."""
    if halved:
        half = -(-len(indices) // 2)
        most = min(most, half) if most else half
    return [one for one in micro_batches(indices, most) if one]
