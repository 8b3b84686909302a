"""Notices what would train differently on each worker.

A module that is none of the job's models but trains all the same is found by its gradients and its
changes in the steps that are looked at. And the parameters of the models are compared over workers
by checksums of their bits; if these differ, by their values: processors may round differently.
"""

import gc
import sys

import torch
import torch.distributed as dist

TOLERANCE = 1e-4  # Relative difference of a tensor that no rounding explains.
COMPARED = 16  # Tensors whose values are compared when checksums differ.
NAMED = 3  # Parameters that a message names.
LOOKED_AT = 3  # The first steps, in which all modules are looked at.
DIFFERENT = ("the workers have different values of {name} after step {step}: its gradients are not "
             "averaged over workers. If not every step uses all parameters, hand stint.Job "
             "ddp={{\"find_unused_parameters\": True}}. Whether a parameter is frozen is the same "
             "on all workers, and models are called through job.model")
INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Outsiders:
    """Parameters that are not of the job's models, during one step."""

    def __init__(self, parts):
        self._parts = parts
        self._watched = []  # (parameter, name of its module, its name, its version)
        self._handles = []
        self._graded = set()  # Ids of parameters that got a gradient.

    def watch(self):
        """A step begins that is looked at."""
        self.stop()
        known = {id(one) for _, one in self._parts.parameters()}
        for parameter, module, name in _outside(known):
            self._watched.append((parameter, module, name, parameter._version))
            self._handles.append(parameter.register_hook(self._note(id(parameter))))

    def _note(self, number):
        def graded(_gradient):
            self._graded.add(number)
        return graded

    def stop(self):
        """Looks no more."""
        for one in self._handles:
            one.remove()
        self._watched, self._handles, self._graded = [], [], set()

    def trained(self):
        """What is to be said of those that were trained in the step; None if there are none."""
        found = [(module, name) for parameter, module, name, version in self._watched
                 if id(parameter) in self._graded and parameter._version > version]
        self.stop()
        if not found:
            return None
        module = found[0][0]
        names = [name for its, name in found if its is module]
        some = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        if module is None:
            what = f"a parameter outside of all modules ({some}) is trained, but it"
        else:
            what = f"{_label(module)} is trained, but it"
            some = f"parameters {some}" if len(names) > 1 else f"parameter {some}"
        return (f"{what} belongs to none of the job's models: its gradients are not averaged over "
                f"workers, and its {'value is' if module is None else some + ' are'} not saved. "
                "Hand its module to stint.Job")


def _outside(known):
    """(parameter, module, name) of all that require gradients and are not among the known ones. The
    module is the largest that has it; none has a parameter that only an optimizer knows."""
    modules, optimizers = [], []
    for one in gc.get_objects():
        if issubclass(type(one), torch.nn.Module):
            modules.append(one)
        elif issubclass(type(one), torch.optim.Optimizer):
            optimizers.append(one)
    found = {}
    for module in modules:
        try:
            parameters = list(module.named_parameters())
        except (AttributeError, TypeError, RuntimeError):
            continue  # It is only half made.
        for name, one in parameters:
            before = found.get(id(one))
            if _may_train(one, known) and (before is None or before[3] < len(parameters)):
                found[id(one)] = (one, module, name, len(parameters))
    for optimizer in optimizers:
        for group in getattr(optimizer, "param_groups", []):
            for one in group["params"]:
                if _may_train(one, known) and id(one) not in found:
                    shape = "×".join(str(size) for size in one.shape) or "a number"
                    found[id(one)] = (one, None, shape, 0)
    return [one[:3] for one in found.values()]


def _may_train(parameter, known):
    return (id(parameter) not in known and parameter.requires_grad and parameter.is_leaf
            and not parameter.is_inference())


def _label(module):
    """The variable of the script that holds a module, and its class."""
    kind, frame = type(module).__name__, sys._getframe()
    while frame is not None:
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if value is module and frame.f_globals.get("__name__", "")[:6] != "stint.":
                    return f"{name} ({kind})"
        frame = frame.f_back
    return f"the module {kind}"


def checksum(tensor):
    """The sum of a tensor's bits as integers: the same whatever the order of additions."""
    tensor = tensor.detach()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    bits = tensor.view(INTEGERS[tensor.element_size()])
    return bits.sum(dtype=torch.int64).cpu()


def first_difference(named, group, world):
    """The name of the first tensor that is not the same on all workers; None if all are. Every
    worker calls it at the same step."""
    named = list(named)
    if not named:
        return None
    mine = torch.stack([checksum(one) for _, one in named])
    places = torch.arange(1, len(named) + 1)
    # Overflow wraps round, on all workers in the same way.
    if _same(_gathered((mine * places * 0x9E3779B1).sum().reshape(1), group, world)):
        return None
    each = _gathered(mine, group, world)
    suspects = [number for number in range(len(named))
                if not _same([one[number:number + 1] for one in each])]
    for number in suspects[:COMPARED]:
        name, tensor = named[number]
        if _difference(tensor, group) > TOLERANCE:
            return name
    return None


def _gathered(tensor, group, world):
    found = [torch.zeros_like(tensor) for _ in range(world)]
    group.finish(dist.all_gather(found, tensor, async_op=True))
    return found


def _same(tensors):
    return all(torch.equal(tensors[0], one) for one in tensors)


def _difference(tensor, group):
    """The largest relative difference to the first worker's, over all workers."""
    own = tensor.detach().cpu()
    own = (torch.view_as_real(own) if own.is_complex() else own).double().contiguous()
    # What is no number any more is no sign of a difference.
    own = torch.nan_to_num(own, 0.0, 0.0, 0.0)
    first = own.clone()
    group.finish(dist.broadcast(first, 0, async_op=True))
    norm = float(torch.linalg.vector_norm(first)) or 1.0
    worst = torch.linalg.vector_norm(own - first).reshape(1) / norm
    group.finish(dist.all_reduce(worst, dist.ReduceOp.MAX, async_op=True))
    return float(worst)
