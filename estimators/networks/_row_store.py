"""Rows for the kernels of the networks: those of a chunk, and those kept for replay."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse

from estimators._typing import Array
from estimators.contract.row_codes import cast_features, encode_labels
from estimators.contract.validation import Features
from estimators.networks._kernels.state import CodedRows

_NO_INDICES = np.empty(0, np.int32)


def as_rows(X: Features, Y: Array, mask: Array | None, weight: Array | None, dtype: npt.DTypeLike) -> CodedRows:
    """Return a chunk in the form of the kernels: features in the network's precision, labels and masks as codes."""
    if isinstance(X, np.ndarray):
        values, indices = X.ravel(), _NO_INDICES
        starts, ends, ones = _one_row(X.size) if len(X) == 1 else _places(*X.shape)
    else:
        values, indices = X.data, _writable(X.indices.astype(np.int32, copy=False))
        ends, ones = X.indptr.astype(np.int64), np.ones(X.shape[0])
        starts, ends = ends[:-1], ends[1:]
    values = _writable(cast_features(values, np.dtype(dtype)))
    return CodedRows(values, indices, starts, ends, encode_labels(Y, mask), ones if weight is None else weight)


def is_dense(rows: CodedRows) -> bool:
    """Return whether rows are dense: they have values but no indices."""
    return len(rows.indices) == 0 and len(rows.values) > 0


def _places(n_rows: int, width: int) -> tuple[Array, Array, Array]:
    """Return where dense rows start and end, and weights of one."""
    ends = np.arange(0, n_rows * width + 1, width)
    return ends[:-1], ends[1:], np.ones(n_rows)


@lru_cache(maxsize=16)
def _one_row(width: int) -> tuple[Array, Array, Array]:
    """Return the same for a single row, in arrays that are never written to."""
    return _places(1, width)


@lru_cache
def empty_store(n_labels: int, dtype: npt.DTypeLike) -> CodedRows:
    """Return the rows of a store without slots."""
    return RowStore(0, 0, n_labels, dtype).as_rows()


class RowStore:
    """Rows kept in slots of equal length: dense rows, or rows of a CSR matrix with room for the longest one so far."""

    def __init__(self, size: int, length: int, n_labels: int, dtype: npt.DTypeLike) -> None:
        self.values = np.zeros((size, length), dtype=dtype)
        self.indices = np.zeros((size, 0), dtype=np.int32)
        self.starts, self.ends = _empty_slots(size, length)
        self.codes = np.zeros((size, n_labels), dtype=np.uint8)
        self.weight = np.zeros(size)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows kept are sparse."""
        return self.indices.shape[1] > 0

    def copy(self) -> "RowStore":
        """Return a store with the same rows."""
        twin = RowStore(0, 0, 0, self.values.dtype)
        vars(twin).update({name: np.array(part) for name, part in vars(self).items()})
        return twin

    def with_more_labels(self, n_new: int) -> "RowStore":
        """Return a copy with more labels, which do not count in the rows kept."""
        twin = self.copy()
        twin.codes = np.pad(self.codes, ((0, 0), (0, n_new)))
        return twin

    def as_rows(self) -> CodedRows:
        """Return all slots; later rows are stored in the same arrays as long as `starts` is the same object."""
        flat = self.values.reshape(-1), self.indices.reshape(-1)
        return CodedRows(*flat, self.starts, self.ends, self.codes, self.weight)

    def keep(self, rows: CodedRows, slots: Array) -> None:
        """Store the rows of a chunk in their slots, -1 for no slot, later rows over earlier ones."""
        if len(slots) == 1 and not self.is_sparse:
            self._keep_one(rows, slots[0].tolist())
            return
        kept, column = np.nonzero(slots >= 0)
        last = dict(zip(slots[kept, column].tolist(), kept.tolist(), strict=True))
        if not last:
            return
        to, of = np.array(list(last)), np.array(list(last.values()))
        self.codes[to], self.weight[to] = rows.codes[of], rows.weight[of]
        lengths = rows.ends[of] - rows.starts[of]
        if self.is_sparse:
            self._make_room(int(lengths.max()))
            self._keep_sparse(rows, to, of)
        else:
            self.values[to] = rows.values.reshape(len(rows.weight), -1)[of]
        self.ends[to] = self.starts[to] + lengths

    def _keep_one(self, rows: CodedRows, slots: list[int]) -> None:
        for slot in slots:
            if slot >= 0:
                self.codes[slot], self.weight[slot] = rows.codes[0], rows.weight[0]
                self.values[slot] = rows.values
                self.ends[slot] = self.starts[slot] + len(rows.values)

    def make_sparse(self) -> None:
        """From now on, keep only the features that are not zero."""
        dense = sparse.csr_array(self.values)
        lengths = np.diff(dense.indptr).astype(np.int64)
        length = max(1, int(lengths.max()))
        inside = np.arange(length) < lengths[:, np.newaxis]
        self.values = np.zeros((len(inside), length), dtype=self.values.dtype)
        self.indices = np.zeros((len(inside), length), dtype=np.int32)
        self.values[inside], self.indices[inside] = dense.data, dense.indices
        self.starts, self.ends = _empty_slots(len(inside), length)
        self.ends += lengths

    def _make_room(self, length: int) -> None:
        missing = length - self.values.shape[1]
        if missing > 0:
            self.values, self.indices = (np.pad(part, ((0, 0), (0, missing))) for part in (self.values, self.indices))
            lengths = self.ends - self.starts
            self.starts, self.ends = _empty_slots(len(lengths), length)
            self.ends += lengths

    def _keep_sparse(self, rows: CodedRows, to: Array, of: Array) -> None:
        for slot, row in zip(to, of, strict=True):
            start, stop = rows.starts[row], rows.ends[row]
            self.values[slot, : stop - start] = rows.values[start:stop]
            self.indices[slot, : stop - start] = rows.indices[start:stop]


def match_store(
    X: Features, store: RowStore | None, size: int, n_labels: int, dtype: npt.DTypeLike
) -> tuple[Features, RowStore]:
    """Return the rows as they are kept, dense or sparse, and their store, new if None; sparse once any row was."""
    is_sparse = isinstance(X, sparse.csr_array)
    if store is None:
        store = RowStore(size, 0 if is_sparse else X.shape[1], n_labels, dtype)
    if is_sparse and not store.is_sparse:
        store = store.copy()
        store.make_sparse()
    return (sparse.csr_array(X) if store.is_sparse and not is_sparse else X), store


def _empty_slots(size: int, length: int) -> tuple[Array, Array]:
    starts = np.arange(size) * length
    return starts, starts.copy()


def _writable(array: Array) -> Array:
    """Copy a read-only array: the kernels are compiled for writable ones, though they do not write."""
    return array if array.flags.writeable else array.copy()
