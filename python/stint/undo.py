"""Takes back what a broken step has changed all the same.

Averages of BatchNorm and random numbers change in a forward pass. With several models or optimizers
an update may have been made before the step broke in the backward pass for another one: then
parameters, optimizers, schedulers and other objects are as they were before the step, too, on every
worker. For that each update is preceded by a copy of what it changes, on several workers only.
"""

import torch


class Undo:
    """What a step that may break must not change."""

    def __init__(self, parts):
        self._parts = parts
        self._several = len(parts.optimizers) > 1 or len(parts.networks) > 1
        self._kept = None  # None: nothing is kept.
        self._updated = {}  # Name of an optimizer → its parameters and state before its update.

    def keep(self):
        """A step begins."""
        parts = self._parts
        self._updated = {}
        self._kept = ([one.clone() for one in parts.buffers()], torch.get_rng_state())
        if self._several:
            followers = [*parts.schedulers.values(), *parts.objects.values()]
            self._kept += ([(one, _copied(one.state_dict())) for one in followers],)

    def forget(self):
        """There is nothing to keep in this step."""
        self._kept = None

    def before_update(self, name):
        """An optimizer is about to change its parameters."""
        if self._kept is None or not self._several or name in self._updated:
            return
        optimizer = self._parts.optimizers[name]
        values = [(one, one.detach().clone()) for one in parameters_of(optimizer)]
        self._updated[name] = values, _copied(optimizer.state_dict())

    def take_back(self):
        """The step broke."""
        if self._kept is None:
            return
        buffers, numbers, *followers = self._kept
        with torch.no_grad():
            for one, before in zip(self._parts.buffers(), buffers):
                one.copy_(before)
            for values, _ in self._updated.values():
                for one, before in values:
                    one.copy_(before)
        for name, (_, state) in self._updated.items():
            self._parts.optimizers[name].load_state_dict(state)
        for one, state in followers[0] if followers else []:
            # The scaler of one that is not enabled has no state.
            if state:
                one.load_state_dict(state)
        # A scaler remembers which optimizers had their step since its last update.
        getattr(self._parts.scaler, "_per_optimizer_states", {}).clear()
        torch.set_rng_state(numbers)
        self._updated = {}


def parameters_of(optimizer):
    """All that an optimizer may change."""
    return [one for group in optimizer.param_groups for one in group["params"]]


def _copied(state):
    """A state with tensors of its own; what is neither a tensor nor a container stays the same."""
    if isinstance(state, torch.Tensor):
        return state.detach().clone()
    if isinstance(state, dict):
        return {key: _copied(one) for key, one in state.items()}
    if type(state) in (list, tuple):
        return type(state)(_copied(one) for one in state)
    return state
