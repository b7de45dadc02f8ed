"""Balanced accuracy under drift: StreamRidge, the same without recall, and without following drifts.

Run ``python benchmarks/drift_table.py`` for all worlds, ``--quick`` for one of each kind; ``--seeds`` takes others.
Concepts come twice; column `returns` scores the first 200 rows of each return alone.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from estimators import StreamRidgeClassifier
from estimators.ridge._concepts import Concepts
from metrics import ba_macro
from mlstream.generators import drifting_stream
from mlstream.streams.stream import Stream

KINDS = ("tree", "rbf", "hyperplane")
# Six visits of about 1,666 rows, to three concepts twice; or one concept all the time.
WORLDS: dict[str, dict[str, Any]] = {
    "abrupt": {"n_rows": 4762},
    "gradual": {"n_rows": 4762, "window": 1000},
    "stationary": {"n_rows": 14286, "n_concepts": 1},
}
# Rows after a concept comes back that are scored apart.
FIRST_ROWS = 200


class Forgetting(StreamRidgeClassifier):
    """StreamRidge that finds drifts but recalls no concept: one that ends is not stored."""

    def predict_then_fit(self, X: Any, Y: Any, classes: Any = None, *, label_mask: Any = None) -> Any:
        """Test, then train, while nothing is stored."""
        with patch.object(Concepts, "_closed", lambda *_: None):
            return super().predict_then_fit(X, Y, classes, label_mask=label_mask)


LEARNERS: dict[str, Callable[[], Any]] = {
    "follows drifts": lambda: StreamRidgeClassifier(random_state=0),
    "no recall": lambda: Forgetting(random_state=0),
    "all rows": lambda: StreamRidgeClassifier(random_state=0, follow_drift=False),
}


def first_rows_of_returns(stream: Stream) -> list[int]:
    """List the first rows of each visit to a concept that had been visited before."""
    rows: list[int] = []
    seen: set[int] = set()
    start = 0
    for experience in stream:
        task = int(experience.task_ids[0])
        if task in seen:
            rows += range(start, start + min(FIRST_ROWS, len(experience)))
        seen.add(task)
        start += len(experience)
    return rows


def measure(learner: Any, stream: Stream) -> tuple[float, float, float]:
    """Return balanced accuracy test-then-train, the same after returns, and CPU microseconds a row."""
    X, Y = (np.concatenate([getattr(experience, part) for experience in stream]) for part in "XY")
    start = time.process_time()
    decided, _ = learner.predict_then_fit(X, Y)
    cost = (time.process_time() - start) / len(X) * 1e6
    rows = first_rows_of_returns(stream)
    return ba_macro(Y, decided), ba_macro(Y[rows], decided[rows]) if rows else np.nan, cost


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line for each world and learner, means over seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--quick", action="store_true", help="abrupt worlds, first seed")
    options = parser.parse_args(arguments)
    if options.quick:
        options.worlds, options.seeds = ["abrupt"], options.seeds[:1]
    for name in options.learners:
        # compiles, so that no row of the table counts it
        measure(LEARNERS[name](), drifting_stream("tree", n_rows=1000))
    print(f"{'world':24}{'learner':18}{'BA':>7}{'returns':>9}{'us/row':>8}")
    for world in options.worlds:
        for kind in KINDS:
            streams = [drifting_stream(kind, seed=seed, **WORLDS[world]) for seed in options.seeds]
            for name in options.learners:
                means = np.mean([measure(LEARNERS[name](), stream) for stream in streams], axis=0)
                print(f"{kind + ', ' + world:24}{name:18}{means[0]:7.3f}{means[1]:9.3f}{means[2]:8.0f}", flush=True)


if __name__ == "__main__":
    main()
