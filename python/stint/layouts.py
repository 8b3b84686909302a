"""How a model is split over the workers: the layout, and the place of this worker in it.

    layout = stint.layout()          # of the variable STINT_LAYOUT, which `stint run --layout` sets
    layout.tensor, layout.tensor_rank, layout.tensor_group

The text form is "dp4 tp2 pp2 zero1 mb2 recompute:full": words in any order, separated by spaces.

    dpN tpN ppN       data, tensor and pipeline degree (default: 1); they multiply to the workers
    vpN               virtual stages of a worker (default: 1)
    zeroN             ZeRO stage, 0 to 3 (default: 0); 3 shards the parameters too
    hsdp              shards within a VM and replicates over VMs
    mbN               samples of a micro-batch (default: all of the worker's at once)
    sp                sequence parallelism beside tensor parallelism
    recompute:WHAT    none (default), selective or full

Tensor ranks are innermost, so that they share a VM first, then data, then pipeline ranks:
rank = (pipeline_rank * data + data_rank) * tensor + tensor_rank.
"""

import os
import re

DEGREES = {"dp": "data", "tp": "tensor", "pp": "pipeline", "vp": "virtual", "mb": "micro_batch"}
RECOMPUTE = ("none", "selective", "full")
LARGEST = 1 << 20  # Of a degree or a micro-batch.


class LayoutError(ValueError):
    """A layout that cannot be; the message is a sentence for the user."""


class Layout:
    """The degrees of a layout, and the coordinates and process groups of one worker."""

    def __init__(self, text="", rank=0, workers=None, workers_per_vm=1):
        self.data = self.tensor = self.pipeline = self.virtual = 1
        self.zero = 0
        self.micro_batch = None  # All samples of the worker at once.
        self.sequence = self.hybrid = False
        self.recompute = "none"
        self._read(text)
        self._check(text)
        workers = self.workers if workers is None else workers
        if workers != self.workers:
            raise LayoutError(f"the layout '{self}' is for {self.workers} workers (data "
                              f"{self.data} x tensor {self.tensor} x pipeline {self.pipeline}), "
                              f"but there are {workers}; change a degree or the cluster")
        self.rank = rank
        self.tensor_rank = rank % self.tensor
        self.data_rank = rank // self.tensor % self.data
        self.pipeline_rank = rank // self.tensor // self.data
        self.shard = self._shard_degree(workers_per_vm)
        self._groups = None

    def _read(self, text):
        seen = set()
        for word in text.split():
            match = re.fullmatch(r"(dp|tp|pp|vp|mb|zero)([0-9]{1,7})", word)
            name = match[1] if match else word.split(":")[0]
            if name in seen:
                raise LayoutError(f"the layout '{text}' has '{name}' twice; give it once")
            seen.add(name)
            if match and name == "zero" and int(match[2]) <= 3:
                self.zero = int(match[2])
            elif match and name != "zero" and 1 <= int(match[2]) <= LARGEST:
                setattr(self, DEGREES[name], int(match[2]))
            elif word == "sp":
                self.sequence = True
            elif word == "hsdp":
                self.hybrid = True
            elif name == "recompute" and word[len("recompute:"):] in RECOMPUTE:
                self.recompute = word[len("recompute:"):]
            else:
                raise LayoutError(f"'{word}' in the layout '{text}' is not a word of a layout: "
                                  "write for example 'dp4 tp2 pp2 zero1 mb2 recompute:full'")

    def _check(self, text):
        if self.virtual > 1 and self.pipeline == 1:
            raise LayoutError(f"the layout '{text}' has virtual stages without a pipeline; add ppN "
                              "or leave out vp")
        if self.sequence and self.tensor == 1:
            raise LayoutError(f"the layout '{text}' has sequence parallelism without tensor "
                              "parallelism; add tpN or leave out sp")
        if self.hybrid and self.zero == 0:
            raise LayoutError(f"the layout '{text}' shards within VMs, but has no ZeRO stage; add "
                              "zero1, zero2 or zero3")

    def _shard_degree(self, workers_per_vm):
        """The number of workers over which state is sharded."""
        if self.zero == 0:
            return 1
        if not self.hybrid:
            return self.data
        inside = max(1, min(self.data, workers_per_vm // self.tensor))
        while self.data % inside:
            inside -= 1
        return inside

    @property
    def model(self):
        """The workers that hold one replica of the model."""
        return self.tensor * self.pipeline

    @property
    def workers(self):
        """All workers."""
        return self.data * self.model

    @property
    def shard_rank(self):
        """The place of this worker among those that shard state."""
        return self.data_rank % self.shard

    def __str__(self):
        words = [f"{name}{getattr(self, DEGREES[name])}" for name in ("dp", "tp", "pp", "vp")
                 if getattr(self, DEGREES[name]) > 1]
        words += ["sp"] * self.sequence
        words += [f"zero{self.zero}"] * (self.zero > 0)
        words += ["hsdp"] * self.hybrid
        words += [f"mb{self.micro_batch}"] * (self.micro_batch is not None)
        words += [f"recompute:{self.recompute}"] * (self.recompute != "none")
        return " ".join(words) or "dp1"

    def at(self, data=None, tensor=None, pipeline=None):
        """The rank of the worker at these coordinates; those left out are of this worker."""
        data = self.data_rank if data is None else data
        tensor = self.tensor_rank if tensor is None else tensor
        pipeline = self.pipeline_rank if pipeline is None else pipeline
        return (pipeline * self.data + data) * self.tensor + tensor

    def share(self, samples):
        """The first sample of this data rank, and the one after its last, among `samples`."""
        return (samples * self.data_rank // self.data,
                samples * (self.data_rank + 1) // self.data)

    def micro_batches(self, samples):
        """The micro-batches of this data rank among the `samples` of a step, as pairs like share().
        All data ranks have equally many, because they communicate in each; where the samples do
        not divide, one may be empty."""
        first, end = self.share(samples)
        most = -(-samples // self.data)
        count = -(-most // (self.micro_batch or max(1, most)))
        places = [first + (end - first) * number // count for number in range(count + 1)]
        return list(zip(places, places[1:]))

    # Process groups; one worker alone has None. The first use makes them all, for which all workers
    # are needed: where some would come to it later than others, make_groups() is called before.

    @property
    def data_group(self):
        """The workers with the same part of the model and other samples."""
        return self._group("data")

    @property
    def tensor_group(self):
        """The workers that split each layer."""
        return self._group("tensor")

    @property
    def pipeline_group(self):
        """The workers that hold the layers of one replica, in their order."""
        return self._group("pipeline")

    @property
    def shard_group(self):
        """The workers over which state is sharded; all of data_group without hsdp."""
        return self._group("shard")

    @property
    def gather_group(self):
        """The same workers once more, with connections of their own: parameters that are needed
        soon do not wait behind gradients."""
        return self._group("gather")

    @property
    def replica_group(self):
        """The workers with the same shard."""
        return self._group("replica")

    def members(self, axis):
        """The ranks of each group of an axis, in the order in which groups are made."""
        every = range(self.workers)
        places = {rank: Layout(str(self), rank) for rank in every}

        def key(rank):
            place = places[rank]
            block = place.data_rank // self.shard
            return {"data": (place.pipeline_rank, place.tensor_rank),
                    "tensor": (place.pipeline_rank, place.data_rank),
                    "pipeline": (place.data_rank, place.tensor_rank),
                    "shard": (place.pipeline_rank, place.tensor_rank, block),
                    "gather": (place.pipeline_rank, place.tensor_rank, block),
                    "replica": (place.pipeline_rank, place.tensor_rank,
                                place.data_rank % self.shard)}[axis]

        groups = {}
        for rank in every:
            groups.setdefault(key(rank), []).append(rank)
        return list(groups.values())

    def _group(self, axis):
        self.make_groups()
        return self._groups[axis]

    def make_groups(self):
        """Makes the process groups, once; all workers call it together."""
        if self._groups is not None:
            return
        import torch.distributed as dist
        self._groups = made = {}
        for axis in ("data", "tensor", "pipeline", "shard", "gather", "replica"):
            for ranks in self.members(axis):
                # A group of one needs no sockets, and gets none.
                group = dist.new_group(ranks) if len(ranks) > 1 else None
                if self.rank in ranks:
                    made[axis] = group


def fitted(text, workers):
    """The text of a layout for another number of workers: tensor and pipeline degrees stay, and the
    data degree is the largest that fits. Workers that are left over are not part of it."""
    layout = Layout(text)
    layout.data = workers // layout.model
    if layout.data == 0:
        raise LayoutError(f"the layout '{text}' needs at least {layout.model} workers (tensor "
                          f"{layout.tensor} x pipeline {layout.pipeline}), but there are "
                          f"{workers}")
    return str(layout)


def layout(default=None):
    """The layout that the environment says, for this worker; without one `default`, or data
    parallelism over all workers."""
    workers = int(os.environ.get("WORLD_SIZE", 1))
    text = os.environ.get("STINT_LAYOUT") or default or f"dp{workers}"
    return Layout(text, int(os.environ.get("RANK", 0)), workers,
                  int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
