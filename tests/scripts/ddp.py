"""Distributed data parallel training, one process per device.

    torchrun --nproc_per_node=2 ddp.py --epochs 3 --batch-size 16
"""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class ToyDataset(Dataset):
    """Points around the centres of ten classes."""

    def __init__(self, size, features=64):
        g = torch.Generator().manual_seed(0)
        centres = torch.randn(10, features, generator=g)
        self.labels = torch.randint(10, (size,), generator=g)
        self.points = centres[self.labels] + 1.5 * torch.randn(size, features, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.points[index], self.labels[index]


class Trainer:
    def __init__(self, model, train_data, optimizer, device):
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.device = device
        self.train_data = train_data
        self.optimizer = optimizer
        self.model = model.to(device)
        if dist.is_initialized():
            ids = [device.index] if device.type == "cuda" else None
            self.model = DDP(self.model, device_ids=ids)
        self.criterion = nn.CrossEntropyLoss()
        self.steps = 0

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(source), targets)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        return loss.item()

    def _run_epoch(self, epoch):
        self.train_data.sampler.set_epoch(epoch)
        total = 0.0
        for source, targets in self.train_data:
            total += self._run_batch(source.to(self.device), targets.to(self.device))
        if self.rank == 0:
            print(f"Epoch {epoch} | Steps: {len(self.train_data)} | "
                  f"Loss: {total / len(self.train_data):.4f}", flush=True)

    def train(self, max_epochs):
        for epoch in range(max_epochs):
            self._run_epoch(epoch)


def setup():
    if "RANK" not in os.environ:  # Not started by torchrun.
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if torch.cuda.is_available():
        dist.init_process_group("nccl")
        local_rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local_rank)
        return torch.device("cuda", local_rank)
    dist.init_process_group("gloo")
    return torch.device("cpu")


def main():
    parser = argparse.ArgumentParser(description="simple distributed training job")
    parser.add_argument("--epochs", type=int, default=3, help="total epochs to train the model")
    parser.add_argument("--batch-size", type=int, default=16, help="batch size on each device")
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--samples", type=int, default=1280)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = setup()
    dataset = ToyDataset(args.samples)
    sampler = DistributedSampler(dataset) if dist.is_initialized() else \
        DistributedSampler(dataset, num_replicas=1, rank=0)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
                          nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    trainer = Trainer(model, loader, optimizer, device)
    trainer.train(args.epochs)
    if trainer.rank == 0:
        print(f"Training completed: {trainer.steps} optimizer steps", flush=True)
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
