"""Submissions that look as if they were made to learn labels from their score.

Such a file keeps almost all rows at a centre, exactly or within noise, and sends a few to places of their own, so that
its score tells which of them have the label. Learners leave few rows away from a centre, too: those that are sure of
the others, those that know few values, and those with heavy tails. The thresholds lie between what the strategies of
`estimators` write and what decodes. A probe that hides among the rows of an honest file is not found.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mlstream.challenge.submissions.rows import Probabilities

_Array = npt.NDArray[np.float64]

# Log-odds as near as this are the same, or rounded: nearer to the centre, none moves a score.
_LEAST, _ROUNDING = 1e-6, 1e-13
# Log-odds of 0.001: rounded to some digits, a learner's probabilities jump to zero from there, or to one.
_EDGE, _SURE = 6.9, 0.01
# In multiples of the noise, which is half the distance of the quartiles: normal noise is never outside.
_OUTSIDE, _FAR = 10.0, 20.0
# Half way there is little normal noise, but much of a heavy tail.
_BETWEEN_OF_ALL, _BETWEEN_OF_APART, _BETWEEN = 0.002, 0.05, 2
# A score has 53 bits: of more rows it cannot tell.
_MOST_ROWS, _MOST_PART = 100, 0.25
# Trees know few values, and nearest neighbours repeat theirs.
_FEW_LEVELS, _DIFFERENT = 4, 0.8
# No two leaves of a tree are so near; and noise has many values, though some are near each other.
_FAINT, _DIGITS = 1e-3, 9
# Of the squared distance of all cells from the centres of their columns.
_CARRIED = 0.1
_LEAST_RATIO, _SAME_RATIO = 1.1, 1.01


def looks_like_decoding(prob: Probabilities, eps: float) -> str | None:
    """Return why a submission looks as if it were made to learn labels from its score, or None.

    `prob` is (n_rows, n_labels); a metric sees it clipped to [eps, 1 - eps].
    """
    seen = np.clip(prob, eps, 1 - eps)
    odds = np.log(seen) - np.log1p(-seen)
    columns = [_Column(label, float(np.log1p(-eps) - np.log(eps))) for label in odds.T.copy()]
    for distance in (np.abs(odds[odds != 0]), *(np.abs(column.apart - column.centre) for column in columns)):
        levels = _distinct(distance)
        if _is_series(levels):
            return f"the {len(levels)} levels of its log-odds are a geometric series"
    made = [column for column in columns if column.looks_made()]
    carried = sum(_energy(column.weights) for column in made)
    total = sum(_energy(column.distance) for column in columns)
    if carried > _CARRIED * total:
        n_cells = sum(len(column.apart) for column in made)
        return f"{n_cells} cells carry {carried / total:.0%} of what it says, and the others stay at a centre"
    return None


class _Column:
    """The log-odds of one label, and the rows that stand apart from the others."""

    def __init__(self, odds: _Array, edge: float) -> None:
        self._odds, self._edge = odds, min(edge, _EDGE)
        seen = np.clip(odds, -self._edge, self._edge)
        low, self.centre, high = np.quantile(seen, (0.25, 0.5, 0.75))
        self._noise = (high - low) / 2 if high - low > _ROUNDING else 0.0
        self.distance = np.abs(seen - self.centre)
        is_apart = self.distance > max(_OUTSIDE * self._noise, _LEAST)
        self.apart, self.weights = odds[is_apart], self.distance[is_apart]

    def looks_made(self) -> bool:
        """Tell whether few rows stand apart, and in a way that learners have not."""
        n_apart = len(self.weights)
        if not 0 < n_apart <= min(_MOST_ROWS, _MOST_PART * len(self._odds)):
            return False
        return self._stands_out_of_noise() if self._noise else self._differs_from_a_constant()

    def _differs_from_a_constant(self) -> bool:
        """Tell whether almost each row apart has a value of its own, where not all others are as sure as can be."""
        n_levels = len(_distinct(self.apart))
        is_sure = abs(self.centre) > self._edge - _SURE
        return not is_sure and n_levels > _FEW_LEVELS and n_levels >= _DIFFERENT * len(self.weights)

    def _stands_out_of_noise(self) -> bool:
        """Tell whether a gap parts the rows apart from noise, which is not that of a few leaves."""
        n_outside, n_half_way = (
            np.count_nonzero(self.distance > part * self._noise) for part in (_OUTSIDE, _OUTSIDE / 2)
        )
        most = _BETWEEN + _BETWEEN_OF_APART * len(self.weights) + _BETWEEN_OF_ALL * len(self._odds)
        is_noise = self._noise < _FAINT or len(np.unique(self._odds.round(_DIGITS))) >= 2 * _FEW_LEVELS
        return bool(n_half_way - n_outside <= most and np.median(self.weights) > _FAR * self._noise and is_noise)


def _distinct(values: _Array) -> _Array:
    """Return the values in order, those that differ by rounding once: a grid of digits would part some of them."""
    ordered = np.sort(values)
    is_new = np.append(True, np.diff(ordered) > _LEAST * np.abs(ordered[1:]))
    distinct: _Array = ordered[is_new[: len(ordered)]]
    return distinct


def _is_series(levels: _Array) -> bool:
    """Tell whether levels are a geometric series: with a ratio of two or more, all their sums are different."""
    if len(levels) <= _FEW_LEVELS:
        return False
    ratios = levels[1:] / levels[:-1]
    return bool(ratios.min() > _LEAST_RATIO and ratios.max() < _SAME_RATIO * ratios.min())


def _energy(distance: _Array) -> float:
    return float(np.square(distance).sum())
