"""Puts the recorder's ears into PyTorch.

What is replaced: the call of modules until the outermost ones are known, torch.autograd.backward
(which Tensor.backward calls), the step of each optimizer class that is used, __next__ of
DataLoaders, and the creation of DistributedDataParallel. None of it changes a number that the
script computes.
"""

import atexit
import functools
import os

import torch
import torch.utils.data.dataloader as dataloader

from stint import recorder as recording

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
    patch_optimizers(recorder)
    patch_loaders(recorder)
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


def patch_modules(ear):
    """Finds the modules that are called outermost; after one iteration only these are heard."""
    base = torch.nn.Module
    original = base.__call__
    inside = False

    def call(self, *arguments, **keywords):
        nonlocal inside
        if inside or not self.training or not torch.is_grad_enabled():
            return original(self, *arguments, **keywords)
        if not any(self is root for root in ear.roots):
            prepare_distributed(ear, self)
            ear.roots.append(self)
        ear.forward(self, [arguments, keywords])
        inside = True
        try:
            return original(self, *arguments, **keywords)
        finally:
            inside = False

    def discovered():
        base.__call__ = original
        ear.on_discovered = None
        for root in ear.roots:
            root.register_forward_pre_hook(forward_hook)

    base.__call__ = call
    ear.on_discovered = discovered


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


def patch_optimizers(ear):
    """Wraps the step of every optimizer class, which schedulers expect to be a method."""
    base = torch.optim.Optimizer
    original = base.__init__
    depth = 0

    def heard(step):
        @functools.wraps(step)
        def wrapper(self, *arguments, **keywords):
            nonlocal depth
            if depth:  # A step that calls its base class's.
                return step(self, *arguments, **keywords)
            begun = ear.step_begin()
            depth += 1
            try:
                result = step(self, *arguments, **keywords)
            finally:
                depth -= 1
            ear.step_end(self, begun)
            return result
        wrapper.heard_by_stint = True
        return wrapper

    @functools.wraps(original)
    def initialise(self, *arguments, **keywords):
        original(self, *arguments, **keywords)
        kind = type(self)
        if not getattr(kind.step, "heard_by_stint", False):
            kind.step = heard(kind.step)

    base.__init__ = initialise


def patch_loaders(ear):
    base = dataloader._BaseDataLoaderIter
    base.__next__ = recording.timed_next(base.__next__, ear)
    original = base.__init__

    @functools.wraps(original)
    def initialise(self, loader, *arguments, **keywords):
        original(self, loader, *arguments, **keywords)
        try:
            size = len(loader.dataset)
        except TypeError:  # A stream has no length.
            size = None
        self._stint_loader = (loader.batch_size, size)

    base.__init__ = initialise


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
    entry = [buffer.numel() * buffer.element_size(), ear.clock.mark(), None]
    ear.buckets.append(entry)
    sampled, squares = ear.sampled, ear.mean_squares
    if sampled:
        ear.local_squares.append(recording.square([buffer]))
    # Without a hook the gradients are multiplied by this number, not divided by its inverse, so
    # that the results agree to the last bit.
    buffer.mul_(1.0 / model.process_group.size())
    future = torch.distributed.all_reduce(buffer, group=model.process_group,
                                          async_op=True).get_future()

    def reduced(done):
        entry[2] = ear.clock.mark()
        result = done.value()[0]
        if sampled:
            squares.append(recording.square([result]))
        return result

    return future.then(reduced)
