#!/usr/bin/python3
"""Trains a transformer of ordinary PyTorch layers whose parameters, gradients and optimizer state
are sharded over workers: ZeRO stages 0 to 3, as the layout says.

    STINT_LAYOUT='dp4 zero3 mb2' torchrun … sharded.py
    stint run --layout 'dp4 zero3' --cluster '4x local.large:spot' … -- … sharded.py

Any model is sharded that is a list of modules which run one after the other.
"""

import argparse
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

sys.path.append(str(Path(__file__).resolve().parent.parent))  # Where stint is.
import stint  # noqa: E402
from stint import shards  # noqa: E402
from stint.layouts import LayoutError  # noqa: E402
from stint.sharded import Sharded  # noqa: E402

LETTERS = 24


class Layer(nn.TransformerEncoderLayer):
    """A layer that sees only the letters before the one it foretells."""

    def forward(self, value):
        later = torch.full((value.shape[1],) * 2, float("-inf"), dtype=value.dtype).triu(1)
        return super().forward(value, later)


def make_model(args):
    """The modules of the model with their names, in the order in which they run."""
    layers = [(f"layers.{number}", Layer(args.width, args.heads, 4 * args.width, dropout=0.0,
                                         batch_first=True, norm_first=True))
              for number in range(args.layers)]
    return [("letters", nn.Embedding(LETTERS, args.width)), *layers,
            ("out", nn.Sequential(nn.LayerNorm(args.width), nn.Linear(args.width, LETTERS)))]


def texts_of(args, step):
    """The samples of a step, the same for any number of workers."""
    dice = torch.Generator().manual_seed(args.seed * 1_000_003 + step)
    texts = torch.randint(LETTERS, (args.batch, args.length + 1), generator=dice)
    for place in range(2, args.length + 1):
        texts[:, place] = (texts[:, place - 1] + texts[:, place - 2]) % LETTERS
    return texts


def train(args, layout):
    """Trains to the last step; returns the trained state."""
    if layout.model > 1:
        raise LayoutError(f"the layout '{layout}' splits the model, which this script does not; "
                          "use dpN and zeroN only")
    torch.manual_seed(args.seed)
    model = make_model(args)
    sharded = Sharded(model, layout, lambda flat: torch.optim.AdamW(flat, lr=args.lr))
    found = shards.load(args.checkpoints, sharded) if args.checkpoints else None
    for step in range(found[0] if found else 0, args.steps):
        every = texts_of(args, step)
        parts = [every[first:end] for first, end in layout.micro_batches(len(every))]
        for number, texts in enumerate(parts):
            sharded.begin(last=number == len(parts) - 1)
            value = texts[:, :-1]
            for _, module in model:
                value = module(value)
            loss = nn.functional.cross_entropy(value.reshape(-1, LETTERS), texts[:, 1:].reshape(-1),
                                               reduction="sum")
            (loss / (args.batch * args.length)).backward()  # Over all workers a mean.
        sharded.step()
        if layout.rank == 0 and (step + 1) % args.say_every == 0:
            print(f"step {step + 1}: loss {loss.item() / texts[:, 1:].numel():.4f}", flush=True)
        if args.checkpoints and ((step + 1) % args.save_every == 0 or step + 1 == args.steps):
            shards.save(args.checkpoints, step + 1, sharded)
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
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save-every", type=int, default=10, help="steps between checkpoints")
    parser.add_argument("--say-every", type=int, default=10)
    parser.add_argument("--checkpoints", default=os.environ.get("STINT_CHECKPOINT_DIR"),
                        help="folder of sharded checkpoints that all workers reach")
    return parser.parse_args()


def main():
    args = options()
    torch.set_num_threads(1)
    try:
        layout = stint.layout()
        if layout.workers > 1:
            dist.init_process_group("gloo")
        train(args, layout)
    except LayoutError as problem:
        sys.exit(f"sharded: {problem}")
    if layout.workers > 1:
        dist.barrier()


if __name__ == "__main__":
    main()
