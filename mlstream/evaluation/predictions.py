"""Predictions of a learner: checked before anything is scored, and decided by one rule for all learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from estimators.contract.prevalence import FOLLOW, MEMORY, PRIOR_ROWS, Prevalence
from estimators.meta.binary_relevance import BinaryRelevance
from mlstream.evaluation.settings import Decision, Settings
from mlstream.evaluation.wrapping import wrap
from mlstream.streams.label_values import known
from mlstream.streams.stream import Indicator, Mask

Floats: TypeAlias = npt.NDArray[np.float64]

# Probabilities may leave [0, 1] by rounding.
_ROUNDING = 1e-6


class Predictions(NamedTuple):
    """Decisions and probabilities, row by row, both (n_samples, n_labels)."""

    decided: Indicator  # 0/1 decisions.
    proba: Floats  # P(label is 1).
    also: tuple[Indicator, ...] = ()  # Decisions by further rules.

    def take(self, rows: slice | npt.NDArray[np.bool_]) -> Predictions:
        """Return some of the rows."""
        return Predictions(self.decided[rows], self.proba[rows], tuple(decided[rows] for decided in self.also))


def no_predictions(n_samples: int, n_labels: int) -> Predictions:
    """Return what is recorded for a learner that cannot predict yet: 0 with probability 0."""
    return Predictions(np.zeros((n_samples, n_labels), dtype=np.uint8), np.zeros((n_samples, n_labels)))


def widen_columns(table: np.ndarray, n_labels: int) -> np.ndarray:
    """Return a table, or a mask, with further labels behind its own: 0, or False, in all rows."""
    more = np.zeros((*table.shape[:-1], n_labels - table.shape[-1]), dtype=table.dtype)
    return np.concatenate([table, more], axis=-1)


def widen_predictions(found: Predictions, n_labels: int) -> Predictions:
    """Return predictions of further labels, which are 0 with probability 0."""
    decided, proba = widen_columns(found.decided, n_labels), widen_columns(found.proba, n_labels)
    return Predictions(decided, proba, tuple(widen_columns(table, n_labels) for table in found.also))


def join_predictions(parts: Sequence[Predictions]) -> Predictions:
    """Join the predictions of consecutive rows."""
    decided, proba, also = zip(*parts, strict=True)
    joined = tuple(map(np.concatenate, zip(*also, strict=True)))
    return Predictions(np.concatenate(decided), np.concatenate(proba), joined)


def read_predictions(name: str, decided: object, proba: Any, shape: tuple[int, int]) -> Predictions:
    """Check the predictions that a learner returned; a ValueError names the learner and what is wrong.

    Without probabilities (None), decisions count as certain; without decisions, P >= 0.5 decides. Predictions must be
    there, of `shape` (rows, labels), with decisions 0 or 1 and probabilities in [0, 1].
    """
    if proba is not None:
        proba = _read(proba, f"{name}.predict_proba", shape).astype(np.float64)
        _require(((proba >= -_ROUNDING) & (proba <= 1 + _ROUNDING)), proba, f"{name}.predict_proba", "be in [0, 1]")
        proba = proba.clip(0.0, 1.0)
    if decided is None and proba is None:
        raise ValueError(f"{name} must have predict or predict_proba. Got neither.")
    if decided is None:
        return Predictions((proba >= 0.5).astype(np.uint8), proba)
    decided = _read(decided, f"{name}.predict", shape)
    _require((decided == 0) | (decided == 1), decided, f"{name}.predict", "be 0 or 1")
    decided = decided.astype(np.uint8)
    return Predictions(decided, decided.astype(np.float64) if proba is None else proba)


def _read(values: object, name: str, shape: tuple[int, int]) -> np.ndarray:
    array = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    if array.shape != shape:
        way_out = "; BinaryRelevance of estimators wraps a classifier of one class a row" * (array.ndim == 1)
        raise ValueError(f"{name} must return shape {shape}, one column per label. Got {array.shape} instead{way_out}.")
    return array


def _require(holds: npt.NDArray[np.bool_], values: np.ndarray, name: str, rule: str) -> None:
    if not holds.all():
        row, label = np.argwhere(~holds)[0].tolist()
        place = f"label {label} in row {row} of {len(values)}"
        raise ValueError(f"The result of {name} must {rule}. Got {values[row, label]} for {place} instead.")


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
