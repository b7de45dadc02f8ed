"""Three decision rules over the probabilities of any learner, in plain NumPy, written from the formula of the docs.

This is another implementation than that of the packages, on purpose: the tests compare the scores of the two.
A threshold depends on the labels learnt so far and on nothing else, so those of a stream serve every learner.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mlstream.evaluation.label_space import learning_view
from mlstream.evaluation.predictions import Predictions
from mlstream.streams.stream import Indicator, Mask, Stream

RULES = ("own", "half", "prevalence")

# How far the threshold follows the recent prevalence; how many rows that covers; how many usual rows it starts from.
FOLLOW, MEMORY_ROWS, PRIOR_ROWS = 0.5, 20.0, 5.0
# A recent prevalence is kept so far from 0 and 1.
MARGIN = 1e-4

Floats = npt.NDArray[np.float64]


class Thresholds(NamedTuple):
    """The least probabilities at which labels are predicted.

    Parameters
    ----------
    online : ndarray of shape (n_rows, n_labels)
        For each row to learn, by the rows before it, moved against their recent prevalence.
    held_out : ndarray of shape (n_experiences + 1, n_labels)
        For evaluation sets, after so many experiences: the usual prevalence, for their rows need not follow the others.
    """

    online: Floats
    held_out: Floats


def thresholds(stream: Stream) -> Thresholds:
    """Compute the thresholds of the rule "prevalence" along a stream; labels count inside the label masks."""
    return follow_labels([(part.Y, part.label_mask) for part in learning_view(stream)], stream.n_labels)


def follow_labels(pieces: Iterable[tuple[Indicator, Mask]], n_labels: int) -> Thresholds:
    """Compute the thresholds along pieces of a stream, each its labels and those that count.

    The odds of the threshold are usual * (usual / late) ** FOLLOW, where usual and late are the odds of a label among
    all rows so far, and among the latest ones by weights that fall by 1 / MEMORY_ROWS a row.
    """
    positives, rows, late_positives, late_rows = np.zeros((4, n_labels))
    online, ends = [], [_bounds(_share(positives, rows))]
    for Y, mask in pieces:
        counted = np.broadcast_to(mask, Y.shape) & ~np.isnan(Y.astype(np.float64))
        for labels, known in zip(Y, counted, strict=True):
            usual = _share(positives, rows)
            late = (late_positives + PRIOR_ROWS * usual) / (late_rows + PRIOR_ROWS)
            online.append(_bounds(usual, late.clip(MARGIN, 1 - MARGIN)))
            truth, keep = np.where(known, labels, 0), np.where(known, 1 - 1 / MEMORY_ROWS, 1.0)
            positives, rows = positives + truth, rows + known
            late_positives, late_rows = late_positives * keep + truth, late_rows * keep + known
        ends.append(_bounds(_share(positives, rows)))
    return Thresholds(np.array(online), np.array(ends))


def _share(positives: Floats, rows: Floats) -> Floats:
    return np.divide(positives, rows, out=np.zeros_like(positives), where=rows > 0)


def _bounds(usual: Floats, late: Floats | None = None) -> Floats:
    """Return the threshold of each label; one that was never positive is never predicted, one always so always is."""
    inside = (usual > 0) & (usual < 1)
    pi = np.where(inside, usual, 0.5)
    if late is not None:
        log_odds = np.log(pi / (1 - pi))
        pi = 1 / (1 + np.exp(-(log_odds - FOLLOW * (np.log(late / (1 - late)) - log_odds))))
    return np.where(inside, pi, np.where(usual > 0, -1.0, 2.0))


def decide(rule: str, predictions: Predictions, least: Floats) -> Predictions:
    """Replace the decisions of a learner by those of a rule."""
    if rule == "own":
        return predictions
    bound = 0.5 if rule == "half" else least
    return Predictions((predictions.proba >= bound).astype(np.uint8), predictions.proba)
