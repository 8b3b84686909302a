"""Checkpoints in shards that any other layout can read.

Each worker writes the elements that it owns, each parameter under its name with the place of these
elements in it. A reader puts together what its own shard needs, whatever the degrees of the workers
that wrote. Nothing is computed on the way, so that the state is the same bit for bit.

    step-40/worker-3.bin    parameters and optimizer state of one worker, one range after the other
    step-40/worker-3.json   the index of these ranges, with checksums
    step-40/whole.pt        written last: the step, the layout, and what the script adds

Only whole.pt is written with torch.save, whose files count as checkpoints for `stint run`: while it
is missing, the checkpoint does not exist.
"""

import json
import math
import os
import re
import shutil
import zlib

import torch
import torch.distributed as dist

FORMAT = 1
WHOLE = "whole.pt"
PARAMETER = "parameter"  # The kind of a range; others are names of the optimizer's state.


class ShardError(RuntimeError):
    """A checkpoint that cannot be read; the message is a sentence for the user."""


def newest(folder):
    """The newest checkpoint in the folder that is whole, as its path; None if there is none."""
    found = {}
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        match = re.fullmatch(r"step-(\d+)", name)
        if match and os.path.exists(os.path.join(folder, name, WHOLE)):
            found[int(match[1])] = os.path.join(folder, name)
    return found[max(found)] if found else None


def save(folder, step, sharded, extra=None, keep=2):
    """Saves the state of a `Sharded` after a step; all workers call it together. `extra` is the
    script's own, of rank 0. The newest `keep` checkpoints stay."""
    layout = sharded.layout
    place = os.path.join(folder, f"step-{step}")
    os.makedirs(place, exist_ok=True)
    if layout.rank == 0 and os.path.exists(os.path.join(place, WHOLE)):
        os.remove(os.path.join(place, WHOLE))
    _meet()
    _write_worker(place, layout, _ranges(sharded), _scalars(sharded))
    _meet()
    if layout.rank == 0:
        path = os.path.join(place, WHOLE)
        torch.save({"format": FORMAT, "step": step, "layout": str(layout),
                    "workers": layout.workers, "extra": extra}, path + ".new")
        os.replace(path + ".new", path)
        _forget(folder, keep)


def load(folder, sharded):
    """Restores the newest checkpoint in the folder into a `Sharded` of any layout; all workers call
    it together. Returns its step and the script's own part; None if there is no checkpoint."""
    place = newest(folder)
    if place is None:
        return None
    whole, source = _open(place)
    for unit in sharded.units:
        _restore(unit, source, sharded.optimizer)
    for unit in sharded.units:
        pending = unit.updated()
        if pending:
            pending.wait()
    return whole["step"], whole["extra"]


def read_whole(place):
    """All state of a checkpoint as whole tensors: by name of the parameter, then by kind."""
    _, source = _open(place)
    return {name: {kind: source.whole(name, kind) for kind in source.kinds(name)}
            for name in source.names()}


def _meet():
    if dist.is_initialized():
        dist.barrier()


def _forget(folder, keep):
    steps = sorted(int(name[5:]) for name in os.listdir(folder)
                   if re.fullmatch(r"step-\d+", name))
    whole = [step for step in steps
             if os.path.exists(os.path.join(folder, f"step-{step}", WHOLE))]
    for step in steps:
        if whole[-keep:] and step < whole[-keep:][0]:
            shutil.rmtree(os.path.join(folder, f"step-{step}"), ignore_errors=True)


# Writing.


def _state_of(unit, optimizer):
    """The flat tensors of a unit's shard, by kind."""
    found = {PARAMETER: unit.shard.data}
    for kind, value in optimizer.state.get(unit.shard, {}).items():
        if torch.is_tensor(value) and value.shape == unit.shard.shape:
            found[kind] = value
    return found


def _owned(unit):
    """The pieces of a unit that this worker has elements of: (piece, first and end in the flat
    tensor)."""
    for piece in unit.pieces:
        first = max(piece.first, unit.first)
        end = min(piece.first + piece.count, unit.first + len(unit.shard))
        if first < end:
            yield piece, first, end


def _ranges(sharded):
    """What this worker writes: (entry of the index, tensor)."""
    layout = sharded.layout
    if layout.data_rank >= layout.shard:  # Another one has the same.
        return
    for unit in sharded.units:
        state = _state_of(unit, sharded.optimizer)
        for piece, first, end in _owned(unit):
            if piece.cut is None and layout.tensor_rank > 0:
                continue
            for kind, flat in state.items():
                part = flat[first - unit.first:end - unit.first]
                yield {"name": piece.name, "kind": kind, "dtype": str(part.dtype)[6:],
                       "whole": piece.whole_shape(), "cut": piece.cut,
                       "first": first - piece.first, "count": end - first}, part


def _scalars(sharded):
    """The optimizer's state that is one number for a whole unit, such as Adam's step."""
    found = {}
    for unit in sharded.units:
        state = sharded.optimizer.state.get(unit.shard, {})
        own = {}
        for kind, value in state.items():
            if torch.is_tensor(value) and value.numel() == 1 and value.shape != unit.shard.shape:
                own[kind] = {"tensor": value.item(), "dtype": str(value.dtype)[6:]}
            elif isinstance(value, (int, float, bool)):
                own[kind] = {"value": value}
        for piece in unit.pieces:
            found[piece.name] = own
    return found


def _write_worker(place, layout, ranges, scalars):
    path = os.path.join(place, f"worker-{layout.rank}")
    index = []
    with open(path + ".bin.new", "wb") as file:
        for entry, tensor in ranges:
            data = bytes_of(tensor)
            index.append(dict(entry, offset=file.tell(), checksum=zlib.crc32(data)))
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".bin.new", path + ".bin")
    with open(path + ".json.new", "w", encoding="utf-8") as file:
        json.dump({"format": FORMAT, "ranges": index, "scalars": scalars}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".json.new", path + ".json")


def bytes_of(tensor):
    """The bytes of a flat tensor."""
    return tensor.detach().contiguous().view(torch.uint8).numpy().tobytes()


# Reading.


class Source:
    """The ranges of a checkpoint, by name and kind."""

    def __init__(self, place, workers):
        self._place = place
        self._ranges = {}
        self.scalars = {}
        for worker in range(workers):
            try:
                with open(self._path(worker, "json"), encoding="utf-8") as file:
                    index = json.load(file)
            except (OSError, ValueError) as problem:
                raise ShardError(f"the checkpoint {place} cannot be read: {problem}; remove it to "
                                 "continue from the one before") from None
            self.scalars.update(index["scalars"])
            for entry in index["ranges"]:
                kinds = self._ranges.setdefault(entry["name"], {})
                kinds.setdefault(entry["kind"], []).append((worker, entry))

    def _path(self, worker, suffix):
        return os.path.join(self._place, f"worker-{worker}.{suffix}")

    def names(self):
        return list(self._ranges)

    def kinds(self, name):
        """The kinds of state of a parameter."""
        if name not in self._ranges:
            raise ShardError(f"the checkpoint {self._place} has no parameter {name}: it is of "
                             "another model")
        return list(self._ranges[name])

    def whole(self, name, kind):
        """One kind of state of a parameter, before it was cut."""
        entries = self._ranges[name][kind]
        shape = entries[0][1]["whole"]
        dtype = getattr(torch, entries[0][1]["dtype"])
        whole = torch.empty(shape, dtype=dtype)
        parts = {}
        for worker, entry in entries:
            cut = tuple(entry["cut"] or (0, 0, 1))
            if cut not in parts:
                sizes = [size // cut[2] if at == cut[0] else size for at, size in enumerate(shape)]
                parts[cut] = (sizes, torch.empty(math.prod(sizes), dtype=dtype))
            values = self._read(worker, entry, dtype)
            parts[cut][1][entry["first"]:entry["first"] + entry["count"]] = values
        if sum(entry["count"] for _, entry in entries) != whole.numel():
            raise ShardError(f"the checkpoint {self._place} lacks a part of {name}; remove it to "
                             "continue from the one before")
        for (dimension, part, count), (sizes, flat) in parts.items():
            target = whole.chunk(count, dimension)[part] if shape else whole
            target.copy_(flat.view(sizes))
        return whole

    def _read(self, worker, entry, dtype):
        size = entry["count"] * torch.empty(0, dtype=dtype).element_size()
        with open(self._path(worker, "bin"), "rb") as file:
            file.seek(entry["offset"])
            data = bytearray(file.read(size))
        if zlib.crc32(data) != entry["checksum"]:
            raise ShardError(f"{self._path(worker, 'bin')} is damaged at {entry['name']}; remove "
                             f"{self._place} to continue from the checkpoint before")
        return torch.frombuffer(data, dtype=dtype)


def _open(place):
    whole = torch.load(os.path.join(place, WHOLE))
    if whole["format"] != FORMAT:
        raise ShardError(f"the checkpoint {place} has format {whole['format']}, but this version "
                         f"reads format {FORMAT}")
    return whole, Source(place, whole["workers"])


def _restore(unit, source, optimizer):
    """Sets the shard of a unit and its state."""
    state = {}
    for piece, first, end in _owned(unit):
        for kind in source.kinds(piece.name):
            whole = source.whole(piece.name, kind)
            if tuple(whole.shape) != piece.whole_shape():
                raise ShardError(f"{piece.name} has the shape {tuple(whole.shape)} in the "
                                 f"checkpoint, but {piece.whole_shape()} in the model")
            if piece.cut:
                dimension, part, parts = piece.cut
                whole = whole.chunk(parts, dimension)[part]
            values = whole.reshape(-1)[first - piece.first:end - piece.first]
            if kind != PARAMETER and kind not in state:
                state[kind] = torch.zeros(len(unit.shard), dtype=whole.dtype)
            target = unit.shard.data if kind == PARAMETER else state[kind]
            target[first - unit.first:end - unit.first] = values
    for kind, scalar in source.scalars[unit.pieces[0].name].items():
        state[kind] = (torch.tensor(scalar["tensor"], dtype=getattr(torch, scalar["dtype"]))
                       if "tensor" in scalar else scalar["value"])
    for kind in {kind for piece in unit.pieces for kind in source.kinds(piece.name)}:
        if kind != PARAMETER and kind not in state:  # A shard that is padding only.
            state[kind] = torch.zeros(len(unit.shard), dtype=unit.shard.dtype)
    if state:
        optimizer.state[unit.shard] = state
