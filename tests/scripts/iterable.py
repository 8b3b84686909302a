"""Streams training data with an IterableDataset that each process and worker reads a part of.

    python3 iterable.py --max-steps 100
    torchrun --nproc_per_node=2 iterable.py --num-workers 2
"""

import argparse
import itertools
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class ClickLog(IterableDataset):
    """Lines of a log of clicks: features, and whether it was a click."""

    def __init__(self, rank, world_size, seed=0):
        super().__init__()
        self.rank, self.world_size, self.seed = rank, world_size, seed

    def lines(self):
        """The whole log, which has no end."""
        weights = torch.randn(24, generator=torch.Generator().manual_seed(self.seed))
        for number in itertools.count():
            g = torch.Generator().manual_seed(self.seed * 1_000_003 + number)
            features = torch.randn(24, generator=g)
            noise = 0.3 * torch.randn(1, generator=g)
            yield features, ((features @ weights + noise) > 0).float()

    def __iter__(self):
        info = get_worker_info()
        workers = info.num_workers if info else 1
        part = self.rank * workers + (info.id if info else 0)
        return itertools.islice(self.lines(), part, None, self.world_size * workers)


def get_args():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--max-steps", type=int, default=100)
    p.add_argument("--batch-size", type=int, default=16, help="per process")
    p.add_argument("--num-workers", type=int, default=2)
    p.add_argument("--lr", type=float, default=0.1)
    p.add_argument("--log-every", type=int, default=20)
    return p.parse_args()


def main():
    args = get_args()
    rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world_size > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    loader = DataLoader(ClickLog(rank, world_size), batch_size=args.batch_size,
                        num_workers=args.num_workers)
    model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
    if world_size > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()
    step, average = 0, None
    for step, (features, clicks) in enumerate(loader, start=1):
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(features), clicks.flatten())
        loss.backward()
        optimizer.step()
        average = loss.item() if average is None else 0.9 * average + 0.1 * loss.item()
        if rank == 0 and step % args.log_every == 0:
            print(f"step {step:5d}  loss {average:.4f}", flush=True)
        if step >= args.max_steps:
            break
    if rank == 0:
        print(f"end of stream: {step} optimizer steps", flush=True)


if __name__ == "__main__":
    main()
