"""Features of a window compared with those of a reference: how far apart they are, and whether that can be chance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from estimators._typing import MatrixLike
from estimators.contract.validation import is_sparse
from metrics.validation import check_finite
from mlstream.service.waiting import as_matrix, as_row

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

N_BINS = 10
# the least share of a bin, so that the index is finite where a bin is empty
LEAST_SHARE = 1e-4
_MOST_CORRELATED = 0.999
# fewer rows show nothing
LEAST_ROWS = 10


class Comparison(NamedTuple):
    """How the features of a window differ from the reference, an item for each feature."""

    psi: Floats
    ks: Floats  # NaN where shares of values are compared
    p_value: Floats  # corrected for the number of features


class Values(NamedTuple):
    """A feature of which shares of values are compared: the values, and how often the reference has each of them."""

    column: int
    values: Floats
    counts: Counts  # in all rows, the last of other values
    later: Counts  # in rows that had no say in what the values are


class Reference:
    """The rows that windows are compared with.

    Features are sorted columns with the bounds of bins of equal frequency; or values with their counts, if they are
    categories or have no more values than bins. Shares that are tested are those of the second half of the rows, since
    the first half says what the values are: otherwise a value that is rare would always be new.
    """

    def __init__(self, X: Floats, categorical: Collection[int]) -> None:
        half, n_features = len(X) // 2, X.shape[1]
        found = {column: np.unique(X[:half, column]) for column in range(n_features)}
        listed = [column for column in found if column in categorical or len(found[column]) <= N_BINS]
        self.n_rows, self.n_features = X.shape
        self._numbers = np.setdiff1d(np.arange(n_features), listed)
        self._values = [_count_values(column, found[column], X[:, column], half) for column in listed]
        self._sorted = np.sort(X.T[self._numbers], axis=1)
        shares = np.linspace(0, 1, N_BINS + 1)[1:-1]
        self._bounds = np.quantile(self._sorted, shares, axis=1, method="inverted_cdf").T.copy()
        self._counts = _count_bins(self._sorted, self._bounds)
        self._effective = _effective_shares(X)

    def compare(self, X: Floats) -> Comparison:
        """Compare the features of the rows of a window."""
        psi, p_value = np.empty(self.n_features), np.empty(self.n_features)
        ks = np.full(self.n_features, np.nan)
        columns = np.sort(X.T[self._numbers], axis=1)
        psi[self._numbers] = stability_index(self._counts, _count_bins(columns, self._bounds))
        ks[self._numbers] = distances = largest_distances(self._sorted, columns)
        n_effective = self._effective[self._numbers] * self.n_rows * len(X) / (self.n_rows + len(X))
        p_value[self._numbers] = special.kolmogorov(np.sqrt(n_effective) * distances)
        for column, values, counts, later in self._values:
            now = _count_each(values, X[:, column])
            psi[column] = stability_index(counts, now)
            share = self._effective[column]
            p_value[column] = same_shares(np.rint(later * share).astype(int), np.rint(now * share).astype(int))
        return Comparison(psi, ks, holm(p_value))


def stability_index(expected: Counts, found: Counts) -> Floats:
    """Return the population stability index of counts, over the bins in the last axis.

    It is the sum of ``(q - p) * log(q / p)`` over shares p and q, which are at least `LEAST_SHARE`.
    """
    p, q = (np.maximum(counts / counts.sum(axis=-1, keepdims=True), LEAST_SHARE) for counts in (expected, found))
    index: Floats = ((q - p) * np.log(q / p)).sum(axis=-1)
    return index


def largest_distances(first: Floats, second: Floats) -> Floats:
    """Return the largest distance between the distribution functions of two samples, sorted rows of both tables."""
    n, m = first.shape[1], second.shape[1]
    steps = n * np.arange(1, m + 1)
    largest = np.empty(len(first), dtype=np.int64)
    for row, (one, other) in enumerate(zip(first, second, strict=True)):
        # between two values of the second sample, its function is level and the other one rises: the ends are extremes
        places = one.searchsorted(other)
        below = steps - m * places
        above = below
        if (one.take(places, mode="clip") == other).any():
            above = steps - m * one.searchsorted(other, "right")
        largest[row] = max(above.max(), n - below.min())
    distances: Floats = largest / (n * m)
    return distances


def same_shares(first: Counts, second: Counts) -> float:
    """Return the p-value of counts of the same values in two samples: the exact test of each value, by Bonferroni."""
    tests = max(int(np.count_nonzero(first + second)) - 1, 1)
    n_drawn, n_all = int(second.sum()), int(first.sum() + second.sum())
    pairs: list[tuple[int, int]] = list(zip(first.tolist(), second.tolist(), strict=True))
    least = min(_both_tails(k, j + k, n_drawn, n_all) for j, k in pairs)
    return min(1.0, tests * least)


def _both_tails(k: int, n_marked: int, n_drawn: int, n_all: int) -> float:
    """Return twice the smaller tail of the hypergeometric distribution; 1 within two standard deviations."""
    mean, others = n_drawn * n_marked / max(n_all, 1), n_all - n_marked
    variance = mean * (others / max(n_all, 1)) * ((n_all - n_drawn) / max(n_all - 1, 1))
    if (k - mean) ** 2 <= 4 * variance:
        return 1.0
    low, high = max(0, n_drawn - others), min(n_marked, n_drawn)
    j = np.arange(k, high + 1) if k > mean else np.arange(low, k + 1)
    logs = _log_choose(n_marked, j) + _log_choose(others, n_drawn - j) - _log_choose(n_all, n_drawn)
    return min(1.0, 2.0 * float(np.exp(logs).sum()))


def _log_choose(n: int, k: Counts | int) -> Floats:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


def holm(p_value: Floats) -> Floats:
    """Return p-values corrected by the method of Holm: without a cause, one is below alpha with that chance at most."""
    order = np.argsort(p_value, kind="stable")
    stepped = np.maximum.accumulate(p_value[order] * np.arange(len(p_value), 0, -1))
    corrected = np.empty_like(p_value)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def _effective_shares(X: Floats) -> Floats:
    """Return how many independent rows a row is worth, a number for each feature.

    If each row resembles the one before it with correlation r, as in a process of first order, means vary as those of
    ``(1 - r) / (1 + r)`` times as many independent rows.
    """
    centred = X - X.mean(axis=0)
    centred /= np.maximum(np.abs(centred).max(axis=0), np.finfo(float).tiny)
    squares = (centred**2).sum(axis=0)
    r = (centred[1:] * centred[:-1]).sum(axis=0) / np.where(squares > 0, squares, 1.0)
    r = np.clip(r, 0.0, _MOST_CORRELATED)
    return np.asarray((1 - r) / (1 + r))


def _count_values(column: int, values: Floats, x: Floats, half: int) -> Values:
    return Values(column, values, _count_each(values, x), _count_each(values, x[half:]))


def _count_each(values: Floats, x: Floats) -> Counts:
    """Count each of the sorted values, and the others behind them."""
    places = values.searchsorted(x)
    places[values[np.minimum(places, len(values) - 1)] != x] = len(values)
    return np.bincount(places, minlength=len(values) + 1)


def _count_bins(columns: Floats, bounds: Floats) -> Counts:
    """Count the values up to each bound and beyond the one before it, in sorted rows."""
    counts = np.empty((len(bounds), bounds.shape[1] + 2), dtype=np.int64)
    counts[:, 0], counts[:, -1] = 0, columns.shape[1]
    for row, (column, ends) in enumerate(zip(columns, bounds, strict=True)):
        counts[row, 1:-1] = column.searchsorted(ends, "right")
    return np.diff(counts, axis=1)


class FeatureRows:
    """The features of at most `n_rows` rows; the first `n_reference` rows become the reference, unless one is set."""

    def __init__(self, n_rows: int, n_reference: int, names: tuple[str, ...], categorical: Sequence[int | str]) -> None:
        self.table: Floats = np.empty((n_rows, 0))
        self.row_shape: tuple[int, ...] = (0,)
        self._n_reference, self._names, self._categorical = n_reference, names, categorical
        self._categories: frozenset[int] = frozenset()
        self._reference: Reference | None = None
        self._waiting: list[Floats] = []

    @property
    def n_features(self) -> int:
        """Number of features, 0 before the first rows."""
        return int(self.table.shape[1])

    def read(self, X: MatrixLike) -> Floats:
        """Return a row, or rows, as float64, all of them finite, and of the width of those before."""
        n_dimensions = np.ndim(X)  # type: ignore[arg-type]  # sparse ones have two
        if not n_dimensions:
            raise ValueError(f"X must be a row or a table of numbers. Got {X!r} instead.")
        given = as_matrix(as_row(X) if n_dimensions == 1 else X)
        try:
            rows = np.asarray(given.toarray() if is_sparse(given) else given, dtype=np.float64)  # type: ignore[union-attr]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"X must hold numbers: give each category a number, and name its feature in `categorical`. Got {error}."
            ) from None
        expected = self.n_features or len(self._names) or max(rows.shape[-1], 1)
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != expected:
            raise ValueError(f"X must have shape (n_rows, {expected}), of at least a row. Got {rows.shape} instead.")
        check_finite(rows, "X", column="feature")
        return rows

    def begin(self, n_features: int) -> bool:
        """Say how many features there are, and return whether nobody knew."""
        if self.n_features:
            return False
        self._categories = self._find_categories(n_features)
        self.table, self.row_shape = np.empty((len(self.table), n_features)), (n_features,)
        return True

    def set_reference(self, rows: Floats | None) -> None:
        """Compare with these rows from now on, or with those that come next."""
        self._reference = None if rows is None else Reference(rows, self._categories)
        self._waiting = []

    def compare(self) -> Comparison | None:
        """Compare the full table with the reference; without one, keep its rows until they are enough to be it."""
        if self._reference is not None:
            return self._reference.compare(self.table)
        self._waiting.append(self.table.copy())
        if len(self._waiting) * len(self.table) >= self._n_reference:
            self.set_reference(np.concatenate(self._waiting)[: self._n_reference])
        return None

    def _find_categories(self, n_features: int) -> frozenset[int]:
        """Return the positions of the features that are categories."""
        places: dict[int | str, int] = {name: place for place, name in enumerate(self._names)}
        places |= {place: place for place in range(n_features)}
        if unknown := [name for name in self._categorical if name not in places]:
            rule = f"positions below {n_features}" + ", or feature_names" * bool(self._names)
            raise ValueError(f"categorical must hold {rule}. Got {unknown[0]!r} instead.")
        return frozenset(places[name] for name in self._categorical)
