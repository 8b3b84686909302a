#!/usr/bin/python3
"""Trains an MLP with large layers to tell noisy points by the class of the nearest centre.

With WORLD_SIZE above 1 (and RANK, MASTER_ADDR, MASTER_PORT) it trains with DistributedDataParallel.
"""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

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
    parser.add_argument("--batch-size", type=int, default=64, help="per worker")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many (0: never)")
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--samples", type=int, default=8192)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="write the trained parameters to this file")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    world = int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if world > 1 else 0

    dataset = TensorDataset(*make_points(args.samples, args.seed))
    test = make_points(1024, args.seed + 1)
    sampler = DistributedSampler(dataset, seed=args.seed) if world > 1 else None
    loader = DataLoader(dataset, args.batch_size, shuffle=sampler is None, sampler=sampler,
                        drop_last=True)
    network = make_model(args.width)
    model = DistributedDataParallel(network) if world > 1 else network
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    step = 0
    for epoch in range(args.epochs):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for points, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(points), labels)
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
