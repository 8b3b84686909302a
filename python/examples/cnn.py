#!/usr/bin/python3
"""Trains a small CNN to tell the direction and spacing of stripes in noisy pictures.

It trains on one worker, on several (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), and under
`stint run` on machines that come and go.
"""

import argparse
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import TensorDataset

sys.path.append(str(Path(__file__).resolve().parent.parent))  # Where stint is.
import stint  # noqa: E402

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
    parser.add_argument("--batch", type=int, help="of all workers together")
    parser.add_argument("--batch-size", type=int, default=32, help="or per worker")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--samples", type=int, default=2048)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", "--save", help="write the trained parameters to this file")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    dataset = TensorDataset(*make_pictures(args.samples, args.seed))
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss()
    job = stint.Job(model, optimizer, batch=args.batch or stint.global_batch(args.batch_size),
                    steps=args.steps, seed=args.seed)
    for step in job.steps(dataset):
        with step:
            for pictures, labels in step.micro_batches():
                step.backward(criterion(job.model(pictures), labels))
            optimizer.step()

    if job.rank == 0:
        reached = accuracy(model, *make_pictures(512, args.seed + 1))
        print(f"accuracy {reached:.3f} after {job.done} steps; the target is {TARGET}")
        if args.out:
            torch.save(model.state_dict(), args.out)


if __name__ == "__main__":
    main()
