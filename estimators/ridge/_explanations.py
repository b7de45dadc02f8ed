"""What each feature adds to the log-odds of ridge regression."""

from typing import NamedTuple

import numpy as np

from estimators._typing import Array
from estimators.contract.explanations import Terms
from estimators.contract.validation import Features, is_sparse
from estimators.ridge._basis import Basis, score
from estimators.ridge._calibration import Calibration
from estimators.ridge._kernels.calibration import N_EVIDENCE
from estimators.ridge._kernels.explaining import add_by_owner, turn_into_log_odds
from estimators.ridge._projection import Projection

_UNITS, _ROW = "hidden units", "sum of the scores of all labels"
_NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


class Owners(NamedTuple):
    """To which feature, or to which interaction after all features, each function of a basis belongs."""

    of: Array  # (n_basis,); -1: to the features of a projection
    pairs: Array  # (n_pairs, 2): features whose products are the first interactions
    totals: tuple[str, ...]  # names of the others

    @classmethod
    def find(cls, basis: Basis | None, n_dimensions: int, n_features: int) -> "Owners":
        """Return the owners of the constant and of features, hinges, pairs and random units, as a basis lists them.

        If features are projected, all but the linear part of a dimension belongs to none of its features.
        """
        is_projected = n_dimensions < n_features
        own = np.full(1 + n_dimensions, -1) if is_projected else np.arange(-1, n_features)
        if basis is None:
            return cls(own, _NO_PAIRS, (_ROW,))
        if is_projected:
            others = np.full(basis.knots.size + len(basis.pairs) + len(basis.biases), n_features)
            return cls(np.concatenate([own, others]), _NO_PAIRS, (_UNITS, _ROW))
        hinges = basis.hinged.repeat(basis.knots.shape[1])
        pairs = n_features + np.arange(len(basis.pairs) + len(basis.biases)).clip(max=len(basis.pairs))
        return cls(np.concatenate([own, hinges, pairs]), basis.pairs, (_UNITS, _ROW))


def terms_of(
    contributions: Array, F: Array, usual: Array, coef: Array, owners: Owners, calibration: Calibration, *, late: bool
) -> Terms:
    """Return what the log-odds of rows are the sum of; `F` and `usual` are rows of the basis.

    `contributions` holds what features add to scores besides the basis; it is changed.
    """
    n_rows, n_labels, _ = contributions.shape
    coef = np.ascontiguousarray(coef)
    interactions = np.zeros((n_rows, n_labels, len(owners.pairs) + len(owners.totals)))
    add_by_owner(F, usual, coef, owners.of, contributions, interactions)
    scores, usual_scores = score(F, coef), score(usual[np.newaxis], coef)[0]
    base, log_odds, room = np.empty(n_labels), np.empty((n_rows, n_labels)), np.empty((2, n_labels, N_EVIDENCE))
    turn_into_log_odds(scores, usual_scores, calibration[:], late, room, contributions, interactions, base, log_odds)
    return Terms("logit", base, contributions, log_odds, interactions, owners.pairs, owners.totals)


def projected_contributions(X: Features, projection: Projection, scale: Array | float, coef: Array) -> Array:
    """Return what features add to scores beside a row of zeros: by the coefficients of their dimensions."""
    rows = X.toarray() if is_sparse(X) else X
    by_dimension = coef if np.isscalar(scale) else coef * np.reshape(scale, (-1, 1))
    return np.ascontiguousarray(rows[:, np.newaxis, :] * (projection.table @ by_dimension).T)
