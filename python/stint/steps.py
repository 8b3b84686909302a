"""Counts the steps of a training script from its optimizers; the script needs no change.

One step is one pass in which every optimizer of the script stepped or was skipped. Gradient
accumulation calls an optimizer once in several backward passes, a GradScaler skips the step of an
optimizer whose gradients overflowed, and a GAN steps two optimizers, perhaps one of them more often.
"""

import functools
import weakref

import torch

# An optimizer that did not step while another one did so often does not belong to the pass: it is
# left over, or trains in another phase.
IDLE_AFTER = 32


class StepCounter:
    """The passes of all optimizers that train."""

    def __init__(self):
        self.passes = 0
        self._base = 0  # Passes before the present set of optimizers,
        self._steps = weakref.WeakKeyDictionary()  # and the steps of each since then.
        self._since = weakref.WeakKeyDictionary()  # Steps of others since its own last one, by id.
        self._inner = weakref.WeakSet()

    def created(self, optimizer):
        """The script made an optimizer."""
        self._restart([*self._steps, optimizer])

    def inner(self, optimizer):
        """Another optimizer steps this one: it has no pass of its own."""
        self._inner.add(optimizer)
        if optimizer in self._steps:
            self._restart([one for one in self._steps if one is not optimizer])

    def stepped(self, optimizer):
        """An optimizer stepped, or was skipped. Returns whether that completed a pass."""
        before = self.passes
        if optimizer not in self._steps:
            self._restart([*self._steps, optimizer])
        self._steps[optimizer] += 1
        self._since[optimizer] = {}
        self.passes = max(self.passes, self._base + min(self._steps.values()))
        self._drop_idle(optimizer)
        return self.passes > before

    def _drop_idle(self, optimizer):
        idle = []
        for other in self._steps:
            if other is not optimizer:
                steps = self._since[other].get(id(optimizer), 0) + 1
                self._since[other][id(optimizer)] = steps
                if steps >= IDLE_AFTER:
                    idle.append(other)
        if idle:
            self.passes += IDLE_AFTER  # None of which counted while it was waited for.
            self._restart([one for one in self._steps if one not in idle])

    def _restart(self, optimizers):
        self._base = self.passes
        self._steps = weakref.WeakKeyDictionary(
            (one, 0) for one in optimizers if one not in self._inner)
        self._since = weakref.WeakKeyDictionary((one, {}) for one in self._steps)


def watch_optimizers(listener):
    """Reports every optimizer: `created(optimizer)`, `step_begin() -> mark`, `step_end(optimizer,
    mark)`, `skipped(optimizer)` by a GradScaler, `inner(optimizer)` when another one steps it.

    The step of each optimizer class is wrapped, because schedulers expect it to be a method.
    """
    base = torch.optim.Optimizer
    original = base.__init__
    outer = []  # The optimizer that steps now.

    def watched(step):
        @functools.wraps(step)
        def wrapper(self, *arguments, **keywords):
            if outer:  # A step that calls its base class's, or that of another optimizer.
                if self is not outer[0]:
                    listener.inner(self)
                return step(self, *arguments, **keywords)
            begun = listener.step_begin()
            outer.append(self)
            try:
                result = step(self, *arguments, **keywords)
            finally:
                outer.pop()
            listener.step_end(self, begun)
            return result
        wrapper.watched_by_stint = True
        return wrapper

    @functools.wraps(original)
    def initialise(self, *arguments, **keywords):
        original(self, *arguments, **keywords)
        kind = type(self)
        if not getattr(kind.step, "watched_by_stint", False):
            kind.step = watched(kind.step)
        listener.created(self)

    base.__init__ = initialise
    for kind in scaler_classes():
        kind.step = with_skips(kind.step, listener)


def scaler_classes():
    """Returns the gradient scalers of this version of PyTorch, each once."""
    found = []
    for module in (getattr(torch, "amp", None), torch.cuda.amp):
        kind = getattr(module, "GradScaler", None)
        # One that inherits its step is reached through its base.
        if kind is not None and "step" in vars(kind) and kind not in found:
            found.append(kind)
    return found


def with_skips(original, listener):
    """Returns a GradScaler's step that reports the optimizer whose step it left out."""
    @functools.wraps(original)
    def step(self, optimizer, *arguments, **keywords):
        stepped = []
        inner = optimizer.step

        def noting(*args, **kwargs):
            stepped.append(True)
            return inner(*args, **kwargs)

        optimizer.step = noting
        try:
            result = original(self, optimizer, *arguments, **keywords)
        finally:
            del optimizer.step
        if not stepped:
            listener.skipped(optimizer)
        return result
    return step
