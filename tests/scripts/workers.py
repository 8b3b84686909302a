"""A data set that is slow to read, loaded by worker processes while the model trains.

    python3 workers.py --workers 2
    torchrun --nproc_per_node=2 workers.py --epochs 3
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Augmented(Dataset):
    """Signals that are cut, mirrored and disturbed each time they are read."""

    def __init__(self, length, classes=4):
        self.length = length
        self.classes = classes
        self.time = torch.arange(128) / 128

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        label = index % self.classes
        signal = torch.sin(2 * torch.pi * (2 + 3 * label) * (self.time + torch.rand(1)))
        if torch.rand(1) < 0.5:
            signal = signal.flip(0)
        return (signal + 0.5 * torch.randn(128))[None], label


class AverageMeter:
    """Computes and stores the average and current value"""

    def __init__(self, name):
        self.name, self.val, self.sum, self.count = name, 0.0, 0.0, 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    def __str__(self):
        return f"{self.name} {self.val:.4f} ({self.sum / max(1, self.count):.4f})"


def parse_args():
    parser = argparse.ArgumentParser(description="PyTorch training with DataLoader workers")
    parser.add_argument("-j", "--workers", default=2, type=int, metavar="N",
                        help="number of data loading workers (default: 2)")
    parser.add_argument("--epochs", default=3, type=int, metavar="N")
    parser.add_argument("-b", "--batch-size", default=8, type=int, metavar="N")
    parser.add_argument("--lr", default=0.01, type=float)
    parser.add_argument("--samples", default=480, type=int)
    parser.add_argument("-p", "--print-freq", default=20, type=int, metavar="N")
    return parser.parse_args()


def train(loader, model, criterion, optimizer, epoch, print_freq):
    batch_time, data_time = AverageMeter("Time"), AverageMeter("Data")
    losses = AverageMeter("Loss")
    model.train()
    end = time.time()
    for i, (signals, target) in enumerate(loader):
        data_time.update(time.time() - end)
        loss = criterion(model(signals), target)
        losses.update(loss.item(), signals.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batch_time.update(time.time() - end)
        end = time.time()
        if print_freq and i % print_freq == 0:
            print(f"Epoch: [{epoch}][{i}/{len(loader)}]\t{batch_time}\t{data_time}\t{losses}",
                  flush=True)
    return i + 1


def main():
    args = parse_args()
    torch.manual_seed(5)
    distributed = "WORLD_SIZE" in os.environ and int(os.environ["WORLD_SIZE"]) > 1
    if distributed:
        dist.init_process_group(backend="gloo", init_method="env://")
    rank = dist.get_rank() if distributed else 0
    dataset = Augmented(args.samples)
    sampler = DistributedSampler(dataset) if distributed else None
    loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=sampler is None,
                        sampler=sampler, num_workers=args.workers, drop_last=True)
    model = nn.Sequential(nn.Conv1d(1, 8, 9, stride=2), nn.ReLU(), nn.Conv1d(8, 16, 9, stride=2),
                          nn.ReLU(), nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(128, 4))
    if distributed:
        model = nn.parallel.DistributedDataParallel(model)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
    steps = 0
    for epoch in range(args.epochs):
        if distributed:
            sampler.set_epoch(epoch)
        steps += train(loader, model, criterion, optimizer, epoch,
                       args.print_freq if rank == 0 else 0)
        scheduler.step()
    if rank == 0:
        print(f"Trained for {steps} optimizer steps", flush=True)


if __name__ == "__main__":
    main()
