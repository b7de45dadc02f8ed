"""Adaptive trees beside River's, which predict the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Contest, sized
from river.tree import ExtremelyFastDecisionTreeClassifier as RiverFastTree
from river.tree import HoeffdingAdaptiveTreeClassifier as RiverAdaptiveTree

from estimators import BinaryRelevance, ExtremelyFastDecisionTreeClassifier, HoeffdingAdaptiveTreeClassifier
from field_learners.jobs import N_SLOW_ROWS, in_one_call, row_by_row, yeast

N_REVISED_ROWS = sized(200, 20)
EAGER = {"grace_period": 50, "delta": 0.01, "tau": 0.02}


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
