"""Trains a small character-level GPT on generated text with gradient accumulation.

    python3 accumulation.py --max-iters 100
    torchrun --nproc_per_node=2 accumulation.py --gradient-accumulation-steps 4
"""

import argparse
import contextlib
import math
import os
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--batch-size", type=int, default=8, help="micro-batch size")
parser.add_argument("--block-size", type=int, default=32)
parser.add_argument("--gradient-accumulation-steps", type=int, default=4)
parser.add_argument("--max-iters", type=int, default=60)
parser.add_argument("--n-layer", type=int, default=2)
parser.add_argument("--n-head", type=int, default=4)
parser.add_argument("--n-embd", type=int, default=64)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--log-interval", type=int, default=10)
args = parser.parse_args()

TEXT = "".join(f"{i} times {i + 1} is {i * (i + 1)}. " for i in range(1500))
CHARS = sorted(set(TEXT))
VOCAB = len(CHARS)


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head = n_head
        self.ln_1 = nn.LayerNorm(n_embd)
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(),
                                 nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (one.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
                   for one in self.c_attn(self.ln_1(x)).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        mask = torch.tril(torch.ones(T, T, device=x.device))
        att = F.softmax(att.masked_fill(mask == 0, float("-inf")), dim=-1)
        x = x + self.c_proj((att @ v).transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, args.n_embd)
        self.wpe = nn.Embedding(args.block_size, args.n_embd)
        self.h = nn.Sequential(*[Block(args.n_embd, args.n_head) for _ in range(args.n_layer)])
        self.ln_f = nn.LayerNorm(args.n_embd)
        self.lm_head = nn.Linear(args.n_embd, VOCAB, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1), device=idx.device))
        logits = self.lm_head(self.ln_f(self.h(x)))
        return logits, F.cross_entropy(logits.view(-1, VOCAB), targets.view(-1))


class Blocks(Dataset):
    """Pieces of the text at random places."""

    def __init__(self, seed):
        index = {c: i for i, c in enumerate(CHARS)}
        self.data = torch.tensor([index[c] for c in TEXT])
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self):
        return 1_000_000

    def __getitem__(self, _):
        i = torch.randint(len(self.data) - args.block_size - 1, (1,), generator=self.generator)
        return (self.data[i:i + args.block_size], self.data[i + 1:i + 1 + args.block_size])


ddp = int(os.environ.get("RANK", -1)) != -1  # is this a ddp run?
device = "cuda" if torch.cuda.is_available() else "cpu"
if ddp:
    init_process_group("nccl" if device == "cuda" else "gloo")
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if device == "cuda":
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
else:
    rank, world_size = 0, 1
master_process = rank == 0

torch.manual_seed(1337)
batches = iter(DataLoader(Blocks(1337 + rank), batch_size=args.batch_size))
model = GPT().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95))
if ddp:
    model = DDP(model)

t0 = time.time()
for iter_num in range(args.max_iters):
    for micro_step in range(args.gradient_accumulation_steps):
        X, Y = next(batches)
        X, Y = X.to(device), Y.to(device)
        last = micro_step == args.gradient_accumulation_steps - 1
        # Gradients are synchronised in the last micro step only.
        with model.no_sync() if ddp and not last else contextlib.nullcontext():
            logits, loss = model(X, Y)
            loss = loss / args.gradient_accumulation_steps
            loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if iter_num % args.log_interval == 0 and master_process:
        dt, t0 = time.time() - t0, time.time()
        lossf = loss.item() * args.gradient_accumulation_steps
        print(f"iter {iter_num}: loss {lossf:.4f}, time {dt * 1000:.2f}ms", flush=True)

if master_process:
    print(f"done: {args.max_iters} optimizer steps of {args.gradient_accumulation_steps} "
          f"micro-batches on {world_size} processes", flush=True)
if ddp:
    destroy_process_group()
