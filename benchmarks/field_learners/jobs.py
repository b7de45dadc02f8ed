"""Rows, and the two ways of going through them, that all contests share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import sized

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
