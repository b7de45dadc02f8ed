"""From scores to probabilities and decisions: logistic regression on what scores and late labels suggest."""

from typing import NamedTuple, Self

import numpy as np
from scipy.special import logit

from estimators._typing import Array
from estimators.contract.base import Mask
from estimators.ridge._kernels import calibration as kernel
from estimators.ridge._kernels.calibration import N_EVIDENCE, estimate_then_learn
from estimators.ridge._sums import widened

# Weights before any row, and the variance that they may have: the usual prevalence holds, and late labels are believed
# in part.
_FIRST_WEIGHTS = (0.0, 1.0, 0.6, 0.3, 0.2, 0.3, 0.1, 0.0)
_FIRST_VARIANCES = (0.1, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
_PRIOR = np.array([_FIRST_WEIGHTS, _FIRST_VARIANCES])


class FixedRule(NamedTuple):
    """The calibration of rows whose labels are not known, in numbers of each label: it is a formula of the scores s.

    A total is offset + weights[0] min(max(slope (s - middle), -most), most) + weights[1] log(h / (1 - h))
    + weights[2] log((1/2 + sum of counted min(max(s, 0), 1)) / expected), where h is s held between low and high. Its
    logistic function is the probability, which is decided by the thresholds.
    """

    offset: Array
    slope: Array
    middle: Array
    low: Array
    high: Array
    counted: Array
    expected: float
    weights: Array
    thresholds: Array
    most: float = kernel._MOST_EVIDENCE
    most_log_odds: float = kernel._MOST_LOG_ODDS

    @property
    def log_odds_of_thresholds(self) -> Array:
        """Log-odds above which labels are predicted, beyond all others for those that never are, or always."""
        most = self.most_log_odds + 1
        return np.clip(logit(np.clip(self.thresholds, 0.0, 1.0)), -most, most)


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

    def fixed(self, *, late: bool) -> FixedRule:
        """Return the rule by which `estimate` estimates and decides, as a formula."""
        positives, rows = self.usual
        odds = (positives + 0.5) / (np.maximum(rows - positives, 0.0) + 0.5)
        prevalence = odds / (1.0 + odds)
        weights = self.weights if late else self.steady
        offset = weights[0] + (weights[1] - weights[kernel._LATE - 1]) * np.log(odds)
        if late:
            seen, of_late = self.late[:, 0], self.late[:, 1]
            late_odds = seen + kernel._PRIOR_ROWS * prevalence
            late_odds /= np.maximum(of_late - seen, 0.0) + kernel._PRIOR_ROWS * (1.0 - prevalence)
            offset += weights[kernel._LATE : kernel._ROW] @ np.log(late_odds / odds)
        middle, slope = self._normal_scores(prevalence)
        low, high = kernel._SCORE_MARGIN * prevalence, 1.0 - kernel._SCORE_MARGIN * (1.0 - prevalence)
        counted = (rows > 0.0).astype(np.float64)
        share = np.divide(positives, rows, out=np.zeros_like(rows), where=rows > 0.0)
        thresholds = np.where(share <= 0.0, 2.0, np.where(share >= 1.0, -1.0, share))
        used = weights[[2, kernel._LATE - 1, kernel._ROW]]
        expected = 0.5 + float(prevalence @ counted)
        return FixedRule(offset, slope, middle, low, high, counted, expected, used, thresholds)

    def _normal_scores(self, prevalence: Array) -> tuple[Array, Array]:
        """Return the middle between scores of rows with and without a label, and the log-odds that a score adds."""
        rows, totals, squares = self.groups.transpose(1, 0, 2)
        enough = (rows >= 2.0).all(axis=0)
        weight = rows[0, enough] / rows[:, enough].sum(axis=0) * rows[1, enough]
        apart = totals[1, enough] / rows[1, enough] - totals[0, enough] / rows[0, enough]
        prior_rows = kernel._PRIOR_SEPARATION_ROWS
        separation = prior_rows * kernel._PRIOR_SEPARATION + float(weight @ apart)
        separation = min(max(separation / (prior_rows + float(weight.sum())), 0.02), 0.98)
        prior = np.array([[kernel._PRIOR_WITHOUT], [kernel._PRIOR_WITH]])
        first = np.stack([prevalence * (1.0 - separation), prevalence + (1.0 - prevalence) * separation])
        without, within = (totals + prior * first) / (rows + prior)
        usual = max(separation * (1.0 - separation), 0.02) * prevalence * (1.0 - prevalence)
        spread = np.maximum(squares - totals**2 / np.where(rows > 0.0, rows, 1.0), 0.0) * (rows > 0.0)
        variance = spread.sum(axis=0) + kernel._PRIOR_VARIANCE * usual
        variance = np.maximum(variance / (rows.sum(axis=0) + kernel._PRIOR_VARIANCE), kernel._LEAST_VARIANCE)
        return (within + without) / 2.0, np.maximum(within - without, 0.0) / variance

    def _copied(self) -> "Calibration":
        # a state that was loaded may be read-only
        return Calibration(*(part.copy() for part in self))

    def _run(self, scores: Array, Y: Array, counted: Mask, weight: Array, *, late: bool) -> tuple[Mask, Array]:
        decided, proba = np.empty(scores.shape, dtype=np.bool_), np.empty(scores.shape)
        room = np.empty((scores.shape[1], N_EVIDENCE)), np.empty(N_EVIDENCE)
        estimate_then_learn(scores, Y, counted, weight, _PRIOR, self[:], late, *room, proba, decided)
        return decided, proba
