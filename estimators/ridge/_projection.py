"""Fewer dimensions for many features: sums of products grow with the square of what they are taken over."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from estimators._typing import Array
from estimators.contract.validation import Features

# Beyond so many features "auto" projects them, to so many dimensions.
MOST_FEATURES, AUTO_DIMENSIONS = 5000, 2000
# Tables of products, and of labels, that are in memory at the same time at most: sums over all rows, of recent rows, of
# the current concept, of four stored ones and of new rows, old and new values of those that change, factors, and a
# system.
_TABLES, _LABEL_TABLES = 24, 90
_TABLES_WITHOUT_DRIFT, _LABEL_TABLES_WITHOUT_DRIFT = 7, 22


class Projection(NamedTuple):
    """A sketch that adds up features with random signs: CountSketch with equally many features in each dimension.

    Inner products of rows are those of their sketches in the mean over sketches. A row costs its non-zeros.
    """

    table: sparse.csr_array  # (n_features, n_components): a single 1 or -1 for each feature

    @classmethod
    def draw(cls, n_features: int, n_components: int, random_state: np.random.RandomState) -> Self:
        """Draw the dimension and the sign of each feature."""
        dimensions = random_state.permutation(n_features) % n_components
        signs = 2.0 * random_state.randint(2, size=n_features) - 1.0
        starts = np.arange(n_features + 1)
        return cls(sparse.csr_array((signs, dimensions, starts), shape=(n_features, n_components)))

    @property
    def n_components(self) -> int:
        """Number of dimensions."""
        return int(self.table.shape[1])

    def apply(self, X: Features) -> Features:
        """Return rows (n_samples, n_components): sparse ones stay sparse, with the values that dense ones have."""
        if not isinstance(X, sparse.csr_array):
            return np.ascontiguousarray(X @ self.table)
        projected = sparse.csr_array(X @ self.table)
        projected.sort_indices()
        return projected


def n_dimensions(n_features: int, n_components: int | str | None) -> int:
    """Return the number of dimensions that features are projected to, or of features if they are not."""
    if n_components == "auto":
        return n_features if n_features <= MOST_FEATURES else AUTO_DIMENSIONS
    return n_features if n_components is None else min(n_features, int(n_components))


def sums_bytes(n_basis: int, n_labels: int, *, follow_drift: bool) -> int:
    """Return the most memory in bytes that sums and coefficients take, while rows are added to them."""
    return 8 * n_basis * sum(_weighed(n_basis, n_labels, follow_drift=follow_drift))


def largest_basis(max_bytes: int, n_labels: int, *, follow_drift: bool) -> int:
    """Return the largest basis whose sums fit into some bytes."""
    tables, rest = _weighed(1, n_labels, follow_drift=follow_drift)
    return int((np.sqrt(rest**2 + tables * max_bytes / 2) - rest) / (2 * tables))


def _weighed(n_basis: int, n_labels: int, *, follow_drift: bool) -> Array:
    pair = (_TABLES, _LABEL_TABLES) if follow_drift else (_TABLES_WITHOUT_DRIFT, _LABEL_TABLES_WITHOUT_DRIFT)
    return np.array(pair) * [n_basis, n_labels]
