"""Clusters of rows by their features, in which outliers are no clusters of their own."""

from __future__ import annotations

import warnings
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from mlstream.streams.stream import Features, Index

# A cluster is too small if it has less than a tenth of the rows that it would have if all were of one size.
_SHARE = 10


class FeatureClusters(NamedTuple):
    """Clusters of rows.

    The remark, for the card, says how they were found, if not by k-means on the standardised features; else it is
    empty.
    """

    assignment: Index
    remark: str = ""


def cluster_features(
    X: Features, spread: npt.NDArray[np.floating], n_tasks: int, *, least_rows: int, seed: int
) -> FeatureClusters:
    """Cluster rows by k-means on their features, so that every cluster has rows enough to be a task.

    `spread` holds the standard deviation of each feature. Clusters have at least `least_rows` rows, fewer where the
    rows do not suffice for all, and at least a tenth of an equal share of all rows. Raises ValueError if no such
    clusters are found.

    Clusters of the standardised features are taken if none is too small. Where one is, outliers are clusters of their
    own, as they often are in sparse tables. Then standardised rows are measured from the medians of the features (in a
    sparse table, from zero), a 1 is appended to each, and they are scaled to unit length: no row is far from all
    others, and rows that differ still differ. While a cluster of these is too small, its rows are set aside and the
    others are clustered again. At last each row joins the cluster of the nearest centre.
    """
    scaled = sparse.csr_array(_narrow(X) / spread) if sparse.issparse(X) else np.asarray(X / spread)
    n_rows = scaled.shape[0]
    least = min(max(least_rows, ceil(n_rows / (_SHARE * n_tasks))), n_rows // n_tasks)
    assignment, _ = _fit(scaled, n_tasks, seed)
    if np.bincount(assignment, minlength=n_tasks).min() >= least:
        return FeatureClusters(assignment)
    assignment = _cluster_without_outliers(_to_unit_length(scaled), n_tasks, least, seed)
    return FeatureClusters(assignment, f", of rows scaled to unit length, as outliers were clusters of < {least} rows")


def _cluster_without_outliers(rows: Features, n_tasks: int, least: int, seed: int) -> Index:
    kept = np.arange(rows.shape[0])
    while len(kept) >= n_tasks * least:
        assignment, centres = _fit(_narrow(rows[kept]), n_tasks, seed)
        sizes = np.bincount(assignment, minlength=n_tasks)
        if sizes.min() >= least:
            # Of rows and centres, the greatest product less half the centre's square is the least distance.
            nearest = np.argmax(rows @ centres.T - (centres**2).sum(axis=1) / 2, axis=1)
            nearest[kept] = assignment
            return np.asarray(nearest)
        outlying = sizes[assignment] < least
        if not outlying.any():
            break
        kept = kept[~outlying]
    raise ValueError(
        f"The features must have {n_tasks} clusters of at least {least} rows. Got fewer in {rows.shape[0]} rows; ask "
        f"for fewer tasks (n_tasks; of environments, fewer roles), or use by='time' or by='column'."
    )


def _fit(rows: Features, n_tasks: int, seed: int) -> tuple[Index, npt.NDArray[np.floating]]:
    # One thread: the order of the sums, and so the last bits, would depend on their number.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # It warns of fewer different rows than clusters: some clusters are then empty, which callers see.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(n_tasks, n_init=10, random_state=seed).fit(rows)
    return found.labels_.astype(np.int64), found.cluster_centers_


def _to_unit_length(scaled: Features) -> Features:
    one = np.ones((scaled.shape[0], 1))
    if not sparse.issparse(scaled):
        dense = np.hstack([scaled - np.median(scaled, axis=0), one])
        return np.asarray(dense / np.linalg.norm(dense, axis=1, keepdims=True))
    rows = sparse.csr_array(sparse.hstack([scaled, sparse.csr_array(one)]))
    lengths = np.sqrt((rows * rows).sum(axis=1))
    return sparse.csr_array(sparse.diags_array(1 / lengths) @ rows)


def _narrow(X: Features) -> Features:
    """Return a sparse matrix with the indices of 32 bits that k-means asks for."""
    if not sparse.issparse(X):
        return X
    return sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
