"""DER++ and A-GEM in torch, one row after another, written from the papers alone."""

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from estimators.replay.memories import chances

torch.set_num_threads(1)


class TorchRehearsal:
    """The network of a classifier that has begun; subclasses say how a row is learnt."""

    def __init__(self, begun):
        self.options = begun.get_params()
        self.module = begun.to_torch()
        self.weights = list(self.module.parameters())
        kind = torch.optim.Adam if begun.optimizer == "adam" else torch.optim.SGD
        self.optimizer = kind(self.weights, lr=begun.learning_rate)
        self.held = {}
        self.n_seen = 0

    def predict_then_fit(self, X, Y, mask, weight):
        answers = []
        rows = zip(torch.tensor(X), torch.tensor(Y, dtype=torch.float64), torch.tensor(mask), weight, strict=True)
        for row in rows:
            with torch.no_grad():
                answers.append(self.module(row[0]).numpy())
            if row[3] > 0:
                self.learn(row)
                self.n_seen += 1
        return np.stack(answers)

    def loss(self, row):
        x, y, mask, weight = row
        return weight * binary_cross_entropy_with_logits(self.module[:-1](x), y, reduction="none")[mask].mean()

    def step(self, gradients):
        self.optimizer.zero_grad()
        for w, g in zip(self.weights, gradients, strict=True):
            w.grad = g
        self.optimizer.step()


class TorchDER(TorchRehearsal):
    """Dark experience replay with labels."""

    def __init__(self, begun):
        super().__init__(begun)
        self.seed = begun._memory.seed_
        self.known = torch.zeros(begun.n_labels_, dtype=torch.bool)

    def learn(self, row):
        size, n = self.options["size"], self.options["draws"]
        self.known = self.known | row[2]
        met, known = self.module[:-1](row[0]).detach(), self.known.clone()
        chance = chances(self.seed, np.array([self.n_seen]), 2 * n + 1)[0]
        loss, n_held = self.loss(row), len(self.held)
        if n_held > 2 * n:
            drawn = [self.held[int(c * n_held)] for c in chance[:-1]]
            cells = [(old[3] * (self.module[:-1](old[0]) - z)[was_known] ** 2) for old, z, was_known in drawn[:n]]
            loss = loss + self.options["alpha"] * torch.cat(cells).mean()
            loss = loss + self.options["beta"] * torch.stack([self.loss(old) for old, _, _ in drawn[n:]]).mean()
        self.step(torch.autograd.grad(loss, self.weights))
        slot = self.n_seen if self.n_seen < size else int(chance[-1] * (self.n_seen + 1))
        if slot < size:
            self.held[slot] = row, met, known


class TorchAGEM(TorchRehearsal):
    """Averaged gradient episodic memory; which rows it holds and draws is asked of a twin of its memory."""

    def __init__(self, begun, memory):
        super().__init__(begun)
        self.memory = memory
        self.n_projected = 0

    def learn(self, row):
        codes = (row[1].numpy() + 2 * row[2].numpy()).astype(np.uint8)[np.newaxis]
        plan = self.memory._plan_learnt(codes, np.ones(1, dtype=bool))
        g = torch.autograd.grad(self.loss(row), self.weights)
        if plan.draws[0, 0] >= 0:
            sample = torch.stack([self.loss(self.held[slot]) for slot in plan.draws[0]]).mean()
            r = torch.autograd.grad(sample, self.weights)
            against = sum((a * b).sum() for a, b in zip(g, r, strict=True))
            if against < 0:
                share = against / sum((b * b).sum() for b in r)
                g = [a - share * b for a, b in zip(g, r, strict=True)]
                self.n_projected += 1
        self.step(g)
        if plan.slots[0] >= 0:
            self.held[plan.slots[0]] = row
