"""Learners that the board of environments of the arena lacks: strengths that are chosen, and a reference.

Prints the normalised cross-entropy in the worst environment that was never seen, for each stream of the board, as the
records of the arena have it (docs/scenarios/invariance.rst). 0 is the base rate of the environment, -1 perfect.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import sized

from estimators import InvariantLogisticClassifier, grid
from metrics import nce
from mlstream.arena import load_suite
from mlstream.generators import invariant_features
from mlstream.streams.stream import Stream

STRENGTHS = grid("IRM")[0]["strength"]
Predict = Callable[[Any], Any]


def rows(stream: Stream) -> tuple[Any, Any, Any]:
    """Return features, labels and environments of all training rows."""
    parts = zip(*((part.X, part.Y, part.task_ids) for part in stream), strict=True)
    X, Y, environment = (np.concatenate(part) for part in parts)
    return X, Y, environment


def scores(stream: Stream, predict: Predict, role: str) -> list[float]:
    """Return the score in each environment of a role."""
    roles = stream.card.scenario.task_roles or []
    sets = [one for one, other in zip(stream.evaluation_sets, roles, strict=True) if other == role]
    return [nce(one.Y, predict(one.X)) for one in sets]


def fit(stream: Stream, penalty: str, **options: Any) -> Predict:
    """Train logistic regression with a penalty on all training environments."""
    X, Y, environment = rows(stream)
    learner = InvariantLogisticClassifier(penalty, memory=None, **options)
    return learner.fit(X, Y, environment=environment).predict_proba


def chosen_on(stream: Stream, penalty: str, role: str) -> Predict:
    """Train with each strength, and take the one that is best on environments of a role."""
    fitted = [fit(stream, penalty, strength=strength) for strength in STRENGTHS]
    return min(fitted, key=lambda predict: np.mean(scores(stream, predict, role)))


def mean_of_models(stream: Stream) -> Predict:
    """Train one model for each environment, and average their probabilities."""
    models = [InvariantLogisticClassifier(memory=None).fit(part.X, part.Y) for part in stream]
    return lambda X: np.mean([model.predict_proba(X) for model in models], axis=0)


def reference(stream: Stream) -> Predict:
    """Train on the invariant features alone, which no contestant can name."""
    columns, (X, Y, _) = invariant_features(stream.card), rows(stream)
    learner = InvariantLogisticClassifier(memory=None).fit(X[:, columns], Y)
    return lambda X: learner.predict_proba(X[:, columns])


LEARNERS: dict[str, Callable[[Stream], Predict]] = {
    "one model for each environment": mean_of_models,
    "IRM, by training environments": lambda stream: chosen_on(stream, "irm", "train"),
    "IRM, by the validation environment": lambda stream: chosen_on(stream, "irm", "validation"),
    "V-REx, by training environments": lambda stream: chosen_on(stream, "vrex", "train"),
    "V-REx, by the validation environment": lambda stream: chosen_on(stream, "vrex", "validation"),
    "invariant features alone": reference,
}


def main() -> None:
    """Print the table."""
    streams = [entry.load() for entry in load_suite().entries(board="environments")][: sized(None, 1)]
    print(f"{'':40}" + "".join(f"{stream.card.name.removeprefix('environments-'):>11}" for stream in streams))
    for name, train in LEARNERS.items():
        worst = [max(scores(stream, train(stream), "unseen")) for stream in streams]
        print(f"{name:40}" + "".join(f"{value:11.3f}" for value in worst), flush=True)


if __name__ == "__main__":
    main()
