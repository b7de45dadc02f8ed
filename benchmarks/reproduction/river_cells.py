"""River's own learners on the published synthetic streams; runs where River 0.21.2 is, with NumPy and SciPy beside.

Reads cells as JSON, name -> [strategy, name or file of a stream, settings, order of tasks or null], and prints name ->
the six scores and the matrix R. `river_environment.py` starts it.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from river import dummy, multioutput, stats, tree

from benchmarks.reproduction import stream_files
from tests.estimators import published

# Strategies whose outputs are numbers: the published code scores an output of exactly 0.5 as a class of its own.
OUTPUTS = ("mean", "iSOUPtree")


class RiverLearner:
    """River's model behind the two calls of `published.test_then_train`."""

    def __init__(self, model: Any, n_labels: int) -> None:
        self.model = model
        self.n_labels = n_labels

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Decide rows."""
        return np.array([self._decide(self._outputs(x)) for x in _dicts(X)])

    def predict_then_fit(self, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Test, then train."""
        outputs = []
        for x, labels in zip(_dicts(X), Y.tolist(), strict=True):
            outputs.append(self._outputs(x))
            self.model.learn_one(x, self._target(labels))
        proba = np.array(outputs)
        return np.array([self._decide(row) for row in outputs]), proba

    def _outputs(self, x: dict[str, float]) -> list[float]:
        answer = self.model.predict_one(x)
        return [float(answer.get(f"L{label}", 0) or 0) for label in range(self.n_labels)]

    def _decide(self, outputs: list[float]) -> list[int]:
        return [int(output >= 0.5) for output in outputs]

    def _target(self, labels: list[int]) -> dict[str, Any]:
        return {f"L{label}": value for label, value in enumerate(labels)}


class Classes(RiverLearner):
    """A model of labels that are True or False."""

    def _target(self, labels: list[int]) -> dict[str, Any]:
        return {f"L{label}": bool(value) for label, value in enumerate(labels)}


class FromFirstPositive:
    """A model for each label, begun at its first positive row, as the published code does."""

    def __init__(self, begin: Callable[[], Any]) -> None:
        self.begin = begin
        self.models: dict[str, Any] = {}

    def predict_one(self, x: dict[str, float]) -> dict[str, Any]:
        """Ask every model there is."""
        return {label: model.predict_one(x) for label, model in self.models.items()}

    def learn_one(self, x: dict[str, float], labels: dict[str, int]) -> None:
        """Teach every model there is, and begin those whose label comes first."""
        for label, value in labels.items():
            if value and label not in self.models:
                self.models[label] = self.begin()
            if label in self.models:
                self.models[label].learn_one(x, value)


def make(strategy: str, settings: dict[str, float], n_labels: int) -> RiverLearner:
    """Build the learner of a strategy."""
    if strategy == "mean":
        return RiverLearner(FromFirstPositive(lambda: dummy.StatisticRegressor(stats.Mean())), n_labels)
    if strategy == "BR_HT":
        return RiverLearner(FromFirstPositive(lambda: tree.HoeffdingTreeClassifier(**settings)), n_labels)
    if strategy == "LC_HT":
        return Classes(multioutput.MultiClassEncoder(tree.HoeffdingTreeClassifier(**settings)), n_labels)
    if strategy == "CC_HT":
        return Classes(multioutput.ClassifierChain(tree.HoeffdingTreeClassifier(**settings)), n_labels)
    return RiverLearner(tree.iSOUPTreeRegressor(**settings), n_labels)


def _dicts(X: np.ndarray) -> list[dict[str, float]]:
    return [{f"x{j}": value for j, value in enumerate(row)} for row in X.tolist()]


def main(shared: Path) -> None:
    """Run every cell and print what came out."""
    done = {}
    for cell, (strategy, name, settings, order) in json.load(sys.stdin).items():
        is_file = name.endswith(".npz")
        stream = stream_files.read(Path(name)) if is_file else published.load(shared.joinpath, name, order)
        answers = published.test_then_train(make(strategy, settings, stream.masks.shape[1]), stream)
        scores = published.scores(answers, stream, half=strategy in OUTPUTS)
        done[cell] = {"scores": scores, "R": answers.R.tolist()}
    sys.stdout.write(json.dumps(done))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
