"""Networks that hold on to earlier tasks, in torch, one row after another, written from the papers alone."""

import copy

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits

torch.set_num_threads(1)


class TorchNetwork:
    """The network of a classifier that has begun; subclasses say what a task leaves behind and how it holds."""

    def __init__(self, begun):
        self.options = begun.get_params()
        self.module = begun.to_torch()
        self.weights = list(self.module.parameters())
        self.optimizer = torch.optim.Adam(self.weights, lr=begun.learning_rate)
        self.task, self.gradients = None, []

    def predict_then_fit(self, X, Y, mask, weight):
        rows = zip(torch.tensor(X), torch.tensor(Y, dtype=torch.float64), torch.tensor(mask), weight, strict=True)
        return np.stack([self._row(*row) for row in rows])

    def _row(self, x, y, mask, weight):
        with torch.no_grad():
            answer = self.module(x).numpy()
        if weight > 0:
            full = self.options["task_rows"] is not None and len(self.gradients) == self.options["task_rows"]
            if self.task is not None and (full or not torch.equal(mask, self.task)):
                self._end_task()
                self.gradients = []
            self.task = mask
            self._step(x, y, weight)
        return answer

    def _step(self, x, y, weight):
        losses = binary_cross_entropy_with_logits(self.module[:-1](x), y, reduction="none")
        loss = weight * losses[self.task].mean()
        self.gradients.append(torch.autograd.grad(loss, self.weights, retain_graph=True))
        self.optimizer.zero_grad()
        (loss + self._held(x, weight)).backward()
        self.optimizer.step()


class TorchEWC(TorchNetwork):
    """Online elastic weight consolidation."""

    def __init__(self, begun):
        super().__init__(begun)
        self.anchors = self.importances = None

    def _held(self, x, weight):
        if self.anchors is None:
            return 0
        parts = zip(self.importances, self.weights, self.anchors, strict=True)
        return self.options["penalty"] / 2 * sum((part * (w - anchor) ** 2).sum() for part, w, anchor in parts)

    def _end_task(self):
        fisher = [torch.stack(part).square().mean(dim=0) for part in zip(*self.gradients, strict=True)]
        if self.importances is not None:
            pairs = zip(self.importances, fisher, strict=True)
            fisher = [self.options["decay"] * before + new for before, new in pairs]
        self.importances = fisher
        self.anchors = [w.detach().clone() for w in self.weights]


class TorchLwF(TorchNetwork):
    """Learning without forgetting."""

    def __init__(self, begun):
        super().__init__(begun)
        self.old, self.known = None, torch.zeros(begun.n_labels_, dtype=torch.bool)

    def _held(self, x, weight):
        absent = self.known & ~self.task
        if not absent.any():
            return 0
        heat = self.options["temperature"]
        with torch.no_grad():
            old = torch.sigmoid(self.old(x) / heat)
        now = torch.sigmoid(self.module[:-1](x) / heat)
        return weight * self.options["distillation"] * heat**2 * binary_cross_entropy(now[absent], old[absent])

    def _end_task(self):
        self.known = self.known | self.task
        self.old = copy.deepcopy(self.module[:-1])
