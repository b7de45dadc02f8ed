"""Contributions of features to the log-odds of ridge regression."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from estimators._typing import Array
from estimators.contract.explanations import Terms, as_array
from estimators.contract.validation import Features
from estimators.ridge._basis import Basis
from estimators.ridge._calibration import Calibration
from estimators.ridge._kernels.calibration import N_EVIDENCE, add_by_owner, turn_into_log_odds
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
        if basis is None:
            return cls(_owners(b"", 0, 0, 0, (n_dimensions, n_features)), _NO_PAIRS, (_ROW,))
        is_projected, n_pairs = n_dimensions < n_features, len(basis.pairs)
        sizes = (0 if is_projected else n_pairs), len(basis.biases) + (n_pairs if is_projected else 0)
        of = _owners(basis.hinged.tobytes(), basis.knots.shape[1], *sizes, (n_dimensions, n_features))
        return cls(of, _NO_PAIRS if is_projected else basis.pairs, (_UNITS, _ROW))


@lru_cache(maxsize=32)
def _owners(hinged: bytes, n_knots: int, n_pairs: int, n_units: int, widths: tuple[int, int]) -> Array:
    """Return the owner of each function of a basis; it is kept, as finding it takes longer than using it."""
    n_dimensions, n_features = widths
    of_hinges = np.frombuffer(hinged, np.int64).repeat(n_knots)
    own = np.arange(-1, n_dimensions)
    if n_dimensions < n_features:
        own, of_hinges = np.full_like(own, -1), np.full_like(of_hinges, n_features)
    return np.concatenate([own, of_hinges, n_features + np.arange(n_pairs), np.full(n_units, n_features + n_pairs)])


def terms_of(
    contributions: Array, F: Array, usual: Array, coef: Array, owners: Owners, calibration: Calibration
) -> Terms:
    """Return what the log-odds of rows are the sum of; `F` and `usual` are rows of the basis.

    They are those of rows of the stream, which are decided by what came last, too. `contributions` holds what
    features add to scores besides the basis; it is changed.
    """
    n_rows, n_labels, _ = contributions.shape
    coef = np.ascontiguousarray(coef)
    interactions = np.zeros((n_rows, n_labels, len(owners.pairs) + len(owners.totals)))
    scores, usual_scores = np.zeros((n_rows, n_labels)), np.zeros((1, n_labels))
    add_by_owner(F, usual[np.newaxis], coef, owners.of, contributions, interactions, scores, usual_scores)
    base, log_odds, room = np.empty(n_labels), np.empty((n_rows, n_labels)), np.empty((2, n_labels, N_EVIDENCE))
    turn_into_log_odds(scores, usual_scores[0], calibration[:], True, room, contributions, interactions, base, log_odds)
    return Terms("logit", base, contributions, log_odds, interactions, owners.pairs, owners.totals)


def projected_contributions(X: Features, projection: Projection, scale: Array | float, coef: Array) -> Array:
    """Return what features add to scores beside a row of zeros: by the coefficients of their dimensions."""
    by_dimension = coef if np.isscalar(scale) else coef * np.reshape(scale, (-1, 1))
    return np.ascontiguousarray(as_array(X)[:, np.newaxis, :] * (projection.table @ by_dimension).T)
