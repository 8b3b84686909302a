"""All that training needs to go on, as one run of bytes: what is saved, and sent to newcomers.

    magic | length and CRC-32 of the head | head | tensors, each at a multiple of 64 bytes

The head is JSON, so that reading a state runs no code, and workers with the same state write the
same bytes: each saves a part of them. What differs between workers, random states and buffers such
as the averages of BatchNorm, comes first, and so from the first worker.
"""

import json
import math
import random
import struct
import sys
import zlib

import torch

MAGIC = b"stint.state/1\n"
ALIGNMENT = 64
FRONT = struct.Struct("<QI")
PLAIN = (str, int, float, bool, type(None))


def gather(network, optimizer, scheduler, step, **more):
    """The state as nested dictionaries; its tensors are those of the training, not copies. `more`
    has what else is the same on all workers, by name."""
    everything = network.state_dict(keep_vars=True)
    parameters = {name: value for name, value in everything.items()
                  if isinstance(value, torch.nn.Parameter)}
    buffers = {name: value for name, value in everything.items() if name not in parameters}
    return {"random": _random_state(), "buffers": buffers, "parameters": parameters,
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict() if scheduler else None, "step": step, **more}


def restore(state, network, optimizer, scheduler):
    """Puts a state in place; returns the step it is of."""
    network.load_state_dict({**state["buffers"], **state["parameters"]})
    optimizer.load_state_dict(state["optimizer"])
    if scheduler:
        scheduler.load_state_dict(state["scheduler"])
    _set_random_state(state["random"])
    return state["step"]


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
        _split([state.get("random"), state.get("buffers")], volatile)
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
