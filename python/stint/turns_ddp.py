"""Puts turns (turns.py) into DistributedDataParallel.

Hooks of modules are functions of this file, so that a network that has them can still be copied and
saved.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from stint import turns
from stint.turnstile import TurnError


def install():
    """Makes all models that are created from now on take turns; a second call does nothing."""
    kind = DistributedDataParallel
    if not turns.current() or hasattr(kind, "stint_turns"):
        return
    kind.stint_turns = True
    initialise, register = kind.__init__, kind.register_comm_hook

    def init_with_turns(self, module, *arguments, **more):
        refuse_synchronised(module)
        initialise(self, module, *arguments, **more)
        watch(self)

    def register_with_turns(self, state, hook):
        self._stint_hooked = True
        register(self, state, taking_turns(self.module, hook))

    kind.__init__ = init_with_turns
    kind.register_comm_hook = register_with_turns
    kind._register_builtin_comm_hook = refuse_builtin


def refuse_builtin(*_):
    """Refuses a hook for which it is unknown when only communication is left."""
    raise TurnError("a built-in communication hook of DistributedDataParallel cannot take turns: "
                    "use the one of torch.distributed.algorithms with register_comm_hook")


def refuse_synchronised(network):
    """Refuses a wait for other machines while the turn is held."""
    if any(isinstance(one, torch.nn.SyncBatchNorm) for one in network.modules()):
        raise TurnError("SyncBatchNorm waits for other machines in forward, where the turn is held: "
                        "use BatchNorm, or train without turns")


def watch(model):
    """Takes turns in a model."""
    if turns.current().update_held and model.find_unused_parameters:
        raise TurnError("find_unused_parameters makes DistributedDataParallel wait for other machines "
                        "after the gradients: unset STINT_TURNS_UPDATE=held")
    mine = turns.current()
    turns.abandon()  # Earlier work is over.
    mine.models.add(model.module)
    model.register_forward_pre_hook(before_model)
    # The model's own work before its network's forward waits for other machines.
    model.module.register_forward_pre_hook(before_forward)
    model.module.register_forward_hook(after_forward)


def before_model(model, _inputs):
    """The model's work before its network's forward may have to wait for other machines."""
    # The script may have registered its own communication hook by now.
    if not getattr(model, "_stint_hooked", False):
        model.register_comm_hook(model.process_group, mean)
    passes = getattr(model, "_stint_passes", 0)  # Number of passes whose gradients are shared.
    rebuilds = passes == 1 and not getattr(model, "_has_rebuilt_buckets", False)
    if model.will_sync_module_buffers() or rebuilds:
        # The turn may be held: for the update, or by another model of the same step.
        turns.give()
    if torch.is_grad_enabled() and model.require_backward_grad_sync:
        model._stint_passes = passes + 1


def trains(module):
    """Whether a backward pass follows."""
    return module.training and torch.is_grad_enabled()


def before_forward(module, _inputs):
    """Takes the turn before a network computes."""
    mine = turns.current()
    if not mine or module not in mine.models:
        return  # Such as a copy of the network.
    mine.take()
    mine.offer()
    if trains(module):
        mine.pending.add(id(module))


def after_forward(module, _inputs, _output):
    """Gives up the turn after evaluation."""
    mine = turns.current()
    if mine and module in mine.models and not trains(module) and not mine.pending:
        turns.give()


class Sum:
    """A bucket in transfer. No thread of Gloo calls Python, because the interpreter might be
    shutting down."""

    def __init__(self, tensor, work):
        self._tensor = tensor
        self._work = work

    def wait(self):
        """The result of the all-reduce."""
        self._work.wait()
        return self._tensor


def mean(group, bucket):
    """Averages a bucket over all workers to the same bits as DistributedDataParallel does by itself:
    by a multiplication."""
    gradients = bucket.buffer().mul_(1.0 / group.size())
    return Sum(gradients, dist.all_reduce(gradients, group=group, async_op=True))


def taking_turns(network, hook):
    """The communication hook for `network` that gives up the turn when only communication is left.
    `hook` may separate its work on a ready bucket from the reduction."""
    mine = turns.current()
    ready = getattr(hook, "stint_ready", None)
    reduce = getattr(hook, "stint_reduce", hook)
    number = id(network)  # A hook that held the network would keep the model alive that holds it.
    kept = []  # Buckets with their futures, to be reduced together at the end.
    sums = []  # Buckets in transfer, with their futures.

    def all_ready(state):
        mine.pending.discard(number)
        if not mine.pending:
            turns.give()
        sums.extend((promise, reduce(state, bucket)) for promise, bucket in kept)
        on_their_way = sums[:]
        kept.clear()
        sums.clear()
        # No computing is left, so that waiting here costs nothing.
        for promise, one in on_their_way:
            keep_promise(promise, one)
        if mine.update_held:
            mine.take()

    def communicate(state, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        if ready:
            ready(bucket)
        promise = future_of(bucket)
        if mine.mode == "whole":
            kept.append((promise, bucket))
        else:
            mine.offer()
            sums.append((promise, reduce(state, bucket)))
        if bucket.is_last():
            all_ready(state)
        return promise

    return communicate


def future_of(bucket):
    """A future of the reduced bucket."""
    device = bucket.buffer().device
    return torch.futures.Future(devices=[device] if device.type == "cuda" else None)


def keep_promise(promise, one):
    """Passes errors on to the waiters of the future."""
    try:
        promise.set_result(one.wait())
    except Exception as problem:
        promise.set_exception(problem)
