"""Which batches the training of a script came from, and whether their size can be changed.

A DataLoader's batch belongs to training when a training pass follows it. A batch that an
evaluation looked at does not: it is forgotten when the next one is fetched. Until then it may be a
batch that a teacher, which is in evaluation mode, saw before the model that trains.
"""

import functools
import inspect
import time

import torch
import torch.utils.data.dataloader as dataloader

PENDING_MAX = 1024  # Batches; a script may look at all of its data before it trains.


class Feed:
    """A source of batches: a DataLoader as far as its batches concern a profile."""

    def __init__(self, batch, dataset, own=None, fixed=None, workers=None):
        self.batch = batch      # Samples; None: unknown.
        self.dataset = dataset  # Samples in an epoch; None: unknown.
        self.own = own          # The batch that the script asked for, where it can be changed.
        self.fixed = fixed      # Why it cannot be.
        self.workers = workers
        # A batch that was changed is looked for in the tensors.
        self.confirmed = own is None or own == batch

    def look(self, batch):
        """Looks for the batch size in the tensors of a batch."""
        if not self.confirmed:
            self.confirmed = any(self.batch in tensor.shape for tensor in tensors_in(batch))


class Fetch:
    """A batch that the script waited for."""

    def __init__(self, feed, seconds, begin):
        self.feed = feed
        self.seconds = seconds
        self.begin = begin  # A mark of the recorder's clock, or None.
        self.evaluated = False


class Pending:
    """The batches that no training pass has used yet."""

    def __init__(self):
        self._fetches = []

    def add(self, fetch):
        kept = [one for one in self._fetches if not one.evaluated]
        self._fetches = kept[-PENDING_MAX + 1:] + [fetch]

    def evaluated(self):
        """A model in evaluation mode was called."""
        for one in self._fetches:
            one.evaluated = True

    def take(self):
        """Returns them for a training pass that begins."""
        taken, self._fetches = self._fetches, []
        return taken

    def __bool__(self):
        return bool(self._fetches)


def tensors_in(value):
    """Yields the tensors of nested lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors_in(one)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def leading_size(arguments):
    """Returns the first dimension of the first tensor, which is the batch more often than not."""
    tensor = next(tensors_in(arguments), None)
    return (tensor.shape[0] or None) if tensor is not None and tensor.dim() > 0 else None


def why_fixed(dataset, batch_size, batch_sampler):
    """Returns why the batch of such a DataLoader cannot be changed, or None if it can."""
    if isinstance(dataset, torch.utils.data.IterableDataset):
        return "its DataLoader reads an IterableDataset"
    if batch_sampler is not None:
        return "its DataLoader has a batch sampler of its own"
    if type(batch_size) is not int:
        return "its DataLoader does not batch samples"
    return None


def patch_loaders(recorder):
    """Times the batches of DataLoaders, and changes their size if `stint profile` asks for it."""
    patch_creation(recorder.settings)
    base = dataloader._BaseDataLoaderIter
    base.__next__ = timed_next(base.__next__, recorder)
    original = base.__init__

    @functools.wraps(original)
    def initialise(self, loader, *arguments, **keywords):
        original(self, loader, *arguments, **keywords)
        if not hasattr(loader, "_stint_feed"):
            loader._stint_feed = feed_of(loader)
        self._stint_feed = loader._stint_feed  # The same in each epoch.

    base.__init__ = initialise


def feed_of(loader):
    try:
        size = len(loader.dataset)
    except (TypeError, NotImplementedError):  # A stream has no length.
        size = None
    own, fixed = getattr(loader, "_stint_batch", (None, "its DataLoader is of another kind"))
    return Feed(loader.batch_size, size, own, fixed, loader.num_workers)


def patch_creation(settings):
    kind = dataloader.DataLoader
    original = kind.__init__
    signature = inspect.signature(original)

    @functools.wraps(original)
    def initialise(self, *arguments, **keywords):
        try:
            given = signature.bind(self, *arguments, **keywords)
        except TypeError:  # The original says what is wrong.
            return original(self, *arguments, **keywords)
        given.apply_defaults()
        values = given.arguments
        fixed = why_fixed(values.get("dataset"), values.get("batch_size"),
                          values.get("batch_sampler"))
        own = None if fixed else values["batch_size"]
        if own is not None:
            keywords = dict(keywords)
            batch = settings.loader_batch(own)
            if batch != own:
                if len(arguments) > 1:
                    arguments = (arguments[0], batch, *arguments[2:])
                else:
                    keywords["batch_size"] = batch
        original(self, *arguments, **keywords)
        self._stint_batch = (own, fixed)
        return None

    kind.__init__ = initialise


def timed_next(original, recorder):
    """Returns an iterator's __next__ that tells the recorder how long it took."""
    def timed(iterator):
        mark = recorder.mark()
        begin = time.perf_counter()
        if recorder.watch is not None:
            recorder.watch.pause()
        try:
            batch = original(iterator)
        finally:
            if recorder.watch is not None:
                recorder.watch.resume()
        seconds = time.perf_counter() - begin
        feed = getattr(iterator, "_stint_feed", None)
        if feed is not None:
            feed.look(batch)
            recorder.fetched(Fetch(feed, seconds, mark))
        return batch
    return timed
