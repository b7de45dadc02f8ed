"""NN7_TLH_mini_memories in PyTorch, nothing of it ours: the values that `networks` must have where the print cannot.

python -m benchmarks.reproduction.torch_networks [--seeds 10]
"""

import argparse
import sys
from typing import Any

import numpy as np
import torch

from benchmarks.reproduction.compare import require_shared
from tests.estimators import published

N_ROWS, N_DRAWS, N_HIDDEN, N_LABELS, RATE = 1000, 5, 200, 4, 0.01


class MiniMemories:
    """A network that learns each row in one step with rows of a reservoir and of a queue."""

    def __init__(self, seed: int, n_features: int) -> None:
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        hidden = torch.nn.Linear(n_features, N_HIDDEN), torch.nn.ReLU()
        self.net = torch.nn.Sequential(*hidden, torch.nn.Linear(N_HIDDEN, N_LABELS), torch.nn.Sigmoid())
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=RATE)
        self.reservoir: list[Any] = []
        self.queue: list[Any] = []
        self.n_seen = 0

    def predict(self, X):
        """Decide at one half."""
        with torch.no_grad():
            return (self.net(torch.tensor(X, dtype=torch.float32)).numpy() >= 0.5).astype(int)

    def predict_then_fit(self, X, Y, label_mask):
        """Predict each row, then learn it."""
        decided = [(self.predict(x[np.newaxis]), self.learn(x, y, label_mask))[0] for x, y in zip(X, Y, strict=True)]
        return np.vstack(decided), np.vstack(decided).astype(float)

    def learn(self, *row):
        """Learn a row (features, labels, mask) in one step with rows drawn from each memory."""
        rows = [row]
        for memory in (self.reservoir, self.queue):
            if len(memory) > N_DRAWS:
                rows += [memory[place] for place in self.rng.integers(0, len(memory), N_DRAWS)]
        x, y, mask = (torch.tensor(np.array(part), dtype=torch.float32) for part in zip(*rows, strict=True))
        self.optimiser.zero_grad()
        torch.nn.functional.binary_cross_entropy(self.net(x) * mask, y * mask).backward()
        self.optimiser.step()
        self.store(row)

    def store(self, row):
        """Keep a row in both memories."""
        self.n_seen += 1
        place = len(self.reservoir) if len(self.reservoir) < N_ROWS else int(self.rng.integers(self.n_seen))
        if place < N_ROWS:
            self.reservoir[place : place + 1] = [row]
        self.queue = [*self.queue, row][-N_ROWS:]


def main() -> None:
    """Print mean and standard deviation of BA and ACC on each stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="runs on each stream")
    torch.set_num_threads(1)
    n_seeds = parser.parse_args().seeds
    for name in published.NAMES:
        stream = published.load(require_shared().joinpath, name)
        learners = [MiniMemories(seed, stream.experiences[0][0].shape[1]) for seed in range(n_seeds)]
        runs = [published.scores(published.test_then_train(one, stream, told=True), stream)[:2] for one in learners]
        shown = "  ".join(f"{m:.4f} (sd {s:.4f})" for m, s in zip(np.mean(runs, 0), np.std(runs, 0), strict=True))
        sys.stdout.write(f"NN7_TLH_mini_memories {name}: BA, ACC  {shown}\n")


if __name__ == "__main__":
    main()
