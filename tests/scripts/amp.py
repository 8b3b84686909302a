"""Mixed precision with autocast and GradScaler, after the automatic mixed precision recipe.

    python3 amp.py --epochs 2
    torchrun --nproc_per_node=2 amp.py
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def make_model(in_size, out_size, num_layers):
    layers = []
    for _ in range(num_layers - 1):
        layers.append(nn.Linear(in_size, in_size))
        layers.append(nn.ReLU())
    layers.append(nn.Linear(in_size, out_size))
    return nn.Sequential(*layers)


def make_data(count, in_size, out_size):
    g = torch.Generator().manual_seed(3)
    inputs = torch.randn(count, in_size, generator=g)
    weights = torch.randn(in_size, out_size, generator=g) / in_size ** 0.5
    return TensorDataset(inputs, inputs @ weights)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--in-size", type=int, default=96)
    parser.add_argument("--out-size", type=int, default=32)
    parser.add_argument("--num-layers", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--num-samples", type=int, default=960)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--no-amp", dest="amp", action="store_false")
    return parser.parse_args()


def main():
    args = parse_args()
    torch.manual_seed(3)
    distributed = int(os.environ.get("WORLD_SIZE", 1)) > 1
    if distributed:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    device = "cpu"
    if torch.cuda.is_available():
        device = f"cuda:{os.environ.get('LOCAL_RANK', 0)}"
    device_type = device.split(":")[0]
    dtype = torch.float16 if device_type == "cuda" else torch.bfloat16

    dataset = make_data(args.num_samples, args.in_size, args.out_size)
    sampler = DistributedSampler(dataset) if distributed else None
    loader = DataLoader(dataset, args.batch_size, shuffle=sampler is None, sampler=sampler)
    net = make_model(args.in_size, args.out_size, args.num_layers).to(device)
    model = nn.parallel.DistributedDataParallel(net) if distributed else net
    loss_fn = nn.MSELoss()
    opt = torch.optim.SGD(net.parameters(), lr=args.lr)
    # Does nothing without CUDA, where bfloat16 needs no scaling.
    scaler = torch.cuda.amp.GradScaler(enabled=args.amp and device_type == "cuda")

    start, steps = time.time(), 0
    for epoch in range(args.epochs):
        if sampler:
            sampler.set_epoch(epoch)
        for inputs, target in loader:
            with torch.autocast(device_type=device_type, dtype=dtype, enabled=args.amp):
                output = model(inputs.to(device))
                loss = loss_fn(output, target.to(device).to(output.dtype))
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            opt.zero_grad()
            steps += 1
        if not distributed or dist.get_rank() == 0:
            print(f"epoch {epoch}: loss = {loss.item():.5f}, scale = {scaler.get_scale():.0f}",
                  flush=True)
    if not distributed or dist.get_rank() == 0:
        print(f"Mixed precision: {steps} optimizer steps in {time.time() - start:.3f} sec")


if __name__ == "__main__":
    main()
