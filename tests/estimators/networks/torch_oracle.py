"""The same network in torch, one step after another, written from the protocol alone."""

import numpy as np
import torch
from sklearn.base import clone

torch.set_num_threads(1)  # networks as small as these are slower on two


class TorchNetwork:
    """Learns as an `OnlineNeuralClassifier` that has begun should, from the same weights and with the same draws."""

    def __init__(self, begun):
        self.options = begun.get_params(deep=False)
        self.module = begun.to_torch()
        rate = begun.learning_rate
        kinds = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
        self.optimizer = kinds[begun.optimizer](self.module.parameters(), lr=rate, fused=True)
        self.memories = [clone(memory).begin() for memory in begun._memories]
        for memory, same in zip(self.memories, begun._memories, strict=True):
            memory.seed_ = same.seed_
        self.held = {}  # the row in each slot of each memory
        self.met = []  # features of the rows learnt
        self.ones = np.zeros((2, begun.n_labels_))  # zeros and ones met of each label

    def predict_then_fit(self, X, Y, mask=None, weight=None):
        mask = np.ones(Y.shape, dtype=bool) if mask is None or self.options["targeted_loss"] is None else mask
        weight = np.ones(len(Y)) if weight is None else weight
        return np.vstack([self._row(X[i], Y[i], mask[i], weight[i]) for i in range(len(Y))])

    def _row(self, x, y, mask, weight):
        with torch.no_grad():
            answer = self.module(self._features([x]))[0].numpy()
        if weight == 0:
            return answer
        self.met.append(x)
        self.ones[y, np.arange(len(y))] += mask
        row = x, y, mask, weight
        plans = [memory.plan(1) for memory in self.memories]
        drawn = [self.held[k, slot] for k, plan in enumerate(plans) for slot in plan.draws[0] if slot >= 0]
        steps = [[row, *drawn]] if self.options["replay"] == "mini-batch" else [[one] for one in (row, *drawn)]
        for rows in steps:
            self._step(rows)
        self.held.update({(k, plan.slots[0]): row for k, plan in enumerate(plans) if plan.slots[0] >= 0})
        return answer

    def _step(self, rows):
        x, y, masks, weights = (np.array(part) for part in zip(*rows, strict=True))
        scores = self.module[:-1](self._features(x))  # an output that has reached 0 or 1 still learns
        counted = y.shape[1] if self.options["targeted_loss"] == "published" else masks.sum(axis=1, keepdims=True)
        shares = masks * weights[:, None] / counted
        if self.options["balance_labels"]:
            shares = shares * (self.ones.sum(axis=0) + 2) / 2 / (self.ones[y, np.arange(y.shape[1])] + 1)
        target = torch.tensor(y, dtype=torch.float64)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, target, reduction="none")
        self.optimizer.zero_grad()
        ((loss * torch.tensor(shares)).sum() / len(rows)).backward()
        if self.options["freeze_masked"]:
            self._step_but_for(~torch.tensor(masks.any(axis=0)))
        else:
            self.optimizer.step()

    def _step_but_for(self, frozen):
        """Step, then put outputs that are frozen back to where they were, with their moments."""
        output = [layer for layer in self.module if isinstance(layer, torch.nn.Linear)][-1]
        parts = [output.weight, output.bias]
        for part in tuple(parts):
            state = self.optimizer.state[part]
            parts += [state[name] for name in ("exp_avg", "exp_avg_sq") if name in state]
        before = [part.detach().clone() for part in parts]
        self.optimizer.step()
        with torch.no_grad():
            for part, old in zip(parts, before, strict=True):
                part[frozen] = old[frozen]
            if len(parts) == 2:  # moments that this very step has made
                for part in tuple(parts):
                    for name in {"exp_avg", "exp_avg_sq"} & set(self.optimizer.state[part]):
                        self.optimizer.state[part][name][frozen] = 0

    def _features(self, x):
        x, met = np.array(x), np.array(self.met)
        if self.options["standardize"] and len(met):
            deviation = met.std(axis=0)
            centre = met.mean(axis=0) if self.options["standardize"] is True else 0
            x = (x - centre) / np.where(deviation > 0, deviation, 1)
        return torch.tensor(x, dtype=torch.float64)
