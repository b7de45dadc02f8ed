"""The field's learners, test-then-train, side by side in one run with what a user would take instead.

Peers are River's learners where River has them, else a loop in NumPy or PyTorch, vectorised as one would write it.
Slow peers learn the first rows of Yeast only; so do ours then. On a busy machine, compare seconds of CPU (``--cpu``).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import replay_contests
from harness import Contest, main, sized
from river.tree import ExtremelyFastDecisionTreeClassifier as RiverFastTree
from river.tree import HoeffdingAdaptiveTreeClassifier as RiverAdaptiveTree

from estimators import (
    BinaryRelevance,
    ExtremelyFastDecisionTreeClassifier,
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
    make_strategy,
)
from estimators.baselines import NearestRowClassifier
from estimators.neighbours.mlsampknn import MLSAMPkNNClassifier
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


def adaptive_trees() -> list[Contest]:
    """Return Hoeffding adaptive trees beside River's, which predict the same; the least ratio is 100, and 1 by row."""
    X, Y = yeast(N_SLOW_ROWS)
    settings = {"delta": 1e-5, "drift_window_threshold": 50}
    peers = {"River": trees_of_river(lambda: RiverAdaptiveTree(**settings, seed=0), X, Y)}

    def make() -> BinaryRelevance:
        return BinaryRelevance(HoeffdingAdaptiveTreeClassifier(**settings, random_state=0))

    return [
        Contest("BR_HAT", in_one_call(make, X, Y), peers, demand=100),
        Contest("BR_HAT, one call per row", row_by_row(make, X, Y), peers, demand=1),
    ]


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


class RiverLabels:
    """A binary learner of River for each label."""

    def __init__(self, make: Callable[[int], Any], n_labels: int) -> None:
        self.learners = [make(label) for label in range(n_labels)]

    def test_then_train(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Test, then train, row by row."""
        predicted = np.zeros_like(Y)
        for i, (row, labels) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
            x = dict(enumerate(row))
            predicted[i] = [bool(learner.predict_one(x)) for learner in self.learners]
            for learner, label in zip(self.learners, labels, strict=True):
                learner.learn_one(x, bool(label))
        return predicted


def linear_ensembles() -> list[Contest]:
    """Return logistic regressions and their ensembles beside River's; ensembles draw other random numbers."""
    from river import ensemble, linear_model

    jobs = {
        "BR_LR": (linear_model.LogisticRegression, N_ROWS, 1e-9),
        "ABALR": (ensemble.ADWINBaggingClassifier, N_SLOW_ROWS, None),
        "ABOLR": (ensemble.ADWINBoostingClassifier, N_SLOW_ROWS, None),
    }
    found = []
    for name, (peer, n_rows, tolerance) in jobs.items():
        X, Y = yeast(n_rows)

        def rivers(peer: Any = peer, name: str = name, X: np.ndarray = X, Y: np.ndarray = Y) -> np.ndarray:
            single = name == "BR_LR"
            make = (lambda _: peer()) if single else lambda j: peer(linear_model.LogisticRegression(), seed=j)
            return RiverLabels(make, Y.shape[1]).test_then_train(X, Y)

        ours = partial(make_strategy, name)
        found += [
            Contest(name, in_one_call(ours, X, Y), {"River": rivers}, tolerance=tolerance, repeats=1),
            Contest(f"{name} by row", row_by_row(ours, X, Y), {"River": rivers}, tolerance=tolerance, repeats=1),
        ]
    return [*found, *boosted_coordinates()]


def boosted_coordinates() -> list[Contest]:
    """Return coordinate boosting in one pass beside the same with one weak learner at a time, of ours."""
    X, Y = yeast(sized(100, 10))
    slow = partial(tree_by_tree, X, Y[:, :2])
    ours = partial(make_strategy, "OCB")
    return [Contest("OCB, 2 labels", in_one_call(ours, X, Y[:, :2]), {"tree by tree": slow}, repeats=1)]


def tree_by_tree(X: np.ndarray, Y: np.ndarray, n_models: int = 10) -> np.ndarray:
    """Boost Hoeffding trees, one object each, with sums in NumPy."""
    predicted = np.zeros_like(Y)
    for label in range(Y.shape[1]):
        y = Y[:, label : label + 1]
        trees = [HoeffdingTreeClassifier().begin(X[:1], y[:1]) for _ in range(n_models)]
        sums, alphas, changes = np.full((2, n_models, n_models), 0.5), np.zeros(n_models), np.zeros(n_models)
        for i in range(len(X)):
            votes = np.array([2 * int(tree.predict(X[i : i + 1])[0, 0]) - 1 for tree in trees])
            predicted[i, label] = alphas @ votes > 0
            signs, weight = votes * (2 * y[i, 0] - 1), 1.0
            for j, tree in enumerate(trees):
                shares = sums[:, j, :j] / sums[:, j, j, np.newaxis]
                shrink = np.exp(-changes[:j])
                sums[:, j, : j + 1] *= (shares * shrink + (1 - shares) / shrink).prod(axis=1)[:, np.newaxis]
                sums[int(signs[j] < 0), j, : j + 1] += weight * (signs[: j + 1] == signs[j])
                alpha = np.log(sums[0, j, j] / sums[1, j, j]) / 2
                changes[j], alphas[j] = alpha - alphas[j], alpha
                weight *= np.exp(-alpha * signs[j])
                tree.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=[weight])
    return predicted


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
    slow = replay_contests.contests(yeast, N_ROWS, N_SLOW_ROWS)
    return [*neighbours(), *revised_trees(), *adaptive_trees(), *linear_ensembles(), *slow]


if __name__ == "__main__":
    main(__doc__.splitlines()[0], contests(), ["numpy", "numba", "river", "torch"], repeats=3)
