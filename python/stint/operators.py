"""The operators of an iteration with their shapes, for `stint profile --for`.

PyTorch's dispatcher tells of every operator below autograd, forward as backward, with the tensors
that it reads and writes. Nothing is changed. What an operator computes and moves follows from the
shapes in src/measure/trace/operator_figures.cc; here they are only written down.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

OPERATORS_MAX = 100_000  # Of one iteration; a network that is unrolled over time has many.

# Those that launch no kernel besides views: memory that is not written, and answers to the script.
SILENT = {"aten.empty", "aten.empty_like", "aten.empty_strided", "aten.new_empty",
          "aten.new_empty_strided", "aten._local_scalar_dense", "aten.is_same_size",
          "aten._unsafe_view", "aten.resize_", "aten.set_", "aten.lift_fresh", "aten.record_stream"}
# Those whose first tensor is written and not read, or lends only its shape.
UNREAD = {"aten.zero_", "aten.fill_", "aten.copy_", "aten.bernoulli_", "aten.normal_",
          "aten.uniform_", "aten.zeros_like", "aten.ones_like", "aten.rand_like",
          "aten.randn_like", "aten.full_like", "aten.new_zeros", "aten.new_ones", "aten.new_full"}


def operator_name(func):
    """Returns "aten.mm" of the operator aten::mm, whichever of its overloads is called."""
    return func._schema.name.replace("::", ".")


def is_view(func):
    """Tells whether an operator only looks at its input in another way: no kernel runs."""
    returns = func._schema.returns
    return bool(returns) and all(one.alias_info is not None and not one.alias_info.is_write
                                 for one in returns)


def tensors_of(values):
    """Yields the tensors of arguments or results, those of lists too."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_of(value)


def storage_of(tensor):
    """Returns the storage of a tensor, by the name that this version of PyTorch has for it."""
    untyped = getattr(tensor, "untyped_storage", None)
    return untyped() if untyped is not None else tensor.storage()


def address(tensor):
    """Returns where the numbers of a tensor begin, or None where it has none of its own."""
    try:
        return storage_of(tensor).data_ptr() or None
    except (RuntimeError, NotImplementedError):  # A sparse tensor has no storage.
        return None


def stored(tensor):
    """Returns how many numbers a tensor has: one that is expanded has fewer than its shape says."""
    count = 1
    if tensor.layout is not torch.strided:
        return tensor.numel()
    for size, stride in zip(tensor.shape, tensor.stride()):
        count *= size if stride or not size else 1
    return count


class Fixed:
    """Which tensors stay as they are when the batch changes: parameters, buffers and gradients."""

    def __init__(self, parameters, buffers):
        gradients = [one.grad for one in parameters if one.grad is not None]
        self.addresses = {address(one) for one in [*parameters, *gradients, *buffers]} - {None}
        # The gradient of a weight comes about as a tensor of the same sizes, perhaps transposed.
        self.shapes = {tuple(sorted(one.shape)) for one in parameters}

    def holds(self, tensor):
        return address(tensor) in self.addresses or (
            tensor.dim() > 0 and tuple(sorted(tensor.shape)) in self.shapes)


def described(tensor, fixed):
    """Returns a tensor as the records have it."""
    one = {"shape": list(tensor.shape), "type": str(tensor.dtype).removeprefix("torch.")}
    count = stored(tensor)
    if count < tensor.numel():
        one["stored"] = count
    if fixed.holds(tensor):
        one["fixed"] = True
    return one


def kept_bytes(kept):
    return sum(size for size, _ in kept.values())


class Mode(TorchDispatchMode):
    """Tells the watch of every operator."""

    def __init__(self, watch):
        super().__init__()
        self.watch = watch

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, (int, float)) and operator_name(func) == "aten.detach":
            # A number that autograd saved as a tensor comes here as the number that it was.
            kind = torch.float64 if isinstance(result, float) else None
            return torch.tensor(result, dtype=kind)
        self.watch.note(func, args, kwargs or {}, result)
        return result


class Watch:
    """Collects the operators of an iteration, pass by pass."""

    def __init__(self, seen):
        self.seen = seen
        self.phase = None  # "forward", "backward", "update".
        self._mode = None
        self._hooks = None
        self._clear()

    def _clear(self):
        self.operators = []
        self.omitted = 0
        self.update_bytes = 0
        self.kept = {}       # What backward needs of the pass under way: bytes and type by address.
        self.kept_most = {}  # The same of the pass that keeps most.
        self.fixed = None

    def open(self, lasting, phase):
        """Watches from now on; `lasting()` returns parameters and buffers."""
        if self.fixed is None:
            self.fixed = Fixed(*lasting())
        if phase == "forward" and self.phase != "forward":
            self.kept = {}
        elif phase == "backward" and kept_bytes(self.kept) > kept_bytes(self.kept_most):
            self.kept_most = self.kept
        self.phase = phase
        self.resume()

    def resume(self):
        """Goes on after a pause."""
        if self.phase is None or self._mode is not None:
            return
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._keep, lambda tensor: tensor)
        self._hooks.__enter__()
        self._mode = Mode(self)
        self._mode.__enter__()

    def pause(self):
        """Leaves out what the script does until resume(), such as reading data."""
        if self._mode is None:
            return
        self._mode.__exit__(None, None, None)
        self._hooks.__exit__(None, None, None)
        self._mode = self._hooks = None

    def take(self):
        """Ends an iteration. Returns its operators, and what is known of them all."""
        self.pause()
        kept = {}
        for size, kind in self.kept_most.values():
            kept[kind] = kept.get(kind, 0) + size
        total = {"operators": len(self.operators), "omitted": self.omitted or None,
                 "kept": [{"type": kind, "bytes": size} for kind, size in kept.items()],
                 "update_bytes": self.update_bytes, "autocast": self.seen.autocast_wanted}
        operators = self.operators
        self.phase = None
        self._clear()
        return operators, total

    def _keep(self, tensor):
        """Notes a tensor that autograd saves for backward."""
        place = address(tensor)
        if self.phase == "forward" and place is not None and place not in self.fixed.addresses:
            self.kept[place] = (storage_of(tensor).nbytes(),
                                str(tensor.dtype).removeprefix("torch."))
        return tensor

    def note(self, func, args, keywords, result):
        """An operator ran."""
        name = operator_name(func)
        if name in SILENT or name.startswith("c10d.") or is_view(func):
            return
        inputs = list(tensors_of([*args, *keywords.values()]))
        outputs = list(tensors_of([result]))
        if name in UNREAD:
            inputs = inputs[1:]
        if self.phase == "update":
            self.update_bytes += sum(stored(one) * one.element_size()
                                     for one in [*inputs, *outputs])
            return
        if len(self.operators) >= OPERATORS_MAX:
            self.omitted += 1
            return
        one = {"name": name, "phase": self.phase,
               "inputs": [described(tensor, self.fixed) for tensor in inputs],
               "outputs": [described(tensor, self.fixed) for tensor in outputs]}
        one.update(flags_of(func, name, args, keywords))
        self.operators.append({key: value for key, value in one.items() if value != []})


def flags_of(func, name, args, keywords):
    """Returns what the arithmetic of an operator depends on besides shapes."""
    given = dict(zip((one.name for one in func._schema.arguments), args)) | keywords
    flags = {}
    if given.get("transposed") is True:
        flags["transposed"] = True
    if given.get("is_causal") is True:
        flags["causal"] = True
    if name.endswith("convolution_backward"):
        # Gradients of the input and of the weights are convolutions of their own.
        flags["runs"] = sum(1 for wanted in list(given.get("output_mask", [True] * 2))[:2]
                            if wanted)
    return flags
