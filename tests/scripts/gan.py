"""A small DCGAN on generated pictures of blobs: two networks, two optimizers.

    python3 gan.py --niter 3
    torchrun --nproc_per_node=2 gan.py
"""

import argparse
import os
import random

import torch
import torch.nn.parallel
import torch.optim as optim
import torch.utils.data
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batchSize", "--batch-size", type=int, default=16, help="input batch size")
parser.add_argument("--nz", type=int, default=16, help="size of the latent z vector")
parser.add_argument("--ngf", type=int, default=12)
parser.add_argument("--ndf", type=int, default=12)
parser.add_argument("--niter", "--epochs", type=int, default=3, help="number of epochs")
parser.add_argument("--samples", type=int, default=640)
parser.add_argument("--lr", type=float, default=0.0002)
parser.add_argument("--beta1", type=float, default=0.5, help="beta1 for adam")
parser.add_argument("--manualSeed", type=int, default=999)


class Blobs(torch.utils.data.Dataset):
    """16x16 pictures of one bright spot each."""

    def __init__(self, samples):
        self.samples = samples
        self.grid = torch.stack(torch.meshgrid(torch.arange(16.), torch.arange(16.),
                                               indexing="ij"))

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(index)
        centre = 4 + 8 * torch.rand(2, generator=g)
        distance = ((self.grid - centre[:, None, None]) ** 2).sum(0)
        return 2 * torch.exp(-distance / 8)[None] - 1, 0


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


class Generator(nn.Module):
    def __init__(self, nz, ngf):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False),
            nn.Tanh())

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self, ndf):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid())

    def forward(self, x):
        return self.main(x).view(-1, 1).squeeze(1)


def main():
    opt = parser.parse_args()
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    random.seed(opt.manualSeed)
    torch.manual_seed(opt.manualSeed)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    dataset = Blobs(opt.samples)
    sampler = None
    netG = Generator(opt.nz, opt.ngf).to(device)
    netD = Discriminator(opt.ndf).to(device)
    netG.apply(weights_init)
    netD.apply(weights_init)
    if world > 1:
        torch.distributed.init_process_group("gloo")
        netG = nn.parallel.DistributedDataParallel(netG)
        netD = nn.parallel.DistributedDataParallel(netD)
        sampler = torch.utils.data.distributed.DistributedSampler(dataset)
    torch.manual_seed(opt.manualSeed + rank)  # Different noise on each process.
    dataloader = torch.utils.data.DataLoader(dataset, batch_size=opt.batchSize,
                                             shuffle=sampler is None, sampler=sampler)
    criterion = nn.BCELoss()
    optimizerD = optim.Adam(netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))

    iterations = 0
    for epoch in range(opt.niter):
        for i, (real, _) in enumerate(dataloader):
            # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
            netD.zero_grad()
            real = real.to(device)
            label = torch.full((len(real),), 1.0, device=device)
            errD_real = criterion(netD(real), label)
            errD_real.backward()
            noise = torch.randn(len(real), opt.nz, 1, 1, device=device)
            fake = netG(noise)
            label.fill_(0.0)
            errD_fake = criterion(netD(fake.detach()), label)
            errD_fake.backward()
            errD = errD_real + errD_fake
            optimizerD.step()

            # (2) Update G network: maximize log(D(G(z)))
            netG.zero_grad()
            label.fill_(1.0)
            errG = criterion(netD(fake), label)
            errG.backward()
            optimizerG.step()

            iterations += 1
            if i % 20 == 0 and rank == 0:
                print(f"[{epoch}/{opt.niter}][{i}/{len(dataloader)}] "
                      f"Loss_D: {errD.item():.4f} Loss_G: {errG.item():.4f}", flush=True)
    if rank == 0:
        print(f"{iterations} optimizer steps of each network", flush=True)


if __name__ == "__main__":
    main()
