#!/usr/bin/python3
"""Trains an MLP with large layers to tell noisy points by the class of the nearest centre.

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

FEATURES = 256
CLASSES = 20
TARGET = 0.95  # Accuracy on points that were not trained on.


def make_points(count, seed, noise=3.4):
    """Returns points around one centre per class, and their classes."""
    centres = torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(7))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    points = centres[labels] + noise * torch.randn(count, FEATURES, generator=generator)
    return points, labels


def make_model(width):
    return nn.Sequential(
        nn.Linear(FEATURES, width), nn.ReLU(),
        nn.Linear(width, width), nn.ReLU(),
        nn.Linear(width, width), nn.ReLU(),
        nn.Linear(width, CLASSES))


def accuracy(model, points, labels):
    model.eval()
    with torch.no_grad():
        right = (model(points).argmax(dim=1) == labels).float().mean().item()
    model.train()
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, help="of all workers together")
    parser.add_argument("--batch-size", type=int, default=64, help="or per worker")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--samples", type=int, default=8192)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", "--save", help="write the trained parameters to this file")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    dataset = TensorDataset(*make_points(args.samples, args.seed))
    model = make_model(args.width)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    job = stint.Job(model, optimizer, batch=args.batch or stint.global_batch(args.batch_size),
                    steps=args.steps, seed=args.seed)
    for step in job.steps(dataset):
        with step:
            for points, labels in step.micro_batches():
                step.backward(criterion(job.model(points), labels))
            optimizer.step()

    if job.rank == 0:
        reached = accuracy(model, *make_points(1024, args.seed + 1))
        print(f"accuracy {reached:.3f} after {job.done} steps; the target is {TARGET}")
        if args.out:
            torch.save(model.state_dict(), args.out)


if __name__ == "__main__":
    main()
