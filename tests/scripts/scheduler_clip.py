"""Language modelling with nn.Transformer: warm-up and cosine schedule per step, clipped gradients.

    python3 scheduler_clip.py --max-steps 120
    torchrun --nproc_per_node=2 scheduler_clip.py
"""

import argparse
import logging
import math
import os

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, RandomSampler, TensorDataset
from torch.utils.data.distributed import DistributedSampler

logger = logging.getLogger(__name__)
NTOKENS = 50


class TransformerModel(nn.Module):
    def __init__(self, d_model, nhead, d_hid, nlayers, bptt):
        super().__init__()
        self.encoder = nn.Embedding(NTOKENS, d_model)
        self.position = nn.Parameter(torch.zeros(bptt, d_model))
        layer = nn.TransformerEncoderLayer(d_model, nhead, d_hid, dropout=0.1, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, nlayers)
        self.decoder = nn.Linear(d_model, NTOKENS)
        mask = torch.triu(torch.full((bptt, bptt), float("-inf")), diagonal=1)
        self.register_buffer("mask", mask)

    def forward(self, src):
        x = self.encoder(src) * math.sqrt(self.decoder.in_features) + self.position
        return self.decoder(self.transformer(x, self.mask))


def get_cosine_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(step):
        if step < num_warmup_steps:
            return (step + 1) / max(1, num_warmup_steps)
        progress = (step - num_warmup_steps) / max(1, num_training_steps - num_warmup_steps)
        return 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress)))
    return LambdaLR(optimizer, lr_lambda)


def make_corpus(lines, bptt):
    """Arithmetic progressions of tokens."""
    g = torch.Generator().manual_seed(42)
    first = torch.randint(NTOKENS, (lines, 1), generator=g)
    stride = torch.randint(1, 5, (lines, 1), generator=g)
    return TensorDataset((first + stride * torch.arange(bptt + 1)) % NTOKENS)


def train(args, model, loader, device):
    no_decay = ["bias", "norm"]
    named = list(model.named_parameters())
    groups = [
        {"params": [p for n, p in named if not any(nd in n for nd in no_decay)],
         "weight_decay": args.weight_decay},
        {"params": [p for n, p in named if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=args.learning_rate)
    scheduler = get_cosine_schedule_with_warmup(optimizer, args.warmup_steps, args.max_steps)
    criterion = nn.CrossEntropyLoss()
    model.train()
    global_step, epoch, tr_loss, logged = 0, 0, 0.0, 0.0
    while global_step < args.max_steps:
        if isinstance(loader.sampler, DistributedSampler):
            loader.sampler.set_epoch(epoch)
        for (batch,) in loader:
            batch = batch.to(device)
            logits = model(batch[:, :-1])
            loss = criterion(logits.reshape(-1, NTOKENS), batch[:, 1:].reshape(-1))
            loss.backward()
            tr_loss += loss.item()
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
            optimizer.step()
            scheduler.step()
            model.zero_grad()
            global_step += 1
            if global_step % args.logging_steps == 0:
                logger.info("step %d: loss %.4f, lr %.2e", global_step,
                            (tr_loss - logged) / args.logging_steps, scheduler.get_last_lr()[0])
                logged = tr_loss
            if global_step >= args.max_steps:
                break
        epoch += 1
    return global_step


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--bptt", type=int, default=24)
    parser.add_argument("--max-steps", type=int, default=80)
    parser.add_argument("--warmup-steps", type=int, default=10)
    parser.add_argument("--learning-rate", "--lr", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    parser.add_argument("--logging-steps", type=int, default=20)
    args = parser.parse_args()

    rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    logging.basicConfig(format="%(asctime)s - %(levelname)s - %(message)s",
                        level=logging.INFO if rank == 0 else logging.WARN)
    if world_size > 1:
        torch.distributed.init_process_group(
            backend="nccl" if torch.cuda.is_available() else "gloo")
    device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', 0)}"
                          if torch.cuda.is_available() else "cpu")
    torch.manual_seed(42)
    dataset = make_corpus(400, args.bptt)
    sampler = DistributedSampler(dataset) if world_size > 1 else RandomSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler, batch_size=args.batch_size)
    model = TransformerModel(d_model=48, nhead=4, d_hid=96, nlayers=2, bptt=args.bptt).to(device)
    if world_size > 1:
        model = nn.parallel.DistributedDataParallel(model)
    steps = train(args, model, loader, device)
    logger.info("Training done: %d optimizer steps", steps)


if __name__ == "__main__":
    main()
