"""All that training needs to go on, as one run of bytes: what is saved, and sent to newcomers.

    magic | length and CRC-32 of the head | head | tensors, each at a multiple of 64 bytes

The head is JSON, so that reading a state runs no code, and workers with the same state write the
same bytes: each saves a part of them. What differs between workers, random states, buffers such as
the averages of BatchNorm and objects of the script, comes first, and so from the first worker.

A job of one model, one optimizer and at most one scheduler has their states as they are, as all
jobs had before there could be several. Otherwise `parts` lists what there is, and states of parts
that have names are by name.
"""

import json
import math
import random
import struct
import sys
import zlib

import torch

from stint.parts import ALONE

MAGIC = b"stint.state/1\n"
ALIGNMENT = 64
FRONT = struct.Struct("<QI")
PLAIN = (str, int, float, bool, type(None))


def gather(network, optimizer, scheduler, step, objects=None, **more):
    """The state as nested dictionaries; its tensors are those of the training, not copies. Of each
    kind of part there may be one, or several by name; `objects` are others with a state, by name.
    `more` has what else is the same on all workers, by name."""
    networks, optimizers, schedulers = map(_by_name, (network, optimizer, scheduler))
    buffers, parameters = {}, {}
    for name, one in networks.items():
        everything = one.state_dict(keep_vars=True)
        parameters[name] = {key: value for key, value in everything.items()
                            if isinstance(value, torch.nn.Parameter)}
        buffers[name] = {key: value for key, value in everything.items()
                         if key not in parameters[name]}
    state = {"random": _random_state(), "buffers": _alone(buffers)}
    if objects:
        state["objects"] = {name: _with_tensors(one.state_dict(), name)
                            for name, one in objects.items()}
    parts = _parts(networks, optimizers, schedulers, objects)
    if objects or any(names not in ([], [ALONE]) for names in parts.values()):
        state["parts"] = parts
    return {**state, "parameters": _alone(parameters),
            "optimizer": _alone({name: one.state_dict() for name, one in optimizers.items()}),
            "scheduler": _alone({name: one.state_dict() for name, one in schedulers.items()}),
            "step": step, **more}


def restore(state, network, optimizer, scheduler, objects=None):
    """Puts a state in place; returns the step it is of. Raises ValueError if it is of other parts,
    and then changes nothing."""
    networks, optimizers, schedulers = map(_by_name, (network, optimizer, scheduler))
    _check_parts(_saved_parts(state), _parts(networks, optimizers, schedulers, objects))
    buffers, parameters = (_states(state[key], networks) for key in ("buffers", "parameters"))
    for name, one in networks.items():
        one.load_state_dict({**buffers[name], **parameters[name]})
    for kind, parts in (("optimizer", optimizers), ("scheduler", schedulers)):
        saved = _states(state[kind], parts)
        for name, one in parts.items():
            one.load_state_dict(saved[name])
    for name, one in (objects or {}).items():
        own = _owned(state["objects"][name], one.state_dict())
        if own:  # A gradient scaler that is not enabled has no state.
            one.load_state_dict(own)
    _set_random_state(state["random"])
    return state["step"]


def _by_name(parts):
    if parts is None:
        return {}
    return parts if isinstance(parts, dict) else {ALONE: parts}


def _alone(states):
    """States by name; of one part alone, its own; of none, nothing."""
    if not states:
        return None
    return states[ALONE] if list(states) == [ALONE] else states


def _states(saved, parts):
    """The reverse, for these parts."""
    return {ALONE: saved} if list(parts) == [ALONE] else saved


def _parts(networks, optimizers, schedulers, objects):
    return {"model": list(networks), "optimizer": list(optimizers), "scheduler": list(schedulers),
            "object": list(objects or {})}


def _saved_parts(state):
    """What a state is of. Those of jobs that could not have several parts do not say it."""
    one = [ALONE]
    return state.get("parts") or {
        "model": one, "optimizer": one, "object": [],
        "scheduler": [] if state.get("scheduler") is None else one}


def _check_parts(saved, wanted):
    """A state may have schedulers and objects that the script does not ask for."""
    for kind, names in wanted.items():
        has = saved.get(kind, [])
        if kind in ("model", "optimizer") and has != names or set(names) - set(has):
            raise ValueError(f"it has {_listed(kind, has)} where this script has "
                             f"{_listed(kind, names)}: it was saved by an older script, or by "
                             "another one")


def _listed(kind, names):
    if not names:
        return f"no {kind}"
    if names == [ALONE]:
        return f"one {kind} without a name"
    return f"the {kind}{'s' if len(names) > 1 else ''} {', '.join(names)}"


class _Value:
    """A number or an array of an object of the script, as a tensor: workers may have different
    ones, and write the same head all the same."""

    def __init__(self, kind, tensor):
        self.kind = kind
        self.tensor = tensor

    READ = {"bool": lambda tensor: bool(tensor), "int": int, "float": float,
            "array": lambda tensor: tensor.numpy().copy()}


def _with_tensors(value, name):
    """The state of an object with its numbers as tensors; refuses what could not be read back."""
    if value is None or isinstance(value, (str, torch.Tensor)):
        return value
    if isinstance(value, dict):
        return {key: _with_tensors(one, name) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with_tensors(one, name) for one in value) \
            if type(value) in (list, tuple) else [_with_tensors(one, name) for one in value]
    numpy = sys.modules.get("numpy")
    if numpy and isinstance(value, numpy.generic):
        value = value.item()
    for kind, dtype in ((bool, torch.bool), (int, torch.int64), (float, torch.float64)):
        if isinstance(value, kind):
            return _Value(kind.__name__, torch.tensor(value, dtype=dtype))
    if numpy and isinstance(value, numpy.ndarray):
        return _Value("array", torch.from_numpy(value.copy()))
    raise TypeError(f"stint.Job: {name} has a {type(value).__name__} in its state, which cannot be "
                    "saved: a state has tensors, arrays, numbers, texts, lists and dictionaries")


def _owned(value, present):
    """The state of an object with tensors of its own, where the present ones are: objects keep
    what they are given."""
    if isinstance(value, torch.Tensor):
        device = present.device if isinstance(present, torch.Tensor) else value.device
        return value.to(device, copy=True)
    if isinstance(value, dict):
        have = present if isinstance(present, dict) else {}
        return {key: _owned(one, have.get(key)) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        have = list(present) if isinstance(present, (list, tuple)) else []
        have += [None] * (len(value) - len(have))
        return type(value)(_owned(one, old) for one, old in zip(value, have))
    return value


def _random_state():
    """Tensors of the same size on every worker, whatever the numbers are."""
    _, numbers, gauss = random.getstate()
    state = {"torch": torch.get_rng_state(), "python": torch.tensor(numbers),
             "python_gauss": torch.tensor(math.nan if gauss is None else gauss,
                                          dtype=torch.float64)}
    numpy = sys.modules.get("numpy")
    if numpy:
        _, keys, *rest = numpy.random.get_state()
        state["numpy"] = torch.tensor(keys.tolist())
        state["numpy_rest"] = torch.tensor(rest, dtype=torch.float64)
    if torch.cuda.is_initialized():
        state["cuda"] = list(torch.cuda.get_rng_state_all())
    return state


def _set_random_state(state):
    torch.set_rng_state(state["torch"].clone())
    gauss = state["python_gauss"].item()
    random.setstate((3, tuple(state["python"].tolist()), None if math.isnan(gauss) else gauss))
    numpy = sys.modules.get("numpy")
    if numpy and "numpy" in state:
        position, has_gauss, cached = state["numpy_rest"].tolist()
        keys = numpy.array(state["numpy"].tolist(), dtype=numpy.uint32)
        numpy.random.set_state(("MT19937", keys, int(position), int(has_gauss), cached))
    if torch.cuda.is_initialized():
        for device, one in enumerate(state.get("cuda", [])[:torch.cuda.device_count()]):
            torch.cuda.set_rng_state(one.clone(), device)


def _split(value, tensors):
    """`value` as JSON; its tensors are appended to `tensors`. What is neither data nor a container,
    such as a function of a scheduler, is left to the script that will read it."""
    if isinstance(value, torch.Tensor):
        tensors.append(value.detach())
        return {"tensor": len(tensors) - 1}
    if isinstance(value, _Value):
        tensors.append(value.tensor)
        return {value.kind: len(tensors) - 1}
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, dict):
        return {"dict": [[_split(key, tensors), _split(one, tensors)]
                         for key, one in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__ if type(value) in (list, tuple) else "list":
                [_split(one, tensors) for one in value]}
    return {"other": type(value).__name__}


def _join(value, tensors, present):
    """The reverse; `present` is the same part of the present state, as far as there is one."""
    if not isinstance(value, dict):
        return value
    [(kind, inner)] = value.items()
    if kind == "tensor":
        return tensors[inner]
    if kind in _Value.READ:
        return _Value.READ[kind](tensors[inner])
    if kind == "dict":
        have = present if isinstance(present, dict) else {}
        pairs = ((_join(key, tensors, None), one) for key, one in inner)
        joined = {key: _join(one, tensors, have.get(key)) for key, one in pairs}
        return type(present)(joined) if type(present).__name__ == "Counter" else joined
    if kind in ("list", "tuple"):
        have = present if isinstance(present, (list, tuple)) else []
        have = list(have) + [None] * (len(inner) - len(have))
        joined = [_join(one, tensors, old) for one, old in zip(inner, have)]
        return tuple(joined) if kind == "tuple" else joined
    return present


def _bytes_of(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def _aligned(at):
    return -(-at // ALIGNMENT) * ALIGNMENT


class Layout:
    """Where each byte of a state lies. Copies of any part of it can be made, in any order."""

    def __init__(self, state):
        tensors = []
        skeleton = _split(state, tensors)
        volatile = []
        _split([state.get(name) for name in ("random", "buffers", "objects")], volatile)
        shapes = [(str(one.dtype).split(".")[1], list(one.shape)) for one in tensors]
        head = json.dumps([skeleton, shapes]).encode()
        self.checksum = zlib.crc32(head)
        self._pieces = [(0, MAGIC + FRONT.pack(len(head), self.checksum) + head)]
        at = len(self._pieces[0][1])
        for number, tensor in enumerate(tensors):
            at = _aligned(at)
            self._pieces.append((at, tensor))
            at += tensor.numel() * tensor.element_size()
            if number < len(volatile):
                self.volatile = at
        if not volatile:
            self.volatile = len(self._pieces[0][1])
        self.size = at  # Bytes of all, of which those before `volatile` may change at any time.

    def copy(self, begin, end, target):
        """Copies bytes [begin, end) into a tensor of that length."""
        target = target[:end - begin]
        for at, piece in self._pieces:
            size = len(piece) if at == 0 else piece.numel() * piece.element_size()
            low, high = max(begin, at), min(end, at + size)
            if low >= high:
                continue
            source = (torch.frombuffer(bytearray(piece), dtype=torch.uint8) if at == 0
                      else _bytes_of(piece))
            target[low - begin:high - begin].copy_(source[low - at:high - at])


def pack(state):
    """The whole state in one tensor of bytes."""
    layout = Layout(state)
    data = torch.zeros(layout.size, dtype=torch.uint8)
    layout.copy(0, layout.size, data)
    return data


def unpack(data, present=None):
    """The state in a tensor of bytes, as views of it. Damaged bytes raise ValueError. `present` is
    the present state; what the bytes cannot hold is taken from it."""
    try:
        return _unpack(data, present)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError) as error:
        # The checksum is right, but the head is not one that Layout wrote.
        raise ValueError("the state is damaged: its head does not describe it") from error


def _unpack(data, present):
    begin = len(MAGIC) + FRONT.size
    front = data[:begin].numpy().tobytes()
    if front[:len(MAGIC)] != MAGIC or len(front) < begin:
        raise ValueError("not a training state")
    length, checksum = FRONT.unpack(front[len(MAGIC):])
    head = data[begin:begin + length].numpy().tobytes()
    if len(head) != length or zlib.crc32(head) != checksum:
        raise ValueError("the state is damaged: its parts are from different steps")
    skeleton, shapes = json.loads(head)
    at, tensors = begin + length, []
    for kind, shape in shapes:
        dtype = getattr(torch, kind)
        if not isinstance(dtype, torch.dtype) or any(type(one) is not int or one < 0
                                                     for one in shape):
            raise ValueError("the state is damaged: it has a tensor of no type or size")
        at = _aligned(at)
        size = math.prod(shape) * torch.empty(0, dtype=dtype).element_size()
        if at + size > len(data):
            raise ValueError("the state is truncated")
        tensors.append(data[at:at + size].view(dtype).reshape(shape))
        at += size
    if at != len(data):
        raise ValueError("the length of the state differs from its header")
    return _join(skeleton, tensors, present)


def shard_range(size, number, count):
    """The bytes [begin, end) that worker `number` of `count` keeps for all."""
    return size * number // count, size * (number + 1) // count


def checksum(data):
    """CRC-32 of the bytes of a tensor."""
    return zlib.crc32(memoryview(data.numpy()))
