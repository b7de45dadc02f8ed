"""Windows of neighbours beside loops in NumPy that look at the whole window at once."""

import numpy as np
from harness import Contest

from estimators import MLSAMPkNNClassifier, NearestRowClassifier
from field_learners.jobs import N_ROWS, in_one_call, yeast


def nearest_in_numpy(X: np.ndarray, Y: np.ndarray, window: int) -> np.ndarray:
    """Predict the labels of the nearest row of the window, by distances to all of its rows at once."""
    predicted = np.zeros_like(Y)
    for i in range(1, len(X)):
        start = max(0, i - window)
        distances = ((X[start:i] - X[i]) ** 2).sum(axis=1)
        predicted[i] = Y[start + distances.argmin()]
    return predicted


class AdjustingInNumPy:
    """MLSAMPkNN: each search for neighbours looks at the whole window at once."""

    def __init__(self, k: int = 3, high: int = 1000, low: int = 50) -> None:
        self.k, self.high, self.low = k, high, low

    def run(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Predict each row, then learn it."""
        self.X, self.Y, self.errors = np.empty((0, X.shape[1])), np.empty((0, Y.shape[1]), int), np.empty(0)
        self.distances, self.scores = np.empty((0, 0)), {}
        self.least = self.greatest = np.zeros(X.shape[1])
        predicted = np.zeros_like(Y)
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            if len(self.X):
                near = np.argsort(self._to(x), kind="stable")[: self.k]
                predicted[i] = self.Y[near].mean(axis=0) >= 0.5
                self.errors[near] += (self.Y[near] != y).sum(axis=1)
            self._add(x, y)
            wrong = np.flatnonzero(self.errors > Y.shape[1])
            for row in wrong[::-1]:
                self._keep(np.arange(len(self.X)) != row)
            self._adjust()
        return predicted

    def _to(self, x: np.ndarray) -> np.ndarray:
        span = self.greatest - self.least
        scale = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)
        return np.sqrt((((self.X - x) * scale) ** 2).sum(axis=1))

    def _add(self, x: np.ndarray, y: np.ndarray) -> None:
        self.least, self.greatest = np.minimum(self.least, x), np.maximum(self.greatest, x)
        self.distances = np.pad(self.distances, ((0, 1), (0, 1)))
        self.distances[-1, :-1] = self._to(x)
        self.X, self.Y = np.vstack([self.X, x]), np.vstack([self.Y, y])
        self.errors = np.append(self.errors, 0.0)

    def _keep(self, kept: np.ndarray) -> None:
        first = np.cumsum(kept) - kept
        scores = sorted(self.scores.items(), reverse=True)
        self.scores = {int(first[start]): old[kept[start : start + len(old)]] for start, old in scores}
        self.X, self.Y, self.errors = self.X[kept], self.Y[kept], self.errors[kept]
        self.distances = self.distances[np.ix_(kept, kept)]

    def _adjust(self) -> None:
        sizes = [len(self.X)]
        while sizes[-1] >= 2 * self.low:
            sizes.append(sizes[-1] // 2)
        starts = [len(self.X) - size for size in sizes] if len(sizes) > 1 else [0]
        if len(sizes) > 1:
            self.scores = {start: self._extended(start) for start in starts}
            best = starts[int(np.argmax([self.scores[start].mean() for start in starts]))]
            self.scores = {start: scores for start, scores in self.scores.items() if start >= best}
            if best:
                self._keep(np.arange(len(self.X)) >= best)
        if len(self.X) == self.high:
            self._keep(np.arange(self.high) > 0)

    def _extended(self, start: int) -> np.ndarray:
        scores = self.scores.get(start, np.empty(0))
        new = [self._is_right(start, row) for row in range(start + len(scores), len(self.X))]
        return np.append(scores, new)

    def _is_right(self, start: int, row: int) -> bool:
        if row == start:
            return not self.Y[row].any()
        near = start + np.argsort(self.distances[row, start:row], kind="stable")[: self.k]
        return bool(((self.Y[near].mean(axis=0) >= 0.5) == self.Y[row]).all())


def neighbours() -> list[Contest]:
    """Return windows of neighbours beside loops in NumPy."""
    X, Y = yeast(N_ROWS)
    return [
        Contest(
            "1NN, window 1000",
            in_one_call(lambda: NearestRowClassifier(window=1000), X, Y),
            {"NumPy": lambda: nearest_in_numpy(X, Y, 1000)},
        ),
        Contest(
            "MLSAMPkNN",
            in_one_call(MLSAMPkNNClassifier, X, Y),
            {"NumPy": lambda: AdjustingInNumPy().run(X, Y)},
            demand=50,
            repeats=1,
        ),
    ]
