"""From scores to probabilities and decisions: logistic regression on what scores and late labels suggest."""

from typing import NamedTuple, Self

import numpy as np

from estimators._typing import Array
from estimators.contract.base import Mask
from estimators.ridge._kernels.calibration import N_EVIDENCE, estimate_then_learn
from estimators.ridge._sums import widened

# Weights before any row, and the variance that they may have: the usual prevalence holds, and late labels are believed
# in part.
_FIRST_WEIGHTS = (0.0, 1.0, 0.6, 0.3, 0.2, 0.3, 0.1, 0.0)
_FIRST_VARIANCES = (0.1, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
_PRIOR = np.array([_FIRST_WEIGHTS, _FIRST_VARIANCES])


class Calibration(NamedTuple):
    """Probabilities of labels from any scores that rise with them; never changed in place.

    The same few weights serve all labels, so that they are learnt from the first rows on. They stand for what a score
    and recent labels have been worth on this stream, and follow it if that changes. The scores may come from anywhere,
    as long as those of a row were made before its labels were learnt.
    """

    kept: Array  # (3,): share of the past that each memory of recent labels keeps per row
    usual: Array  # (2, n_labels): weights of positive rows, and of all rows that count the label
    late: Array  # (3, 2, n_labels): the same in each memory, where old rows fade
    groups: Array  # (2, 3, n_labels): rows without and with the label: weight, sums of scores and their squares; fading
    weights: Array  # (8,): of the evidence, which the notes of `StreamRidgeClassifier` list
    covariance: Array  # (8, 8): how uncertain the weights are
    steady: Array  # (8,): mean of the weights over some hundred rows: for rows that need not follow those learnt

    @classmethod
    def start(cls, n_labels: int, memory: float) -> Self:
        """Start from no row, with memories of a quarter of `memory` rows, `memory`, and five times as many."""
        rows = np.maximum([memory / 4, memory, memory * 5], 1.0)
        usual, late, groups = np.zeros((2, n_labels)), np.zeros((3, 2, n_labels)), np.zeros((2, 3, n_labels))
        return cls(1 - 1 / rows, usual, late, groups, _PRIOR[0], np.diag(_PRIOR[1]), _PRIOR[0])

    def widened(self, n_new: int) -> "Calibration":
        """Return the same with more labels, which no row has counted."""
        parts = {name: widened(getattr(self, name), n_new) for name in ("usual", "late", "groups")}
        return self._replace(**parts)

    def estimate(self, scores: Array, *, late: bool) -> tuple[Mask, Array]:
        """Return decisions and probabilities, (n_samples, n_labels), of rows whose labels are not known.

        `late` says whether the rows follow those learnt; otherwise labels are expected to be as frequent as usual, and
        weights are the steady ones.
        """
        nothing = np.zeros((0, scores.shape[1]), dtype=np.uint8)
        return self._copied()._run(scores, nothing, nothing.astype(np.bool_), np.zeros(0), late=late)

    def estimate_then_learn(
        self, scores: Array, Y: Array, counted: Mask, weight: Array
    ) -> tuple[Mask, Array, "Calibration"]:
        """Return decisions and probabilities of each row by the rows before it, and the calibration after them.

        Labels are uint8, 0 and 1 where they count; weights of rows are positive.
        """
        after = self._copied()
        return *after._run(scores, Y, counted, weight, late=True), after

    def _copied(self) -> "Calibration":
        # a state that was loaded may be read-only
        return Calibration(*(part.copy() for part in self))

    def _run(self, scores: Array, Y: Array, counted: Mask, weight: Array, *, late: bool) -> tuple[Mask, Array]:
        decided, proba = np.empty(scores.shape, dtype=np.bool_), np.empty(scores.shape)
        room = np.empty((scores.shape[1], N_EVIDENCE)), np.empty(N_EVIDENCE)
        estimate_then_learn(scores, Y, counted, weight, _PRIOR, self[:], late, *room, proba, decided)
        return decided, proba
