"""The basis of ridge regression: the features of a row, hinges of each, and random units over all."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from estimators._typing import Array
from estimators.contract.validation import Features
from estimators.ridge._kernels.ridge import dense_scores, expand, sparse_scores


class Basis(NamedTuple):
    """Shift and scale of features, knots of their hinges, weights and biases of random units."""

    shift: Array
    scale: Array
    knots: Array
    weights: Array
    biases: Array

    @classmethod
    def fit(cls, X: Array, n_knots: int, weights: Array, biases: Array) -> Self:
        """Place the basis where the rows are: knots at quantiles, units over standardised features."""
        deviation = X.std(axis=0)
        scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        shift = X.mean(axis=0)
        levels = np.linspace(0, 1, n_knots + 2)[1:-1]
        knots = np.quantile((X - shift) * scale, levels, axis=0).T
        return cls(shift, scale, np.ascontiguousarray(knots), weights, biases)

    def expand(self, X: Array) -> Array:
        """Return the rows as (n_samples, 1 + n_features * (1 + n_knots) + n_units)."""
        n_features, n_knots = self.knots.shape
        out = np.empty((len(X), 1 + n_features * (1 + n_knots) + len(self.biases)))
        expand(np.ascontiguousarray(X, dtype=np.float64), *self, out)
        return out


def with_constant(X: Features) -> Features:
    """Put a column of ones before the features."""
    n_samples, n_features = X.shape
    if not isinstance(X, sparse.csr_array):
        return np.hstack([np.ones((n_samples, 1)), X.astype(np.float64, copy=False)])
    starts = X.indptr[:-1]
    indices = np.insert(X.indices + 1, starts, 0)
    data = np.insert(X.data.astype(np.float64), starts, 1.0)
    return sparse.csr_array((data, indices, X.indptr + np.arange(n_samples + 1)), shape=(n_samples, n_features + 1))


def score(F: Features, coef: Array) -> Array:
    """Multiply rows by coefficients (n_features, n_labels), each row in one order of additions."""
    out = np.zeros((F.shape[0], coef.shape[1]))
    # A kernel is compiled for each order in memory: the one in which the labels of a feature are neighbours.
    coef = np.ascontiguousarray(coef)
    if isinstance(F, sparse.csr_array):
        sparse_scores(F.indptr, F.indices, F.data, coef, out)
    else:
        dense_scores(F, coef, out)
    return out
