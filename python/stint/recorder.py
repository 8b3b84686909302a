"""Takes iterations apart and appends them, one JSON line each, to the file of `stint profile`."""

import json
import os
import sys
import time

import torch

from stint import facts
from stint.clocks import clock_of

SCHEMA = "stint.profile/1"  # Read by src/measure/trace/profile_records.cc.
# Gloo's threads let go of a callback shortly after backward, and must not find Python gone by then.
LAST_CALLBACK_SECONDS = 0.2
READINESS_SAMPLES = 3  # Iterations on which each parameter's gradient is timed, without DDP.


class Settings:
    """What `stint profile` asks for, through the environment."""

    def __init__(self, variables):
        self.out = variables.get("STINT_PROFILE_OUT", "")
        self.steps = int(variables.get("STINT_PROFILE_STEPS", 0))  # 0: never stop the script.
        self.warmup = int(variables.get("STINT_PROFILE_WARMUP", 5))
        # Gradient norms are a pass over all gradients, so that few iterations take them.
        self.sample_every = int(variables.get("STINT_PROFILE_SAMPLE_EVERY", 5))


def rank_and_world():
    """Returns this process's rank and how many there are."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def square(tensors):
    """Returns the squared norm of tensors that may lie on a GPU, as one number."""
    return sum(float(torch.linalg.vector_norm(tensor.detach()).double()) ** 2
               for tensor in tensors)


class Pass:
    """One forward and backward: a micro-batch of an iteration."""

    def __init__(self, forward):
        self.forward = forward  # Marks.
        self.backward = None
        self.end = None
        self.square = None  # Of the gradients gathered so far.


class Recorder:
    """Hears of each event of training and writes what it means."""

    def __init__(self, settings):
        self.settings = settings
        self.roots = []            # Modules whose call begins a forward pass.
        self.trainer = None        # The optimizer whose step ends an iteration.
        self.on_discovered = None  # Called once, when the roots are known.
        self.clock = None
        self.number = 0
        self.backwards = 0
        self.stopped = False  # The script, by us.
        self.batch = None
        self.loader_batch = None
        self.leading_is_batch = False
        self.dataset = None
        self.communication = "none"  # Or "timed", or why buckets are not timed.
        self.file = None
        self.outstanding = []
        self.micro_last = 1
        self.readiness_left = READINESS_SAMPLES
        self._begin()

    def _begin(self):
        """Starts an iteration."""
        self.start = self.clock.mark() if self.clock else None
        self.current = None  # The pass that is under way.
        self.passes = []
        self.updates = []
        self.input = 0.0
        self.buckets = []  # [bytes, mark when ready, mark when reduced].
        self.local_squares = []
        self.mean_squares = []
        self.readiness = None
        measured, every = self.number - self.settings.warmup, self.settings.sample_every
        self.sampled = measured >= 0 and measured % every == every // 2

    # The events, in the order of an iteration.

    def waited(self, seconds, loader_batch, dataset):
        """The script waited for a batch of its DataLoader."""
        self.input += seconds
        self.loader_batch = loader_batch
        self.dataset = dataset

    def forward(self, module, arguments):
        if self.current is not None:
            return  # Another module of the same pass.
        if self.clock is None:
            parameter = next(module.parameters(), torch.empty(0))
            self.clock = clock_of(parameter.device)
        self.current = Pass(self.clock.mark())
        if not self.passes:
            self._note_batch(leading_size(arguments))

    def _note_batch(self, leading):
        """The last batch of an epoch may be smaller than the DataLoader's; the first dimension
        tells if it has told the batch before."""
        if leading is not None and leading == self.loader_batch:
            self.leading_is_batch = True
        if self.loader_batch and not (self.leading_is_batch and leading):
            self.batch = self.loader_batch
        else:
            self.batch = leading or self.batch

    def backward_begin(self):
        if self.clock is None:
            self.clock = clock_of(torch.device("cpu"))
        now = self.clock.mark()
        if self.current is None:
            self.current = Pass(now)
        self.current.backward = now
        if self.sampled and self.communication == "none" and not self.passes:
            self._watch_readiness()

    def backward_end(self):
        self.backwards += 1
        one = self.current
        one.end = self.clock.mark()
        self.passes.append(one)
        self.current = None
        if self.readiness:
            self.readiness.remove()
        if self.sampled and self.communication == "none" and self.micro_last > 1 and self.trainer:
            one.square = square(p.grad for p in facts.parameters_of(self.trainer)
                                if p.grad is not None)

    def step_begin(self):
        """Returns what step_end wants to be told: when it began, and after how many passes."""
        return self.clock.mark() if self.clock else None, len(self.passes)

    def step_end(self, optimizer, begun):
        mark, passes = begun
        if mark is None or not self.passes:
            return
        # A closure that the optimizer calls holds passes of its own; they are no update.
        inner = [(one.forward, one.end) for one in self.passes[passes:]]
        self.updates.append((mark, self.clock.mark(), inner))
        if self.trainer is None:
            self.trainer = optimizer
        if optimizer is self.trainer:
            self._finish()

    # Sampled iterations.

    def _watch_readiness(self):
        if self.trainer is not None and self.readiness_left > 0:
            self.readiness_left -= 1
            self.readiness = Readiness(facts.parameters_of(self.trainer), self.clock)

    # Writing.

    def _finish(self):
        self.outstanding.append(self._iteration())
        if self.number == 0:
            self._write_start()
            if self.on_discovered:
                self.on_discovered()
        self.micro_last = len(self.passes)
        self._write_outstanding()
        self.number += 1
        if self.settings.steps and self.number >= self.settings.warmup + self.settings.steps:
            self.stopped = True
            raise SystemExit(0)
        self._begin()

    def _iteration(self):
        """Keeps the marks of an iteration until all of them have passed."""
        return {"number": self.number, "start": self.start, "end": self.updates[-1][1],
                "input": self.input, "passes": self.passes, "updates": self.updates,
                "buckets": self.buckets, "readiness": self.readiness, "sampled": self.sampled,
                "local": self.local_squares, "mean": self.mean_squares, "batch": self.batch,
                "peak": self.clock.peak_bytes()}

    def _write_outstanding(self):
        while self.outstanding and self.clock.passed(self.outstanding[0]["end"]):
            self._write("iteration", self._record(self.outstanding.pop(0)))

    def _record(self, it):
        """Returns the record of an iteration whose marks have passed."""
        seconds = self.clock.seconds
        passes = it["passes"]
        last = passes[-1]
        record = {
            "number": it["number"], "warmup": it["number"] < self.settings.warmup,
            "sampled": it["sampled"],
            "batch": it["batch"], "passes": len(passes), "input_s": it["input"],
            "forward_s": sum(seconds(one.forward, one.backward) for one in passes),
            "backward_s": sum(seconds(one.backward, one.end) for one in passes),
            "update_s": sum(seconds(begin, end) - sum(seconds(*pair) for pair in inner)
                            for begin, end, inner in it["updates"]),
            "peak_bytes": it["peak"],
        }
        if it["start"] is not None:
            record["time_s"] = seconds(it["start"], it["end"])
        if it["buckets"]:
            record["buckets"] = [
                {"bytes": size, "ready_s": seconds(last.backward, ready),
                 "reduce_s": seconds(ready, reduced)}
                for size, ready, reduced in it["buckets"] if reduced is not None]
        elif it["readiness"]:
            record["buckets"] = it["readiness"].buckets(passes[0].backward)
        if it["local"]:
            record["local_square"] = sum(it["local"])
            record["mean_square"] = sum(it["mean"])
        elif len(passes) > 1 and passes[0].square is not None:
            record["local_square"] = passes[0].square
            record["mean_square"] = last.square / len(passes) ** 2
        return record

    def _write_start(self):
        parameters = facts.parameters_of(self.trainer)
        device = parameters[0].device
        everything = {id(one): one for one in parameters}
        for root in self.roots:
            everything.update((id(one), one) for one in root.parameters())
        self._write("start", {
            "world": rank_and_world()[1],
            "device": facts.device_name(device), "environment": facts.environment(device),
            "gradient_bytes": sum(facts.nbytes(one) for one in parameters),
            "parameter_bytes": sum(facts.nbytes(one) for one in everything.values()),
            "optimizer_bytes": facts.state_bytes(self.trainer),
            "optimizer": type(self.trainer).__name__, "dataset": self.dataset,
            "communication": self.communication})

    def close(self):
        """Says how far the script came; called when it ends by itself."""
        if self.clock:
            self.clock.wait()
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

    def _write(self, kind, body):
        if self.file is None:
            self.file = os.open(self.settings.out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        known = {name: value for name, value in body.items() if value is not None}
        line = {"schema": SCHEMA, "rank": rank_and_world()[0], kind: known}
        # One write per line: all ranks append to one file.
        os.write(self.file, (json.dumps(line) + "\n").encode())


class Readiness:
    """Times each parameter's gradient in one backward pass."""

    def __init__(self, parameters, clock):
        self.clock = clock
        self.ready = []  # (parameter, mark), in order.
        self.handles = [one.register_hook(self._hook(one)) for one in parameters]

    def _hook(self, parameter):
        def ready(_gradient):
            self.ready.append((parameter, self.clock.mark()))
        return ready

    def remove(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def buckets(self, begin):
        """Returns the buckets that DistributedDataParallel would send, and when each is ready."""
        marks = {id(parameter): mark for parameter, mark in self.ready}
        parameters = list({id(parameter): parameter for parameter, _ in self.ready}.values())
        latest, result = 0.0, []
        for bucket in facts.buckets_of(parameters):
            ready = max(self.clock.seconds(begin, marks[id(one)]) for one in bucket)
            latest = max(latest, ready)
            result.append({"bytes": sum(facts.nbytes(one) for one in bucket), "ready_s": latest})
        return result


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


def timed_next(original, recorder):
    """Returns an iterator's __next__ that tells the recorder how long it took."""
    def timed(iterator):
        begin = time.perf_counter()
        batch = original(iterator)
        loader = getattr(iterator, "_stint_loader", None)
        recorder.waited(time.perf_counter() - begin, *(loader or (None, None)))
        return batch
    return timed
