"""Puts the recorder into PyTorch.

What is replaced: the call of modules until the outermost ones are known, torch.autograd.backward
(which Tensor.backward calls), the step of each optimizer class that is used (steps.py), the
creation and __next__ of DataLoaders (inputs.py), the creation of DistributedDataParallel, and the
functions that tell how the script trains (seen.py). None of it changes a number that the script
computes, except for a batch size that `stint profile` asks for.
"""

import atexit
import functools
import os

import torch

from stint import inputs, seen, steps
from stint import recorder as recording
from stint.iteration import Sent

recorder = None  # The only one of this process; None outside of `stint profile`.


def install():
    """Begins to record if `stint profile` asks for it; a second call does nothing."""
    global recorder
    settings = recording.Settings(os.environ)
    if recorder is not None or not settings.out:
        return
    recorder = recording.Recorder(settings)
    patch_modules(recorder)
    patch_backward(recorder)
    steps.watch_optimizers(recorder)
    seen.install(recorder.seen)
    inputs.patch_loaders(recorder)
    if torch.distributed.is_available():
        patch_distributed(recorder)
    atexit.register(recorder.close)


def watch(model, optimizer):
    """Measures this model and optimizer only."""
    install()
    if recorder is None:
        return
    recorder.trainer = optimizer
    prepare_distributed(recorder, model)
    recorder.roots = [model]
    recorder.on_discovered()


def forward_hook(module, arguments):
    """Is a function of this file, so that a model that has it can still be copied and saved."""
    if module.training and torch.is_grad_enabled():
        recorder.forward(module, arguments)
    else:
        recorder.evaluates(module, arguments)


def evaluation_hook(module, arguments):
    """The same for a module that is evaluated without the wrapper that it trains in."""
    if not module.training or not torch.is_grad_enabled():
        recorder.evaluates(module, arguments)


def patch_modules(ear):
    """Finds the modules that are called outermost; after one iteration only these are heard."""
    base = torch.nn.Module
    original = base.__call__
    inside = evaluating = False

    def call(self, *arguments, **keywords):
        nonlocal inside, evaluating
        if inside:
            return original(self, *arguments, **keywords)
        outermost = evaluating
        if self.training and torch.is_grad_enabled():
            if not any(self is root for root in ear.roots):
                prepare_distributed(ear, self)
                ear.roots.append(self)
            ear.forward(self, [arguments, keywords])
            inside = True
        elif not evaluating:
            # A part of it may train all the same.
            ear.evaluates(self, [arguments, keywords])
            evaluating = True
        try:
            return original(self, *arguments, **keywords)
        finally:
            inside, evaluating = False, outermost

    def discovered():
        base.__call__ = original
        ear.on_discovered = None
        for root in ear.roots:
            root.register_forward_pre_hook(forward_hook)
            if is_distributed(root):
                root.module.register_forward_pre_hook(evaluation_hook)

    base.__call__ = call
    ear.on_discovered = discovered


def is_distributed(module):
    return (torch.distributed.is_available()
            and isinstance(module, torch.nn.parallel.DistributedDataParallel))


def patch_backward(ear):
    original = torch.autograd.backward
    depth = 0

    @functools.wraps(original)
    def backward(*arguments, **keywords):
        nonlocal depth
        if depth:  # Checkpointed modules go backward inside backward.
            return original(*arguments, **keywords)
        ear.backward_begin()
        depth += 1
        try:
            return original(*arguments, **keywords)
        finally:
            depth -= 1
            ear.backward_end()

    torch.autograd.backward = backward


def patch_distributed(ear):
    """Keeps a communication hook of the script's own, and says that buckets were not timed."""
    kind = torch.nn.parallel.DistributedDataParallel
    for name in ("register_comm_hook", "_register_builtin_comm_hook", "_register_fused_optim"):
        original = getattr(kind, name, None)
        if original is not None:
            setattr(kind, name, noting_hook(original, ear))


def noting_hook(original, ear):
    @functools.wraps(original)
    def register(self, *arguments, **keywords):
        self._stint_seen = True
        ear.communication = "the script has a communication hook of its own"
        return original(self, *arguments, **keywords)
    register.unheard = original
    return register


def prepare_distributed(ear, module):
    """Gives each DistributedDataParallel that has no hook one that times its buckets."""
    if not torch.distributed.is_available():
        return
    kind = torch.nn.parallel.DistributedDataParallel
    for one in module.modules():
        if isinstance(one, kind) and not getattr(one, "_stint_seen", False):
            one._stint_seen = True
            kind.register_comm_hook.unheard(one, (ear, one), communication_hook)
            ear.communication = "timed"


def communication_hook(state, bucket):
    """Averages a bucket over all workers as DistributedDataParallel does without a hook."""
    ear, model = state
    buffer = bucket.buffer()
    sent = Sent((id(model), bucket.index()), buffer.numel() * buffer.element_size(),
                ear.clock.mark(), len(ear.it.passes))
    ear.it.buckets.append(sent)
    sampled = ear.it.sampled
    if sampled:
        sent.local = recording.square([buffer])
    # Without a hook the gradients are multiplied by this number, not divided by its inverse, so
    # that the results agree to the last bit.
    buffer.mul_(1.0 / model.process_group.size())
    future = torch.distributed.all_reduce(buffer, group=model.process_group,
                                          async_op=True).get_future()

    def reduced(done):
        sent.reduced = ear.clock.mark()
        result = done.value()[0]
        if sampled:
            sent.mean = recording.square([result])
        return result

    return future.then(reduced)
