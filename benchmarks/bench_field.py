"""The field's learners, test-then-train, side by side in one run with what a user would take instead.

Peers are River's learners where River has them, else a loop in NumPy or PyTorch, vectorised as one would write it.
Slow peers learn the first rows of Yeast only; so do ours then. On a busy machine, compare seconds of CPU (``--cpu``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Contest, main, sized
from river.tree import ExtremelyFastDecisionTreeClassifier as RiverFastTree

from estimators import BinaryRelevance, ExtremelyFastDecisionTreeClassifier
from estimators.baselines import NearestRowClassifier
from mlstream import load_dataset

N_ROWS = sized(2417, 30)
N_SLOW_ROWS = sized(500, 20)
N_REVISED_ROWS = sized(200, 20)
EAGER = {"grace_period": 50, "delta": 0.01, "tau": 0.02}


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


def trees_of_river(make: Callable[[], Any], X: np.ndarray, Y: np.ndarray) -> Callable[[], np.ndarray]:
    """Test, then train, River's trees, one for each label, with as little code around them as possible."""
    rows = [dict(enumerate(x)) for x in X.tolist()]

    def go() -> np.ndarray:
        trees, predicted = [make() for _ in range(Y.shape[1])], np.zeros_like(Y)
        for i, (x, y) in enumerate(zip(rows, Y.tolist(), strict=True)):
            for j, (tree, label) in enumerate(zip(trees, y, strict=True)):
                predicted[i, j] = tree.predict_one(x) or 0
                tree.learn_one(x, label)
        return predicted

    return go


def revised_trees() -> list[Contest]:
    """Return extremely fast trees beside River's, which predict the same; with `EAGER`, most of them are revised."""
    contests = []
    for name, n_rows, settings in (("BR_EFDT", N_SLOW_ROWS, {}), ("BR_EFDT, revised", N_REVISED_ROWS, EAGER)):
        X, Y = yeast(n_rows)
        peers = {"River": trees_of_river(lambda settings=settings: RiverFastTree(**settings), X, Y)}

        def make(settings: dict[str, Any] = settings) -> BinaryRelevance:
            return BinaryRelevance(ExtremelyFastDecisionTreeClassifier(**settings))

        contests.append(Contest(name, in_one_call(make, X, Y), peers, demand=100, repeats=1))
        contests.append(Contest(f"{name}, one call per row", row_by_row(make, X, Y), peers, demand=1, repeats=1))
    return contests


def contests() -> list[Contest]:
    """Return all contests."""
    return [*neighbours(), *revised_trees()]


if __name__ == "__main__":
    main(__doc__.splitlines()[0], contests(), ["numpy", "numba", "river", "torch"], repeats=3)
