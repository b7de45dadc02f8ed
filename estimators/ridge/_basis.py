"""The basis of ridge regression: features, hinges of each, products of 0/1 columns, and random units over all."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from estimators._typing import Array
from estimators.contract.validation import Features
from estimators.ridge._kernels.ridge import dense_scores, expand, sparse_scores


class Basis(NamedTuple):
    """Shift and scale of features, knots of their hinges, pairs of 0/1 columns, weights and biases of random units."""

    shift: Array
    scale: Array
    hinged: Array  # (n_hinged,): features that have hinges
    knots: Array  # (n_hinged, n_knots)
    pairs: Array  # (n_pairs, 2): 0/1 columns that are multiplied
    weights: Array
    biases: Array

    @classmethod
    def fit(cls, X: Array, n_knots: int, weights: Array, biases: Array) -> Self:
        """Place the basis where the rows are: knots at quantiles, units over standardised features.

        0/1 columns have no hinges, which would be the columns again. Of the units, as large a share as these columns
        have of the features are products of two of them instead.
        """
        is_flag = ((X == 0) | (X == 1)).all(axis=0)
        pairs = _frequent_pairs(X, np.flatnonzero(is_flag), int(len(biases) * is_flag.mean()))
        n_units = len(biases) - len(pairs)
        deviation = X.std(axis=0)
        scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        # 0/1 columns stay what they are, so that it can be seen how rare they are
        shift, scale = np.where(is_flag, 0.0, X.mean(axis=0)), np.where(is_flag, 1.0, scale)
        hinged = np.flatnonzero(~is_flag)
        levels = np.linspace(0, 1, n_knots + 2)[1:-1]
        knots = np.quantile(((X - shift) * scale)[:, hinged], levels, axis=0).T
        return cls(
            shift, scale, hinged, np.ascontiguousarray(knots), pairs, weights[:, :n_units].copy(), biases[:n_units]
        )

    def expand(self, X: Array) -> Array:
        """Return the rows as (n_samples, 1 + n_features + n_hinged * n_knots + n_pairs + n_units)."""
        out = np.empty((len(X), 1 + X.shape[1] + self.knots.size + len(self.pairs) + len(self.biases)))
        expand(np.ascontiguousarray(X, dtype=np.float64), *self, out)
        return out


def _frequent_pairs(X: Array, flags: Array, n_most: int) -> Array:
    """Return the pairs of 0/1 columns that are 1 together in most rows, at most `n_most`.

    Pairs that are together equally often follow each other by how often they would be if they were independent.
    """
    first, second = np.triu_indices(len(flags), 1)
    F, share = X[:, flags], X[:, flags].mean(axis=0)
    together, expected = (F.T @ F)[first, second], share[first] * share[second]
    best = np.lexsort((-expected, -together))[:n_most]
    return np.stack([flags[first[best]], flags[second[best]]], axis=1)


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
