"""Takes iterations apart and appends them, one JSON line each, to the file of `stint profile`.

An iteration is one pass in which every optimizer of the script stepped or was skipped: steps.py.
"""

import json
import math
import os
import sys
import time
import weakref

import torch

import stint
from stint import facts
from stint.clocks import clock_of
from stint.inputs import Feed, Fetch, Pending, leading_size
from stint.iteration import Iteration, Pass, Readiness
from stint.seen import Seen
from stint.steps import StepCounter

SCHEMA = "stint.profile/1"  # Read by src/measure/trace/profile_summary.cc.
# Gloo's threads let go of a callback shortly after backward, and must not find Python gone by then.
LAST_CALLBACK_SECONDS = 0.2
LINE_OPERATORS = 500  # Operators of one line.
READINESS_SAMPLES = 3  # Iterations on which each parameter's gradient is timed, without DDP.


class Settings:
    """What `stint profile` asks for, through the environment."""

    def __init__(self, variables):
        self.out = variables.get("STINT_PROFILE_OUT", "")
        self.steps = int(variables.get("STINT_PROFILE_STEPS", 0))  # 0: never stop the script.
        self.warmup = int(variables.get("STINT_PROFILE_WARMUP", 5))
        # Gradient norms are a pass over all gradients, so that few iterations take them.
        self.sample_every = int(variables.get("STINT_PROFILE_SAMPLE_EVERY", 5))
        # What becomes of the batch of each DataLoader that allows it.
        self._scale = float(variables.get("STINT_PROFILE_LOADER_SCALE", 1))
        self._batch = int(variables.get("STINT_PROFILE_LOADER_BATCH", 0))
        self._batch_max = int(variables.get("STINT_PROFILE_BATCH_MAX", 0))
        # Whether operators are written down with their shapes.
        self.operators = variables.get("STINT_PROFILE_OPERATORS", "") == "1"

    def loader_batch(self, own):
        """Returns the batch for a DataLoader whose own is `own`."""
        if self._batch and stint.own_batch() is None:
            return self._batch
        batch = max(1, int(own * self._scale))
        return min(batch, self._batch_max) if self._batch_max else batch


def rank_and_world():
    """Returns this process's rank and how many there are."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def square(tensors):
    """Returns the squared norm of tensors that may lie on a GPU, as one number."""
    return sum(float(torch.linalg.vector_norm(dense(tensor.detach())).double()) ** 2
               for tensor in tensors)


def dense(tensor):
    """Returns the numbers of a tensor that may be sparse."""
    return tensor.coalesce().values() if tensor.is_sparse else tensor


def operator_watch(seen):
    """Imported when it is asked for: old versions of PyTorch cannot tell of operators."""
    from stint import operators
    return operators.Watch(seen)


def device_of(module):
    return next(module.parameters(), torch.empty(0)).device


class Recorder:
    """Is told of each event of training and writes what it means."""

    def __init__(self, settings):
        self.settings = settings
        self.seen = Seen()
        self.roots = []            # Modules whose call begins a forward pass.
        self.untrained = []        # Other modules that were called, in evaluation or without grad.
        self.trainer = None        # The only optimizer that counts, if the script names one.
        self.on_discovered = None  # Called once, when the roots are known.
        self.clock = None
        self.counter = StepCounter()
        self.number = 0
        self.backwards = 0
        self.stopped = False  # The script, by us.
        self.closed = False
        self.started = False  # The start is written.
        self.batch = None
        self.feed = None      # That the last training batch came from.
        self.leading_is_batch = False
        self.communication = "none"  # Or "timed", or why buckets are not timed.
        self.file = None
        self.outstanding = []
        self.pending = Pending()
        self.own_feed = None  # Of stint.job, which has no DataLoader.
        self.inner_optimizers = weakref.WeakSet()  # That others step.
        self.optimizers = []  # Weak references to those of the last iteration.
        self.noise_last = False  # The last iteration was one that tells of gradient noise.
        self.parts_last = True   # Its backward passes were the parts of its batch, and no more.
        self.readiness_left = READINESS_SAMPLES
        self.watch = operator_watch(self.seen) if settings.operators else None
        self._begin()

    def mark(self):
        """Returns the present moment, or None before the device is known."""
        return self.clock.mark() if self.clock else None

    def _begin(self):
        """Starts an iteration."""
        self.it = Iteration(self.number, self.mark())
        self.current = None  # The pass that is under way.
        self.steppers = {}   # Optimizers that stepped, and how often.
        measured, every = self.number - self.settings.warmup, self.settings.sample_every
        self.it.sampled = measured >= 0 and measured % every == every // 2

    # The events, in the order of an iteration.

    def fetched(self, fetch):
        """The script waited for a batch."""
        self.pending.add(fetch)

    def waited(self, seconds, batch, dataset):
        """stint.job made a batch."""
        if self.own_feed is None:
            self.own_feed = Feed(batch, dataset, fixed="it does not call stint.batch_size()")
        self.own_feed.batch, self.own_feed.dataset = batch, dataset
        self.fetched(Fetch(self.own_feed, seconds, None))

    def evaluates(self, module, arguments):
        """A model is called in evaluation mode or without gradients."""
        self.pending.evaluated()
        self.it.evaluated = self.it.evaluated or not self.it.passes
        if torch.is_grad_enabled():
            # Some scripts train a model whose layers are in evaluation mode: backward will tell.
            self.clock = self.clock or clock_of(device_of(module))
            self.it.doubtful = (self.clock.mark(), module, leading_size(arguments))
        if self.on_discovered and not any(module is one for one in self.untrained):
            self.untrained.append(module)

    def forward(self, module, arguments):
        """A training pass goes forward."""
        self._end_if_stopped()
        if self.current is not None:
            if self.current.backward is not None or not self.pending:
                return  # A checkpointed module, or another module of the same pass.
            # A batch was fetched after the model was called, and nothing went backward.
            self.it.evaluated = self.it.evaluated or not self.it.passes
        self.clock = self.clock or clock_of(device_of(module))
        self._open(self.clock.mark(), leading_size(arguments))

    def _open(self, mark, leading):
        """Opens a pass with the batches that were fetched for it."""
        self.current = Pass(mark, self.pending.take())
        fetches = self.current.fetches
        if self.it.evaluated and not self.it.passes:
            begin = fetches[0].begin if fetches else mark
            self.it.start = begin if begin is not None else self.it.start
        if fetches:
            self.feed = fetches[-1].feed
        if not self.it.passes:
            self._note_batch(leading)
        self.it.leading = leading
        self._watch("forward")

    def _note_batch(self, leading):
        """The last batch of an epoch may be smaller than the DataLoader's; the first dimension
        tells if it has told the batch before."""
        size = self.feed.batch if self.feed else None
        if leading is not None and leading == size:
            self.leading_is_batch = True
        if size and not (self.leading_is_batch and leading):
            self.batch = size if self.feed.confirmed else None
        else:
            self.batch = leading or self.batch

    def backward_begin(self):
        self._end_if_stopped()
        if self.clock is None:
            self.clock = clock_of(torch.device("cpu"))
        now = self.clock.mark()
        if self.current is None:
            begin, module, leading = self.it.doubtful or (now, None, None)
            self._open(begin, leading)
            self.current.forwarded = module is not None
            if module is not None and not any(module is root for root in self.roots):
                self.roots.append(module)
        self.current.backward = now
        self.it.doubtful = None
        self._watch("backward")
        if self.it.sampled and self.communication == "none" and not self.it.passes:
            self._watch_readiness()

    def backward_end(self):
        self.backwards += 1
        if self.stopped:
            return
        self._watch("update")
        one = self.current
        one.end = self.clock.mark()
        self.it.passes.append(one)
        self.current = None
        if self.it.readiness and self.parts_last:
            self.it.readiness.remove()
        if self.it.sampled and self.communication == "none" and self.noise_last:
            one.square = square(p.grad for p in self._trained() if p.grad is not None)

    def created(self, optimizer):
        self.counter.created(optimizer)

    def inner(self, optimizer):
        self.inner_optimizers.add(optimizer)
        self.counter.inner(optimizer)

    def step_begin(self):
        """Returns what step_end wants to be told: when it began, and after how many passes."""
        self._end_if_stopped()
        return self.mark(), len(self.it.passes)

    def step_end(self, optimizer, begun):
        mark, passes = begun
        update = None
        if mark is not None and self.it.passes:
            # A closure that the optimizer calls holds passes of its own; they are no update.
            update = (mark, self.clock.mark(),
                      [(one.forward, one.end) for one in self.it.passes[passes:]])
        self._stepped(optimizer, update)

    def skipped(self, optimizer):
        """A gradient scaler left the step of an optimizer out."""
        self.it.skipped = True
        self._stepped(optimizer, None)

    def _stepped(self, optimizer, update):
        if self.trainer is not None and optimizer is not self.trainer:
            return
        done = self.trainer is not None or self.counter.stepped(optimizer)
        if not self.it.passes:
            return  # A step without gradients, as some scripts make before they train.
        if update is not None:
            self.it.updates.append(update)
            if self.current is not None:
                self.current.inside.append(update[:2])
            self.it.closures = self.it.closures or bool(update[2])
        self.steppers[optimizer] = self.steppers.get(optimizer, 0) + 1
        self.it.gaps.append(self.it.forwarded() - sum(self.it.gaps))
        if done:
            self._finish()

    # Operators.

    def _watch(self, phase):
        """Writes down operators from here on, as those of this phase."""
        if self.watch is not None and self.number >= self.settings.warmup:
            self.watch.open(self._lasting, phase)

    def _lasting(self):
        """Returns the parameters and buffers of all modules, whatever the batch."""
        modules = [*self.roots, *self.untrained]
        parameters = [one for module in modules for one in module.parameters()]
        return [*parameters, *self._trained()], [one for module in modules
                                                 for one in module.buffers()]

    def _write_operators(self, number):
        found, total = self.watch.take()
        if number < self.settings.warmup or rank_and_world()[0] != 0:
            return
        for begin in range(0, len(found), LINE_OPERATORS):
            self._write("operators", {"number": number,
                                      "list": found[begin:begin + LINE_OPERATORS]})
        self._write("operator_total", {"number": number, **total})

    # Sampled iterations.

    def _trained(self):
        """Returns the parameters of the optimizers of the last iteration, each once."""
        optimizers = [one() for one in self.optimizers]
        return facts.parameters_of([one for one in optimizers if one is not None])

    def _watch_readiness(self):
        if self.optimizers and self.readiness_left > 0:
            self.readiness_left -= 1
            self.it.readiness = Readiness(self._trained(), self.clock, self.it)

    # Writing.

    def _finish(self):
        it = self.it
        if self.watch is not None:
            self._write_operators(it.number)
        if it.readiness:
            it.readiness.remove()
        it.end = it.updates[-1][1] if it.updates else self.clock.mark()
        it.turns = max(self.steppers.values())
        it.batch, it.parts = it.divided(self.batch, self.feed.batch if self.feed else None)
        it.peak = self.clock.peak_bytes()
        it.scale = self.seen.scale() if it.sampled else 1.0
        it.alone = len(self.steppers) == 1
        self.outstanding.append(it)
        self.optimizers = [weakref.ref(one) for one in self.steppers]
        self.parts_last = it.parts == len(it.passes)
        self.noise_last = it.alone and self.parts_last and it.parts > 1
        if self.number == 0 and self.on_discovered:
            self.on_discovered()
        # The first iterations of a gradient scaler are often skipped, and have no optimizer state.
        if self.number >= self.settings.warmup and not self.started and not it.skipped:
            self._write_start()
        self._write_outstanding()
        self.number += 1
        self._begin()
        if self.settings.steps and self.number >= self.settings.warmup + self.settings.steps:
            self.stopped = True
            raise SystemExit(0)

    def _write_outstanding(self):
        while self.outstanding and self.clock.passed(self.outstanding[0].end):
            it = self.outstanding.pop(0)
            self._write("iteration", it.record(self.clock.seconds, self.settings.warmup))

    def _write_start(self):
        self.started = True
        optimizers = [one() for one in self.optimizers if one() is not None]
        every = [*optimizers, *self.inner_optimizers]
        trained = facts.parameters_of(every)
        if not trained:
            return
        device = trained[0].device
        everything = {id(one): one for one in trained}
        for module in [*self.roots, *self.untrained]:
            everything.update((id(one), one) for one in module.parameters())
        total = facts.bytes_of(everything.values())
        kinds = [type(one).__name__ for one in optimizers]
        training = self.seen.facts(trained, device)
        training["optimizers"] = kinds
        if self.feed is not None and self.feed.workers is not None:
            training["loader_workers"] = self.feed.workers
        self._write("start", {
            "world": rank_and_world()[1],
            "device": facts.device_name(device), "environment": facts.environment(device),
            "gradient_bytes": facts.bytes_of(trained), "parameter_bytes": total,
            "frozen_bytes": total - facts.bytes_of(trained),
            "optimizer_bytes": facts.state_bytes(every),
            "optimizer": ", ".join(dict.fromkeys(kinds)),
            "dataset": self.feed.dataset if self.feed else None,
            "communication": self.communication, "training": training, **self._batch_facts()})

    def _batch_facts(self):
        """Returns who decides about the batch, what the script would take, or why nobody else
        decides."""
        own = stint.own_batch()
        if own is not None:
            return {"batch_from": "script", "own_batch": own}
        if self.feed is not None and self.feed.own is not None:
            return {"batch_from": "loader", "own_batch": self.feed.own}
        fixed = "it has no DataLoader and does not call stint.batch_size()"
        return {"batch_fixed": self.feed.fixed if self.feed else fixed}

    def close(self):
        """Says how far the script came; called when it ends by itself."""
        if self.closed:
            return
        self.closed = True
        if self.clock:
            self.clock.wait()
            if self.number and not self.started:
                self._write_start()
            self._write_outstanding()
        self._write("exit", {"backwards": self.backwards, "steps": self.number})
        if self.stopped:
            # Threads and workers of a script that is cut short may be in the middle of something,
            # and Python cannot always end while they are.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        if self.communication == "timed":
            time.sleep(LAST_CALLBACK_SECONDS)

    def _end_if_stopped(self):
        """Ends a script that caught the exception that was to end it, and trains on."""
        if self.stopped:
            self.close()

    def _write(self, kind, body):
        if self.file is None:
            self.file = os.open(self.settings.out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        known = {name: value for name, value in body.items() if is_known(value)}
        line = {"schema": SCHEMA, "rank": rank_and_world()[0], kind: known}
        # One write per line: all ranks append to one file.
        os.write(self.file, (json.dumps(line) + "\n").encode())


def is_known(value):
    """Tells whether a value is one: gradients that overflowed have no norm."""
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))
