"""Missing values of features, filled in or marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.content import FormatError, show
from mlstream.streams.frames import Features
from mlstream.streams.tables.text_columns import IGNORE

_NONE = np.empty(0, np.int64)


def fill_missing(
    X: Features, names: Sequence[str], path: Path, categories: npt.NDArray[np.integer] = _NONE
) -> Features:
    """Replace each NaN in X by the mean of its column, in place; what a CSR matrix does not store is 0, and counts.

    Of columns that are `categories`, whose codes have no mean, it is the most frequent code, the first of several.
    Raises FormatError, with the name of the feature, if a column has missing values only.
    """
    incomplete = _incomplete(X)
    n_missing, sums = _count_missing(X, incomplete)
    if (empty := incomplete[n_missing == X.shape[0]]).size:
        rule = "must have a value in some row for missing= or --missing mean or indicator"
        raise FormatError(f"{path}: column {show(names[empty[0]])} {rule}. Got missing values only; {IGNORE}.")
    means = sums / (X.shape[0] - n_missing)
    for place in np.flatnonzero(np.isin(incomplete, categories)):
        means[place] = _commonest(X[:, [incomplete[place]]])
    if sparse.issparse(X):
        missing = np.isnan(X.data)
        X.data[missing] = means[np.searchsorted(incomplete, X.indices[missing])]
        return X
    for column, mean in zip(incomplete, means, strict=True):
        X[np.isnan(X[:, column]), column] = mean
    return X


def _commonest(column: Features) -> int:
    codes = (column.toarray() if sparse.issparse(column) else column).ravel()
    return int(np.bincount(codes[~np.isnan(codes)].astype(np.int64)).argmax())


def mark_missing(X: Features, columns: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Features]:
    """Return the positions, among `columns`, of those with a missing value, and a 0/1 column of marks for each.

    The marks are a CSR matrix if X is one.

    >>> marked, marks = mark_missing(np.array([[1, np.nan], [2, 3]]), np.array([0, 1]))
    >>> marked.tolist(), marks.tolist()
    ([1], [[1.0], [0.0]])
    """
    marked = np.flatnonzero(np.isin(columns, _incomplete(X)))
    if not sparse.issparse(X):
        return marked, np.isnan(X[:, columns[marked]]).astype(np.float64)
    marks = sparse.csr_array(X[:, columns[marked]], copy=True)
    marks.data = np.isnan(marks.data).astype(np.float64)
    marks.eliminate_zeros()
    return marked, marks


def _incomplete(X: Features) -> npt.NDArray[np.int64]:
    if sparse.issparse(X):
        return np.unique(X.indices[np.isnan(X.data)]).astype(np.int64)
    # A sum is NaN where a value is, and takes no room.
    suspects = np.flatnonzero(np.isnan(X.sum(axis=0)))
    return suspects[[bool(np.isnan(X[:, column]).any()) for column in suspects]].astype(np.int64)


def _count_missing(
    X: Features, columns: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the number of missing values of each column, and the sum of the others."""
    if sparse.issparse(X):
        missing = np.isnan(X.data)
        n_missing = np.bincount(X.indices[missing], minlength=X.shape[1])
        sums = np.bincount(X.indices, weights=np.where(missing, 0.0, X.data), minlength=X.shape[1])
        return n_missing[columns].astype(np.int64), sums[columns].astype(np.float64)
    counts = [np.count_nonzero(np.isnan(X[:, column])) for column in columns]
    return np.array(counts, np.int64), np.array([np.nansum(X[:, column]) for column in columns], np.float64)
