#!/usr/bin/python3
"""Trains a small transformer on a language in which two letters tell the next one, mostly.

With WORLD_SIZE above 1 (and RANK, MASTER_ADDR, MASTER_PORT) it trains with DistributedDataParallel.
"""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

LETTERS = 12
LENGTH = 48
SURPRISES = 0.1  # Share of letters that nobody can foretell.
TARGET = 0.75    # Mean loss per letter; guessing costs 2.48, and the language allows no less than 0.55.


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=16, help="per worker")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="write the trained parameters to this file")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    world = int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if world > 1 else 0

    texts_of = torch.Generator().manual_seed(1000 * args.seed + rank)
    test = make_texts(64, torch.Generator().manual_seed(0))
    network = LanguageModel(args.width, args.layers)
    model = DistributedDataParallel(network) if world > 1 else network
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: min(1, (done + 1) / 50))
    criterion = nn.CrossEntropyLoss()

    for step in range(1, args.steps + 1):
        texts = make_texts(args.batch_size, texts_of)
        optimizer.zero_grad()
        letters = model(texts[:, :-1])
        loss = criterion(letters.reshape(-1, LETTERS), texts[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 25 == 0 or step == args.steps:
            with torch.no_grad():
                letters = network(test[:, :-1])
                reached = criterion(letters.reshape(-1, LETTERS), test[:, 1:].reshape(-1)).item()
            if rank == 0:
                print(f"step {step}: loss {loss.item():.4f}, test loss {reached:.3f}", flush=True)
            if reached <= TARGET:
                if rank == 0:
                    print(f"reached the target loss of {TARGET} after {step} steps")
                break

    if args.save and rank == 0:
        torch.save(network.state_dict(), args.save)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
