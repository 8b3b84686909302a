"""Transfer learning: a fixed feature extractor, of which only the last layer is trained.

    python3 finetune.py --epochs 4
    torchrun --nproc_per_node=2 finetune.py --lr 0.01
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn, optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class BasicBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(x + self.bn2(self.conv2(y)))


class SmallResNet(nn.Module):
    def __init__(self, num_classes, channels=16):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, stride=2, padding=1)
        self.layers = nn.Sequential(BasicBlock(channels), BasicBlock(channels))
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.fc = nn.Linear(4 * channels, num_classes)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.layers(self.stem(x))), 1))


def load_pretrained(weights):
    """The network as somebody else trained it on a thousand classes."""
    torch.manual_seed(20)
    model = SmallResNet(1000)
    if weights:
        model.load_state_dict(torch.load(weights, map_location="cpu"))
    return model


def make_images(count, seed):
    """Pictures with vertical or horizontal stripes: ants and bees."""
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(2, (count,), generator=g)
    wave = torch.sin(torch.arange(16.0) * 1.3)
    stripes = torch.stack([wave.expand(16, 16), wave.expand(16, 16).t()])
    images = stripes[labels][:, None] + torch.randn(count, 3, 16, 16, generator=g)
    return TensorDataset(images, labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", help="file with the pretrained weights")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--train-images", type=int, default=320)
    args = parser.parse_args()

    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if world_size > 1:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if world_size > 1 else 0
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    datasets = {"train": make_images(args.train_images, 1), "val": make_images(96, 2)}
    sampler = DistributedSampler(datasets["train"]) if world_size > 1 else None
    dataloaders = {
        "train": DataLoader(datasets["train"], args.batch_size, shuffle=sampler is None,
                            sampler=sampler),
        "val": DataLoader(datasets["val"], args.batch_size),
    }

    model_conv = load_pretrained(args.weights)
    for param in model_conv.parameters():
        param.requires_grad = False
    # Parameters of newly constructed modules have requires_grad=True by default.
    model_conv.fc = nn.Linear(model_conv.fc.in_features, 2)
    model_conv = model_conv.to(device)
    # Only parameters of the final layer are being optimized.
    optimizer_conv = optim.SGD(model_conv.fc.parameters(), lr=args.lr, momentum=0.9)
    exp_lr_scheduler = lr_scheduler.StepLR(optimizer_conv, step_size=2, gamma=0.5)
    if world_size > 1:
        model_conv = nn.parallel.DistributedDataParallel(model_conv)
    criterion = nn.CrossEntropyLoss()

    since, steps, best_acc = time.time(), 0, 0.0
    for epoch in range(args.epochs):
        if sampler:
            sampler.set_epoch(epoch)
        for phase in ["train", "val"]:
            model_conv.train(phase == "train")
            running_loss, running_corrects, seen = 0.0, 0, 0
            for inputs, labels in dataloaders[phase]:
                inputs, labels = inputs.to(device), labels.to(device)
                optimizer_conv.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model_conv(inputs)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer_conv.step()
                        steps += 1
                running_loss += loss.item() * len(inputs)
                running_corrects += (outputs.argmax(1) == labels).sum().item()
                seen += len(inputs)
            if phase == "train":
                exp_lr_scheduler.step()
            else:
                best_acc = max(best_acc, running_corrects / seen)
            if rank == 0:
                print(f"Epoch {epoch}/{args.epochs - 1} {phase} Loss: {running_loss / seen:.4f} "
                      f"Acc: {running_corrects / seen:.4f}", flush=True)
    if rank == 0:
        print(f"Training complete in {time.time() - since:.0f}s: {steps} optimizer steps, "
              f"best val Acc: {best_acc:.4f}", flush=True)


if __name__ == "__main__":
    main()
