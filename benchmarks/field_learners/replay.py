"""DER++ and A-GEM beside lean PyTorch, memories by label beside vectorised NumPy."""

from functools import partial

import numpy as np
import torch
from harness import Contest

from estimators import AGEMClassifier, DERClassifier, OCDMMemory, PRSMemory
from field_learners.jobs import N_ROWS, N_SLOW_ROWS, yeast

SIZE, DRAWS, RATE, HIDDEN = 1000, 5, 0.01, 200


class Lean:
    """A network of one hidden layer in PyTorch: one row a step, fused Adam, rows drawn from all earlier ones."""

    def __init__(self, X: np.ndarray, Y: np.ndarray) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(0)
        layers = torch.nn.Linear(X.shape[1], HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, Y.shape[1])
        self.network = torch.nn.Sequential(*layers)
        self.weights = list(self.network.parameters())
        self.optimizer = torch.optim.Adam(self.weights, lr=RATE, fused=True)
        self.X, self.Y = torch.from_numpy(X.astype(np.float32)), torch.from_numpy(Y.astype(np.float32))
        self.random, self.loss = np.random.default_rng(0), torch.nn.functional.binary_cross_entropy_with_logits

    def der(self) -> np.ndarray:
        """Learn with DER++: one forward pass for the row and both samples."""
        met = torch.zeros_like(self.Y)
        for i in range(len(self.X)):
            drawn = self.random.integers(0, i, 2 * DRAWS) if i > 2 * DRAWS else np.empty(0, int)
            first, second = drawn[:DRAWS], drawn[DRAWS:]
            logits = self.network(self.X[[i, *drawn]])
            met[i] = logits[0].detach()
            loss = self.loss(logits[0], self.Y[i])
            if len(drawn):
                loss = loss + 0.1 * (logits[1 : DRAWS + 1] - met[first]).square().mean()
                loss = loss + self.loss(logits[DRAWS + 1 :], self.Y[second])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return torch.sigmoid(met).numpy()

    def agem(self, task_rows: int) -> np.ndarray:
        """Learn with A-GEM: two backward passes, and the projection over all weights."""
        met = torch.zeros_like(self.Y)
        for i in range(len(self.X)):
            logits = self.network(self.X[i])
            met[i] = logits.detach()
            g = torch.autograd.grad(self.loss(logits, self.Y[i]), self.weights)
            n_earlier = i // task_rows * task_rows
            if n_earlier:
                drawn = self.random.integers(0, n_earlier, 2 * DRAWS)
                r = torch.autograd.grad(self.loss(self.network(self.X[drawn]), self.Y[drawn]), self.weights)
                against = sum(torch.dot(a.flatten(), b.flatten()) for a, b in zip(g, r, strict=True))
                if against < 0:
                    share = against / sum(b.square().sum() for b in r)
                    g = torch._foreach_sub(g, torch._foreach_mul(r, share))
            for w, gradient in zip(self.weights, g, strict=True):
                w.grad = gradient
            self.optimizer.step()
        return torch.sigmoid(met).numpy()


def numpy_prs(Y: np.ndarray) -> np.ndarray:
    """Partition a reservoir: return its counts of labels; each choice is among all rows at once."""
    random, held = np.random.default_rng(0), np.zeros((0, Y.shape[1]))
    seen, targets = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
    for y in Y[Y.any(axis=1)].astype(float):
        if len(held) < SIZE:
            held = np.vstack([held, y])
        else:
            own = np.flatnonzero(y)
            weights = np.exp(seen[own].min() - seen[own])
            if random.random() < (weights * np.minimum(1, targets[own] * SIZE / seen[own])).sum() / weights.sum():
                held[_evicted(held, targets, random)] = y
        seen += y
        targets = np.where(held.any(axis=0), 1.0, 0.0) / held.any(axis=0).sum()
    return held.sum(axis=0)


def _evicted(held: np.ndarray, targets: np.ndarray, random: np.random.Generator) -> int:
    inside = held.sum(axis=0)
    excess = inside - targets * inside.sum()
    weights = np.where(inside > 0, np.exp(excess - excess.max()), 0)
    with_label = np.flatnonzero(held[:, random.choice(len(weights), p=weights / weights.sum())])
    n_wanted = held[with_label] @ (excess <= 0)
    rows = with_label[n_wanted == n_wanted.min()]
    left = inside - held[rows]
    return int(rows[abs(left - targets * left.sum(axis=1, keepdims=True)).sum(axis=1).argmin()])


def numpy_ocdm(Y: np.ndarray) -> np.ndarray:
    """Optimise the distribution of labels: return the counts; all divergences of a row are computed at once."""
    held = Y[Y.any(axis=1)][:SIZE].astype(float)
    for y in Y[Y.any(axis=1)][SIZE:].astype(float):
        rows = np.vstack([held, y])
        left = rows.sum(axis=0) - rows
        q = left / left.sum(axis=1, keepdims=True)
        divergences = (q * np.log(np.where(q > 0, q, 1))).sum(axis=1)  # from even targets, but for a constant
        held = np.delete(rows, divergences.argmin(), axis=0)
    return held.sum(axis=0)


def _planned(memory: PRSMemory | OCDMMemory, Y: np.ndarray) -> np.ndarray:
    begun = memory.begin(0)
    begun.plan(Y)
    return begun.held_counts_


def rehearsal() -> list[Contest]:
    """Return the contests on Yeast; draws differ, so that only what OCDM holds can be compared.

    Memories plan for ten times as many rows, drawn from those of Yeast.
    """
    X, Y = yeast(N_SLOW_ROWS)
    task_rows = max(1, N_SLOW_ROWS // 4)
    der = partial(DERClassifier, HIDDEN, size=SIZE, draws=DRAWS, random_state=0)
    agem = partial(AGEMClassifier, HIDDEN, size=SIZE, draws=2 * DRAWS, task_rows=task_rows, random_state=0)
    labels = yeast(N_ROWS)[1]
    labels = labels[np.random.default_rng(0).integers(0, len(labels), 10 * N_SLOW_ROWS)]
    return [
        Contest(
            "DER++, Yeast",
            lambda: der().predict_then_fit(X, Y)[1],
            {"lean torch": lambda: Lean(X, Y).der()},
            tolerance=None,
        ),
        Contest(
            "A-GEM, Yeast",
            lambda: agem().predict_then_fit(X, Y)[1],
            {"lean torch": lambda: Lean(X, Y).agem(task_rows)},
            tolerance=None,
        ),
        Contest(
            "PRS, its memory",
            lambda: _planned(PRSMemory(SIZE), labels),
            {"NumPy": lambda: numpy_prs(labels)},
            tolerance=None,
        ),
        Contest(
            "OCDM, its memory",
            lambda: _planned(OCDMMemory(SIZE), labels),
            {"NumPy": lambda: numpy_ocdm(labels)},
            tolerance=0.05,
        ),
    ]
