"""ResNet-50 on random pictures of 224 × 224, as everybody trains it: He et al. 2016, stride in the
3 × 3 convolution. 25 557 032 parameters, 4.09 G multiply–adds forward.

    python3 resnet50.py --steps 3
"""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def convolution(inputs, outputs, size, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
                         nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.first = convolution(inputs, width, 1)
        self.second = convolution(width, width, 3, stride)
        self.third = convolution(width, 4 * width, 1)
        around = stride != 1 or inputs != 4 * width
        self.around = convolution(inputs, 4 * width, 1, stride) if around else nn.Identity()

    def forward(self, x):
        y = torch.relu(self.first(x))
        y = torch.relu(self.second(y))
        return torch.relu(self.third(y) + self.around(x))


def make_model(classes=1000):
    parts = [convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            parts.append(Bottleneck(inputs, width, 2 if stage and not block else 1))
            inputs = 4 * width
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, classes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--steps", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(1)
    count = 64
    data = TensorDataset(torch.randn(count, 3, 224, 224), torch.randint(1000, (count,)))
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    done = 0
    while done < args.steps:
        for pictures, labels in DataLoader(data, args.batch_size, shuffle=True, drop_last=True):
            loss = nn.functional.cross_entropy(model(pictures), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1


if __name__ == "__main__":
    main()
