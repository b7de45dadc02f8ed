"""Effect of the calibration of StreamRidge on the board of tasks of the arena, with default parameters.

Three learners with the same scores: cut off at 0 and 1 and decided at 1/2; the same decided by `PrevalenceThreshold`,
half-way after recent labels; and StreamRidge, whose probabilities are calibrated and decided at the prevalence.
BA, RMSE, P@k and NCE (cross-entropy less that of base rates, 0) are test-then-train, ACC is balanced accuracy on the
evaluation sets of the tasks seen, mean over experiences. CPU microseconds are those of a row, tested and learnt.

``MLSTREAM_DATA=... python benchmarks/ridge_table.py [STREAM ...]`` prints it.
"""

import sys
import time
from typing import Any

import numpy as np
from harness import sized
from sklearn.base import clone

from estimators import PrevalenceThreshold, StreamRidgeClassifier
from estimators.contract.base import StreamClassifier
from metrics import acc, ba_macro, nce, precision_at_k, rmse
from mlstream.arena import load_suite
from mlstream.evaluation.run import precision_k
from mlstream.streams.stream import Stream

ENTRIES = {entry.name: entry for entry in load_suite().entries(board="tasks")}
COLUMNS = ("BA", "ACC", "RMSE", "P@k", "NCE", "us/row")


class CutOff:
    """In place of a calibration: scores cut off at 0 and 1, decided at 1/2."""

    def estimate(self, scores: Any, *, late: bool) -> tuple[Any, Any]:  # noqa: ARG002 - the same without
        """Return decisions and probabilities."""
        return scores >= 0.5, np.clip(scores, 0.0, 1.0)

    def estimate_then_learn(self, scores: Any, *_: Any) -> tuple[Any, Any, "CutOff"]:
        """Return decisions and probabilities; there is nothing to learn."""
        return *self.estimate(scores, late=True), self


class CutOffRidge(StreamRidgeClassifier):
    """StreamRidge without calibration."""

    def _start(self) -> None:
        super()._start()
        self.calibration_: Any = CutOff()


LEARNERS: dict[str, StreamClassifier] = {
    "cut off, at 1/2": CutOffRidge(random_state=0),
    "cut off, prevalence": PrevalenceThreshold(CutOffRidge(random_state=0)),
    "StreamRidge": StreamRidgeClassifier(random_state=0),
}


def measure(learner: StreamClassifier, stream: Stream) -> list[float]:
    """Run a copy of a learner along a stream, and return a score a column."""
    learner = clone(learner)
    parts, cpu_s, R = [], 0.0, [np.full(stream.n_tasks, 0.5)]
    for part in stream:
        began_s = time.process_time()
        decided, proba = learner.predict_then_fit(part.X, part.Y, label_mask=part.label_mask)
        cpu_s += time.process_time() - began_s
        parts.append((part.Y, decided, proba, np.broadcast_to(part.label_mask, part.Y.shape)))
        R.append(held_out(learner, stream))
    Y, decided, proba, mask = (np.concatenate(values) for values in zip(*parts, strict=True))
    k = precision_k(stream)
    ranked = mask.sum(axis=1) >= k
    return [
        ba_macro(Y, decided, label_mask=mask, one_class="skip"),
        acc(R, stream.order, when="mean", undefined="skip"),
        rmse(Y, proba, label_mask=mask),
        precision_at_k(Y[ranked], proba[ranked], k, label_mask=mask[ranked]),
        nce(Y, proba, label_mask=mask, constant_labels="skip"),
        cpu_s / len(Y) * 1e6,
    ]


def held_out(learner: StreamClassifier, stream: Stream) -> Any:
    """Return the balanced accuracy on the evaluation set of each task, of its labels."""
    return np.array(
        [
            ba_macro(one.Y, learner.predict(one.X), label_mask=one.label_mask, one_class="skip")
            for one in stream.evaluation_sets
        ]
    )


def main(names: list[str]) -> None:
    """Print the table."""
    streams = names or sized(list(ENTRIES), ["synthetic-rand"])
    for one in LEARNERS.values():
        measure(one, ENTRIES["synthetic-rand"].load())  # compiles
    found: dict[str, list[list[float]]] = {name: [] for name in LEARNERS}
    print(f"{'':20}{'':21}" + "".join(f"{column:>9}" for column in COLUMNS))
    for name in streams:
        stream = ENTRIES[name].load()
        for learner, one in LEARNERS.items():
            found[learner].append(measure(one, stream))
            show(name, learner, found[learner][-1])
    for learner, values in found.items():
        show("mean", learner, np.nanmean(values, axis=0))


def show(stream: str, learner: str, values: Any) -> None:
    """Print a line."""
    print(f"{stream:20}{learner:21}" + "".join(f"{value:9.3f}" for value in values[:-1]) + f"{values[-1]:9.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
