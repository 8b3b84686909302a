#!/usr/bin/python3
"""Trains a small transformer that is split over workers: any data x tensor x pipeline degrees, with
ZeRO stages, sequence parallelism and recomputation.

    STINT_LAYOUT='dp2 tp2 zero3 mb2' torchrun … parallel_transformer.py
    stint run --layout 'dp2 tp2' --cluster '4x local.large:spot' … -- … parallel_transformer.py

The layout says how; the parameters after a step are those of one worker but for the order of sums.
Layers are split as in Megatron-LM: queries, keys, values and the first linear layer by columns, the
output projection and the second one by rows, with an all-reduce after each pair. Under `stint run`
a lost machine gives another data-parallel degree, at which the script continues from its own
sharded checkpoint.
"""

import argparse
import math
import os
import sys
import zlib
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.checkpoint import checkpoint

sys.path.append(str(Path(__file__).resolve().parent.parent))  # Where stint is.
import stint  # noqa: E402
from stint import shards  # noqa: E402
from stint.layouts import LayoutError  # noqa: E402
from stint.pipeline import Pipeline  # noqa: E402
from stint.sharded import Sharded  # noqa: E402
from stint.split import Split  # noqa: E402
from stint.traffic import Traffic  # noqa: E402


def parameter(name, shape, split, dimension=None, spread=None, partial=False):
    """The part of this worker of a parameter. Its values depend on its name only, so that they are
    the same in any layout. `spread` of None gives ones, 0 zeros; `partial` is a parameter that sees
    a part of the sequence only, with sequence parallelism."""
    if spread is None:
        whole = torch.ones(shape)
    else:
        dice = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        whole = torch.randn(shape, generator=dice, dtype=torch.float64).mul_(spread)
    parts, part = split.layout.tensor, split.layout.tensor_rank
    cut = dimension is not None and parts > 1
    if cut:
        whole = whole.chunk(parts, dimension)[part]
    made = nn.Parameter(whole.to(torch.get_default_dtype()).clone())
    made.cut = (dimension, part, parts) if cut else None
    made.partial = partial and split.layout.sequence
    return made


class Norm(nn.Module):
    """A layer normalisation."""

    def __init__(self, name, width, split, partial=True):
        super().__init__()
        self.weight = parameter(name + ".weight", (width,), split, partial=partial)
        self.bias = parameter(name + ".bias", (width,), split, spread=0, partial=partial)

    def forward(self, value):
        return nn.functional.layer_norm(value, self.weight.shape, self.weight, self.bias)


class Block(nn.Module):
    """One layer of the transformer."""

    def __init__(self, name, args, split):
        super().__init__()
        width, near = args.width, 1 / math.sqrt(args.width)
        self._split = split
        self._heads = args.heads // split.layout.tensor  # Of this worker,
        self._head = width // args.heads  # and the width of each.
        self.norm1 = Norm(name + ".norm1", width, split)
        # Rows are in the order head, then query, key and value, so that a part has whole heads.
        self.qkv = parameter(name + ".qkv", (3 * width, width), split, 0, near)
        self.qkv_bias = parameter(name + ".qkv_bias", (3 * width,), split, 0, 0)
        self.out = parameter(name + ".out", (width, width), split, 1, near)
        self.out_bias = parameter(name + ".out_bias", (width,), split, spread=0, partial=True)
        self.norm2 = Norm(name + ".norm2", width, split)
        self.up = parameter(name + ".up", (4 * width, width), split, 0, near)
        self.up_bias = parameter(name + ".up_bias", (4 * width,), split, 0, 0)
        self.down = parameter(name + ".down", (width, 4 * width), split, 1, near / 2)
        self.down_bias = parameter(name + ".down_bias", (width,), split, spread=0, partial=True)

    def forward(self, value):
        if self._split.layout.recompute == "full":
            return checkpoint(self._layer, value)
        return self._layer(value)

    def _layer(self, value):
        value = value + self._attention(self._split.enter(self.norm1(value)))
        return value + self._feed_forward(self._split.enter(self.norm2(value)))

    def _attention(self, value):
        samples, length, _ = value.shape
        mixed = nn.functional.linear(value, self.qkv, self.qkv_bias)
        mixed = mixed.view(samples, length, self._heads, 3, self._head).transpose(1, 2)
        if self._split.layout.recompute == "selective":
            seen = checkpoint(self._look, mixed)
        else:
            seen = self._look(mixed)
        seen = seen.transpose(1, 2).reshape(samples, length, self._heads * self._head)
        return self._split.leave(nn.functional.linear(seen, self.out)) + self.out_bias

    @staticmethod
    def _look(mixed):
        """What each place sees of those before it."""
        query, key, value = mixed.unbind(3)
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        later = torch.full(scores.shape[-2:], float("-inf"), dtype=scores.dtype).triu(1)
        return (scores + later).softmax(-1) @ value

    def _feed_forward(self, value):
        value = nn.functional.gelu(nn.functional.linear(value, self.up, self.up_bias))
        return self._split.leave(nn.functional.linear(value, self.down)) + self.down_bias


class Embedding(nn.Module):
    """Letters and their places."""

    def __init__(self, name, args, split):
        super().__init__()
        self._split = split
        self.letters = parameter(name + ".letters", (args.letters, args.width), split, spread=1)
        self.places = parameter(name + ".places", (args.length, args.width), split, spread=0.02)

    def forward(self, texts):
        value = nn.functional.embedding(texts, self.letters) + self.places[:texts.shape[1]]
        return self._split.cut_sequence(value)


class Head(nn.Module):
    """The output layer, which each worker of a tensor-parallel group computes alike."""

    def __init__(self, name, args, split):
        super().__init__()
        self._split = split
        self.norm = Norm(name + ".norm", args.width, split, partial=False)
        self.out = parameter(name + ".out", (args.letters, args.width), split,
                             spread=1 / math.sqrt(args.width))

    def forward(self, value):
        return nn.functional.linear(self.norm(self._split.join_sequence(value)), self.out)


class Stage:
    """The layers of this worker."""

    def __init__(self, args, layout, traffic):
        check(args, layout)
        self._args, self._layout = args, layout
        split = Split(layout, traffic)
        own = args.layers // layout.pipeline
        first = layout.pipeline_rank * own
        self.units = [(f"blocks.{n}", Block(f"blocks.{n}", args, split))
                      for n in range(first, first + own)]
        if layout.pipeline_rank == 0:
            self.units.insert(0, ("embedding", Embedding("embedding", args, split)))
        if layout.pipeline_rank == layout.pipeline - 1:
            self.units.append(("head", Head("head", args, split)))
        self.module = nn.Sequential(*[module for _, module in self.units])

    def activations(self, samples):
        """The shape of what is passed to the next stage."""
        cut = self._layout.tensor if self._layout.sequence else 1
        return (samples, self._args.length // cut, self._args.width)


def check(args, layout):
    """Refuses layouts that this model cannot have."""
    if args.width % args.heads:
        raise LayoutError(f"{args.heads} attention heads do not divide the width of {args.width}")
    if args.heads % layout.tensor:
        raise LayoutError(f"tensor degree {layout.tensor} does not divide the {args.heads} "
                          "attention heads; choose a divisor of them")
    if args.layers % layout.pipeline:
        raise LayoutError(f"pipeline degree {layout.pipeline} does not divide the {args.layers} "
                          "layers; choose a divisor of them")
    if layout.sequence and args.length % layout.tensor:
        raise LayoutError(f"tensor degree {layout.tensor} does not divide the sequence of "
                          f"{args.length}, which sequence parallelism cuts")
    if args.batch < layout.data:
        raise LayoutError(f"data degree {layout.data} is more than the {args.batch} samples of a "
                          "step")


def texts_of(args, step):
    """The samples of a step, the same for any layout: each letter follows from the one before, but
    for some noise."""
    dice = torch.Generator().manual_seed(args.seed * 1_000_003 + step)
    texts = torch.randint(args.letters, (args.batch, args.length + 1), generator=dice)
    noise = torch.rand(args.batch, args.length + 1, generator=dice) < 0.1
    for place in range(1, args.length + 1):
        follows = (5 * texts[:, place - 1] + 3) % args.letters
        texts[:, place] = torch.where(noise[:, place], texts[:, place], follows)
    return texts


def micro_batches_of(texts, layout):
    """The samples of this data rank, in micro-batches: (inputs, labels)."""
    return [(texts[first:end, :-1], texts[first:end, 1:])
            for first, end in layout.micro_batches(len(texts))]


def train(args, layout):
    """Trains to the last step; returns the trained state."""
    traffic = Traffic()
    stage = Stage(args, layout, traffic)
    sharded = Sharded(stage.units, layout,
                      lambda flat: torch.optim.AdamW(flat, lr=args.lr), traffic)
    pipeline = Pipeline(layout, traffic, stage, torch.get_default_dtype())
    found = shards.load(args.checkpoints, sharded) if args.checkpoints else None
    step = found[0] if found else 0
    if layout.rank == 0:
        print(f"layout {layout}, from step {step}", flush=True)

    def loss_of(outputs, labels):
        # A share of the mean over all samples of the step: the shares are summed.
        total = nn.functional.cross_entropy(outputs.reshape(-1, args.letters), labels.reshape(-1),
                                            reduction="sum")
        return total / (args.batch * args.length)

    while step < args.steps:
        loss = pipeline.run(micro_batches_of(texts_of(args, step), layout), loss_of, sharded.begin)
        sharded.step()
        step += 1
        if layout.rank == layout.workers - 1 and step % args.say_every == 0:
            print(f"step {step}: loss {loss * layout.data:.4f}", flush=True)
        if args.checkpoints and (step % args.save_every == 0 or step == args.steps):
            shards.save(args.checkpoints, step, sharded)
    return sharded


def options():
    """The options of the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--batch", type=int, default=stint.global_batch(8),
                        help="samples of a step, of all workers together")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--length", type=int, default=16, help="letters of a sample")
    parser.add_argument("--letters", type=int, default=24)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save-every", type=int, default=10, help="steps between checkpoints")
    parser.add_argument("--say-every", type=int, default=10)
    parser.add_argument("--checkpoints", default=os.environ.get("STINT_CHECKPOINT_DIR"),
                        help="folder of sharded checkpoints that all workers reach")
    parser.add_argument("--out", "--save", help="write the whole trained parameters to this file")
    return parser.parse_args()


def main():
    args = options()
    torch.set_num_threads(1)
    try:
        layout = stint.layout()
        check(args, layout)
    except LayoutError as problem:
        sys.exit(f"parallel_transformer: {problem}")
    if layout.workers > 1:
        dist.init_process_group("gloo")
    train(args, layout)
    if args.out and layout.rank == 0:
        state = shards.read_whole(shards.newest(args.checkpoints))
        torch.save({name: kinds[shards.PARAMETER] for name, kinds in state.items()}, args.out)
    if layout.workers > 1:
        dist.barrier()


if __name__ == "__main__":
    main()
