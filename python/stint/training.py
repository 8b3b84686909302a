"""Training that goes on when machines come and go.

    job = stint.Job(model, optimizer, scheduler, batch=256, steps=1000)
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

There may be several models, optimizers and schedulers, in lists or dictionaries; job.models has
what is called, in the same shape. A GAN goes over the micro-batches once for each of its updates:

    job = stint.Job({"g": generator, "d": discriminator}, [optimizer_g, optimizer_d], ...)
    with step:
        for images, _ in step.micro_batches():
            fake = job.models["g"](noise(len(images))).detach()
            step.backward(loss_d(job.models["d"](images), job.models["d"](fake)))
        optimizer_d.step()
        for images, _ in step.micro_batches():
            step.backward(loss_g(job.models["d"](job.models["g"](noise(len(images))))))
        optimizer_g.step()
"""

import functools
import math
import os
import sys
import time
import types

import torch
import torch.distributed as dist

from stint import places, replicas, turns, turns_ddp
from stint import state as states
from stint.control import Control
from stint.crash import crash_at
from stint.global_step import Step, pieces_of
from stint.gradients import Gradients
from stint.group import Group, NoGroup
from stint.loading import Loader, Source
from stint.model import Model, Pacing, check_arguments
from stint.norms import Norms
from stint.order import Order, Place, even_shares, share_of
from stint.pace import Paces
from stint.parts import Parts, as_handed, marks_unscaled, scale_of
from stint.problems import HINT_UNUSED, is_of_memory, is_of_network
from stint.progress import Progress, Terms, at_rate
from stint.saver import Save, Saver
from stint.undo import Undo

EXIT_NOT_RESTORED = 4
LAST_SAVE = 30  # Seconds that a worker waits for its saves before it ends.


class Job:
    """A training under the eyes of `stint run`, or alone.

    model, optimizer, scheduler
                 One of each, or several in a list or a dictionary. All that trains is among the
                 models and the optimizers.
    batch, steps The global batch and the number of steps.
    seed         Of the order of samples.
    scaler       A GradScaler: `step.backward(scaler.scale(loss))`, `scaler.step(optimizer)`.
    extra        Other objects with state_dict and load_state_dict, by name, that are saved,
                 restored and given to workers that join: `extra={"ema": ema}`.
    ddp          Arguments for DistributedDataParallel: `ddp={"find_unused_parameters": True}`. It
                 synchronises one model; several are synchronised without it, when the loop over
                 micro-batches ends, and may have unused parameters.
    check_every  Steps after which parameters are compared over workers; 0: never.
    """

    def __init__(self, model, optimizer, scheduler=None, *, batch, steps, seed=1, scaler=None,
                 extra=None, ddp=None, check_every=100):
        turns_ddp.install()  # Jobs that share their machines take turns.
        self.network, self.optimizer, self.scheduler = model, optimizer, scheduler
        self._parts = Parts(model, optimizer, scheduler, scaler, extra)
        self._optimizers = self._parts.optimizers
        self._several = several = len(self._parts.networks) > 1
        arguments = dict(ddp or {})
        check_arguments(arguments)
        self._borrows = several or bool(ddp)  # Samples, on a worker that has none.
        self.batch = batch
        self.total = steps
        self.seed = seed
        self.done = 0  # Steps.
        self.place = Place(0, 1, [batch])
        self.terms = Terms(batch, steps)
        self._changes = False  # Whether the runner may change the batch.
        self._progress = Progress(self._parts.schedulers.values(), steps)
        self._order = None
        self._loader = self._collate = None
        self._position = self._position_next = (0, 0)  # In the order of samples.
        self._norms = Norms(lambda: [one for _, one in self._parts.parameters()])
        self._pacing = Pacing(_paces(), several)
        self._models = {name: Model(one, self._pacing, self._norms, arguments)
                        for name, one in self._parts.networks.items()}
        self.models = as_handed(self._models, model)
        self._has_state = False
        self._grouped = False  # Else there is nothing to do but to wait for orders.
        self._told_finished = False
        self._save_order = None  # To be obeyed after its step, which is the same for all workers.
        self._halted = False  # After a save that no step is to follow: others will go on from it.
        self._undo = Undo(self._parts)
        self._outsiders = replicas.Outsiders(self._parts)
        self._warned = False
        self._check_every = check_every
        self._compared = False  # The replicas, since the workers came together.
        self._step = None  # The present one.
        self._group = Group()
        self._gradients = Gradients(self._parts, self._group, self._norms)
        self._control = Control.from_environment(self._group.break_off)
        self._saver = Saver(self._tell)
        for name in self._optimizers:
            self._guard_updates(name)
        if scaler is not None:
            marks_unscaled(scaler)
        states.Layout(self._state())  # What cannot be saved is told now.
        self._tell("ready", step=-1, batch=batch, steps=steps)

    @property
    def rank(self):
        """The number of this worker; the first has 0."""
        return self.place.rank

    @property
    def model(self):
        """What the script calls instead of its model."""
        if self._several:
            raise AttributeError("this job has several models: call those of job.models")
        return next(iter(self._models.values()))

    # For the training loop.

    def steps(self, dataset, workers=None, collate=None):
        """The steps that are left. A step that was broken comes again. `workers` processes load the
        samples ahead of them, in the same order on any cluster. In place of a data set there may be
        a DataLoader, whose data set, processes and collate_fn are taken."""
        source = Source(dataset, workers, collate)
        self._order = Order(len(source.dataset), self.seed)
        self._collate = source.collate
        self._loader = Loader(source, self.seed) if source.workers > 0 else None
        try:
            if not self._control:
                self._join_by_environment()
            while self._go_on():
                yield self._next_step(source.dataset)
            self._end()
        finally:
            self._stop_loading()

    def _next_step(self, dataset):
        number = self.done + 1
        self._keep()
        self._progress.begin(self.terms.gain)
        self._norms.begin(self._measures(number))
        if self._looks_at(number):
            self._outsiders.watch()
        if self._loader:
            self._loader.begin(number, (self.place, self.terms), self._upcoming)
        batch, self._position_next = self._order.take(self._position, self.terms.batch)
        mine = share_of(batch, self.place.shares, self.place.rank)
        self._step = Step(self, dataset, mine, batch)
        return self._step

    def _upcoming(self):
        """The micro-batches of this worker from the next step on, as (step, indices)."""
        place, terms, position = self.place, self.terms, self._position
        order = Order(self._order.samples, self.seed)
        for number in range(self.done + 1, terms.steps + 1):
            batch, position = order.take(position, terms.batch)
            for piece in self._pieces(number, share_of(batch, place.shares, place.rank)):
                yield number, piece

    def _pieces(self, number, indices):
        """The micro-batches of this worker's share of a step."""
        halved = self._measures(number) and self.place.world == 1
        return pieces_of(indices, self.place.micro_batch, halved)

    def _measures(self, number):
        """Whether the noise of gradients is measured in a step."""
        every = self.terms.noise_every
        return every > 0 and number % every == 0

    def _share_next(self, whether):
        self._pacing.begin()
        for one in self._models.values():
            one.share_next(whether)

    def _follow_frozen(self):
        for one in self._models.values():
            one.follow()

    def _backward_done(self):
        if self._pacing.pacer:
            self._pacing.pacer.backward_done()
        for one in self._models.values():
            one.backward_done()

    def _scale(self):
        return scale_of(self._parts.scaler)

    def _step_done(self, step):
        samples = self._samples()
        if self.place.world > 1 and samples == 0 and self.place.shares[self.rank] > 0:
            raise ValueError("the script called its model directly, without gradient "
                             "synchronisation; call job.model instead")
        self._refuse_outsiders()
        self.done += 1
        self._progress.done(self.terms.gain)
        self._position = self._position_next
        loss = float(step.loss)
        self._tell("step", attempt=self.place.attempt, number=self.done,
                   time_s=time.monotonic() - step.begin, samples=samples,
                   loss=loss if math.isfinite(loss) else None,  # JSON has no other numbers.
                   **self._progress_facts(), **self._norms.facts())
        self._step = None
        self._compare_replicas()

    def _samples(self):
        """Samples that the model saw; how several models see them only the script knows."""
        share = self.place.shares[self.rank]
        return share if self._several or share == 0 else self.model.samples

    def _progress_facts(self):
        return {"progress": self._progress.value} if self._changes else {}

    def _step_broken(self, step, problem):
        """Whether an exception means only that the step is done again later."""
        self._step = None
        if self._changes and is_of_memory(problem):
            self._tell("out_of_memory", attempt=self.place.attempt, samples=step.micro_batch)
            return False
        if not self._control or self.place.world == 1 or not self._is_of_network(problem):
            if "find_unused_parameters=True" in str(problem):
                print(HINT_UNUSED, file=sys.stderr)
            return False
        for one in self._optimizers.values():
            one.zero_grad(set_to_none=True)
        self._undo.take_back()
        self._lost(problem)
        return True

    def _keep(self):
        for one in self._models.values():
            one.samples = 0
        if self._control and self.place.world > 1:
            self._undo.keep()
        else:
            self._undo.forget()

    # What would train differently on each worker.

    def _looks_at(self, number):
        return number <= replicas.LOOKED_AT or self._is_due(number)

    def _is_due(self, number):
        return self._check_every > 0 and number % self._check_every == 0

    def _refuse_outsiders(self):
        trained = self._outsiders.trained()
        if not trained:
            return
        if self._control or self.place.world > 1:
            raise ValueError(trained)
        if not self._warned:  # One process alone trains it as it trains the rest.
            print(f"stint: {trained}", file=sys.stderr)
        self._warned = True

    def _compare_replicas(self):
        """Once after each change of the cluster, and then every so many steps."""
        if self.place.world == 1 or not self._check_every:
            return
        if self._compared and not self._is_due(self.done):
            return
        turns.give()  # Never held while other machines are waited for.
        try:
            name = replicas.first_difference(self._parts.parameters(), self._group,
                                             self.place.world)
        except RuntimeError as problem:
            if not self._control or not self._is_of_network(problem):
                raise
            self._lost(problem)  # The step is done all the same.
            return
        self._compared = True
        if name:
            raise ValueError(replicas.DIFFERENT.format(name=name, step=self.done))

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
        self._compared = False
        self.place = Place(facts["rank"], facts["world"], facts["shares"],
                           facts.get("micro_batch") or 0, facts["attempt"])
        self.terms = Terms(self.batch, self.total, facts)
        self._changes = self._changes or "gain" in facts
        try:
            if self.place.world > 1:
                self._group.join(self.place.rank, self.place.world, facts["master"], facts["port"],
                                 self.place.attempt)
            self._share_state(facts.get("checkpoint"))
            if self.place.world > 1 and not self._several:
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
        for one in self._models.values():
            one.unwrap()
        self._group.leave(forever)

    def _stop_loading(self):
        if self._loader:
            self._loader.stop()

    def _end(self):
        self._stop_loading()
        self._saver.wait(LAST_SAVE)
        self._leave(forever=True)

    def _lost(self, problem):
        """Breaks the group off, so that the others notice too, and tells."""
        reason = str(problem).strip().split("\n")[0][:200]
        attempt = self.place.attempt
        self._leave()
        self._tell("lost_peer", attempt=attempt, step=self.done, reason=reason)

    def _is_of_network(self, problem):
        lost = isinstance(problem, NoGroup) or self._group.lost is not None
        return isinstance(problem, RuntimeError) and (lost or is_of_network(problem))

    # The state.

    def _state(self):
        return states.gather(*self._known(), self.done, objects=self._parts.objects,
                             position=self._position, progress=self._progress.value)

    def _known(self):
        return self._parts.networks, self._optimizers, self._parts.schedulers

    def _restore(self, data):
        self._saver.before_update()
        state = states.unpack(data, self._state())
        self.done = states.restore(state, *self._known(), self._parts.objects)
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

    def _guard_updates(self, name):
        """An optimizer waits for a copy of the parameters that is being made."""
        optimizer = self._optimizers[name]
        update = optimizer.step

        @functools.wraps(update)  # With the mark of a scheduler, which looks for it.
        def guarded(_optimizer, *arguments, **more):
            if self._step is not None and self._step.unfinished > 0:
                raise ValueError("an optimizer makes its step before the last micro-batch: call it "
                                 "after the loop over step.micro_batches()")
            self._gradients.share(self.place.world)
            self._saver.before_update()
            self._undo.before_update(name)
            with at_rate(optimizer, self.terms.rate):
                result = update(*arguments, **more)
            if self._pacing.pacer:
                self._pacing.pacer.updated()
            return result

        optimizer.step = types.MethodType(guarded, optimizer)  # As schedulers expect.

    def _join_by_environment(self):
        world = int(os.environ.get("WORLD_SIZE", 1))
        rank = int(os.environ.get("RANK", 0))
        self.place = Place(rank, world, even_shares(self.batch, world))
        if world > 1:
            if not dist.is_initialized():
                dist.init_process_group("gloo")
            if self._several:
                self._broadcast(0)
            else:
                self.model.wrap()


def _paces():
    """The profiled times that `stint run` asks this worker to take, if any."""
    path = os.environ.get("STINT_PACE")
    if not path:
        return None
    return Paces(path, os.environ.get("STINT_PACE_DEVICE"),
                 float(os.environ.get("STINT_PACE_SPEED", 1)))
