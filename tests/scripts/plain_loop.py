"""Basic image classification on one device: a small CNN on synthetic digits.

    python3 plain_loop.py --epochs 3 --batch-size 64
"""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(16 * 6 * 6, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout(torch.flatten(x, 1))
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def make_dataset(n, seed):
    """Noisy 16x16 pictures of ten fixed patterns."""
    patterns = torch.randn(10, 1, 16, 16, generator=torch.Generator().manual_seed(0))
    g = torch.Generator().manual_seed(seed)
    targets = torch.randint(10, (n,), generator=g)
    images = patterns[targets] + 2.0 * torch.randn(n, 1, 16, 16, generator=g)
    return TensorDataset(images, targets)


def train(args, model, device, train_loader, optimizer, epoch):
    model.train()
    steps = 0
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        steps += 1
        if batch_idx % args.log_interval == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(train_loader.dataset)}]"
                  f"\tLoss: {loss.item():.6f}", flush=True)
    return steps


def test(model, device, test_loader):
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            correct += (output.argmax(dim=1) == target).sum().item()
    n = len(test_loader.dataset)
    print(f"Test set: Average loss: {test_loss / n:.4f}, Accuracy: {correct}/{n}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-size", type=int, default=32, metavar="N")
    parser.add_argument("--test-batch-size", type=int, default=256, metavar="N")
    parser.add_argument("--epochs", type=int, default=3, metavar="N")
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--samples", type=int, default=1280)
    parser.add_argument("--log-interval", type=int, default=10, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = DataLoader(make_dataset(args.samples, args.seed), batch_size=args.batch_size,
                              shuffle=True)
    test_loader = DataLoader(make_dataset(512, args.seed + 1), batch_size=args.test_batch_size)
    model = Net().to(device)
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)

    steps = 0
    for epoch in range(1, args.epochs + 1):
        steps += train(args, model, device, train_loader, optimizer, epoch)
        test(model, device, test_loader)
    print(f"Finished training: {steps} optimizer steps")


if __name__ == "__main__":
    main()
