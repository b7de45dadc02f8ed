"""Features of the rows of a window, and the reference that they are compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from estimators._typing import MatrixLike
from estimators.contract.validation import is_sparse
from metrics.validation import check_finite
from mlstream.service.feature_drift import Comparison, Floats, Reference
from mlstream.service.waiting import as_matrix, as_row

# fewer rows show nothing
LEAST_ROWS = 10


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
