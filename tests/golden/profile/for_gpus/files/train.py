"""A small transformer, as people write one."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(20, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(32, 20)

    def forward(self, texts):
        return self.out(self.layer(self.letters(texts))).transpose(1, 2)


texts = torch.randint(20, (640, 12))
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(9):
    for [some] in DataLoader(TensorDataset(texts), 64, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(some), some).backward()
        optimizer.step()
