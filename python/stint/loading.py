"""Micro-batches loaded by processes of their own, ahead of the step that needs them.

The order of samples is the job's, on any cluster and with any number of processes. What a data set
draws at random for a sample depends on the seed, the step and the sample only. The processes live
as long as the training: when the machines change, what was loaded for the steps before is dropped.
"""

import ctypes
import functools
import os
import random
import signal
import stat
import sys

import torch
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, SequentialSampler
from torch.utils.data import default_collate
from torch.utils.data.distributed import DistributedSampler

AHEAD = 2  # Micro-batches that each process loads ahead.
PR_SET_PDEATHSIG = 1  # Of prctl(2).


class Source:
    """Where samples come from: a data set, or what a DataLoader of the script says of one."""

    def __init__(self, dataset, workers=None, collate=None):
        self.dataset, self.workers, self.collate, self.init = dataset, workers or 0, collate, None
        if isinstance(dataset, DataLoader):
            self._take(dataset, workers)
        if isinstance(self.dataset, IterableDataset) or not hasattr(self.dataset, "__len__"):
            raise TypeError(f"{type(self.dataset).__name__} has no order of samples that workers "
                            "could share: job.steps() needs a data set with __getitem__ and "
                            "__len__")
        self.collate = self.collate or default_collate

    def _take(self, loader, workers):
        usual = (RandomSampler, SequentialSampler, DistributedSampler)
        if loader.batch_size is None or type(loader.sampler) not in usual:
            kind = type(loader.sampler).__name__
            raise ValueError(f"the DataLoader has a {kind} of its own, but the order of samples is "
                             "the job's: hand the data set to job.steps()")
        self.dataset = loader.dataset
        self.workers = loader.num_workers if workers is None else workers
        self.collate = self.collate or loader.collate_fn
        self.init = loader.worker_init_fn


def load(dataset, indices, collate):
    """A micro-batch."""
    many = getattr(dataset, "__getitems__", None)
    return collate(many(indices) if many else [dataset[one] for one in indices])


class Loader:
    """Loads what `begin` announces, in order."""

    def __init__(self, source, seed):
        self._source = source
        self._seed = seed
        self._round = 0  # Of announcements; what was loaded for an earlier one is dropped.
        self._tasks = iter(())
        self._expected = None  # What the next step is if all goes on as announced.
        self._iterator = None

    def begin(self, number, terms, tasks):
        """A step begins. Unless it follows the one before it on the same `terms`, all that is to
        come is announced anew: `tasks()` gives (step, indices) from this one on."""
        if self._expected != (number, terms):
            self._round += 1
            self._tasks = tasks()
        self._expected = (number + 1, terms)
        if self._iterator is None:
            self._iterator = iter(self._make())

    def next(self, number, indices):
        """The next micro-batch, which is that of these samples."""
        while True:
            found, step, its, batch = next(self._iterator)
            if found == self._round and step == number and its == indices:
                return batch
            if found == self._round and (step is None or step >= number):
                raise RuntimeError(f"step {number} asks for micro-batches that were not announced")

    def stop(self):
        """Ends the processes."""
        iterator, self._iterator = self._iterator, None
        end = getattr(iterator, "_shutdown_workers", None)
        if end:
            end()

    def __iter__(self):
        """What the processes are told to load, for ever: the end of training may be moved."""
        while True:
            yield (self._round, *next(self._tasks, (None, None)))

    def _make(self):
        samples = Samples(self._source, self._seed)
        return DataLoader(samples, batch_size=None, sampler=self, num_workers=self._source.workers,
                          collate_fn=_as_it_is, prefetch_factor=AHEAD,
                          # Its own, so that the training's random numbers stay what they are.
                          generator=torch.Generator(), multiprocessing_context="fork",
                          worker_init_fn=functools.partial(_begin, os.getpid(), self._source.init))


class Samples(torch.utils.data.Dataset):
    """What runs in the processes: a task in, a micro-batch out."""

    def __init__(self, source, seed):
        self._source = source
        self._seed = seed

    def __len__(self):
        return len(self._source.dataset)

    def __getitem__(self, task):
        turn, number, indices = task
        if indices is None:
            return turn, None, None, None
        dataset, collate = self._source.dataset, self._source.collate
        if hasattr(dataset, "__getitems__"):
            _seed(self._seed, number, indices[0])
            return turn, number, indices, load(dataset, indices, collate)
        found = []
        for index in indices:
            _seed(self._seed, number, index)
            found.append(dataset[index])
        return turn, number, indices, collate(found)


def _seed(seed, number, index):
    """Random numbers of a sample do not depend on the process that loads it."""
    value = hash((seed, number, index)) % 2**63  # Numbers have the same hash in all processes.
    torch.default_generator.manual_seed(value)
    random.seed(value)
    numpy = sys.modules.get("numpy")
    if numpy:
        numpy.random.seed(value % 2**32)


def _as_it_is(value):
    return value


def _begin(parent, script, number):
    """A process begins. It ends with its worker, however that ends, and holds none of its
    connections: others notice by their end that the worker is gone."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
        try:
            # The number stays taken: whoever thinks it a connection may still close it.
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.dup2(nothing, descriptor)
        except OSError:
            pass  # That of the listing.
    os.close(nothing)
    if script:
        script(number)
