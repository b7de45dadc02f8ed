"""Splitters with scikit-learn's interface for streams and for tables of labels, of which some may be unknown (NaN)."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator, KFold
from sklearn.utils import check_random_state, indexable

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, RandomStateLike, RowValues
from estimators.contract.targets import make_target
from estimators.contract.validation import check_row_values, is_missing
from metrics.validation import require_choice, require_integer

Integers = npt.NDArray[np.int64]
Table: TypeAlias = "sparse.csr_array[Any]"


class MultilabelStratifiedKFold(KFold):
    """K folds in which each label is present as often as in the others, as far as rows of several labels allow.

    Rows of the rarest label are dealt first, each to the fold that has the fewest of them, then those of the next.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    order : {1, 2}, default=1
        Whether pairs of labels are dealt evenly, too (2), as in second-order stratification.
    shuffle : bool, default=False
        Whether rows are dealt in random order. Without it, they are dealt in the order of the table.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    Notes
    -----
    Folds differ by at most one row, as those of `KFold`: a full fold takes no more rows. In the published algorithm,
    which has no such limit, the folds of small tables may differ by more. Ties go to the fold with fewest rows, then to
    the first one; with `shuffle`, rows are in random order, so that it does not matter which is the first.

    An unknown label is neither present nor absent. Where a label has unknown cells, the rows where it is known to be
    absent are dealt like those of one more label, so that folds are alike in what is known of it. One class a row is
    dealt like labels that exclude each other.

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of multi-label data", ECML PKDD 2011.

    P. Szymański, T. Kajdanowicz, "A network perspective on stratification of multi-label data", LIDTA 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 1], [0, np.nan], [0, 0], [0, 1], [0, 0]])
    >>> for train, test in MultilabelStratifiedKFold(n_splits=2).split(np.zeros((6, 1)), Y):
    ...     print(test, np.nansum(Y[test], axis=0))
    [0 4 5] [1. 1.]
    [1 2 3] [1. 1.]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        order: int = 1,
        shuffle: bool = False,
        random_state: RandomStateLike = None,
    ) -> None:
        super().__init__(n_splits=n_splits, shuffle=shuffle, random_state=random_state)
        require_choice(order, "order", (1, 2))
        self.order = order

    def _iter_test_indices(self, X: Any, y: Any = None, groups: RowValues = None) -> Iterator[Integers]:  # noqa: ARG002
        if y is None:
            raise ValueError("y must hold the labels to stratify by. Got None instead.")
        codes = make_target(y).encode(y)
        rows = np.arange(len(codes))
        if self.shuffle:
            check_random_state(self.random_state).shuffle(rows)
        folds = _deal(_properties(codes, self.order)[rows], self.n_splits)
        return (np.sort(rows[folds == fold]) for fold in range(self.n_splits))


def _properties(codes: Array, order: int) -> Table:
    """Return what is dealt evenly, a column each: labels or pairs, and absences of labels with unknown cells."""
    known_in_part = (codes == UNKNOWN).any(axis=0)
    present, absent = (sparse.csr_array(table, dtype=np.int64) for table in (codes == 1, codes[:, known_in_part] == 0))
    return sparse.csr_array(sparse.hstack([_pairs(present) if order == 2 else present, absent]))


def _pairs(present: Table) -> Table:
    """Return which pairs of labels each row has; a label is a pair with itself."""
    row, label = present.nonzero()
    n_partners = present.indptr[row + 1] - np.arange(len(row))
    first = np.repeat(np.arange(len(row)), n_partners)
    second = first + _places(n_partners)
    pairs, column = np.unique(label[first] * present.shape[1] + label[second], return_inverse=True)
    ones = np.ones(len(first), dtype=np.int64)
    return sparse.csr_array((ones, (row[first], column)), shape=(present.shape[0], len(pairs)))


def _deal(properties: Table, n_folds: int) -> Integers:
    """Return the fold of each row; see `MultilabelStratifiedKFold`."""
    n_rows, n_properties = properties.shape
    capacity = np.full(n_folds, n_rows // n_folds) + (np.arange(n_folds) < n_rows % n_folds)
    by_property = properties.tocsc()
    left = np.diff(by_property.indptr)
    sizes, dealt = np.zeros(n_folds, dtype=np.int64), np.zeros((n_folds, n_properties), dtype=np.int64)
    folds = np.full(n_rows, -1)
    rarest_first = [*zip(left.tolist(), range(n_properties), strict=True)]
    heapify(rarest_first)
    while rarest_first:
        n_left, rarest = heappop(rarest_first)
        if n_left == 0 or n_left != left[rarest]:  # a later entry has the number that is left
            continue
        rows = by_property.indices[by_property.indptr[rarest] : by_property.indptr[rarest + 1]]
        rows = rows[folds[rows] < 0]
        folds[rows] = _pick(dealt[:, rarest], sizes, capacity, len(rows))
        sizes += np.bincount(folds[rows], minlength=n_folds)
        n_columns = properties.indptr[rows + 1] - properties.indptr[rows]
        columns = properties.indices[np.repeat(properties.indptr[rows], n_columns) + _places(n_columns)]
        np.add.at(dealt, (np.repeat(folds[rows], n_columns), columns), 1)
        np.subtract.at(left, columns, 1)
        changed = np.unique(columns)
        for entry in zip(left[changed].tolist(), changed.tolist(), strict=True):
            heappush(rarest_first, entry)
    folds[folds < 0] = _pick(np.zeros_like(sizes), sizes, capacity, n_rows - sizes.sum())
    return folds


def _pick(dealt: Integers, sizes: Integers, capacity: Integers, n_rows: int) -> Integers:
    """Return the fold of each of `n_rows` rows: the one with fewest rows of a property, then with fewest rows.

    The next row of a fold always comes after its last one in this order, so that all are found by sorting.
    """
    room = np.minimum(capacity - sizes, n_rows)
    fold, place = np.repeat(np.arange(len(room)), room), _places(room)
    return fold[np.lexsort((fold, sizes[fold] + place, dealt[fold] + place))[:n_rows]]


def _places(counts: Integers) -> Integers:
    """Return 0 to count - 1 for each count, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


class PrequentialSplit(BaseCrossValidator):
    """Test on each block of rows in turn, with the blocks before it as training rows: prequential evaluation by blocks.

    Parameters
    ----------
    n_splits : int, default=5
        Number of blocks to test on. There are more blocks: the first, which is only learnt, and those of the first gap.
    window : int, optional
        Greatest number of blocks to learn: the last ones before the block that is tested, for a sliding window. None:
        all, for a growing window.
    gap : int, default=0
        Number of blocks to leave out between those that are learnt and the one that is tested.

    Notes
    -----
    Rows are in the order of the stream, and blocks differ by at most one row. `groups`, such as the experience or the
    day of each row, keeps rows of one group in one block: groups are then what is cut into blocks, in the order in
    which they begin. `y` is not read, so that it may hold unknown labels.

    References
    ----------
    V. Cerqueira, L. Torgo, I. Mozetič, "Evaluating time series forecasting models: an empirical study on performance
    estimation methods", Machine Learning 109, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import PrequentialSplit
    >>> for train, test in PrequentialSplit(n_splits=3, window=2).split(np.zeros((8, 1))):
    ...     print(train, test)
    [0 1] [2 3]
    [0 1 2 3] [4 5]
    [2 3 4 5] [6 7]
    """

    # groups are used where they are passed, also where metadata routing is on
    __metadata_request__split: ClassVar = {"groups": True}

    def __init__(self, n_splits: int = 5, *, window: int | None = None, gap: int = 0) -> None:
        self.n_splits = require_integer(n_splits, "n_splits", 1)
        self.window = None if window is None else require_integer(window, "window", 1)
        self.gap = require_integer(gap, "gap", 0)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:  # noqa: ARG002
        """Return the number of blocks to test on.

        Parameters
        ----------
        X, y, groups
            Not read.

        Returns
        -------
        int
            ``n_splits``.
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: RowValues = None) -> Iterator[tuple[Integers, Integers]]:
        """Yield the rows to learn and the rows to test on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of the stream; only their number is read.
        y : object
            Not read.
        groups : array-like of shape (n_samples,), optional
            Group of each row; none may be missing.

        Yields
        ------
        train, test : ndarray of int
            Row numbers, in order.
        """
        X, y, groups = indexable(X, y, groups)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        unit = np.arange(n_rows) if groups is None else _by_first_row(groups, n_rows)
        n_units, n_blocks = unit.max(initial=-1) + 1, self.n_splits + self.gap + 1
        if n_units < n_blocks:
            what = "rows" if groups is None else "groups"
            raise ValueError(
                f"X must have at least {n_blocks} {what} for n_splits={self.n_splits} and gap={self.gap}. "
                f"Got {n_units} instead."
            )
        sizes = [len(part) for part in np.array_split(np.arange(n_units), n_blocks)]
        block = np.repeat(np.arange(n_blocks), sizes)[unit]
        for tested in range(self.gap + 1, n_blocks):
            stop = tested - self.gap
            start = 0 if self.window is None else max(stop - self.window, 0)
            yield np.flatnonzero((block >= start) & (block < stop)), np.flatnonzero(block == tested)


def _by_first_row(groups: Any, n_rows: int) -> Integers:
    """Return the number of the group of each row, counted in the order in which groups begin."""
    check_row_values("groups", groups, n_rows)
    numbers: dict[Any, int] = {}
    for row, group in enumerate(groups):
        if group is np.ma.masked or is_missing(group):
            raise ValueError(f"groups must name the group of each row. Got {group} at row {row} instead.")
        numbers.setdefault(group, len(numbers))
    return np.array([numbers[group] for group in groups])
