"""A learner in service: what each part of it adds to a row, in microseconds.

``budget`` is `AlarmBudget` beside the learner inside it: row by row through `predict_then_fit_one`, and in chunks.
Both sides learn the same rows, and the fastest of several turns counts. Less than 5 us a row is asked for.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
from harness import sized
from sklearn.base import clone

from estimators import AlarmBudget, OnlineLogisticRegression
from estimators.contract.base import StreamClassifier

N_ROWS, N_TURNS = sized((20_000, 7), (300, 1))
CHUNK = 1000
LIMITS = {
    "rows": {"budget": 20, "period": 1000},
    "time": {"budget": 20, "period": "1d", "time": "at"},
    "time and keys": {"budget": 20, "period": "1d", "key_budget": 2, "time": "at", "key": "host"},
}


Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw_rows(seed: int = 0) -> Rows:
    """Draw features, rare labels, and keys, a row a minute."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 10))
    keys = np.empty(N_ROWS, dtype=[("at", "datetime64[us]"), ("host", "U8")])
    keys["at"] = np.datetime64("2026-01-01") + np.arange(N_ROWS) * np.timedelta64(1, "m")
    keys["host"] = rng.integers(0, 40, N_ROWS).astype(str)
    return X, (rng.random((N_ROWS, 4)) < 1 / (1 + np.exp(6 - 2 * X[:, :4]))).astype(int), keys


def row_by_row(learner: StreamClassifier, rows: Rows) -> None:
    """Learn all rows, each in a call."""
    X, Y, keys = rows
    passed = [{"keys": key} for key in keys] if getattr(learner, "uses_keys", False) else [{}] * len(X)
    for x, y, options in zip(X, Y, passed, strict=True):
        learner.predict_then_fit_one(x, y, **options)


def in_chunks(learner: StreamClassifier, rows: Rows) -> None:
    """Learn all rows, many in a call."""
    X, Y, keys = rows
    for start in range(0, len(X), CHUNK):
        part = slice(start, start + CHUNK)
        options = {"keys": keys[part]} if getattr(learner, "uses_keys", False) else {}
        learner.predict_then_fit(X[part], Y[part], **options)


def fastest_us(learn: Callable[[StreamClassifier, Rows], None], learners: list[StreamClassifier]) -> list[float]:
    """Return the microseconds that each learner needs for a row, in the fastest of its turns."""
    rows, times = draw_rows(), []
    for _ in range(N_TURNS):
        for learner in learners:
            fresh = clone(learner)
            start = perf_counter()
            learn(fresh, rows)
            times.append((perf_counter() - start) / N_ROWS * 1e6)
    return [min(times[place :: len(learners)]) for place in range(len(learners))]


def budget() -> None:
    """Print what a budget of alarms adds to a learner."""
    plain = OnlineLogisticRegression()
    learners = [plain, *(AlarmBudget(plain, **limits) for limits in LIMITS.values())]
    for name, learn in (("row by row", row_by_row), (f"chunks of {CHUNK}", in_chunks)):
        alone, *whole = fastest_us(learn, learners)
        print(f"{name:15} learner {alone:5.2f} us a row")
        for limits, both in zip(LIMITS, whole, strict=True):
            print(f"{name:15} budget of {limits:14} adds {both - alone:5.2f} us a row")


if __name__ == "__main__":
    budget()
