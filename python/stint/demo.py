"""A small training for `stint demo --run`: a network that tells the direction of stripes in noisy
pictures.

    /usr/bin/python3 -m stint.demo --steps 100
"""

import argparse
import math

import torch
from torch import nn
from torch.utils.data import TensorDataset

import stint

SIDE = 24
CLASSES = 6
SAMPLES = 3000


def make_pictures():
    """Stripes of one of six directions, shifted at random, under noise."""
    labels = torch.randint(CLASSES, (SAMPLES,))
    angle = labels.float() * (math.pi / CLASSES)
    y, x = torch.meshgrid(torch.arange(SIDE).float(), torch.arange(SIDE).float(), indexing="ij")
    along = torch.cos(angle)[:, None, None] * x + torch.sin(angle)[:, None, None] * y
    stripes = torch.sin(along + 2 * math.pi * torch.rand(SAMPLES)[:, None, None])
    return (stripes + torch.randn(stripes.shape))[:, None], labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    torch.manual_seed(1)
    pictures, labels = make_pictures()
    network = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(64 * (SIDE // 4) ** 2, 256), nn.ReLU(), nn.Linear(256, CLASSES))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    job = stint.Job(network, optimizer, batch=stint.global_batch(32), steps=args.steps)
    for step in job.steps(TensorDataset(pictures, labels)):
        with step:
            for inputs, classes in step.micro_batches():
                step.backward(criterion(job.model(inputs), classes))
            optimizer.step()


if __name__ == "__main__":
    main()
