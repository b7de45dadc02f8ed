"""Predictions of a learner, checked before anything is scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream.streams.stream import Indicator

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
