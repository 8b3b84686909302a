#!/usr/bin/python3
"""Trains a small CNN to tell the direction and spacing of stripes in noisy pictures.

With WORLD_SIZE above 1 (and RANK, MASTER_ADDR, MASTER_PORT) it trains with DistributedDataParallel.
"""

import argparse
import math
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

SIDE = 24
DIRECTIONS = 5
CLASSES = 2 * DIRECTIONS
TARGET = 0.95  # Accuracy on pictures that were not trained on.


def make_pictures(count, seed, noise=1.2):
    """Returns pictures of stripes with random shift and colour, and their classes."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    angle = (labels % DIRECTIONS).float() * (math.pi / DIRECTIONS)
    wave = torch.where(labels < DIRECTIONS, 0.8, 1.3)
    shift = 2 * math.pi * torch.rand(count, generator=generator)
    y, x = torch.meshgrid(torch.arange(SIDE).float(), torch.arange(SIDE).float(), indexing="ij")
    along = (torch.cos(angle)[:, None, None] * x + torch.sin(angle)[:, None, None] * y)
    stripes = torch.sin(along * wave[:, None, None] + shift[:, None, None])
    colour = torch.rand(count, 3, 1, 1, generator=generator)
    pictures = colour * stripes[:, None]
    return pictures + noise * torch.randn(pictures.shape, generator=generator), labels


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.around = nn.Conv2d(inputs, outputs, 1, stride=2, bias=False)

    def forward(self, pictures):
        inner = torch.relu(self.first_norm(self.first(pictures)))
        return torch.relu(self.second_norm(self.second(inner)) + self.around(pictures))


def make_model():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), Block(16, 32), Block(32, 64), Block(64, 128),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, CLASSES))


def accuracy(model, pictures, labels):
    model.eval()
    with torch.no_grad():
        right = (model(pictures).argmax(dim=1) == labels).float().mean().item()
    model.train()
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=32, help="per worker")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many (0: never)")
    parser.add_argument("--samples", type=int, default=2048)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="write the trained parameters to this file")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    world = int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if world > 1 else 0

    dataset = TensorDataset(*make_pictures(args.samples, args.seed))
    test = make_pictures(512, args.seed + 1)
    sampler = DistributedSampler(dataset, seed=args.seed) if world > 1 else None
    loader = DataLoader(dataset, args.batch_size, shuffle=sampler is None, sampler=sampler,
                        drop_last=True)
    network = make_model()
    model = DistributedDataParallel(network) if world > 1 else network
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss()

    step = 0
    for epoch in range(args.epochs):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for pictures, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(pictures), labels)
            loss.backward()
            optimizer.step()
            step += 1
            if step == args.steps:
                break
        reached = accuracy(network, *test)
        if rank == 0:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {reached:.3f}", flush=True)
        if reached >= TARGET:
            if rank == 0:
                print(f"reached the target accuracy of {TARGET} after {step} steps")
            break
        if step == args.steps:
            break

    if args.save and rank == 0:
        torch.save(network.state_dict(), args.save)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
