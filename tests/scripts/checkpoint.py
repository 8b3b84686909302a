"""Fault-tolerant training: saves snapshots and resumes from the newest one, as torchrun expects.

    torchrun --nproc_per_node=2 --max_restarts=3 checkpoint.py --output-dir snapshots
"""

import argparse
import os
import re

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def newest_snapshot(folder):
    """The file of the last snapshot and its step; None if there is none."""
    found = {}
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        match = re.fullmatch(r"step-(\d+)\.pt", name)
        if match:
            found[int(match[1])] = os.path.join(folder, name)
    return (found[max(found)], max(found)) if found else None


class Trainer:
    def __init__(self, args):
        self.args = args
        self.distributed = "RANK" in os.environ
        if self.distributed:
            dist.init_process_group("gloo")
        self.rank = dist.get_rank() if self.distributed else 0
        world = dist.get_world_size() if self.distributed else 1
        torch.manual_seed(args.seed)
        inputs = torch.randn(args.samples, 20)
        targets = torch.sin(inputs @ torch.randn(20, 1))
        dataset = TensorDataset(inputs, targets)
        self.sampler = DistributedSampler(dataset, num_replicas=world, rank=self.rank)
        self.loader = DataLoader(dataset, batch_size=args.batch_size, sampler=self.sampler,
                                 drop_last=True)
        self.net = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(),
                                 nn.Linear(64, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.999)
        self.step = 0
        self.load()
        self.model = DDP(self.net) if self.distributed else self.net

    def load(self):
        newest = newest_snapshot(self.args.output_dir)
        if newest is None:
            return
        snapshot = torch.load(newest[0], map_location="cpu")
        self.net.load_state_dict(snapshot["model"])
        self.optimizer.load_state_dict(snapshot["optimizer"])
        self.scheduler.load_state_dict(snapshot["scheduler"])
        self.step = snapshot["step"]
        if self.rank == 0:
            print(f"resumed from step {self.step}", flush=True)

    def save(self):
        """Writes to another name first: a machine may go at any time."""
        if self.rank != 0:
            return
        os.makedirs(self.args.output_dir, exist_ok=True)
        path = os.path.join(self.args.output_dir, f"step-{self.step}.pt")
        torch.save({"model": self.net.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "scheduler": self.scheduler.state_dict(), "step": self.step}, path + ".tmp")
        os.replace(path + ".tmp", path)
        print(f"step {self.step}: snapshot saved to {path}", flush=True)

    def train(self):
        criterion = nn.MSELoss()
        while self.step < self.args.max_steps:
            self.sampler.set_epoch(self.step // len(self.loader))
            for inputs, targets in self.loader:
                self.optimizer.zero_grad()
                loss = criterion(self.model(inputs), targets)
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                self.step += 1
                if self.rank == 0 and self.step % 10 == 0:
                    print(f"step {self.step}: loss {loss.item():.4f}", flush=True)
                if self.step % self.args.save_every == 0 or self.step == self.args.max_steps:
                    self.save()
                if self.step >= self.args.max_steps:
                    break
        if self.distributed:
            dist.barrier()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-steps", type=int, default=120)
    parser.add_argument("--batch-size", type=int, default=16, help="per process")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save-every", type=int, default=20, help="steps between snapshots")
    parser.add_argument("--output-dir",
                        default=os.environ.get("STINT_CHECKPOINT_DIR", "checkpoints"))
    args = parser.parse_args()
    trainer = Trainer(args)
    trainer.train()
    if trainer.rank == 0:
        print(f"finished at {trainer.step} optimizer steps", flush=True)


if __name__ == "__main__":
    main()
