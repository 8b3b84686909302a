"""A small training for `stint demo --run`: tells noisy points by the class of the nearest centre.

    /usr/bin/python3 -m stint.demo --steps 100
"""

import argparse

import torch
from torch import nn
from torch.utils.data import TensorDataset

import stint

FEATURES = 256
CLASSES = 20
WIDTH = 1024
SAMPLES = 8192


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    torch.manual_seed(1)
    centres = torch.randn(CLASSES, FEATURES)
    labels = torch.randint(CLASSES, (SAMPLES,))
    points = centres[labels] + 3.4 * torch.randn(SAMPLES, FEATURES)
    network = nn.Sequential(
        nn.Linear(FEATURES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, CLASSES))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    job = stint.job(network, optimizer, batch=stint.global_batch(32), steps=args.steps)
    for step in job.steps(TensorDataset(points, labels)):
        with step:
            for inputs, classes in step.micro_batches():
                step.backward(criterion(job.model(inputs), classes))
            optimizer.step()


if __name__ == "__main__":
    main()
