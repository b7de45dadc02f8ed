"""Ensembles of logistic regressions beside River's, and coordinate boosting beside one weak learner at a time."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from harness import Contest, sized
from river import ensemble, linear_model

from estimators import HoeffdingTreeClassifier, make_strategy
from field_learners.jobs import N_ROWS, N_SLOW_ROWS, in_one_call, row_by_row, yeast


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
