"""Submissions that look as if they were made to learn labels from their score."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mlstream.challenge.submissions.rows import Probabilities

# A submission that decodes labels leaves most cells at one half, and spreads the others so that sums are unique.
_MOST = 0.5
# Of probabilities with nine digits.
_SAME_LEVEL = 1e-6
_FEW_LEVELS = 4
_SAME_RATIO = 1e-2


def looks_like_decoding(prob: Probabilities, eps: float) -> str | None:
    """Return why a submission looks as if it were made to learn labels from its score, or None."""
    others = prob[prob != 0.5]
    if others.size and others.size < (1 - _MOST) * prob.size:
        return f"{1 - others.size / prob.size:.0%} of its probabilities are 0.5"
    inside = others[(others > 0) & (others < 1)]
    levels = _distinct(np.abs(np.log(inside) - np.log1p(-inside)))
    ratios = levels[1:] / levels[:-1] if len(levels) > _FEW_LEVELS and levels[0] > 0 else np.empty(0)
    if len(ratios) and ratios.min() > 1 + _SAME_RATIO and ratios.max() / ratios.min() < 1 + _SAME_RATIO:
        return f"the {len(levels)} levels of its log-odds are a geometric series"
    return None


def _distinct(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the values in order, those that differ by rounding once: a grid of digits would part some of them."""
    ordered = np.sort(values)
    is_new = np.append(True, np.diff(ordered) > _SAME_LEVEL * ordered[1:])
    distinct: npt.NDArray[np.float64] = ordered[is_new[: len(ordered)]]
    return distinct
