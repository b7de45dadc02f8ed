"""The field's learners, test-then-train, side by side in one run with what a user would take instead.

Peers are River's learners where River has them, else a loop in NumPy or PyTorch, vectorised as one would write it.
Slow peers learn the first rows of Yeast only; so do ours then. On a busy machine, compare seconds of CPU (``--cpu``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Contest, main, sized

from estimators.baselines import NearestRowClassifier
from mlstream import load_dataset

N_ROWS = sized(2417, 30)
N_SLOW_ROWS = sized(500, 20)


def yeast(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first rows of Yeast: 103 features, 14 labels."""
    data = load_dataset("yeast")
    return np.ascontiguousarray(data.X[:n_rows], dtype=float), np.asarray(data.Y[:n_rows], dtype=int)


def in_one_call(make: Callable[[], Any], X: np.ndarray, Y: np.ndarray) -> Callable[[], np.ndarray]:
    """Test, then train, in one call."""
    return lambda: make().predict_then_fit(X, Y)[0]


def row_by_row(make: Callable[[], Any], X: np.ndarray, Y: np.ndarray) -> Callable[[], np.ndarray]:
    """Test, then train, with one call for each row."""

    def go() -> np.ndarray:
        learner = make()
        return np.concatenate([learner.predict_then_fit(X[i : i + 1], Y[i : i + 1])[0] for i in range(len(X))])

    return go


def nearest_in_numpy(X: np.ndarray, Y: np.ndarray, window: int) -> np.ndarray:
    """Predict the labels of the nearest row of the window, by distances to all of its rows at once."""
    predicted = np.zeros_like(Y)
    for i in range(1, len(X)):
        start = max(0, i - window)
        distances = ((X[start:i] - X[i]) ** 2).sum(axis=1)
        predicted[i] = Y[start + distances.argmin()]
    return predicted


def neighbours() -> list[Contest]:
    """Return windows of neighbours beside loops in NumPy."""
    X, Y = yeast(N_ROWS)
    return [
        Contest(
            "1NN, window 1000",
            in_one_call(lambda: NearestRowClassifier(window=1000), X, Y),
            {"NumPy": lambda: nearest_in_numpy(X, Y, 1000)},
        )
    ]


def contests() -> list[Contest]:
    """Return all contests."""
    return [*neighbours()]


if __name__ == "__main__":
    main(__doc__.splitlines()[0], contests(), ["numpy", "numba", "river", "torch"], repeats=3)
