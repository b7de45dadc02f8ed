"""Adaptive random forests for each label, test-then-train, side by side with River, on Yeast and synthetic_rand.

Required: 100 times the speed of River, a tenth of its memory, and a speed-up of 1.5 in two threads. River needs minutes
for a whole stream, so that both sides learn the first rows only, once. Our members draw other random numbers than
River's, so that predictions are not compared here; tests compare accuracies. ``--memory`` compares sizes instead.
"""

import sys
from collections.abc import Callable
from typing import Any

from bench_trees import Rows, first, in_one_call, river, row_by_row, streams
from harness import Contest, main, sized
from river.forest import ARFClassifier

from estimators.pragma.stream_forest import PragmaStreamForestClassifier
from estimators.trees.adaptive_random_forest import AdaptiveRandomForestClassifier

RIVER_ROWS = sized({"Yeast": 200, "synthetic_rand": 500}, {"Yeast": 10, "synthetic_rand": 10})


class RiverForests:
    """River's forests, one for each label, with as little code around them as possible."""

    def __init__(self, n_labels: int) -> None:
        self.forests = [ARFClassifier(seed=label) for label in range(n_labels)]

    def predict_one(self, x: Any) -> list[Any]:
        """Predict."""
        return [forest.predict_one(x) for forest in self.forests]

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn."""
        for forest, label in zip(self.forests, y.values(), strict=True):
            forest.learn_one(x, label)


def ours(**parameters: Any) -> Callable[[], Any]:
    """Make our forest, by default with the parameters of River's."""
    return lambda: AdaptiveRandomForestClassifier(random_state=0, **parameters)


def contests() -> list[Contest]:
    """Pair our forests with River's, and threads with one thread."""
    found = []
    for name, all_rows in streams().items():
        rows = first(all_rows, RIVER_ROWS[name])
        n_labels = rows[1].shape[1]
        peers = {"River": river(lambda n=n_labels: RiverForests(n), rows)}
        found.append(Contest(f"BR_ARF {name}", in_one_call(ours(), rows), peers, 100, None, repeats=1))
        found.append(Contest(f"BR_ARF by row {name}", row_by_row(ours(), rows), peers, 0, None, repeats=1))
        weighted = lambda: PragmaStreamForestClassifier(random_state=0, compromise=(0.1, 0.9))  # noqa: E731
        found.append(Contest(f"PRAGMA {name}", in_one_call(weighted, rows), peers, 0, None, repeats=1))
        threads = {"one thread": in_one_call(ours(), all_rows)}
        found.append(Contest(f"two threads {name}", in_one_call(ours(n_jobs=2), all_rows), threads, 1.5, 0))
    return found


def compare_memory(name: str, rows: Rows) -> None:
    """Print the memory of both sides after the same rows."""
    X, Y = rows
    peer = RiverForests(Y.shape[1])
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        peer.learn_one(dict(enumerate(x)), dict(enumerate(y)))
    theirs = sum(forest._raw_memory_usage for forest in peer.forests) / 2**20
    own = ours()().fit(X, Y).memory_bytes_ / 2**20
    print(f"{name:16} after {len(X)} rows: River {theirs:.1f} MiB, ours {own:.2f} MiB, {theirs / own:.0f} times less")


if __name__ == "__main__":
    if "--memory" in sys.argv:
        for stream, whole in streams().items():
            compare_memory(stream, first(whole, RIVER_ROWS[stream]))
    else:
        main("Forests, test-then-train", contests(), ["numba", "river", "numpy"], repeats=3)
