"""Training that goes on when machines come and go.

    job = stint.job(model, optimizer, scheduler, batch=256, steps=1000)
    for step in job.steps(dataset):
        with step:
            for inputs, labels in step.micro_batches():
                step.backward(criterion(job.model(inputs), labels))
            optimizer.step()
            scheduler.step()

The global batch and the order of samples are the same on any cluster: a worker trains on its share
of each batch, in as many micro-batches as its memory asks for; gradients are weighted by samples.
Under `stint run` a step that a lost worker broke is done again with those that are left; outside of
it this is plain training with DistributedDataParallel, which reads RANK and WORLD_SIZE.

What a step changes belongs inside of its block. The loss is a mean over the samples of its
micro-batch. Batches are normalised, and dropped out, by each worker for itself: a model with
BatchNorm or dropout is trained as well on another cluster, but not to the same numbers.

Under `stint search` the global batch may become another one while the training runs, with the
learning rate and the number of steps that go with it. `batch` and `steps` are the job's own, and so
are its learning rate and schedule: the rate is multiplied during updates only, and the scheduler,
whose step the script calls once in each step, goes on by progress in steps at the job's own batch.
So a script asks its loader and its optimizer for nothing that depends on the batch: it takes what
micro_batches() gives, and the mean over it.
"""

import functools
import math
import os
import sys
import time
import types

import torch
import torch.distributed as dist
from torch.utils.data import default_collate

from stint import patches, places, turns_ddp
from stint import state as states
from stint.control import Control
from stint.crash import crash_at
from stint.group import Group, NoGroup
from stint.model import Model
from stint.norms import Norms
from stint.order import Order, even_shares, micro_batches, share_of
from stint.pace import Paces
from stint.progress import Progress, Terms, at_rate
from stint.saver import Save, Saver

EXIT_NOT_RESTORED = 4
LAST_SAVE = 30  # Seconds that a worker waits for its saves before it ends.
# What PyTorch says when it was not able to reach other workers.
NETWORK_WORDS = ("gloo", "connection reset by peer", "connection closed by peer", "broken pipe",
                 "socket timeout")
# And when there was no memory for a tensor, on a GPU or elsewhere.
MEMORY_WORDS = ("out of memory", "can't allocate memory")


class Place:
    """Who this worker is among which others, until the next change."""

    def __init__(self, rank, world, shares, micro_batch=0, attempt=0):
        self.rank = rank
        self.world = world
        self.shares = shares
        self.micro_batch = micro_batch
        self.attempt = attempt


class Step:
    """One global batch on this worker."""

    def __init__(self, job, dataset, indices):
        self._job = job
        self._dataset = dataset
        self._indices = indices
        self._weight = 0.0  # Of the micro-batch: its share of the global batch.
        self.micro_batch = 0  # Samples of the present one.
        self.number = job.done + 1
        self.loss = 0.0  # This worker's part of the global batch's.
        self.begin = time.monotonic()

    def micro_batches(self):
        """The worker's share of the batch, collated as a DataLoader does."""
        job, norms = self._job, self._job._norms
        pieces = self._pieces()
        job.optimizer.zero_grad()
        for number, piece in enumerate(pieces):
            job.model.share_next(number + 1 == len(pieces))
            self.micro_batch = len(piece)
            self._weight = len(piece) / job.terms.batch
            yield self._collate(piece)
            if norms.measures and number == 0 and job.place.world == 1 and len(pieces) > 1:
                norms.first_part(len(piece), self._weight)
        if not pieces and job.place.world > 1:
            job.model.share_next(True)
            self._backward(job.model.nothing())
        if norms.measures:
            norms.all_parts(*self._summed())

    def _pieces(self):
        most, samples = self._job.place.micro_batch, len(self._indices)
        if self._job._norms.measures and self._job.place.world == 1:
            half = -(-samples // 2)
            most = min(most, half) if most else half
        return [one for one in micro_batches(self._indices, most) if one]

    def _summed(self):
        """The samples of this worker's part of the sum over workers, and its weight there."""
        world = self._job.place.world
        samples = len(self._indices) if world > 1 else 0
        return samples, world * samples / self._job.terms.batch

    def backward(self, loss):
        """Adds the gradients of a micro-batch whose loss is a mean over its samples."""
        self.loss += loss.detach() * self._weight
        # DistributedDataParallel takes the mean over workers; what counts is the mean over the
        # samples of the whole batch.
        self._backward(loss * (self._weight * self._job.place.world))

    def _backward(self, loss):
        loss.backward()
        self._job._group.check()
        self._job.model.backward_done()

    def _collate(self, piece):
        begin = time.perf_counter()
        many = getattr(self._dataset, "__getitems__", None)
        batch = default_collate(many(piece) if many else [self._dataset[one] for one in piece])
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


class Job:
    """A training under the eyes of `stint run`, or alone."""

    def __init__(self, model, optimizer, scheduler=None, *, batch, steps, seed=1):
        turns_ddp.install()  # Jobs that share their machines take turns.
        self.network = model
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.batch = batch
        self.total = steps
        self.seed = seed
        self.done = 0  # Steps.
        self.place = Place(0, 1, [batch])
        self.terms = Terms(batch, steps)
        self._changes = False  # Whether the runner may change the batch.
        self._progress = Progress(scheduler, steps)
        self._order = None
        self._position = self._position_next = (0, 0)  # In the order of samples.
        self._norms = Norms(model)
        self.model = Model(model, _paces(), self._norms)
        self._has_state = False
        self._grouped = False  # Else there is nothing to do but to wait for orders.
        self._told_finished = False
        self._save_order = None  # To be obeyed after its step, which is the same for all workers.
        self._halted = False  # After a save that no step is to follow: others will go on from it.
        self._kept = None  # What a broken step must not change.
        self._group = Group()
        self._control = Control.from_environment(self._group.break_off)
        self._saver = Saver(self._tell)
        self._guard_updates()
        self._tell("ready", step=-1, batch=batch, steps=steps)

    @property
    def rank(self):
        """The number of this worker; the first has 0."""
        return self.place.rank

    # For the training loop.

    def steps(self, dataset):
        """The steps that are left. A step that was broken comes again."""
        self._order = Order(len(dataset), self.seed)
        if not self._control:
            self._join_by_environment()
        while self._go_on():
            yield self._next_step(dataset)
        self._end()

    def _next_step(self, dataset):
        self._keep()
        self._progress.begin(self.terms.gain)
        every = self.terms.noise_every
        self._norms.begin(every > 0 and (self.done + 1) % every == 0)
        batch, self._position_next = self._order.take(self._position, self.terms.batch)
        return Step(self, dataset, share_of(batch, self.place.shares, self.place.rank))

    def _step_done(self, step):
        if self.place.world > 1 and self.model.samples == 0 and self.place.shares[self.rank] > 0:
            raise ValueError("the script called its model directly, without gradient "
                             "synchronisation; call job.model instead")
        self.done += 1
        self._progress.done(self.terms.gain)
        self._position = self._position_next
        loss = float(step.loss)
        self._tell("step", attempt=self.place.attempt, number=self.done,
                   time_s=time.monotonic() - step.begin, samples=self.model.samples,
                   loss=loss if math.isfinite(loss) else None,  # JSON has no other numbers.
                   **self._progress_facts(), **self._norms.facts())

    def _progress_facts(self):
        return {"progress": self._progress.value} if self._changes else {}

    def _step_broken(self, step, problem):
        """Whether an exception means only that the step is done again later."""
        if self._changes and is_of_memory(problem):
            self._tell("out_of_memory", attempt=self.place.attempt, samples=step.micro_batch)
            return False
        if not self._control or self.place.world == 1 or not self._is_of_network(problem):
            return False
        self.optimizer.zero_grad(set_to_none=True)
        self._take_back()
        self._lost(problem)
        return True

    # What a step that is broken has changed all the same: averages, and random numbers drawn.

    def _keep(self):
        self.model.samples = 0
        if self._control and self.place.world > 1:
            self._kept = ([one.clone() for one in self.network.buffers()], torch.get_rng_state())

    def _take_back(self):
        buffers, numbers = self._kept
        with torch.no_grad():
            for one, before in zip(self.network.buffers(), buffers):
                one.copy_(before)
        torch.set_rng_state(numbers)

    # Orders.

    def _go_on(self):
        """Obeys orders until there is a step to do (True) or the training has come to its end."""
        if not self._control:
            return self.done < self.terms.steps
        while True:
            self._save_if_due()
            finished = self.done >= self.terms.steps
            if self._grouped and finished and not self._told_finished:
                self._told_finished = True
                self._tell("finished", step=self.done)
            order = self._control.next(wait=not self._grouped or finished or self._halted)
            if order is None:
                return True
            if order[0] == "end":
                if finished:
                    return False  # What the script does after its loop is its own business.
                self._end()
                sys.exit(0)
            self._obey(*order)

    def _obey(self, kind, facts):
        if kind == "train":
            self._regroup(facts)
        elif kind == "save":
            self._save_order = facts
            self._halted = False

    def _regroup(self, facts):
        """Joins the others of an attempt; who has the latest state gives it to all."""
        self._leave()
        self._save_order = None
        self._halted = False
        self.place = Place(facts["rank"], facts["world"], facts["shares"],
                           facts.get("micro_batch") or 0, facts["attempt"])
        self.terms = Terms(self.batch, self.total, facts)
        self._changes = self._changes or "gain" in facts
        try:
            if self.place.world > 1:
                self._group.join(self.place.rank, self.place.world, facts["master"], facts["port"],
                                 self.place.attempt)
            self._share_state(facts.get("checkpoint"))
            if self.place.world > 1:
                self.model.wrap(self._group.mean)
        except RuntimeError as problem:
            if not self._is_of_network(problem):
                raise
            self._lost(problem)
            return
        self._grouped = True
        self._told_finished = False
        self._tell("training", attempt=self.place.attempt, step=self.done,
                   **self._progress_facts())

    def _leave(self, forever=False):
        self._grouped = False
        self.model.unwrap()
        self._group.leave(forever)

    def _end(self):
        self._saver.wait(LAST_SAVE)
        self._leave(forever=True)

    def _lost(self, problem):
        """Breaks the group off, so that the others notice too, and tells."""
        reason = str(problem).strip().split("\n")[0][:200]
        attempt = self.place.attempt
        self._leave()
        self._tell("lost_peer", attempt=attempt, step=self.done, reason=reason)

    def _is_of_network(self, problem):
        if not isinstance(problem, RuntimeError):
            return False
        text = str(problem).lower()
        return (isinstance(problem, NoGroup) or self._group.lost is not None
                or any(word in text for word in NETWORK_WORDS))

    # The state.

    def _state(self):
        return states.gather(self.network, self.optimizer, self.scheduler, self.done,
                             position=self._position, progress=self._progress.value)

    def _restore(self, data):
        self._saver.before_update()
        state = states.unpack(data, self._state())
        self.done = states.restore(state, self.network, self.optimizer, self.scheduler)
        # States of trainings whose batch could not change had neither.
        self._progress.value = state.get("progress", float(self.done))
        self._position = state.get("position") or self._order.position_after(self.done, self.batch)
        self._has_state = True

    def _share_state(self, checkpoint):
        """After this all workers have the state of the one that came furthest; if the checkpoint
        is further, or nobody has a state, that one; at the beginning that of the first worker."""
        held = [self.done if self._has_state else -1]
        if self.place.world > 1:
            steps = [torch.zeros(1, dtype=torch.int64) for _ in range(self.place.world)]
            self._group.finish(dist.all_gather(steps, torch.tensor(held), async_op=True))
            held = [int(one) for one in steps]
        furthest = max(held)
        source = held.index(furthest)
        if checkpoint and checkpoint["step"] > furthest:
            furthest, held = checkpoint["step"], [-1] * len(held)
            if self.place.rank == source:
                self._load(checkpoint)
        if self.place.world > 1 and (furthest < 0 or min(held) < furthest):
            self._broadcast(source)
        self._has_state = True

    def _broadcast(self, source):
        """Sends the state of one worker to all others."""
        mine = self.place.rank == source
        data = states.pack(self._state()) if mine else None
        size = torch.tensor([len(data) if mine else 0])
        self._group.finish(dist.broadcast(size, source, async_op=True))
        if mine:
            crash_at("share")
        else:
            data = torch.empty(int(size), dtype=torch.uint8)
        self._group.finish(dist.broadcast(data, source, async_op=True))
        if not mine:
            self._restore(data)

    def _load(self, checkpoint):
        """Reads a checkpoint. A worker that cannot leaves: the others hear it from its going."""
        try:
            data = places.load(checkpoint["place"], checkpoint["step"], checkpoint["shards"],
                               checkpoint.get("checksums"))
            crash_at("restore")
            self._restore(data)
        except (OSError, ValueError, RuntimeError, KeyError) as problem:
            reason = f"the checkpoint of step {checkpoint['step']} cannot be restored: {problem}"
            self._tell("restore_failed", attempt=self.place.attempt, step=checkpoint["step"],
                       reason=reason)
            print(f"stint: {reason}", file=sys.stderr)
            sys.exit(EXIT_NOT_RESTORED)

    def _save_if_due(self):
        order = self._save_order
        if order is None or not self._grouped:
            return
        if order["step"] > self.done and self.done < self.terms.steps:
            return
        self._save_order = None
        if order["attempt"] != self.place.attempt:
            self._tell("save_failed", attempt=order["attempt"], step=order["step"],
                       reason="it was ordered for other workers")
            return
        facts = {"attempt": order["attempt"], "step": self.done}
        self._halted = order.get("halt", False)
        self._saver.begin(self._state(), Save(places.place_of(order["place"]), self.place.rank,
                                              self.place.world, facts))

    # The rest.

    def _tell(self, kind, **facts):
        if self._control:
            self._control.tell(kind, **facts)

    def _guard_updates(self):
        """The optimizer waits for a copy of the parameters that is being made."""
        update = self.optimizer.step

        @functools.wraps(update)  # With the mark of a scheduler, which looks for it.
        def guarded(_optimizer, *arguments, **more):
            self._saver.before_update()
            with at_rate(self.optimizer, self.terms.rate):
                result = update(*arguments, **more)
            if self.model.pacer:
                self.model.pacer.updated()
            return result

        self.optimizer.step = types.MethodType(guarded, self.optimizer)  # As schedulers expect.

    def _join_by_environment(self):
        world = int(os.environ.get("WORLD_SIZE", 1))
        rank = int(os.environ.get("RANK", 0))
        self.place = Place(rank, world, even_shares(self.batch, world))
        if world > 1:
            if not dist.is_initialized():
                dist.init_process_group("gloo")
            self.model.wrap()


def is_of_memory(problem):
    """Whether an exception says that there was not enough memory."""
    if isinstance(problem, (MemoryError, getattr(torch.cuda, "OutOfMemoryError", MemoryError))):
        return True
    text = str(problem).lower()
    return isinstance(problem, RuntimeError) and any(word in text for word in MEMORY_WORDS)


def _paces():
    """The profiled times that `stint run` asks this worker to take, if any."""
    path = os.environ.get("STINT_PACE")
    if not path:
        return None
    return Paces(path, os.environ.get("STINT_PACE_DEVICE"),
                 float(os.environ.get("STINT_PACE_SPEED", 1)))
