"""Calibration of the probabilities of several classes, each class against the others, on predictions out of fold."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from estimators._typing import Array

Calibration = Literal["sigmoid", "isotonic"]
CALIBRATIONS = ("sigmoid", "isotonic")
# the nearest that a probability comes to 0 or 1 before its log-odds are taken
MARGIN = 1e-12


@dataclass(frozen=True)
class ClassCalibration:
    """One map for each class, from its probability to the share of rows that it has among rows of like probability."""

    maps: list[Any]  # LogisticRegression on log-odds (Platt), or IsotonicRegression

    @classmethod
    def fit(cls, method: Calibration, proba: Array, codes: Array) -> Self:
        """Fit maps to probabilities (n_samples, n_classes) for rows whose classes are given by position."""
        if method == "sigmoid":
            return cls([LogisticRegression().fit(_log_odds(p), codes == c) for c, p in enumerate(proba.T)])
        return cls([IsotonicRegression(out_of_bounds="clip").fit(p, codes == c) for c, p in enumerate(proba.T)])

    def transform(self, proba: Array) -> Array:
        """Return calibrated probabilities that sum to 1; equal ones where all are 0."""
        one_by_one = np.column_stack([_mapped(one, p) for one, p in zip(self.maps, proba.T, strict=True)])
        total = one_by_one.sum(axis=1, keepdims=True)
        equal = np.full(proba.shape, 1.0 / proba.shape[1])
        return np.divide(one_by_one, total, out=equal, where=total > 0)


def _mapped(one: Any, p: Array) -> Array:
    return one.predict_proba(_log_odds(p))[:, 1] if isinstance(one, LogisticRegression) else one.predict(p)


def _log_odds(p: Array) -> Array:
    inside = np.clip(p, MARGIN, 1.0 - MARGIN)
    return np.log(inside / (1.0 - inside))[:, np.newaxis]
