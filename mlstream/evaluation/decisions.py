"""Decisions by one rule for all learners, from the probabilities that each estimates."""

from __future__ import annotations

import numpy as np

from estimators.contract.prevalence import FOLLOW, MEMORY, PRIOR_ROWS, Prevalence
from estimators.meta.binary_relevance import BinaryRelevance
from mlstream.evaluation.predictions import Predictions
from mlstream.evaluation.settings import Decision, Settings
from mlstream.evaluation.wrapping import wrap
from mlstream.streams.label_values import known
from mlstream.streams.stream import Indicator, Mask


class Decisions:
    """A rule that takes the place of a learner's own decisions; this one keeps them."""

    def online(self, predictions: Predictions, Y: Indicator, mask: Mask) -> Predictions:  # noqa: ARG002
        """Decide rows of the stream, each by the rows before it, and count their labels.

        Unknown labels in `Y` are NaN. `mask` is (n_labels,) or (n_samples, n_labels): the labels that count, as the
        scenario shows them to learners.
        """
        return self.held_out(predictions)

    def held_out(self, predictions: Predictions) -> Predictions:
        """Decide rows that are only predicted, and need not follow those of the stream."""
        return predictions

    def learn(self, Y: Indicator, mask: Mask) -> None:
        """Count the labels of rows that nobody predicts."""


class HalfDecisions(Decisions):
    """A label is predicted if its probability is at least one half."""

    def held_out(self, predictions: Predictions) -> Predictions:
        """Decide rows that are only predicted."""
        return predictions._replace(decided=(predictions.proba >= 0.5).astype(np.uint8))


class PrevalenceDecisions(Decisions):
    """A label is predicted if its probability is at least its prevalence, moved against that of late.

    It is the rule of `estimators.PrevalenceThreshold`, with its defaults. Prevalence is counted inside the label masks
    that the scenario shows, for all learners alike, also for those that take no mask. Held-out rows are decided by the
    usual prevalence alone.
    """

    def __init__(self, n_labels: int) -> None:
        self._prevalence = Prevalence.start(n_labels)

    def online(self, predictions: Predictions, Y: Indicator, mask: Mask) -> Predictions:
        """Decide rows of the stream, each by the rows before it, and count their labels."""
        decided, self._prevalence = self._prevalence.decide_then_learn(predictions.proba, Y, _counted(Y, mask))
        return predictions._replace(decided=decided.astype(np.uint8))

    def held_out(self, predictions: Predictions) -> Predictions:
        """Decide rows that are only predicted, by the usual prevalence."""
        decided = self._prevalence.decide(predictions.proba, late=False)
        return predictions._replace(decided=decided.astype(np.uint8))

    def learn(self, Y: Indicator, mask: Mask) -> None:
        """Count the labels of rows that nobody predicts."""
        self._prevalence = self._prevalence.learn(Y, _counted(Y, mask), None)


def make_decisions(decision: Decision, n_labels: int) -> Decisions:
    """Return the rule of a name, for a learner that has learnt nothing."""
    if decision == "prevalence":
        return PrevalenceDecisions(n_labels)
    return HalfDecisions() if decision == "half" else Decisions()


def require_probabilities(estimator: object, settings: Settings) -> None:
    """Raise a TypeError if decisions need probabilities, and a learner, as the user has it, estimates none."""
    if set(settings.rules) == {"own"}:
        return
    wrapper = wrap(estimator)
    # binary relevance counts the decisions of a learner without probabilities as certain
    learner = estimator if isinstance(wrapper, BinaryRelevance) else wrapper
    if not hasattr(learner, "predict_proba"):
        is_own = settings.decision == "own"
        rule = "also_decide (--also-decide) must be empty" if is_own else "decision (--decision) must be 'own'"
        raise TypeError(
            f"{rule} for a learner without predict_proba, {type(estimator).__name__}. "
            f"Got {list(settings.also_decide) if is_own else settings.decision!r} instead."
        )


def rules_as_json(settings: Settings) -> dict[str, float]:
    """Return the settings of the rules of decisions, for records."""
    if "prevalence" not in settings.rules:
        return {}
    return {"decision_follow": FOLLOW, "decision_memory": MEMORY, "decision_prior_rows": PRIOR_ROWS}


def _counted(Y: Indicator, mask: Mask) -> Mask:
    """Return the labels that count: known, and inside the mask."""
    cells, inside = known(Y), np.broadcast_to(mask, Y.shape)
    return np.ascontiguousarray(inside if cells is None else inside & cells)
