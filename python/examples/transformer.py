#!/usr/bin/python3
"""Trains a small transformer on a language in which two letters tell the next one, mostly.

It trains on one worker, on several (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), and under
`stint run` on machines that come and go.
"""

import argparse
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import TensorDataset

sys.path.append(str(Path(__file__).resolve().parent.parent))  # Where stint is.
import stint  # noqa: E402

LETTERS = 12
LENGTH = 48
SURPRISES = 0.1  # Share of letters that nobody can foretell.
TARGET = 0.75  # Mean loss per letter; guessing costs 2.48, and no less than 0.55 is possible.


def make_texts(count, generator):
    """Returns texts of the language; each letter follows from the two before it."""
    table = torch.randint(LETTERS, (LETTERS, LETTERS),
                          generator=torch.Generator().manual_seed(7))
    texts = torch.randint(LETTERS, (count, LENGTH + 1), generator=generator)
    surprise = torch.rand(count, LENGTH + 1, generator=generator) < SURPRISES
    for place in range(2, LENGTH + 1):
        follows = table[texts[:, place - 2], texts[:, place - 1]]
        texts[:, place] = torch.where(surprise[:, place], texts[:, place], follows)
    return texts


class LanguageModel(nn.Module):
    """A transformer that sees only the letters before the one it foretells."""

    def __init__(self, width, layers):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True,
                                           norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, LETTERS)
        hidden = torch.full((LENGTH, LENGTH), float("-inf")).triu(1)
        self.register_buffer("hidden", hidden, persistent=False)

    def forward(self, texts):
        states = self.letters(texts) + self.places
        return self.out(self.norm(self.layers(states, self.hidden)))


def loss_of(model, texts):
    """The mean over letters, of which all texts have equally many."""
    letters = model(texts[:, :-1])
    return nn.functional.cross_entropy(letters.reshape(-1, LETTERS), texts[:, 1:].reshape(-1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, help="of all workers together")
    parser.add_argument("--batch-size", type=int, default=16, help="or per worker")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--samples", type=int, default=8192)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", "--save", help="write the trained parameters to this file")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    dataset = TensorDataset(make_texts(args.samples, torch.Generator().manual_seed(args.seed)))
    model = LanguageModel(args.width, args.layers)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: min(1, (done + 1) / 50))
    job = stint.Job(model, optimizer, scheduler, seed=args.seed, steps=args.steps,
                    batch=args.batch or stint.global_batch(args.batch_size))
    for step in job.steps(dataset):
        with step:
            for [texts] in step.micro_batches():
                step.backward(loss_of(job.model, texts))
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()

    if job.rank == 0:
        with torch.no_grad():
            reached = loss_of(model, make_texts(64, torch.Generator().manual_seed(0))).item()
        print(f"loss {reached:.3f} after {job.done} steps; the target is {TARGET}")
        if args.out:
            torch.save(model.state_dict(), args.out)


if __name__ == "__main__":
    main()
